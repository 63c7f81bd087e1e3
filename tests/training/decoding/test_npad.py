import pytest
import torch

from training.decoding.greedy import greedy
from training.decoding.npad import SentenceNoise, npad
from training.decoding.scoring import score_under_model

SOURCES = [[4 + i % 7, 4 + (i * i) % 5, *[5] * (i % 4), 3] for i in range(20)]


def test_one_sample_is_greedy(tiny_model, short):
    model = tiny_model()
    for left, right in zip(
        npad(model, SOURCES, limits=short, samples=1), greedy(model, SOURCES, limits=short), strict=True
    ):
        assert (left.ids, left.is_truncated) == (right.ids, right.is_truncated)


def test_the_answer_is_never_less_probable_than_greedys_and_sometimes_more(tiny_model, short):
    model = tiny_model(seed=5, scale=1.5)
    pairs = list(zip(npad(model, SOURCES, limits=short, sigma=1.0), greedy(model, SOURCES, limits=short), strict=True))
    finished = [(noisy, plain) for noisy, plain in pairs if not plain.is_truncated]
    assert all(noisy.log_probability >= plain.log_probability - 1e-4 for noisy, plain in finished)
    assert any(noisy.log_probability > plain.log_probability + 0.1 for noisy, plain in pairs)
    # A finished output is preferred to one that was cut.
    assert all(plain.is_truncated or not noisy.is_truncated for noisy, plain in pairs)


def test_the_log_probabilities_are_the_frozen_models(tiny_model, short):
    model = tiny_model(seed=5, scale=1.5)
    outputs = npad(model, SOURCES, limits=short, sigma=1.0)
    scores = score_under_model(
        model, SOURCES, [one.ids for one in outputs], truncated=[one.is_truncated for one in outputs]
    )
    for output, row in zip(outputs, scores, strict=True):
        assert output.token_log_probabilities == pytest.approx(row, abs=1e-5)


def test_a_sentence_does_not_depend_on_its_place_or_its_batch(tiny_model, short):
    model = tiny_model(seed=5, scale=1.5)
    together = npad(model, SOURCES, limits=short, sigma=1.0)
    backwards = npad(model, SOURCES[::-1], limits=short, sigma=1.0, batch_tokens=100)
    assert [one.ids for one in backwards[::-1]] == [one.ids for one in together]


def test_another_seed_is_another_noise(tiny_model, short):
    model = tiny_model(seed=5, scale=1.5)
    runs = [npad(model, SOURCES, limits=short, sigma=1.0, samples=2, seed=seed) for seed in (0, 0, 1)]
    assert runs[0] == runs[1]
    assert [one.ids for one in runs[0]] != [one.ids for one in runs[2]]


def test_noise_is_zero_for_the_first_sample_and_falls_as_one_over_t():
    noise = SentenceNoise([[4, 3]], samples=401, sigma=0.5, state_size=50, seed=0)
    rows = torch.arange(401)
    for step in (1, 2, 3, 4):
        drawn = noise(step, rows)
        assert drawn[0].abs().max() == 0
        assert drawn[1:].std().item() == pytest.approx(0.5 / step, rel=0.03)


def test_a_rows_noise_does_not_depend_on_which_rows_have_ended():
    everyone = SentenceNoise([[4, 3], [5, 3]], samples=3, sigma=0.5, state_size=4, seed=0)
    some = SentenceNoise([[4, 3], [5, 3]], samples=3, sigma=0.5, state_size=4, seed=0)
    for step, rows in enumerate([[0, 1, 2, 3, 4, 5], [1, 2, 4], [2, 4], [4]], start=1):
        expected = everyone(step, torch.arange(6))
        assert torch.equal(some(step, torch.tensor(rows)), expected[rows])


def test_no_samples_are_refused(tiny_model, short):
    with pytest.raises(ValueError, match="samples is 0"):
        npad(tiny_model(), SOURCES, limits=short, samples=0)
