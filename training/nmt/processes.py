"""Data parallelism: who am I among the processes of this run, and how do our gradients meet?

Started by torchrun (or by `nudge-train pretrain --processes N`, which calls it), every process computes its share of an
update's batches; one all-reduce over all gradients, laid end to end, adds them up.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn


@dataclass(frozen=True)
class Processes:
    """The group of processes that train one model."""

    rank: int
    world: int
    device: torch.device

    @property
    def is_leader(self) -> bool:
        """The leader evaluates, writes and talks; the others only compute."""
        return self.rank == 0

    def add_up(self, tensors: list[Tensor]) -> None:
        """Replace each tensor by its sum over all processes."""
        if self.world == 1:
            return
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
        distributed.all_reduce(flat)
        start = 0
        for tensor in tensors:
            tensor.copy_(flat[start : start + tensor.numel()].view_as(tensor))
            start += tensor.numel()

    def from_leader(self, value: float) -> float:
        """The leader's value, in every process."""
        if self.world == 1:
            return value
        shared = torch.tensor([value], dtype=torch.float64, device=self.device)
        distributed.broadcast(shared, src=0)
        return float(shared.item())

    def share_parameters(self, module: nn.Module) -> None:
        """Give every process the leader's parameters."""
        if self.world > 1:
            for parameter in module.parameters():
                distributed.broadcast(parameter.data, src=0)


@contextmanager
def joined_processes() -> Iterator[Processes]:
    """Join the group that torchrun's environment describes, or be alone."""
    world, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    has_gpu = torch.cuda.is_available()
    device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if has_gpu else "cpu")
    if world == 1:
        yield Processes(0, 1, device)
        return
    distributed.init_process_group("nccl" if has_gpu else "gloo")
    try:
        yield Processes(rank, world, device)
    finally:
        distributed.destroy_process_group()
