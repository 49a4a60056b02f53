"""BM25 by tantivy: incremental, memory-mapped, right from three documents on.

The default for a user's own corpus. Title and text are one field, so that a paragraph is found
by either (checklist 3); the title once more by itself, where `title_boost` is above 0.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import tantivy

from muppet.config import Bm25Config
from muppet.domain import Hop
from muppet.errors import ArtifactError
from muppet.text.stopwords import STOP_WORDS

HEAP = 128_000_000
_ANALYZER = "muppet"


class Bm25:
    """A tantivy index in a directory; made there if there is none."""

    def __init__(self, directory: Path, config: Bm25Config) -> None:
        self._config = config
        self._analyzer = _analyzer(config)
        self._directory = directory
        with self._telling_of_damage():
            directory.mkdir(exist_ok=True)
            self._schema = _schema()
            self._index = tantivy.Index(self._schema, path=str(directory))
        self._index.register_tokenizer(_ANALYZER, self._analyzer)

    def __len__(self) -> int:
        return int(self._index.searcher().num_docs)

    def change(self, added: Sequence[tuple[int, str, str]], removed: Sequence[int]) -> None:
        """Add (number, title, text) and forget numbers, in one commit.

        Numbers only grow, so what stands at or above the first added one was put there by a
        commit that a crash kept its caller from noting: it is forgotten and added again.
        """
        with self._telling_of_damage(()):  # of a full disk and the like the caller knows more
            self._commit(added, removed)

    def _commit(self, added: Sequence[tuple[int, str, str]], removed: Sequence[int]) -> None:
        writer = self._index.writer(heap_size=HEAP, num_threads=2)
        writer.garbage_collect_files()  # what a killed commit left would be in the way of ours
        if removed:  # by query: a term of a Python int never matches an unsigned field
            writer.delete_documents_by_query(
                tantivy.Query.term_set_query(self._schema, "number", removed)
            )
        if added:
            writer.delete_documents_by_query(self._from_number(added[0][0]))
        for number, title, text in added:
            writer.add_document(_document(number, title, text))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    def narrow(self, question: str, keep: int) -> list[Hop]:
        """The `keep` best paragraphs for a question, best first; ties in corpus order."""
        terms = dict.fromkeys(self._analyzer.analyze(_composed(question)))
        if not terms:
            return []
        searcher = self._index.searcher()
        most = min(keep, searcher.num_docs)  # room is made for so many, whether they are found
        with self._telling_of_damage():
            hits = searcher.search(self._query(list(terms)), limit=max(most, 1), count=False).hits
            numbers = searcher.fast_field_values("number", [address for _, address in hits])
        hops = [
            Hop(int(number), float(score))
            for number, (score, _) in zip(numbers, hits, strict=True)
            if number is not None
        ]
        return sorted(hops, key=lambda hop: (-hop.score, hop.paragraph))

    @contextmanager
    def _telling_of_damage(
        self, kinds: tuple[type[Exception], ...] = (ValueError, OSError)
    ) -> Iterator[None]:
        """What tantivy says of files that are not as it wrote them, in a sentence that helps; on
        some it panics, which is no `Exception` in Python."""
        try:
            yield
        except BaseException as error:
            is_panic = type(error).__name__ == "PanicException"
            if not is_panic and not isinstance(error, kinds):
                raise
            raise ArtifactError(
                f"{self._directory} cannot be read as a lexical index ({error}). Delete that "
                "directory and run `muppet index` again to rebuild it."
            ) from error

    def _query(self, terms: list[str]) -> tantivy.Query:
        queries = [self._term("text", term) for term in terms]
        if self._config.title_boost > 0:
            queries += [
                tantivy.Query.boost_query(self._term("title", term), self._config.title_boost)
                for term in terms
            ]
        return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])

    def _from_number(self, first: int) -> tantivy.Query:
        return tantivy.Query.range_query(
            self._schema, "number", tantivy.FieldType.Unsigned, lower_bound=first
        )

    def _term(self, field: str, term: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, term, index_option="freq")


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("number", indexed=True, fast=True)
    for field in ("title", "text"):
        builder.add_text_field(field, tokenizer_name=_ANALYZER, index_option="freq")
    return builder.build()


def _document(number: int, title: str, text: str) -> tantivy.Document:
    document = tantivy.Document()
    document.add_unsigned("number", number)
    document.add_text("title", _composed(title))
    document.add_text("text", _composed(f"{title}\n{text}"))
    return document


def terms_of(config: Bm25Config) -> Callable[[str], list[str]]:
    """What a text is searched by: its words, stemmed, without those that say nothing."""
    analyzer = _analyzer(config)
    return lambda text: analyzer.analyze(_composed(text))


def _composed(text: str) -> str:
    """NFC, on both sides: tantivy ends a word at an accent that stands by itself."""
    return unicodedata.normalize("NFC", text)


def _analyzer(config: Bm25Config) -> tantivy.TextAnalyzer:
    builder = (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
        .filter(tantivy.Filter.remove_long(60))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.custom_stopword(sorted(STOP_WORDS)))
        .filter(tantivy.Filter.ascii_fold())
    )
    if config.stem:
        builder = builder.filter(tantivy.Filter.stemmer("english"))
    return builder.build()
