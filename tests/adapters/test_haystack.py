"""A knowledge base in Haystack's own pipelines."""

import os

import pytest

import muppet
from random_model import Demo

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"  # it is read when haystack is imported
haystack = pytest.importorskip(
    "haystack", reason="haystack-ai is not installed: pip install -e '.[haystack]'"
)

QUESTION = "Which Norwegian sea captain founded the whaling station where Shackleton is buried?"


def test_documents_are_the_paragraphs_of_the_chains(demo: Demo) -> None:
    from muppet.adapters.haystack import MuppetRetriever

    with muppet.open(demo.kb) as kb:
        documents = MuppetRetriever(kb, chains=2).run(query=QUESTION)["documents"]
        fewer = MuppetRetriever(kb, chains=2).run(query=QUESTION, chains=1)["documents"]
        found = kb.search(QUESTION, chains=2)
    first = found.paragraphs_of(found.chains[0])
    assert [one.content for one in documents[:2]] == [one.text for one in first]
    assert [one.id for one in documents[:2]] == [one.id for one in first]
    assert [one.score for one in documents[:2]] == [found.scores[0]] * 2
    assert [one.meta["hop"] for one in documents[:2]] == [1, 2]
    assert fewer == documents[:2]


def test_a_pipeline_runs_it_and_is_saved_with_it(demo: Demo) -> None:
    from haystack.components.builders import PromptBuilder

    from muppet.adapters.haystack import MuppetRetriever

    template = "{% for one in documents %}{{ one.meta['title'] }};{% endfor %} {{ question }}"
    pipeline = haystack.Pipeline()
    pipeline.add_component("find", MuppetRetriever(str(demo.kb), chains=1, hops=1))
    prompt = PromptBuilder(template, required_variables=["documents", "question"])
    pipeline.add_component("prompt", prompt)
    pipeline.connect("find.documents", "prompt.documents")
    asked = {"find": {"query": QUESTION}, "prompt": {"question": QUESTION}}
    first = pipeline.run(asked)["prompt"]["prompt"]
    assert first.endswith(QUESTION)
    assert first.count(";") == 1
    trusted = ["muppet.adapters.haystack"]
    again = haystack.Pipeline.loads(pipeline.dumps(), allowed_modules=trusted)
    assert again.run(asked)["prompt"]["prompt"] == first


def test_a_component_over_an_open_knowledge_base_is_saved_by_its_directory(demo: Demo) -> None:
    from muppet.adapters.haystack import MuppetRetriever

    with muppet.open(demo.kb) as kb:
        content = MuppetRetriever(kb, hops="auto").to_dict()
    assert content["init_parameters"] == {"kb": str(demo.kb), "chains": 5, "hops": "auto"}
    assert MuppetRetriever.from_dict(content).to_dict() == content


def test_what_is_wrong_is_our_error(demo: Demo) -> None:
    from muppet.adapters.haystack import MuppetRetriever

    with pytest.raises(muppet.MuppetError, match="nowhere"):
        MuppetRetriever("nowhere").warm_up()
    with pytest.raises(muppet.MuppetError, match="empty"):
        MuppetRetriever(str(demo.kb)).run(query=" ")
