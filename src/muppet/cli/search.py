"""The command that finds chains: search."""

import json
from dataclasses import replace
from pathlib import Path

import click

from muppet.cli.progress import ProgressLine
from muppet.cli.shared import (
    Hops,
    config_option,
    from_stdin,
    hops_option,
    kb_argument,
    model_option,
    shown,
)
from muppet.cli.show import NOTHING, one_line, show_attention, show_chain
from muppet.config import load_config
from muppet.domain import Found, Paragraph
from muppet.knowledge.open import KnowledgeBase, has_model
from muppet.retrieve.retriever import Retriever, open_retriever, search_words
from muppet.text.questions import question_from
from muppet.text.stopwords import STOP_WORDS
from muppet.text.tokens import words
from muppet.wire import Json, attention_to_json, search_to_json

_NOTHING = {
    "bm25": NOTHING,
    "tfidf": "TF-IDF finds nothing: a word in half of the paragraphs weighs nothing; in a small "
    "collection that is most words. Use --retriever bm25.",
}


@click.command()
@kb_argument
@click.argument("question")
@hops_option
@model_option
@click.option("--explain", is_flag=True, help="Show the words that reformulated the question.")
@click.option("--lexical", is_flag=True, help="By words alone: the first stage of the pipeline.")
@click.option(
    "--retriever", type=click.Choice(["bm25", "tfidf"]), help="[default: what the settings say]"
)
@config_option
@click.option("--top", default=5, show_default=True, type=click.IntRange(1, 1000))
@click.option("--json", "as_json", is_flag=True, help="Print the chains as JSON.")
def search(
    kb: Path,
    question: str,
    hops: Hops | None,
    model: Path | None,
    explain: bool,
    lexical: bool,
    retriever: str | None,
    config_file: Path | None,
    top: int,
    as_json: bool,
) -> None:
    """Find the chains of paragraphs in KB that answer QUESTION (- reads it from standard input).

    A knowledge base that has not been encoded is searched by words alone.
    """
    asked = question_from(from_stdin() if question == "-" else question).text
    with KnowledgeBase(kb) as knowledge:
        settings = (load_config(config_file) if config_file else knowledge.config).retrieve
        engine = retriever or settings.engine
        is_ready = model is not None or has_model(kb) or settings.on_demand
        if lexical or not is_ready:
            _search_words(knowledge, asked, engine, top, as_json)
            return
        settings = replace(
            settings,
            engine=engine,
            hops=settings.hops if hops is None else hops,
            keep=max(top, settings.keep),
        )
        progress = ProgressLine()
        searcher = open_retriever(knowledge, model, settings, progress)
        progress.close()
        found = searcher.retrieve(asked).best(top)
        if as_json:
            more = {"attention": _attention(searcher, found)} if explain else {}
            click.echo(json.dumps(search_to_json(found) | more))
            return
        if not found.chains:
            click.echo(_NOTHING[engine])
        for rank, (chain, score) in enumerate(zip(found.chains, found.scores, strict=True), 1):
            click.echo(f"{rank}. [{score:.2f}]")
            show_chain(chain, found.paragraphs, found.ranks)
            if explain and len(chain.hops) > 1:
                show_attention(searcher.encoder, asked, found.paragraphs_of(chain)[:-1])


def _attention(searcher: Retriever, found: Found) -> list[Json | None]:
    """Of each chain, the words that made its last hop's question; none where there is one hop."""
    told: list[Json | None] = []
    for chain in found.chains:
        read = found.paragraphs_of(chain)[:-1]
        if not read:
            told.append(None)
            continue
        attention = searcher.encoder.attention(found.question, read)
        told.append(attention_to_json(attention.question, read, attention.chain))
    return told


def _search_words(
    knowledge: KnowledgeBase, question: str, retriever: str, top: int, as_json: bool
) -> None:
    progress = ProgressLine()
    knowledge.narrower(retriever, progress)
    progress.close()
    found = search_words(knowledge, question, top, retriever)
    if as_json:
        click.echo(json.dumps(search_to_json(found)))
        return
    if not found.chains:
        click.echo(_NOTHING[retriever])
    for rank, (chain, score) in enumerate(zip(found.chains, found.scores, strict=True), 1):
        (paragraph,) = found.paragraphs_of(chain)
        title, source = one_line(paragraph.title), one_line(shown(paragraph.source))
        click.echo(f"{rank}. {title}  [{score:.1f}]  {source}")
        click.echo(f"   {_best_sentence(paragraph, question)}")


def _best_sentence(paragraph: Paragraph, question: str) -> str:
    """The sentence that shares most words with the question, on one line."""
    asked = {word.lower() for word in words(question)} - STOP_WORDS
    best = max(
        paragraph.sentences,
        key=lambda sentence: len(asked & {word.lower() for word in words(sentence)}),
    )
    return one_line(best)
