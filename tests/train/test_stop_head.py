"""The stop head, fitted by itself: when is the evidence complete? (checklist 34)"""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from muppet.cli.main import cli
from muppet.config import CharacterConfig, ContextualConfig, EncoderConfig
from muppet.corpus.benchmarks import read_questions
from muppet.domain import Paragraph
from muppet.encode.encoder import TextEncoder
from muppet.encode.graphs import Graphs
from muppet.errors import ConfigError, QuestionError
from muppet.nn.export import export_model
from muppet.nn.model import new_model
from muppet.train.stop_head import (
    Prefix,
    StopHead,
    accuracies,
    fit_stop_head,
    fit_to,
    gold_prefixes,
    write_stop_head,
)
from random_model import write_model
from tiny_bert import write_bert

PLACES = ("Bergen", "Oslo", "Turin", "Lyon", "Cork", "Bath", "Ghent", "Kiel", "Split", "Faro")


def write_questions(path: Path, count: int = 10) -> Path:
    """Questions of two hops, each with its texts and a distractor, in HotpotQA's schema."""
    rows = [
        {
            "_id": str(number),
            "question": f"In which country was writer {number} born?",
            "answer": "Norway",
            "type": "bridge",
            "supporting_facts": [[f"Writer {number}", 0], [PLACES[number], 0]],
            "context": [
                [f"Writer {number}", [f"The writer was born in {PLACES[number]}."]],
                [PLACES[number], [f"It is a town, the {number}th of its country."]],
                ["Owl", [f"Owls sleep {number} hours."]],
            ],
        }
        for number in range(count)
    ]
    path.write_text(json.dumps(rows))
    return path


@pytest.fixture(scope="module")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert"))


def prefix(source: str, number: int, *, complete: bool) -> Prefix:
    return Prefix(source, number, "Who?", (), complete)


def test_every_beginning_of_the_gold_is_one_and_only_all_of_it_is_complete(tmp_path: Path) -> None:
    questions = read_questions(write_questions(tmp_path / "q.json"))
    found = gold_prefixes("two hops", questions, np.random.default_rng(1))
    with_distractor = 0
    for number, one in enumerate(questions):
        own = [each for each in found if each.number == number]
        golds = [each for each in own if {*each.chain} <= {*one.gold.paragraphs}]
        assert [len(each.chain) for each in golds] == [1, 2]
        assert [each.complete for each in own].count(True) == 1
        for each in own:
            assert each.complete == ({*each.chain} == {*one.gold.paragraphs})
        with_distractor += len(own) - len(golds)
    assert 0 < with_distractor < len(questions)


def test_questions_without_the_texts_of_their_gold_are_left_out() -> None:
    """Those of the demo corpus name its paragraphs by their titles alone."""
    demo = Path(__file__).parents[2] / "src/muppet/demo/questions.json"
    assert gold_prefixes("demo", read_questions(demo), np.random.default_rng(1)) == []


