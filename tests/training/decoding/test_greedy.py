import math

import pytest
import torch

from training.decoding.greedy import greedy
from training.decoding.hypothesis import LengthLimits

# Of the vocabulary 0 1 2 3 4: bos (2) is followed by 4 (.6) or eos (.4); then 4 by eos (.7) or 4 (.3).
CHAIN = torch.tensor([[[[0, 0, 0, 1, 0]] * 2 + [[0, 0, 0, 0.4, 0.6], [0, 0, 0, 1, 0], [0, 0, 0, 0.7, 0.3]]]])


def test_greedy_takes_the_most_probable_token_at_every_step(tabular, short):
    [hypothesis] = greedy(tabular(CHAIN), [[0, 3]], limits=short)
    assert hypothesis.ids == (4,)
    assert not hypothesis.is_truncated
    assert hypothesis.token_log_probabilities == pytest.approx((math.log(0.6), math.log(0.7)))


def test_an_output_that_does_not_end_is_cut_at_its_limit_and_says_so(tabular):
    endless = torch.tensor([[[[0, 0, 0, 0.1, 0.9]] * 5]])
    limits = LengthLimits(ratio=1.0, extra=1, maximum=5)
    outputs = greedy(tabular(endless), [[0, 3], [0, 0, 0, 0, 0, 0, 0, 3]], limits=limits)
    assert [output.ids for output in outputs] == [(4, 4, 4), (4,) * 5]
    assert all(output.is_truncated for output in outputs)
    assert outputs[0].token_log_probabilities == pytest.approx((math.log(0.9),) * 3)


def test_an_output_that_ends_at_its_last_step_is_not_truncated(tabular):
    [hypothesis] = greedy(tabular(CHAIN), [[0, 3]], limits=LengthLimits(0.0, 2, 200))
    assert (hypothesis.ids, hypothesis.is_truncated) == ((4,), False)


def test_outputs_come_in_the_order_of_the_input_whatever_the_batches(tiny_model, short):
    model = tiny_model()
    generator = torch.Generator().manual_seed(0)
    sources = [
        [*torch.randint(4, 11, (length,), generator=generator).tolist(), 3] for length in (3, 1, 8, 2, 5, 1, 7, 4)
    ]
    alone = [greedy(model, [source], limits=short)[0] for source in sources]
    assert len({output.ids for output in alone}) > 3
    for batch_tokens in (1, 20, 4000):
        together = greedy(model, sources, limits=short, batch_tokens=batch_tokens)
        assert [output.ids for output in together] == [output.ids for output in alone]
        for left, right in zip(together, alone, strict=True):
            assert left.token_log_probabilities == pytest.approx(right.token_log_probabilities, abs=1e-5)
            assert left.is_truncated == right.is_truncated


def test_dropping_finished_rows_changes_nothing(tiny_model, short, monkeypatch):
    model, sources = tiny_model(seed=1), [[4 + i % 7, 4 + i // 7, 3] for i in range(49)]
    compacted = greedy(model, sources, limits=short)
    assert len({len(output.ids) for output in compacted}) > 3
    monkeypatch.setattr("training.decoding.greedy.COMPACT_SHARE", 2.0)
    assert [output.ids for output in greedy(model, sources, limits=short)] == [output.ids for output in compacted]


def test_an_actor_that_does_nothing_equals_none(tiny_model, short):
    model, sources = tiny_model(), [[4, 5, 3], [6, 3]]
    idle = greedy(model, sources, limits=short, actor=lambda state, context, word: torch.zeros_like(state))
    assert idle == greedy(model, sources, limits=short)


def test_the_log_probabilities_are_those_of_the_nudged_decoder(tabular, short):
    # At t = 0 eos is certain; the actor moves on to t = 1, where 4 follows with .75.
    steps = torch.tensor([[[[0, 0, 0, 1, 0]] * 5, [[0, 0, 0, 0.25, 0.75]] * 5, [[0, 0, 0, 1, 0]] * 5]])
    model = tabular(steps)

    def skip(state, context, word):
        return torch.tensor([[0.0, 1.0]]).expand_as(state)

    assert greedy(model, [[0, 3]], limits=short)[0].ids == ()
    [nudged] = greedy(model, [[0, 3]], limits=short, actor=skip)
    assert nudged.ids == (4,)
    assert nudged.token_log_probabilities == pytest.approx((math.log(0.75), 0.0))


def test_dropout_is_off_while_decoding_and_back_afterwards(tiny_model, short):
    model = tiny_model()
    expected = greedy(model, [[4, 5, 6, 3]], limits=short)
    model.train()
    assert greedy(model, [[4, 5, 6, 3]], limits=short) == expected
    assert model.training


def test_progress_counts_every_sentence_once(tiny_model, short):
    seen = []
    greedy(tiny_model(), [[4, 3]] * 7, limits=short, batch_tokens=4, on_progress=seen.append)
    assert sum(seen) == 7
    assert len(seen) == 4


def test_no_sources_give_no_outputs(tiny_model, short):
    assert greedy(tiny_model(), [], limits=short) == []
