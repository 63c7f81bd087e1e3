"""The trainer's promises: resumable to the bit, guarded against NaN, stopping when dev stalls."""

from pathlib import Path

import numpy as np
import pytest
import torch

from training.config import Pretrain
from training.corpus.batches import BatchStream
from training.corpus.cache import TokenCorpus
from training.errors import TrainingError
from training.nmt import trainer
from training.nmt.checkpoint import load_state, save_state
from training.nmt.model import ModelSizes, TranslationModel
from training.nmt.processes import Processes
from training.nmt.trainer import Evaluation, TrainingState, start, train

ALONE = Processes(0, 1, torch.device("cpu"))
SIZES = ModelSizes(20, 20, embedding=6, encoder=5, decoder=8, attention=4, readout=6, tie_output=True)
CONFIG = Pretrain(
    learning_rate=0.01, warmup_steps=3, batch_tokens=40, max_tokens=8, max_steps=12, evaluate_every=4,
    checkpoint_every=5, label_smoothing=0.1, ema=0.9,
)  # fmt: skip


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> TokenCorpus:
    random = np.random.default_rng(1)
    pairs = [
        (ids, list(reversed(ids)))
        for ids in (random.integers(4, 20, random.integers(2, 8)).tolist() for _ in range(60))
    ]
    folder = tmp_path_factory.mktemp("corpus") / "data"
    TokenCorpus.write(folder, pairs, vocabulary=20)
    return TokenCorpus.open(folder)


class Watch:
    """An observer that writes checkpoints to one file and can pull the plug."""

    def __init__(self, path: Path | None = None, dies_after: int | None = None) -> None:
        self.path = path
        self.dies_after = dies_after
        self.evaluated_steps: list[int] = []

    def updated(self, state: TrainingState, loss: float, rate: float) -> None:
        if state.step == self.dies_after:
            raise KeyboardInterrupt

    def evaluated(self, state: TrainingState, evaluation: Evaluation) -> None:
        self.evaluated_steps.append(evaluation.step)

    def checkpoint(self, state: TrainingState) -> None:
        if self.path:
            save_state(self.path, state.as_dict())


def _fresh(config: Pretrain = CONFIG, dropout: float = 0.3) -> TrainingState:
    torch.manual_seed(config.seed)
    return start(TranslationModel(SIZES, dropout=dropout, word_dropout=0.1), config)


def _stream(corpus: TokenCorpus) -> BatchStream:
    return BatchStream(corpus, batch_tokens=40, max_tokens=8, seed=1)


def test_resumed_training_ends_in_the_same_weights_as_an_uninterrupted_one(corpus: TokenCorpus, tmp_path: Path) -> None:
    whole = _fresh()
    train(whole, _stream(corpus), CONFIG, ALONE, lambda state: float(state.step), Watch())

    checkpoint = tmp_path / "state.pt"
    with pytest.raises(KeyboardInterrupt):
        train(
            _fresh(), _stream(corpus), CONFIG, ALONE, lambda state: float(state.step), Watch(checkpoint, dies_after=8)
        )
    torch.manual_seed(999)  # the new process's random state is another one
    resumed = _fresh(CONFIG.model_copy(update={"seed": 77}))
    resumed.load_dict(load_state(checkpoint))
    assert resumed.step == 5
    train(resumed, _stream(corpus), CONFIG, ALONE, lambda state: float(state.step), Watch())

    assert [(one.step, one.dev_bleu, one.train_loss) for one in resumed.evaluations] == [
        (one.step, one.dev_bleu, one.train_loss) for one in whole.evaluations
    ]
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(tensor, resumed.model.state_dict()[name]), name
        assert torch.equal(whole.averaged[name], resumed.averaged[name]), name


def test_training_lowers_the_loss(corpus: TokenCorpus) -> None:
    state = _fresh(dropout=0.0)
    config = CONFIG.model_copy(update={"max_steps": 150, "evaluate_every": 50, "learning_rate": 0.03})
    train(state, _stream(corpus), config, ALONE, lambda state: float(state.step), Watch())
    assert state.evaluations[-1].train_loss < 0.9 * state.evaluations[0].train_loss


def test_an_update_with_a_gradient_that_is_not_finite_is_skipped(
    corpus: TokenCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = _fresh()
    before = {name: tensor.clone() for name, tensor in state.model.state_dict().items()}
    real_loss = trainer.output_loss
    monkeypatch.setattr(trainer, "output_loss", lambda *a: tuple(x * float("nan") for x in real_loss(*a)))
    train(state, _stream(corpus), CONFIG.model_copy(update={"max_steps": 1}), ALONE, lambda _: 0.0, Watch())
    assert state.bad_updates == 1
    for name, tensor in state.model.state_dict().items():
        assert torch.equal(tensor, before[name]), name


def test_training_gives_up_when_no_gradient_is_finite(corpus: TokenCorpus) -> None:
    state = _fresh()
    state.model.output.bias.data[5] = float("nan")
    with pytest.raises(TrainingError, match="learning_rate"):
        train(state, _stream(corpus), CONFIG.model_copy(update={"max_steps": 99}), ALONE, lambda _: 0.0, Watch())


def test_training_stops_when_dev_has_not_risen_for_its_patience(corpus: TokenCorpus) -> None:
    config = CONFIG.model_copy(update={"max_steps": 100, "evaluate_every": 2, "patience": 3})
    scores = {2: 1.0, 4: 5.0, 6: 4.0, 8: 5.0, 10: 3.0}
    watch = Watch()
    train(_fresh(), _stream(corpus), config, ALONE, lambda state: scores[state.step], watch)
    assert watch.evaluated_steps == [2, 4, 6, 8, 10]  # the best is at 4, and three more were no better


def test_processes_that_cannot_share_an_update_evenly_are_refused(corpus: TokenCorpus) -> None:
    config = CONFIG.model_copy(update={"batches_per_update": 3})
    with pytest.raises(TrainingError, match="multiple of 2"):
        train(_fresh(), _stream(corpus), config, Processes(0, 2, torch.device("cpu")), lambda _: 0.0, Watch())
