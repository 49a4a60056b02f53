"""Hashed n-grams: which are made, which are dropped, and into which bucket (checklist 5)."""

import mmh3
import pytest

from muppet.lexical.ngrams import hashed_ngrams

BUCKETS = 2**24


def buckets_of(*grams: str) -> list[int]:
    return sorted(mmh3.hash(gram, 0, signed=False) % BUCKETS for gram in grams)


def found_in(text: str, longest: int = 2) -> list[int]:
    _, buckets = hashed_ngrams([text], longest, BUCKETS)
    return sorted(buckets.tolist())


@pytest.mark.parametrize(
    ("text", "grams"),
    [
        ("Manchester United", ["manchester", "united", "manchester united"]),
        ("red red red", ["red", "red", "red", "red red", "red red"]),
        ("king of Spain", ["king", "spain"]),
        ("Paris, Texas", ["paris", "texas"]),
        ("Ferguson's team", ["ferguson", "team"]),
        ("in 1986 Kraków won", ["1986", "krako\u0301w", "1986 krako\u0301w"]),
        ("", []),
        (" \n\t", []),
        ("who was it?", []),
        ("… “–”", []),
    ],
)
def test_a_stop_word_or_a_mark_is_in_no_ngram(text: str, grams: list[str]) -> None:
    assert found_in(text) == buckets_of(*grams)


def test_the_bucket_is_murmurhash3_of_the_lower_case_words_unsigned() -> None:
    # murmur3-32 of "hello" with seed 0 is published as 0x248bfa47
    assert found_in("Hello", longest=1) == [0x248BFA47 % BUCKETS]
    _, whole = hashed_ngrams(["Hello"], 1, 2**32)
    assert whole.tolist() == [0x248BFA47]


def test_longer_ngrams_are_runs_of_kept_words() -> None:
    grams = ["old", "trafford", "stadium", "old trafford", "trafford stadium"]
    assert found_in("Old Trafford stadium", longest=3) == buckets_of(*grams, "old trafford stadium")
    assert found_in("Old Trafford stadium", longest=1) == buckets_of(*grams[:3])


def test_no_ngram_reaches_from_one_text_into_the_next() -> None:
    texts, buckets = hashed_ngrams(["Alex Ferguson", "", "Manchester"], 2, BUCKETS)
    by_text = {
        text: sorted(buckets[texts == text].tolist()) for text in sorted(set(texts.tolist()))
    }
    assert by_text == {
        0: buckets_of("alex", "ferguson", "alex ferguson"),
        2: buckets_of("manchester"),
    }


def test_no_texts_have_no_ngrams() -> None:
    texts, buckets = hashed_ngrams([], 2, BUCKETS)
    assert len(texts) == len(buckets) == 0
