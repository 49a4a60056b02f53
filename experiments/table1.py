"""Table 1, open: the same reader over chains by words and by the trained retriever (claim 30).

    python experiments/table1.py KB ../shared/data/hotpotqa/dev.json.xz
    python experiments/table1.py KB QUESTIONS --paragraph-model DIR --bm25 --count 50

TF-IDF is the paper's baseline: all 45 pairs of its ten best paragraphs. What the two rows of every
system are, and which ratio is fair to whom, is said in comparing.py. The first 200 questions of
HotpotQA's dev chose the networks and the settings: they are left out. A paragraph-level model has
encoded KB before (`muppet encode KB --model DIR`).
"""

from comparing import Published, compare, comparison_arguments
from shared import some_of

from muppet.corpus.benchmarks import read_questions
from muppet.evaluate.retrieval import lexical_pairs

PUBLISHED = Published(
    columns=("answer em", "answer f1", "support em", "support f1", "joint em", "joint f1"),
    rows={
        "the paper's own baseline": ("24.68", "34.36", "5.28", "40.98", "2.54", "17.73"),
        "the paper, TF-IDF": ("27.55", "36.58", "10.75", "42.45", "7.00", "21.47"),
        "the paper, sentence level": ("30.20", "39.43", "16.57", "46.13", "11.38", "26.55"),
        "the paper, paragraph level": ("31.07", "40.42", "17.00", "47.71", "11.76", "27.62"),
    },
    measure="joint f1",
    ratios="The paper: sentence level / TF-IDF 1.24, paragraph level / TF-IDF 1.29.",
)


def main() -> None:
    asked = comparison_arguments(__doc__, skip=200).parse_args()
    questions = some_of(read_questions(asked.questions), asked.skip, asked.count)
    compare(asked, questions, PUBLISHED, lexical=lexical_pairs, settings=lambda config: config)


if __name__ == "__main__":
    main()
