"""The reader on the paragraphs that a question's file gives it: Table 1's distractor setting.

    python experiments/distractor.py ../shared/data/hotpotqa/dev.json.xz --skip 200
    python experiments/distractor.py ../shared/data/squad/dev.json.xz --count 1000

HotpotQA: of the 45 pairs of the ten paragraphs those that the encoder believes in most are read;
its scores, and the sentences it found paragraphs by, count as they do in `muppet ask`. With --all
every pair is read, without the encoder. The numbers of the paper and of its baseline stand beside.
SQuAD: the question's own paragraph is read. The first 200 HotpotQA questions chose the shipped
networks and their settings: leave them out of what is reported.
"""

import argparse
from pathlib import Path

from shared import add_reader, head, markdown, means_of, per_cent, reading_all, tell

from muppet.cli.progress import ProgressLine
from muppet.config import Config, load_config
from muppet.corpus.benchmarks import read_questions
from muppet.encode.encoder import TextEncoder
from muppet.evaluate.asking import answered, predictions_of
from muppet.evaluate.finding import among_own, every_own
from muppet.evaluate.reading import read_found
from muppet.evaluate.report import score_questions
from muppet.knowledge.encode import shipped_encoder
from muppet.read.reader import ChainReader

EVERY = 1_000
"""More chains than any question has pairs."""
PUBLISHED = {
    "the paper (90,447 questions)": ("51.56", "65.32", "44.54", "75.27", "28.68", "54.08"),
    "its baseline": ("44.44", "58.28", "21.95", "66.66", "11.56", "40.86"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("questions", type=Path)
    add_reader(parser)
    parser.add_argument("--model", type=Path, default=shipped_encoder())
    parser.add_argument("--config", type=Path, help="Settings, as TOML [default: ours].")
    parser.add_argument("--all", action="store_true", help="Read all pairs, without the encoder.")
    parser.add_argument("--skip", type=int, default=0, help="Leave so many questions out.")
    parser.add_argument("--count", type=int, help="Then take so many [default: all].")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    past = asked.skip + asked.count if asked.count else None
    questions = read_questions(asked.questions)[asked.skip : past]
    settings = load_config(asked.config) if asked.config else Config()
    config = settings.read
    if asked.all:
        find, config = every_own, reading_all(config, EVERY)
    else:
        encoder = TextEncoder(asked.model, asked.threads)
        find = among_own(encoder, settings.retrieve)
    reader = ChainReader(asked.reader, asked.threads)
    progress = ProgressLine()
    results = read_found(find, reader, questions, {"": config}, progress)[""]
    progress.close()
    means = means_of(score_questions(predictions_of(answered(questions, results)), questions))
    rows = [["this reader", *map(per_cent, means.values())]]
    if "joint f1" in means:
        rows += [[name, *row] for name, row in PUBLISHED.items()]
    text = markdown(["", *map(head, means)], rows)
    facts = {"questions": len(questions), "means": means}
    tell(
        f"{len(questions)} questions, per cent, 95 % intervals.\n\n{text}",
        facts,
        as_json=asked.json,
    )


if __name__ == "__main__":
    main()
