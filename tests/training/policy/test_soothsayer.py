import numpy as np
import torch

from training.decoding.beam import BeamSettings, beam
from training.decoding.hypothesis import LengthLimits
from training.policy.nbest import NBest
from training.policy.soothsayer import Soothsayer, Tuned, load_soothsayer, save_soothsayer, train_soothsayer

SOURCES = [[4 + i % 7, 4 + (i * i) % 5, *[5] * (i % 4), 3] for i in range(24)]
LIMITS = LengthLimits(ratio=0.0, extra=8, maximum=200)


def share(ids, token):
    return ids.count(token) / max(1, len(ids))


def test_it_learns_to_foresee_and_steers_the_beam(tiny_model):
    model = tiny_model(seed=3, scale=2.0)
    model.output.bias[3] += 1.0
    lists = beam(model, SOURCES, limits=LIMITS, settings=BeamSettings(beam_size=6, n_best=6))
    nbest = NBest.of(lists)
    # The token whose share varies most among the hypotheses: what there is to choose.
    token = max(range(4, 9), key=lambda one: np.std([share(ids, one) for ids in nbest.outputs()]))
    scores = np.array([share(ids, token) for ids in nbest.outputs()])
    losses = []
    soothsayer = train_soothsayer(
        model,
        SOURCES,
        nbest,
        scores,
        is_bounded=True,
        seed=0,
        updates=60,
        on_update=lambda _, loss: losses.append(loss),
    )
    assert sum(losses[-10:]) < 0.7 * sum(losses[:10])

    def mean_share(weight):
        settings = BeamSettings(beam_size=6, prefix_score=soothsayer, prefix_weight=weight)
        outputs = [best.ids for best, *_ in beam(model, SOURCES, limits=LIMITS, settings=settings)]
        return np.mean([share(ids, token) for ids in outputs])

    assert mean_share(0.0) == np.mean([share(best.ids, token) for best, *_ in lists])
    assert mean_share(8.0) > mean_share(0.0) + 0.02


def test_a_saved_soothsayer_says_the_same(tiny_model, tmp_path):
    sizes = tiny_model().sizes
    torch.manual_seed(0)
    soothsayer = Soothsayer(8, 10, 6, is_bounded=False).eval()
    save_soothsayer(tmp_path / "bleu.safetensors", Tuned(soothsayer, 0.5, {"objective": "bleu"}))
    loaded = load_soothsayer(tmp_path / "bleu.safetensors", sizes)
    states, contexts = torch.randn(3, 8), torch.randn(3, 10)
    torch.testing.assert_close(loaded.soothsayer(states, contexts), soothsayer(states, contexts))
    assert loaded.weight == 0.5
    assert loaded.facts["objective"] == "bleu"
    assert load_soothsayer(tmp_path / "chrf.safetensors", sizes) is None
