"""Table 2, SQuAD-Open in one hop: the same reader over paragraphs by words and by the retriever.

    python experiments/table2.py KB ../shared/data/squad/dev.json.xz --count 500

KB holds SQuAD's paragraphs among others. TF-IDF's best 45 paragraphs are read, or those that the
trained retriever ranks best among so many as --narrow says: by default as its first hop does. The
paper's TF-IDF ranks whole articles and then their paragraphs, ours paragraphs at once. What the two
rows of every system are is said in comparing.py.

Nothing was chosen on SQuAD's dev. Its questions stand article by article, so they are shuffled by a
fixed seed before --skip and --count. Intervals are over questions; those of one paragraph are not
independent, so true intervals are somewhat wider.
"""

from dataclasses import replace

from comparing import Published, compare, comparison_arguments
from shared import shuffled, some_of

from muppet.config import Config
from muppet.corpus.benchmarks import read_questions
from muppet.evaluate.finding import lexical_paragraphs

PUBLISHED = Published(
    columns=("answer em", "answer f1"),
    rows={
        "the paper, TF-IDF": ("34.6", "41.6"),
        "the paper, sentence level": ("39.3", "46.2"),
        "the paper, paragraph level": ("35.6", "42.5"),
    },
    measure="answer em",
    ratios="The paper: sentence level / TF-IDF 1.14, paragraph level / TF-IDF 1.03.",
)


def main() -> None:
    parser = comparison_arguments(__doc__, skip=0)
    parser.add_argument("--narrow", type=int, help="Paragraphs that are searched [the KB's].")
    asked = parser.parse_args()
    questions = some_of(shuffled(read_questions(asked.questions)), asked.skip, asked.count)

    def one_hop(config: Config) -> Config:
        narrow = asked.narrow or config.retrieve.narrow[0]
        return replace(config, retrieve=replace(config.retrieve, hops=1, narrow=(narrow,)))

    compare(asked, questions, PUBLISHED, lexical=lexical_paragraphs, settings=one_hop)


if __name__ == "__main__":
    main()
