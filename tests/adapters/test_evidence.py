"""What adapters give their frameworks, and what they say where the framework is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

import muppet
from muppet.adapters.evidence import evidence_of, opened
from random_model import Demo

QUESTION = "Which Norwegian sea captain founded the whaling station where Shackleton is buried?"


def test_each_paragraph_comes_once_with_its_place_in_the_best_chain(demo: Demo) -> None:
    with muppet.open(demo.kb) as kb:
        found = kb.search(QUESTION, chains=5)
        documents = evidence_of(found)
    ids = [one.id for one in documents]
    assert len(ids) == len(set(ids)) < 10
    assert set(ids) == {
        found.paragraphs[number].id for chain in found.chains for number in chain.paragraphs
    }
    assert [(one.metadata["chain"], one.metadata["hop"]) for one in documents[:2]] == [
        (1, 1),
        (1, 2),
    ]
    assert [one.score for one in documents] == sorted(
        (one.score for one in documents), reverse=True
    )
    for one in documents:
        chain = found.chains[one.metadata["chain"] - 1]
        hop = chain.hops[one.metadata["hop"] - 1]
        paragraph = found.paragraphs[hop.paragraph]
        assert one.text == paragraph.text
        assert one.metadata == {
            "paragraph": paragraph.id,
            "title": paragraph.title,
            "source": paragraph.source,
            "chain": one.metadata["chain"],
            "hop": one.metadata["hop"],
            "score": hop.score,
            "chain_score": found.scores[one.metadata["chain"] - 1],
            "sentence": hop.sentence,
            "rank_for_question": found.ranks.get(hop.paragraph),
        }


def test_a_knowledge_base_may_be_named_or_given(demo: Demo) -> None:
    with opened(str(demo.kb)) as kb:
        assert opened(kb) is kb
        assert kb.directory == Path(demo.kb)


@pytest.mark.parametrize(
    ("adapter", "name", "library"),
    [
        ("langchain", "LangChain", "langchain_core"),
        ("llamaindex", "LlamaIndex", "llama_index"),
        ("haystack", "Haystack", "haystack"),
    ],
)
def test_without_its_library_an_adapter_says_what_to_install(
    adapter: str, name: str, library: str
) -> None:
    program = (
        "import sys, muppet\n"
        f"sys.modules[{library!r}] = None\n"
        "try:\n"
        f"    import muppet.adapters.{adapter}\n"
        "except muppet.MuppetError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        f"The {name} adapter needs {library}, which is not installed: "
        f"in the directory of Muppet's source, pip install --editable '.[{adapter}]'.\n"
    )
