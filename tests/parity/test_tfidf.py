"""Parity with the paper's TF-IDF, by an oracle of dicts and loops (checklist 5)."""

import math
import random
import unicodedata
from collections import Counter
from pathlib import Path

import mmh3
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muppet.config import TfidfConfig
from muppet.domain import Hop, silent
from muppet.lexical import tfidf_build
from muppet.lexical.tfidf import Tfidf
from muppet.lexical.tfidf_build import build_tfidf
from muppet.text.stopwords import STOP_WORDS
from muppet.text.tokens import words

BUCKETS = 2**24
FEW_BUCKETS = 2**8  # so few that different n-grams meet in one
MADE_FROM = {"paragraphs": "1"}
TEXT = """
Manchester United Ferguson manager Scottish club Kraków café Zoë naïve 1986 U.S. album band film
director river of the is was and in n't ' , . - ( ) " “ – João a
"""
VOCABULARY = TEXT.split()


def plain_counts(text: str, buckets: int = BUCKETS) -> Counter[int]:
    """Bucket → how often: one n-gram after another, as the paper's retriever describes them."""
    tokens = [token.lower() for token in words(unicodedata.normalize("NFD", text))]
    counts: Counter[int] = Counter()
    for first in range(len(tokens)):
        for length in (1, 2):
            gram = tokens[first : first + length]
            if len(gram) == length and not any(map(plain_is_dropped, gram)):
                counts[(mmh3.hash(" ".join(gram), 0) & 0xFFFFFFFF) % buckets] += 1
    return counts


def plain_is_dropped(token: str) -> bool:
    if token in STOP_WORDS:
        return True
    return all(unicodedata.category(character)[0] == "P" for character in token)


def plain_scores(counted: list[Counter[int]], asked: Counter[int]) -> dict[int, float]:
    """Paragraph → score above 0, summed term by term in double precision."""
    paragraphs_with = Counter(bucket for counts in counted for bucket in counts)
    total = len(counted)
    scores: dict[int, float] = {}
    for bucket, count in asked.items():
        having = paragraphs_with[bucket]
        idf = max(0.0, math.log((total - having + 0.5) / (having + 0.5)))
        for number, counts in enumerate(counted):
            part = math.log(1 + count) * idf * math.log(1 + counts[bucket]) * idf
            if part > 0:
                scores[number] = scores.get(number, 0.0) + part
    return scores


def build(directory: Path, paragraphs: list[str], buckets: int = BUCKETS) -> Tfidf:
    """Our index of paragraphs without titles."""
    build_tfidf(
        directory,
        ((number, "", text) for number, text in enumerate(paragraphs)),
        len(paragraphs),
        config=TfidfConfig(title=False, buckets=buckets),
        made_from=MADE_FROM,
        progress=silent,
    )
    return Tfidf(directory, MADE_FROM)


def assert_parity(found: list[Hop], expected: dict[int, float], keep: int) -> None:
    """The same scores to 1e-5, and the same order but for scores that close to each other."""
    assert len(found) == min(keep, len(expected))
    assert [hop.score for hop in found] == pytest.approx(
        sorted(expected.values(), reverse=True)[:keep], rel=1e-5
    )
    for hop in found:
        assert hop.score == pytest.approx(expected[hop.paragraph], rel=1e-5)


def random_text(rng: random.Random, vocabulary: list[str], most: int) -> str:
    """Words of very different frequencies, as in a language."""
    weights = [1 / (rank + 1) for rank in range(len(vocabulary))]
    return " ".join(rng.choices(vocabulary, weights, k=rng.randint(0, most)))


@pytest.mark.parametrize("shard", [20_000, 64])
def test_scores_and_order_are_those_of_the_plain_loops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shard: int
) -> None:
    monkeypatch.setattr(tfidf_build, "SHARD", shard)
    rng = random.Random(5)
    vocabulary = [*VOCABULARY, *(f"word{n}" for n in range(400))]
    rng.shuffle(vocabulary)
    paragraphs = [random_text(rng, vocabulary, 60) for _ in range(400)]
    counted = [plain_counts(paragraph) for paragraph in paragraphs]
    index = build(tmp_path / "index", paragraphs)
    matched = 0
    for _ in range(50):
        question = random_text(rng, vocabulary, 20)
        expected = plain_scores(counted, plain_counts(question))
        for keep in (1, 32, 10_000):
            assert_parity(index.narrow(question, keep), expected, keep)
        matched += len(expected)
    assert matched > 5_000  # the comparison was about something


@settings(max_examples=50, deadline=None)
@given(
    paragraphs=st.lists(
        st.lists(st.sampled_from(VOCABULARY) | st.text(max_size=6), max_size=12).map(" ".join),
        min_size=1,
        max_size=30,
    ),
    question=st.lists(st.sampled_from(VOCABULARY) | st.text(max_size=6), max_size=8).map(" ".join),
)
def test_any_unicode_text_scores_as_in_the_plain_loops(
    tmp_path_factory: pytest.TempPathFactory, paragraphs: list[str], question: str
) -> None:
    index = build(tmp_path_factory.mktemp("tfidf") / "index", paragraphs, FEW_BUCKETS)
    counted = [plain_counts(paragraph, FEW_BUCKETS) for paragraph in paragraphs]
    expected = plain_scores(counted, plain_counts(question, FEW_BUCKETS))
    assert_parity(index.narrow(question, 100), expected, 100)


def test_composed_and_decomposed_accents_match_each_other(tmp_path: Path) -> None:
    composed, decomposed = "Kraków café", "Krako\u0301w cafe\u0301"
    paragraphs = [composed, decomposed, *(f"filler number{n}" for n in range(20))]
    index = build(tmp_path / "index", paragraphs)
    for question in (composed, decomposed):
        first, second = index.narrow(question, 10)
        assert {first.paragraph, second.paragraph} == {0, 1}
        assert first.score == second.score > 0


def test_a_long_paragraph_is_not_penalised_for_its_length(tmp_path: Path) -> None:
    long = "Ferguson " + " ".join(f"other{n}" for n in range(2000))
    fillers = [f"filler{n}" for n in range(20)]
    index = build(tmp_path / "index", ["Ferguson", long, *fillers])
    short_hop, long_hop = index.narrow("Ferguson", 10)
    assert (short_hop.paragraph, long_hop.paragraph) == (0, 1)
    assert short_hop.score == long_hop.score


def test_a_word_in_half_of_the_paragraphs_weighs_nothing(tmp_path: Path) -> None:
    index = build(tmp_path / "index", ["club", "club", "club", "river", "film", "album"])
    assert index.narrow("club", 10) == []
    assert [hop.paragraph for hop in index.narrow("club river", 10)] == [3]


@pytest.mark.parametrize("count", [255, 256, 70_000])
def test_a_word_counted_beyond_a_byte_stays_exact(tmp_path: Path, count: int) -> None:
    paragraphs = ["goal " * count, "goal", *(f"filler{n}" for n in range(20))]
    index = build(tmp_path / "index", paragraphs)
    question = "which goal, goal"
    expected = plain_scores(list(map(plain_counts, paragraphs)), plain_counts(question))
    assert_parity(index.narrow(question, 10), expected, 10)
    many, once = index.narrow("goal", 10)
    assert many.score / once.score == pytest.approx(math.log(1 + count) / math.log(2), rel=1e-5)
