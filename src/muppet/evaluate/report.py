"""Predictions + gold → Report: overall and for each type of question."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from muppet.corpus.benchmarks import BenchmarkQuestion
from muppet.errors import QuestionError
from muppet.evaluate.answers import (
    NOTHING,
    AnswerScorer,
    Scores,
    hotpot_scores,
    joint_scores,
    mean_scores,
    squad_scores,
    support_scores,
)
from muppet.evaluate.answers import Predictions as Predictions
from muppet.evaluate.answers import read_predictions as read_predictions
from muppet.evaluate.answers import write_predictions as write_predictions
from muppet.evaluate.chains import CUTOFFS, RetrievalScores, mean_retrieval, no_retrieval


@dataclass(frozen=True, slots=True)
class QuestionScores:
    """What one question scored; None for what was not to be scored."""

    id: str
    kind: str
    answer: Scores | None = None
    support: Scores | None = None
    joint: Scores | None = None
    retrieval: RetrievalScores | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Means over the gold questions, and the same for each type of question."""

    questions: int
    answer: Scores | None = None
    support: Scores | None = None
    joint: Scores | None = None
    retrieval: RetrievalScores | None = None
    by_type: dict[str, "Report"] = field(default_factory=dict)

    def answer_parts(self) -> dict[str, dict[str, float]]:
        """The computed ones of answer, support and joint, each by the name of the score."""
        parts = {"answer": self.answer, "support": self.support, "joint": self.joint}
        return {name: asdict(scores) for name, scores in parts.items() if scores}

    def retrieval_parts(self) -> dict[str, dict[str, float]]:
        """Perfect, at_least_one and hits, if computed, each by the cutoff in digits."""
        return {
            name: {str(cutoff): score for cutoff, score in by_cutoff.items()}
            for name, by_cutoff in (asdict(self.retrieval) if self.retrieval else {}).items()
        }

    def to_json(self) -> dict[str, object]:
        """The report as JSON objects, with only the parts that were computed."""
        content: dict[str, object] = {"questions": self.questions, **self.answer_parts()}
        if self.retrieval:
            content["retrieval"] = self.retrieval_parts()
        if self.by_type:
            content["by_type"] = {kind: part.to_json() for kind, part in self.by_type.items()}
        return content


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of one system, its numbers as they are printed."""

    metric: str
    system: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that share their columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def score_predictions(predictions: Predictions, gold: Sequence[BenchmarkQuestion]) -> Report:
    """The official means over all gold questions; a missing prediction counts 0."""
    return summarise(score_questions(predictions, gold))


def score_questions(
    predictions: Predictions, gold: Sequence[BenchmarkQuestion]
) -> list[QuestionScores]:
    """What each gold question scored, in the order of `gold`.

    Gold with supporting sentences is scored by HotpotQA's rules, gold without by SQuAD's.
    """
    if not any(each.gold.answers for each in gold):
        raise QuestionError(
            "None of the gold questions has an answer, so nothing can be scored. Use a file with "
            "answers, such as a benchmark's development set."
        )
    has_support = any(each.gold.support for each in gold)
    score_answer = hotpot_scores if has_support else squad_scores
    scored = predictions if has_support else replace(predictions, support=None)
    return [_score_question(each, scored, score_answer) for each in gold]


def score_retrieval(
    scores: Mapping[str, RetrievalScores], gold: Sequence[BenchmarkQuestion]
) -> Report:
    """Means of what `score_ranking` or `score_chains` gave, by question id.

    Questions without gold paragraphs are left out of the means; a missing score counts 0.
    """
    nothing = no_retrieval(next((tuple(each.hits) for each in scores.values()), CUTOFFS))
    by_question = []
    for asked in gold:
        name, kind = asked.question.id, asked.gold.kind
        found = scores.get(name, nothing) if asked.gold.paragraphs else None
        by_question.append(QuestionScores(name, kind, retrieval=found))
    return summarise(by_question)


def with_retrieval(report: Report, retrieval: Report) -> Report:
    """One report of both: the answers of the first with the retrieval of the second."""
    by_type = {
        kind: with_retrieval(part, retrieval.by_type[kind]) for kind, part in report.by_type.items()
    }
    return replace(report, retrieval=retrieval.retrieval, by_type=by_type)


def summarise(scores: Sequence[QuestionScores]) -> Report:
    """Means overall and for each type of question that has a name."""
    kinds = sorted({each.kind for each in scores if each.kind})
    by_type = {kind: _means([each for each in scores if each.kind == kind]) for kind in kinds}
    return replace(_means(scores), by_type=by_type)


def unknown_ids(predictions: Predictions, gold: Sequence[BenchmarkQuestion]) -> list[str]:
    """The predicted ids that no gold question has; the scores ignore them."""
    predicted = predictions.answers.keys() | (predictions.support or {}).keys()
    return sorted(predicted - {each.question.id for each in gold})


def format_table(reports: Mapping[str, Report]) -> str:
    """Everything computed as plain text, in per cent: overall first, then type by type."""
    return "\n\n".join(_format(table) for table in make_tables(reports))


def make_tables(reports: Mapping[str, Report]) -> list[Table]:
    """Tables of everything computed, in per cent: overall first, then type by type where there is
    more than one type."""
    kinds = dict.fromkeys(kind for whole in reports.values() for kind in whole.by_type)
    tables = _slice_tables("overall", reports)
    for kind in kinds if len(kinds) > 1 else ():
        having = {name: whole for name, whole in reports.items() if kind in whole.by_type}
        tables += _slice_tables(kind, {name: having[name].by_type[kind] for name in having})
    return [table for table in tables if table.rows]


def _slice_tables(name: str, reports: Mapping[str, Report]) -> list[Table]:
    counts = sorted({report.questions for report in reports.values()})
    heading = f"{name}, {' or '.join(map(str, counts))} questions"
    answers = {system: report.answer_parts() for system, report in reports.items()}
    retrieval = {system: report.retrieval_parts() for system, report in reports.items()}
    return [
        _table(f"{heading}: answers", answers),
        _table(f"{heading}: retrieval at k", retrieval),
    ]


def _table(title: str, systems: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Table:
    metrics = dict.fromkeys(metric for parts in systems.values() for metric in parts)
    numbers = {
        (metric, system): parts[metric]
        for metric in metrics
        for system, parts in systems.items()
        if metric in parts
    }
    names = dict.fromkeys(name for row in numbers.values() for name in row)
    columns = sorted(names, key=lambda name: int(name) if name.isdigit() else 0)
    rows = tuple(
        Row(
            metric=metric.replace("_", " "),
            system=system,
            cells=tuple(f"{100 * row[name]:.1f}" if name in row else "-" for name in columns),
        )
        for (metric, system), row in numbers.items()
    )
    headings = tuple({"em": "EM", "f1": "F1"}.get(name, name) for name in columns)
    return Table(title, headings, rows)


def _format(table: Table) -> str:
    head = ("", "", *table.columns)
    lines = [head, *((row.metric, row.system, *row.cells) for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    layout = "  ".join(f"{{:{'<>'[place > 1]}{width}}}" for place, width in enumerate(widths))
    return "\n".join([table.title, *(layout.format(*line) for line in lines)])


def _score_question(
    asked: BenchmarkQuestion, predictions: Predictions, score_answer: AnswerScorer
) -> QuestionScores:
    name, gold = asked.question.id, asked.gold
    text = predictions.answers.get(name)
    answer = NOTHING if text is None else score_answer(text, gold.answers)
    scores = QuestionScores(name, gold.kind, answer)
    if predictions.support is None:
        return scores
    sentences = predictions.support.get(name)
    support = NOTHING if sentences is None else support_scores(sentences, gold.support)
    return replace(scores, support=support, joint=joint_scores(answer, support))


def _means(scores: Sequence[QuestionScores]) -> Report:
    answer = [each.answer for each in scores if each.answer]
    support = [each.support for each in scores if each.support]
    joint = [each.joint for each in scores if each.joint]
    retrieval = [each.retrieval for each in scores if each.retrieval]
    return Report(
        questions=len(scores),
        answer=mean_scores(answer) if answer else None,
        support=mean_scores(support) if support else None,
        joint=mean_scores(joint) if joint else None,
        retrieval=mean_retrieval(retrieval) if retrieval else None,
    )
