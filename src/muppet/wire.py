"""Results ⇄ JSON: the single definition used by `--json` and by the server."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from muppet.domain import Answer, Chain, Found, Paragraph, Result

Json = dict[str, Any]


def chain_to_json(
    chain: Chain, paragraphs: Mapping[int, Paragraph], ranks: Mapping[int, int]
) -> list[Json]:
    """A chain as the list of its hops; `ranks` are the paragraphs' ranks for the question."""
    return [
        {
            "paragraph": paragraphs[hop.paragraph].id,
            "title": paragraphs[hop.paragraph].title,
            "source": paragraphs[hop.paragraph].source,
            "score": hop.score,
            "sentence": hop.sentence,
            "rank_for_question": ranks.get(hop.paragraph),
            "text": paragraphs[hop.paragraph].text,
        }
        for hop in chain.hops
    ]


def search_to_json(found: Found) -> Json:
    """What `search --json` prints; `scores` are what the chains were ranked by."""
    return {
        "question": found.question,
        "chains": [chain_to_json(one, found.paragraphs, found.ranks) for one in found.chains],
        "seconds": dict(found.seconds),
        "scores": list(found.scores),
    }


def result_to_json(result: Result, chains: int = 5) -> Json:
    """What `ask --json` prints: the answers, best first, each with its chain and its support, and
    so many of all chains."""
    return {
        "question": result.question,
        "is_known": result.is_known,
        "answers": [_answer_to_json(answer, result) for answer in result.answers],
        "chains": [
            chain_to_json(chain, result.paragraphs, result.ranks)
            for chain in result.chains[:chains]
        ],
        "seconds": dict(result.seconds),
    }


def _answer_to_json(answer: Answer, result: Result) -> Json:
    chain = result.chain_of(answer)
    by_id = {result.paragraphs[n].id: result.paragraphs[n] for n in chain.paragraphs}
    return {
        "text": answer.text,
        "kind": answer.kind,
        "probability": answer.probability,
        "span": asdict(answer.span) if answer.span else None,
        "support": [
            {
                "paragraph": one.paragraph,
                "title": by_id[one.paragraph].title,
                "sentence": one.index,
                "text": by_id[one.paragraph].sentences[one.index],
            }
            for one in answer.support
        ],
        "chain": chain_to_json(chain, result.paragraphs, result.ranks),
    }


def stage_to_json(chain: Sequence[Paragraph]) -> Json:
    """How far a question has got: the paragraphs of its best chain so far."""
    return {"chain": [{"paragraph": one.id, "title": one.title} for one in chain]}


def paragraph_to_json(paragraph: Paragraph) -> Json:
    """A paragraph, whole, and where it stands in its document."""
    return {
        "paragraph": paragraph.id,
        "title": paragraph.title,
        "source": paragraph.source,
        "document": paragraph.document,
        "position": paragraph.position,
        "start": paragraph.start,
        "sentences": list(paragraph.sentences),
        "text": paragraph.text,
    }


def attention_to_json(
    question: Sequence[tuple[str, float]],
    chain: Sequence[Paragraph],
    words: Sequence[Sequence[tuple[str, float]]],
) -> Json:
    """The words of question and chain, in their order, each with its share of the attention."""
    return {
        "question": [{"word": word, "share": share} for word, share in question],
        "chain": [
            {
                "paragraph": one.id,
                "title": one.title,
                "words": [{"word": word, "share": share} for word, share in own],
            }
            for one, own in zip(chain, words, strict=True)
        ],
    }


def knowledge_to_json(name: str, documents: int, paragraphs: int, examples: Sequence[str]) -> Json:
    """A knowledge base as a server names it, with questions to begin with."""
    return {
        "name": name,
        "documents": documents,
        "paragraphs": paragraphs,
        "examples": list(examples),
    }


def error_to_json(message: str) -> Json:
    """What is wrong, in the words of the command line."""
    return {"error": message}