def test_the_fit_finds_what_tells_them_apart_in_unseen_vectors() -> None:
    rng = np.random.default_rng(3)
    direction = rng.normal(size=12)
    vectors = rng.normal(size=(600, 12)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    complete = vectors @ direction > 0.3
    prefixes = [prefix("a", n, complete=bool(one)) for n, one in enumerate(complete)]
    head = fit_stop_head(vectors[:400], prefixes[:400])
    assert accuracies(head, vectors[400:], prefixes[400:])["a"][0] > 0.9


def test_a_source_with_many_questions_does_not_outvote_one_with_few() -> None:
    """Of one vector "few" says not complete, "many" that it is; "third" says of another not
    complete. Each source weighs the same within its label, whatever its number."""
    vectors = np.array([[1.0, 0.0]] * 110 + [[0.0, 1.0]] * 500, np.float32)
    prefixes = [
        *(prefix("many", n, complete=True) for n in range(100)),
        *(prefix("few", n, complete=False) for n in range(10)),
        *(prefix("third", n, complete=False) for n in range(500)),
    ]
    half = float(fit_stop_head(vectors, prefixes).logits(vectors[:1])[0])
    assert half == pytest.approx(np.log(2), abs=0.1)  # 1/2 against 1/4 of all weight


def test_only_the_stop_logit_of_the_written_model_is_another(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model")
    before = Graphs(model)
    head = StopHead(np.linspace(-1, 1, 16, dtype=np.float32), 0.25)
    write_stop_head(model, tmp_path / "new", head)
    after = Graphs(tmp_path / "new")
    questions = np.random.default_rng(0).normal(size=(5, 16)).astype(np.float32)
    old, new = before.relevance(questions, 1), after.relevance(questions, 1)
    assert after.checksum == before.checksum  # an index of the old one's vectors stays right
    for part in (0, 1):
        np.testing.assert_array_equal(new[part], old[part])
    np.testing.assert_allclose(new[2], head.logits(questions), rtol=1e-5)
    assert (before.config.judges, after.config.judges) == (True, False)


def test_what_it_says_of_a_chain_is_the_fitted_head_of_its_reformulated_question(
    tmp_path: Path,
) -> None:
    model = write_model(tmp_path / "model")
    chains = [[Paragraph("a", "Ada", ("She wrote.",))], [Paragraph("b", "Bo", ("He sang.",))]]
    asked = ["Who wrote?", "Who sang?"]
    head = StopHead(np.full(16, 0.5, np.float32), -1.0)
    write_stop_head(model, tmp_path / "new", head)
    encoder = TextEncoder(tmp_path / "new")
    wanted = head.logits(np.stack(encoder.reformulated(asked, chains)))
    np.testing.assert_allclose(encoder.ask_after(asked, chains).complete, wanted, rtol=1e-5)


def test_a_transformer_sees_its_vectors_enlarged_and_the_fitted_head_counts_that_in(
    tmp_path: Path, tiny_bert: Path
) -> None:
    config = EncoderConfig(
        dim=32,
        network="transformer",
        word_vectors=False,
        characters=CharacterConfig(filters=0),
        contextual=ContextualConfig(kind="transformer", path=str(tiny_bert), layers=1),
    )
    export_model(tmp_path / "model", new_model(config, [], None), {})
    head = StopHead(np.linspace(-1, 1, 32, dtype=np.float32), 0.25)
    write_stop_head(tmp_path / "model", tmp_path / "new", head)
    questions = np.random.default_rng(0).normal(size=(5, 32)).astype(np.float32)
    found = Graphs(tmp_path / "new").relevance(questions, 1)[2]
    np.testing.assert_allclose(found, head.logits(questions), rtol=1e-4, atol=1e-5)


def test_paragraphs_of_one_name_and_different_texts_are_read_as_they_are(tmp_path: Path) -> None:
    """Benchmarks name paragraphs by their titles, and titles come twice."""
    encoder = TextEncoder(write_model(tmp_path / "model"))
    chains = [[Paragraph("Owl", "Owl", ("It hoots.",))], [Paragraph("Owl", "Owl", ("A film.",))]]
    both = encoder.reformulated(["What?", "What?"], chains)
    apart = [encoder.reformulated(["What?"], [chain])[0] for chain in chains]
    np.testing.assert_allclose(both, apart, atol=1e-5)
    assert not np.allclose(both[0], both[1], atol=1e-3)


def test_the_command_says_how_often_it_is_right(tmp_path: Path) -> None:
    model, questions = write_model(tmp_path / "model"), write_questions(tmp_path / "q.json")
    command = [
        "train",
        "stop",
        str(model),
        str(questions),
        "--out",
        str(tmp_path / "new"),
        "--json",
    ]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0, result.output
    (shares,) = json.loads(result.stdout)["right"].values()
    assert {"1", "2"} <= shares.keys() and all(0 <= one <= 1 for one in shares.values())
    assert Graphs(tmp_path / "new").config.hops == 2


def test_one_hop_has_no_stop_head(tmp_path: Path) -> None:
    model = write_model(tmp_path / "model", hops=1)
    with pytest.raises(ConfigError, match="one hop"):
        fit_to(model, [Path("q.json")], tmp_path / "new", count=9, seed=1)
    with pytest.raises(ConfigError, match="no stop head"):
        write_stop_head(model, tmp_path / "new", StopHead(np.zeros(16, np.float32), 0.0))
    assert not (tmp_path / "new").exists()


def test_questions_of_one_kind_teach_nothing(tmp_path: Path) -> None:
    squad = {
        "data": [
            {
                "title": "Ada",
                "paragraphs": [
                    {
                        "context": "Ada wrote a program.",
                        "qas": [
                            {
                                "id": "1",
                                "question": "What did Ada write?",
                                "answers": [{"text": "a program", "answer_start": 10}],
                            }
                        ],
                    }
                ],
            }
        ]
    }
    file = tmp_path / "squad.json"
    file.write_text(json.dumps(squad))
    model = write_model(tmp_path / "model")
    with pytest.raises(QuestionError, match="chains that are complete"):
        fit_to(model, [file], tmp_path / "new", count=9, seed=1)
    assert not (tmp_path / "new").exists()
