"""The reader's networks (checklist 23, 25)."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from muppet.config import CharacterConfig, ReaderConfig
from muppet.errors import ConfigError
from muppet.nn.embedding import TokenEmbedding
from muppet.nn.encoder import Encoded
from muppet.nn.pooling import max_over_sentences, max_over_text
from muppet.nn.reader import ChainBatch, Logits, Reader

D = 8
FORMS = ["paper", "released"]
LETTERS = CharacterConfig(dim=3, filters=4, width=2, longest=5, at_least=1)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(25)


def reader(**settings: object) -> Reader:
    config = ReaderConfig(dim=D, hidden=5, word_vectors=False, characters=LETTERS)
    config = replace(config, **settings)  # type: ignore[arg-type]
    made = Reader(config, TokenEmbedding(None, 9, LETTERS, None)).double().eval()
    with torch.no_grad():
        for weights in made.parameters():
            weights.normal_(std=0.5)
    return made


def text(batch: int, length: int) -> Encoded:
    states = torch.randn(batch, length, D, dtype=torch.double)
    return Encoded(states, torch.ones(batch, length, dtype=torch.bool))


def chain_of(segments: list[list[int]], titles: list[list[int]] | None = None) -> ChainBatch:
    """Chains of one length, by the sentence of each token."""
    of_tokens = torch.tensor(segments)
    count = int(of_tokens.max()) + 1
    marked = torch.tensor(titles).bool() if titles else torch.zeros_like(of_tokens).bool()
    return ChainBatch(
        torch.ones_like(of_tokens).bool(), of_tokens, torch.ones(len(segments), count), marked
    )


def padded(chain: ChainBatch, states: Tensor, by: int) -> tuple[ChainBatch, Tensor]:
    """The same chains with loud padding, and one more sentence that is not there."""
    batch, count = chain.sentences.shape
    nothing = torch.zeros(batch, by, dtype=torch.bool)
    noise = 50 * torch.randn(batch, by, D, dtype=torch.double)
    wider = ChainBatch(
        torch.cat([chain.mask, nothing], 1),
        torch.cat([chain.segments, torch.full((batch, by), count + 1)], 1),
        torch.ones(batch, count + 1),
        torch.cat([chain.titles, nothing], 1),
    )
    return wider, torch.cat([states, noise], 1)


def close(one: Tensor, other: Tensor) -> None:
    torch.testing.assert_close(one, other, atol=1e-9, rtol=0)


@pytest.mark.parametrize("form", FORMS)
def test_the_chain_attends_to_the_question_and_then_to_itself_checklist_23(form: str) -> None:
    """Bi-attention with the roles switched, ReLU; BiGRU, self-attention, ReLU; their sum."""
    aware = reader(attention=form).aware
    question, chain = text(2, 3), text(2, 6)
    attended = aware.attention(chain.states, chain.mask, question.states, question.mask)
    assert attended.towards.shape == (2, 6, 3)  # each word of the chain over the question's
    u = aware.merge(attended.states).clamp(min=0)
    again = aware.residual(u, torch.tensor([6, 6]))
    v = aware.transform(aware.self_attention(again, chain.mask)).clamp(min=0)
    close(aware(question, chain), u + v)


def test_the_end_is_read_behind_the_start_states_checklist_23() -> None:
    spans, x = reader().spans, text(2, 5)
    lengths = torch.tensor([5, 5])
    starts = spans.before(x.states, lengths)
    ends = spans.behind(torch.cat([x.states, starts], dim=2), lengths)
    start, end = spans(*x)
    close(start, spans.start(starts)[:, :, 0])
    close(end, spans.end(ends)[:, :, 0])


def test_the_paper_s_sizes_are_the_defaults_checklist_23_and_25() -> None:
    made = Reader(
        ReaderConfig(word_vectors=False), TokenEmbedding(None, 9, CharacterConfig(), None)
    )
    assert made.recurrent.forwards.hidden_size == 150
    assert made.heads is not None
    assert made.heads.support[0].out_features == 150
    assert made.recurrent.dropout.rate == made.aware.dropout.rate == 0.2


def test_span_or_yes_no_is_told_from_the_question_alone_checklist_25() -> None:
    network, question, states = reader(), text(2, 4), text(2, 6).states
    chain = chain_of([[0, 0, 0, 1, 1, 1]] * 2)
    assert network.heads is not None
    found = network.compare(question, states, chain)
    close(found.kind, network.heads.kind(max_over_text(*question)))
    close(found.kind, network.compare(question, states + 1.0, chain).kind)
    other = Encoded(question.states + 1.0, question.mask)
    assert not torch.allclose(found.kind, network.compare(other, states, chain).kind)


def test_yes_or_no_and_support_are_read_from_the_question_aware_chain_checklist_25() -> None:
    network, question, states = reader(), text(2, 4), text(2, 6).states
    chain = chain_of([[0, 0, 0, 1, 1, 1]] * 2)
    heads = network.heads
    assert heads is not None
    assert heads.sentences is not None
    found = network.compare(question, states, chain)
    aware = network.aware(question, Encoded(states, chain.mask))
    close(found.verdict, heads.verdict(max_over_text(aware, chain.mask)))
    again = heads.sentences(aware, torch.tensor([6, 6]))
    pooled = max_over_sentences(again, chain.segments, 2)
    hidden = heads.support[0](pooled).clamp(min=0)
    close(found.support, heads.support[2](hidden)[:, :, 0])


@pytest.mark.parametrize("form", FORMS)
def test_padding_changes_nothing_a_chain_says_checklist_23(form: str) -> None:
    network, question, states = reader(attention=form), text(2, 4), text(2, 6).states
    chain = chain_of([[0, 0, 0, 1, 1, 2]] * 2, [[1, 0, 0, 0, 0, 0]] * 2)
    plain = network.compare(question, states, chain)
    wider, noisy = padded(chain, states, by=3)
    nothing = torch.zeros(2, 2, dtype=torch.bool)
    longer = Encoded(
        torch.cat([question.states, 50 * text(2, 2).states], 1),
        torch.cat([question.mask, nothing], 1),
    )
    found = network.compare(longer, noisy, wider)
    close(found.start[:, :6], plain.start)
    close(found.end[:, :6], plain.end)
    close(found.kind, plain.kind)
    close(found.verdict, plain.verdict)
    close(found.support[:, :3], plain.support)


def test_batch_mates_change_nothing_a_chain_says_checklist_23() -> None:
    network, question, states = reader(), text(3, 4), text(3, 6).states
    chain = chain_of([[0, 0, 1, 1, 2, 2], [0] * 6, [0, 1, 1, 1, 1, 2]])
    together = network.compare(question, states, chain)
    for row in range(3):
        only = slice(row, row + 1)
        alone = network.compare(
            Encoded(*(part[only] for part in question)),
            states[only],
            ChainBatch(*(part[only] for part in chain)),
        )
        for one, all_ in zip(alone, together, strict=True):
            close(one[0], all_[row])


def test_words_of_a_title_are_marked_checklist_3() -> None:
    network, question, states = reader(), text(1, 4), text(1, 5).states
    plain = network.compare(question, states, chain_of([[0, 0, 0, 1, 1]]))
    marked = network.compare(question, states, chain_of([[0, 0, 0, 1, 1]], [[1, 1, 0, 0, 0]]))
    assert not torch.allclose(plain.start, marked.start)
    shifted = states.clone()
    shifted[:, :2] += network.title
    close(marked.start, network.compare(question, shifted, chain_of([[0, 0, 0, 1, 1]])).start)


def test_without_heads_every_answer_is_a_span_and_nothing_is_support_checklist_28() -> None:
    network = reader(heads=False)
    found: Logits = network.compare(text(2, 3), text(2, 5).states, chain_of([[0, 0, 1, 1, 1]] * 2))
    assert (found.kind.softmax(dim=1)[:, 0] == 1).all()
    assert (found.support.sigmoid() == 0).all()
    assert not any("heads" in name for name, _ in network.named_parameters())


@pytest.mark.parametrize("form", FORMS)
def test_its_gradients_are_right_checklist_23(form: str) -> None:
    network, question = reader(attention=form), text(1, 2)
    chain = chain_of([[0, 0, 1]])

    def read(asked: Tensor, states: Tensor) -> tuple[Tensor, ...]:
        return tuple(network.compare(Encoded(asked, question.mask), states, chain))

    inputs = (question.states.requires_grad_(), text(1, 3).states.requires_grad_())
    assert torch.autograd.gradcheck(read, inputs)


def test_dropout_is_drawn_in_training_only_checklist_23() -> None:
    network, question, states = reader(), text(1, 4), text(1, 6).states
    chain = chain_of([[0] * 6])
    quiet = network.compare(question, states, chain).start
    assert torch.equal(quiet, network.compare(question, states, chain).start)
    network.train()
    assert not torch.allclose(quiet, network.compare(question, states, chain).start)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"attention": "papers"}, "reader.attention must be one of paper, released"),
        ({"network": "rnn"}, "reader.network must be one of recurrent, transformer"),
        ({"network": "transformer"}, "reader.network = 'transformer' takes its tokens"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        reader(**settings)
