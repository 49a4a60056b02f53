"""Texts made ready for a network: titles, sentences, limits, word pieces (checklist 3, 4, 12)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from muppet.domain import Paragraph
from muppet.errors import ConfigError
from muppet.text.prepare import Pieces, Prepared, Preparer
from muppet.text.tokens import tokenize
from muppet.text.vocab import Alphabet, Lexicon

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WHOLE = ["the", "sta", "##tion", "##s", "was", "'", "s", "1", ",", "234", "didn", "t", "cafe"]
WORD_PIECES = [*SPECIAL, *WHOLE, ".", "(", ")"]  # "the" is 4, "." is 17


def preparer(
    *, max_tokens: int = 600, with_title: bool = True, pieces: Pieces | None = None
) -> Preparer:
    lexicon = Lexicon(Alphabet("abc"), lambda _word: -1)
    return Preparer(lexicon, pieces, max_tokens=max_tokens, with_title=with_title)


def sentences_of(prepared: Prepared) -> list[list[str]]:
    """The words of each sentence, by its number."""
    found: list[list[str]] = [[] for _ in range(prepared.sentences)]
    for word, segment in zip(prepared.tokens.words(), prepared.segments.tolist(), strict=True):
        found[segment].append(word)
    return found


def paragraph(*sentences: str, title: str = "Old Title") -> Paragraph:
    return Paragraph("p", title, sentences)


def test_the_title_is_part_of_the_first_sentence_checklist_3() -> None:
    found = preparer().paragraph(paragraph("A b.", " C d."))
    assert sentences_of(found) == [["Old", "Title", ".", "A", "b", "."], ["C", "d", "."]]


def test_a_setting_leaves_the_title_out_checklist_3() -> None:
    found = preparer(with_title=False).paragraph(paragraph("A b.", " C d."))
    assert sentences_of(found) == [["A", "b", "."], ["C", "d", "."]]


def test_empty_sentences_keep_their_numbers_checklist_4() -> None:
    text = paragraph("", "A.", " ", "", " B.", "")
    assert sentences_of(preparer(with_title=False).paragraph(text)) == [
        [],
        ["A", "."],
        [],
        [],
        ["B", "."],
        [],
    ]
    assert sentences_of(preparer().paragraph(text))[0] == ["Old", "Title", "."]


def test_whole_trailing_sentences_are_dropped_and_no_number_shifts_checklist_4() -> None:
    text = paragraph("A b c.", "", " D e f.", " G.", title="T")
    whole = [["T", ".", "A", "b", "c", "."], [], ["D", "e", "f", "."], ["G", "."]]
    for limit in range(1, 15):
        found = sentences_of(preparer(max_tokens=limit).paragraph(text))
        assert len(found) == 4
        assert sum(map(len, found)) <= limit
        if limit < 6:  # not even the first sentence fits
            assert found == [whole[0][:limit], [], [], []]
        else:
            kept = [
                part if number in _fitting(whole, limit) else []
                for number, part in enumerate(whole)
            ]
            assert found == kept


def _fitting(sentences: list[list[str]], limit: int) -> set[int]:
    fitting, tokens = set(), 0
    for number, words in enumerate(sentences):
        tokens += len(words)
        if tokens > limit:
            break
        fitting.add(number)
    return fitting


def test_a_first_sentence_that_is_too_long_is_cut_also_behind_empty_ones_checklist_4() -> None:
    found = preparer(max_tokens=2, with_title=False).paragraph(paragraph("", " ", "A b c.", " D."))
    assert sentences_of(found) == [[], [], ["A", "b"], []]
    assert found.tokens.text == " A b"


def test_a_later_sentence_is_never_kept_behind_a_dropped_one_checklist_4() -> None:
    """ "G." alone would fit, but what is read is a beginning of the text."""
    text = paragraph("A.", " B c d e f.", " G.")
    assert sentences_of(preparer(max_tokens=4, with_title=False).paragraph(text)) == [
        ["A", "."],
        [],
        [],
    ]


def test_a_question_is_one_sentence_whatever_it_holds_checklist_12() -> None:
    found = preparer().question("Who? When?  And where?")
    assert found.sentences == 1
    assert sentences_of(found) == [["Who", "?", "When", "?", "And", "where", "?"]]


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_question_has_no_tokens_and_one_sentence(text: str) -> None:
    found = preparer().question(text)
    assert sentences_of(found) == [[]]
    assert len(found.types) == len(found.segments) == len(found.pieces) == 0


@pytest.mark.parametrize("sentences", [(), ("",), ("", " ")])
def test_an_empty_paragraph_keeps_its_sentences_and_has_no_tokens(
    sentences: tuple[str, ...],
) -> None:
    found = preparer(with_title=False).paragraph(paragraph(*sentences))
    assert sentences_of(found) == [[] for _ in range(max(len(sentences), 1))]


def test_a_paragraph_of_a_title_alone_is_one_sentence_checklist_3() -> None:
    assert sentences_of(preparer().paragraph(paragraph())) == [["Old", "Title", "."]]


@given(
    st.lists(st.text(alphabet="ab .'\n", max_size=8), min_size=1, max_size=6), st.integers(1, 12)
)
def test_tokens_remember_where_they_stand_and_stay_in_order_checklist_1(
    parts: list[str], limit: int
) -> None:
    text = paragraph(*parts)
    found = preparer(max_tokens=limit).paragraph(text)
    source = f"Old Title. {text.text}"
    assert source.startswith(found.tokens.text)
    assert len(found.types) == len(found.segments) == len(found.tokens) <= limit
    assert found.sentences == len(parts)
    assert (found.segments[1:] >= found.segments[:-1]).all()
    ends = [len("Old Title. ")]
    for part in parts:
        ends.append(ends[-1] + len(part))
    for start, end, segment in zip(
        found.tokens.starts, found.tokens.ends, found.segments.tolist(), strict=True
    ):
        assert source[start:end].strip()
        assert start < ends[segment + 1]
        assert segment == 0 or start >= ends[segment]


def wordpiece_files(directory: Path) -> Path:
    """A tokenizer as BERT's: lower case, no accents, words and single punctuation marks."""
    tokenizer = Tokenizer(
        models.WordPiece({piece: id_ for id_, piece in enumerate(WORD_PIECES)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_padding(length=64)  # as some published files have it
    tokenizer.save(str(directory / "tokenizer.json"))
    return directory


def pieces_by_token(pieces: Pieces, text: str) -> dict[str, list[int]]:
    tokens = tokenize(text)
    ids, which = pieces.aligned(tokens)
    assert len(ids) == len(which)
    found: dict[str, list[int]] = {word: [] for word in tokens.words()}
    for id_, token in zip(ids.tolist(), which.tolist(), strict=True):
        if token >= 0:
            found[tokens.words()[token]].append(id_)
    return found


def test_word_pieces_stand_with_the_token_they_are_part_of_checklist_10(tmp_path: Path) -> None:
    pieces = Pieces(wordpiece_files(tmp_path))
    assert pieces_by_token(pieces, "The stations was (the).") == {
        "The": [4],
        "stations": [5, 6, 7],
        "was": [8],
        "(": [18],
        "the": [4],
        ")": [19],
        ".": [17],
    }


def test_our_tokens_and_the_pretrained_ones_may_differ_checklist_10(tmp_path: Path) -> None:
    """We split "didn't" and keep "1,234"; BERT does it the other way round."""
    pieces = Pieces(wordpiece_files(tmp_path))
    assert pieces_by_token(pieces, "station's 1,234") == {
        "station": [5, 6],
        "'s": [9, 10],
        "1,234": [11, 12, 13],
    }
    assert pieces_by_token(pieces, "didn't") == {"did": [14], "n't": [9, 15]}


@pytest.mark.parametrize("cafe", ["café", "cafe\u0301"])
def test_accents_that_the_pretrained_tokenizer_drops_shift_nothing_checklist_10(
    tmp_path: Path, cafe: str
) -> None:
    pieces = Pieces(wordpiece_files(tmp_path))
    assert pieces_by_token(pieces, f"The {cafe} was.") == {
        "The": [4],
        cafe: [16],
        "was": [8],
        ".": [17],
    }


def test_special_pieces_belong_to_no_token_and_nothing_is_padded_checklist_10(
    tmp_path: Path,
) -> None:
    ids, which = Pieces(wordpiece_files(tmp_path)).aligned(tokenize("The station"))
    assert ids.tolist() == [2, 4, 5, 6, 3]
    assert which.tolist() == [-1, 0, 1, 1, -1]
    ids, which = Pieces(wordpiece_files(tmp_path)).aligned(tokenize(""))
    assert ids.tolist() == [2, 3]
    assert which.tolist() == [-1, -1]


def test_a_text_longer_than_the_limit_loses_its_last_pieces_alone_checklist_10(
    tmp_path: Path,
) -> None:
    ids, which = Pieces(wordpiece_files(tmp_path), longest=6).aligned(tokenize("the was " * 50))
    assert ids.tolist() == [2, 4, 8, 4, 8, 3]
    assert which.tolist() == [-1, 0, 1, 2, 3, -1]


def test_pieces_are_those_of_the_text_that_is_left_checklist_10(tmp_path: Path) -> None:
    ready = preparer(max_tokens=3, pieces=Pieces(wordpiece_files(tmp_path)), with_title=False)
    found = ready.paragraph(paragraph("The station.", " It was."))
    assert found.pieces.tolist() == [2, 4, 5, 6, 17, 3]
    assert found.piece_tokens.tolist() == [-1, 0, 1, 1, 2, -1]


def test_a_directory_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds no tokenizer\.json"):
        Pieces(tmp_path)


@pytest.mark.parametrize("style", ["byte level", "metaspace"])
def test_pieces_that_begin_with_a_space_stand_with_the_word_behind_it_checklist_10(
    tmp_path: Path, style: str
) -> None:
    """RoBERTa's and XLM-R's pieces carry the space before their word."""
    mark = "Ġ" if style == "byte level" else "▁"
    vocabulary = [("<unk>", 0.0), ("the", -1.0), (f"{mark}the", -1.0), (f"{mark}was", -1.0)]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=0, byte_fallback=False))
    tokenizer.pre_tokenizer = (
        pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False)
        if style == "byte level"
        else pre_tokenizers.Metaspace()
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    found = pieces_by_token(Pieces(tmp_path), "the was")
    assert found["was"] == [3]
