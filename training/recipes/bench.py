"""`nudge-train bench`: target words per second of training, against JoeyNMT's recurrent model of the same sizes.

Both sides do the same work on the same batches: forward, loss with label smoothing, backward, clipping, Adam.  The
contestants take turns round by round in one process, and the answer is the median of the rounds' ratios: a noisy
machine slows all of them alike.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.table import Table
from torch import Tensor

from training.config import Pretrain
from training.corpus.batches import Batch
from training.corpus.cache import BOS, EOS, PAD
from training.errors import NudgeTrainError
from training.nmt.allocator import keep_freed_memory
from training.nmt.model import ModelSizes, TranslationModel
from training.nmt.precision import product_dtype
from training.nmt.processes import Processes
from training.nmt.trainer import start, update

SIZES = {
    # The readout is as wide as the state, as joeynmt's is, so that both output layers cost the same.
    "S": ModelSizes(8000, 8000, embedding=256, encoder=256, decoder=512, attention=128, readout=512),
    "laptop": ModelSizes(5000, 3500, embedding=192, encoder=160, decoder=256, attention=96, readout=256),
}
SMOOTHING, DROPOUT, CLIP = 0.1, 0.1, 1.0
JOEY_PAD = 1  # it has pad and unk the other way round

Step = Callable[[Batch], object]


@dataclass(frozen=True)
class Contestant:
    """A training step and the size of what it trains."""

    name: str
    step: Step
    parameters: int


def command(
    rounds: Annotated[int, typer.Option(min=3, help="rounds; every contestant runs once in each")] = 12,
    batch_tokens: Annotated[int, typer.Option(min=100, help="target words of a batch")] = 2000,
    threads: Annotated[int, typer.Option(min=1, help="threads of torch")] = 1,
) -> None:
    """Compare the speed of training with JoeyNMT 2.3's."""
    torch.set_num_threads(threads)
    keep_freed_memory()
    console = Console()
    for name, sizes in SIZES.items():
        contestants = [_joeynmt(sizes), _nudge(sizes, "fp32"), _nudge(sizes, "bf16")]
        console.print(_table(name, contestants, _race(contestants, sizes, rounds, batch_tokens), threads))


def _race(contestants: list[Contestant], sizes: ModelSizes, rounds: int, batch_tokens: int) -> dict[str, list[float]]:
    """Target words per second of every contestant in every round."""
    speeds: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    for number in range(rounds + 1):
        batch = random_batch(sizes, batch_tokens, seed=number)
        for contestant in contestants:
            began = time.perf_counter()
            contestant.step(batch)
            if number:  # the first round warms up
                speeds[contestant.name].append(batch.target_tokens / (time.perf_counter() - began))
    return speeds


def random_batch(sizes: ModelSizes, batch_tokens: int, seed: int) -> Batch:
    """Sentences of 20 to 28 subwords on both sides, as a bucketed batch of news has them."""
    random = torch.Generator().manual_seed(seed)
    rows = batch_tokens // 28

    def side(vocabulary: int) -> tuple[Tensor, Tensor]:
        lengths = torch.randint(20, 29, (rows, 1), generator=random)
        lengths[0] = 28
        lengths = lengths.sort(0, descending=True).values  # as joeynmt's packed sequences need it
        ids = torch.randint(4, vocabulary, (rows, 28), generator=random)
        columns = torch.arange(28)
        ids = torch.where(columns < lengths - 1, ids, torch.where(columns == lengths - 1, EOS, PAD))
        return ids, (columns < lengths).float()

    source_ids, source_mask = side(sizes.source_vocabulary)
    target_ids, target_mask = side(sizes.target_vocabulary)
    inputs = torch.where(target_ids == EOS, PAD, target_ids).roll(1, dims=1)
    inputs[:, 0] = BOS
    return Batch(source_ids, source_mask, inputs, target_ids, target_mask)


def _nudge(sizes: ModelSizes, precision: str) -> Contestant:
    config = Pretrain.model_validate({"precision": precision, "label_smoothing": SMOOTHING, "clip_norm": CLIP})
    torch.manual_seed(1)
    model = TranslationModel(sizes, dropout=DROPOUT)
    alone = Processes(0, 1, torch.device("cpu"))
    model.product_dtype = product_dtype(precision, alone.device)
    state = start(model, config)
    return Contestant(f"nudge {precision}", lambda batch: update(state, iter([batch]), 1, config, alone), _count(model))


def _joeynmt(sizes: ModelSizes) -> Contestant:
    """JoeyNMT's GRU model with its own defaults (Bahdanau attention, bridge, input feeding)."""
    try:
        from joeynmt.config import ConfigurationError  # noqa: F401  (the import that fails first when parts are missing)
        from joeynmt.model import build_model
        from joeynmt.vocabulary import Vocabulary
    except ImportError as error:
        raise NudgeTrainError(f"joeynmt is not installed ({error}); `make bench-training` installs it") from None
    special = SimpleNamespace(
        unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>", sep_token=None,
        unk_id=0, pad_id=JOEY_PAD, bos_id=BOS, eos_id=EOS, sep_id=None, lang_tags=[],
    )  # fmt: skip

    def side(hidden: int, **more: object) -> dict[str, object]:
        embeddings = {"embedding_dim": sizes.embedding, "dropout": DROPOUT}
        return {"type": "recurrent", "rnn_type": "gru", "hidden_size": hidden, "num_layers": 1, "dropout": DROPOUT,
                "embeddings": embeddings, **more}  # fmt: skip

    torch.manual_seed(1)
    model = build_model(
        {
            "encoder": side(sizes.encoder, bidirectional=True),
            "decoder": side(sizes.decoder, hidden_dropout=DROPOUT),
        },
        src_vocab=Vocabulary([str(n) for n in range(sizes.source_vocabulary - 4)], special),
        trg_vocab=Vocabulary([str(n) for n in range(sizes.target_vocabulary - 4)], special),
    )
    model.loss_function = ("crossentropy", SMOOTHING)
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step(batch: Batch) -> None:
        mask = batch.target_mask.bool()
        loss, _, _, _ = model(
            return_type="loss",
            src=_repadded(batch.source_ids),
            src_mask=batch.source_mask.bool().unsqueeze(1),
            src_length=batch.source_mask.sum(1).long(),
            trg_input=_repadded(batch.target_inputs),
            trg=_repadded(batch.target_outputs),
            trg_mask=mask.unsqueeze(1),
        )
        (loss / mask.sum()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad()

    return Contestant("joeynmt 2.3", step, _count(model))


def _repadded(ids: Tensor) -> Tensor:
    return torch.where(ids == PAD, JOEY_PAD, ids)


def _count(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def _table(size: str, contestants: list[Contestant], speeds: dict[str, list[float]], threads: int) -> Table:
    table = Table(title=f"Training speed, size {size}, {threads} thread(s)")
    for column in ("", "parameters", "target words/s (median)", "times joeynmt (median of rounds)", "least", "most"):
        table.add_column(column, justify="left" if column == "" else "right")
    base = speeds[contestants[0].name]
    for contestant in contestants:
        own = speeds[contestant.name]
        ratios = [one / other for one, other in zip(own, base, strict=True)]
        table.add_row(
            contestant.name,
            f"{contestant.parameters / 1e6:.1f}M",
            f"{statistics.median(own):,.0f}",
            *(f"{value:.2f}" for value in (statistics.median(ratios), min(ratios), max(ratios))),
        )
    return table
