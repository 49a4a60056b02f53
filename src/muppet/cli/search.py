"""The command that finds chains: search."""

import json
import time
from dataclasses import replace
from pathlib import Path

import click

from muppet.cli.progress import ProgressLine
from muppet.cli.shared import from_stdin, shown
from muppet.cli.show import NOTHING, one_line, show_attention, show_chain
from muppet.config import load_config
from muppet.domain import Chain, Paragraph
from muppet.knowledge.encode import has_model
from muppet.knowledge.open import KnowledgeBase
from muppet.retrieve.retriever import open_retriever
from muppet.text.questions import question_from
from muppet.text.stopwords import STOP_WORDS
from muppet.text.tokens import words
from muppet.wire import search_to_json

_NOTHING = {
    "bm25": NOTHING,
    "tfidf": "TF-IDF finds nothing: a word in half of the paragraphs weighs nothing; in a small "
    "collection that is most words. Use --retriever bm25.",
}


@click.command()
@click.argument("kb", type=click.Path(path_type=Path))
@click.argument("question")
@click.option(
    "--hops",
    type=click.Choice(["auto", "1", "2", "3", "4"]),
    help="How many paragraphs a chain has.",
)
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="An exported model [default: the KB's last, else ours].",
)
@click.option("--explain", is_flag=True, help="Show the words that reformulated the question.")
@click.option("--lexical", is_flag=True, help="By words alone: the first stage of the pipeline.")
@click.option(
    "--retriever", type=click.Choice(["bm25", "tfidf"]), default="bm25", show_default=True
)
@click.option("--config", "config_file", type=click.Path(path_type=Path), help="Settings, as TOML.")
@click.option("--top", default=5, show_default=True, type=click.IntRange(1, 1000))
@click.option("--json", "as_json", is_flag=True, help="Print the chains as JSON.")
def search(
    kb: Path,
    question: str,
    hops: str | None,
    model: Path | None,
    explain: bool,
    lexical: bool,
    retriever: str,
    config_file: Path | None,
    top: int,
    as_json: bool,
) -> None:
    """Find the chains of paragraphs in KB that answer QUESTION (- reads it from standard input).

    A knowledge base that has not been encoded is searched by words alone.
    """
    asked = question_from(from_stdin() if question == "-" else question).text
    with KnowledgeBase(kb) as knowledge:
        if lexical or (model is None and not has_model(kb)):
            _search_words(knowledge, asked, retriever, top, as_json)
            return
        settings = load_config(config_file).retrieve if config_file else knowledge.config.retrieve
        wanted = settings.hops if hops is None else hops if hops == "auto" else int(hops)
        settings = replace(settings, engine=retriever, hops=wanted, keep=max(top, settings.keep))
        progress = ProgressLine()
        searcher = open_retriever(knowledge, model, settings, progress)
        progress.close()
        began = time.perf_counter()
        found = searcher.retrieve(asked)
        seconds = {"retrieve": time.perf_counter() - began}
        chains = found.chains[:top]
        ranks = searcher.ranks(asked)
        if as_json:
            content = search_to_json(
                asked,
                [one.chain for one in chains],
                found.paragraphs,
                ranks,
                seconds,
                [one.score for one in chains],
            )
            click.echo(json.dumps(content))
            return
        if not chains:
            click.echo(_NOTHING[retriever])
        for rank, one in enumerate(chains, start=1):
            click.echo(f"{rank}. [{one.score:.2f}]")
            show_chain(one.chain, found.paragraphs, ranks)
            if explain and len(one.chain.hops) > 1:
                before = [found.paragraphs[n] for n in one.chain.paragraphs[:-1]]
                show_attention(searcher.encoder, asked, before)


def _search_words(
    knowledge: KnowledgeBase, question: str, retriever: str, top: int, as_json: bool
) -> None:
    progress = ProgressLine()
    knowledge.narrower(retriever, progress)
    progress.close()
    began = time.perf_counter()
    hops = knowledge.narrow(question, top, retriever)
    seconds = {"lexical": time.perf_counter() - began}
    paragraphs = knowledge.store.paragraphs([hop.paragraph for hop in hops])
    if as_json:
        chains = [Chain((hop,)) for hop in hops]
        ranks = {hop.paragraph: rank for rank, hop in enumerate(hops, start=1)}
        click.echo(json.dumps(search_to_json(question, chains, paragraphs, ranks, seconds)))
        return
    if not hops:
        click.echo(_NOTHING[retriever])
    for rank, hop in enumerate(hops, start=1):
        paragraph = paragraphs[hop.paragraph]
        click.echo(f"{rank}. {paragraph.title}  [{hop.score:.1f}]  {shown(paragraph.source)}")
        click.echo(f"   {_best_sentence(paragraph, question)}")


def _best_sentence(paragraph: Paragraph, question: str) -> str:
    """The sentence that shares most words with the question, on one line."""
    asked = {word.lower() for word in words(question)} - STOP_WORDS
    best = max(
        paragraph.sentences,
        key=lambda sentence: len(asked & {word.lower() for word in words(sentence)}),
    )
    return one_line(best)
