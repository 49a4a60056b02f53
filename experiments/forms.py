"""The decisions of the checklist that are settings of retrieval, each against the others.

    python experiments/forms.py KB ../shared/data/hotpotqa/dev.json.xz
    python experiments/forms.py KB QUESTIONS --all        # searches everything too

One setting at a time is changed from those of the knowledge base: the ranking (checklist 21), the
pool of the second hop (6), how many paragraphs each hop searches (6), the beam (7) and its margin,
the engine (5), and how much words count. The paper's own search is a row, and so is the released
code's. Perfect@k: the gold set is one of the first k chains; the ratio is of perfect@8, over the
first row's, on the same questions. The first 200 questions of HotpotQA's dev chose the encoder and
these settings: they are left out.

Pool `all` is in if the knowledge base has an index of all its vectors; --all makes one there.
"""

import math
from dataclasses import asdict, replace
from pathlib import Path

from shared import (
    arguments,
    markdown,
    per_cent,
    say,
    settings_of,
    some_of,
    tell,
    times,
    warn_of_missing,
)

from muppet.cli.progress import ProgressLine
from muppet.config import RetrieveConfig
from muppet.corpus.benchmarks import read_questions
from muppet.evaluate.bootstrap import mean_of, ratio_of
from muppet.evaluate.chains import RetrievalScores
from muppet.evaluate.finding import by_model, find_all, score_found
from muppet.index.whole import has_whole
from muppet.knowledge.open import KnowledgeBase
from muppet.retrieve.retriever import Retriever, open_retriever

CUTOFFS = (1, 8, 45)
COMPARED = 8
FIRST_HOP = (8, 16, 32, 64, 128, 512)
SECOND_HOP = (32, 64, 128, 256, 512, 1024)
BEAMS = (1, 2, 4, 8, 16, 32)
MARGINS = (0.15, 0.25, 0.5, 1.0, math.inf)
WEIGHTS = (0.0, 0.5, 1.0, 2.0, 4.0)
TITLES = ((0.0,), (0.0, 0.5), (0.2, 0.5), (0.5, 0.5))
COVERAGES = (0.0, 0.25, 0.5, 1.0, 2.0)
JUDGES = ((0.0,), (0.0, 0.5), (0.0, 1.0), (0.0, 2.0))
TEMPERATURES = (1.0, 2.0, 4.0, 8.0)
OWN = "as it is set"


def main() -> None:
    parser = arguments(__doc__, skip=200)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--all", action="store_true", help="Make the index for pool `all`.")
    asked = parser.parse_args()
    questions = some_of(read_questions(asked.questions), asked.skip, asked.count)
    progress = ProgressLine()
    scored: dict[str, list[RetrievalScores]] = {}
    with KnowledgeBase(asked.kb) as knowledge:
        warn_of_missing(knowledge, questions)
        base = settings_of(knowledge, asked.config).retrieve
        retriever = open_retriever(knowledge, asked.model, base, progress)
        searches_all = asked.all or has_whole(retriever.vectors)
        if searches_all:
            retriever = opened_for_all(retriever, asked.model, progress)
        else:
            say(f"{asked.kb} has no index of all its vectors, so pool `all` is left out (--all).")
        settings = forms(base, with_all=searches_all)
        for name, config in settings.items():
            knowledge.narrower(config.engine, progress)
            find = by_model(retriever.with_config(config))
            found = find_all(find, questions, name, progress)
            scored[name] = score_found(knowledge, questions, found)
    progress.close()
    tell_forms(settings, scored, asked.json)


def tell_forms(
    settings: dict[str, RetrieveConfig], scored: dict[str, list[RetrievalScores]], as_json: bool
) -> None:
    """Perfect@k of each, and how it compares with the first."""
    count = len(scored[OWN])
    perfect = {
        name: {k: [one.perfect[k] for one in scores] for k in CUTOFFS}
        for name, scores in scored.items()
    }
    means = {name: {k: mean_of(row[k]) for k in CUTOFFS} for name, row in perfect.items()}
    own = perfect[OWN][COMPARED]
    ratios = {name: ratio_of(row[COMPARED], own) for name, row in perfect.items()}
    rows = [
        [name, *map(per_cent, row.values()), times(ratios[name])] for name, row in means.items()
    ]
    heads = ["", *(f"perfect@{k}" for k in CUTOFFS), f"@{COMPARED}, times"]
    facts = {
        "questions": count,
        "settings": {name: asdict(config) for name, config in settings.items()},
        "perfect": means,
        "ratios": ratios,
    }
    text = f"{count} questions, per cent, 95 % intervals.\n\n" + markdown(heads, rows)
    tell(text, facts, as_json=as_json)


def opened_for_all(retriever: Retriever, model: Path | None, progress: ProgressLine) -> Retriever:
    """The same with the search over everything, which is made if it is not there."""
    config = replace(retriever.config, pools=(retriever.config.pools[0], "all"))
    return open_retriever(retriever.knowledge, model, config, progress)


def forms(base: RetrieveConfig, *, with_all: bool) -> dict[str, RetrieveConfig]:
    """The settings by name, first those of the knowledge base; what is the same as these once."""
    first, second = base.narrow[0], base.narrow[-1]
    paper = replace(
        base,
        engine="tfidf",
        narrow=(32, 512),
        pools=("question",),
        temperature=1.0,
        lexical_weight=0.0,
        title_weights=(0.0,),
        coverage_weight=0.0,
        judge_weights=(0.0,),
        widths=(8,),
        margin=math.inf,
        ranking="model",
    )
    found = {
        "ranking released": replace(base, ranking="released"),
        "the paper's search": paper,
        "the released code's": replace(paper, ranking="released"),
        "pool question": replace(base, pools=("question",)),
        "pool requery": replace(base, pools=("question", "requery")),
    }
    if with_all:
        found["pool all, second hop"] = replace(base, pools=("question", "all"))
        found["pool all, both hops"] = replace(base, pools=("all",))
    found |= {f"engine {one}": replace(base, engine=one) for one in ("bm25", "tfidf")}
    found |= {f"n1 = {n}": replace(base, narrow=(n, second)) for n in FIRST_HOP}
    found |= {f"n2 = {n}": replace(base, narrow=(first, n)) for n in SECOND_HOP}
    found |= {f"beam {width}": replace(base, widths=(width,)) for width in BEAMS}
    found |= {f"margin {one:g}": replace(base, margin=one) for one in MARGINS}
    found |= {f"temperature {one:g}": replace(base, temperature=one) for one in TEMPERATURES}
    found |= {f"words count {one:g}": replace(base, lexical_weight=one) for one in WEIGHTS}
    found |= {f"names count {list(one)}": replace(base, title_weights=one) for one in TITLES}
    found |= {f"coverage counts {one:g}": replace(base, coverage_weight=one) for one in COVERAGES}
    found |= {f"the judge counts {list(one)}": replace(base, judge_weights=one) for one in JUDGES}
    return {OWN: base} | {name: config for name, config in found.items() if config != base}


if __name__ == "__main__":
    main()
