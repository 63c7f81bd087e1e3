"""Data parallelism: who am I among the processes of this run, and how do our gradients meet?

Every process computes its share of an update's batches; one all-reduce over all gradients, laid end to end, adds them
up.  On one machine the process that was started leads and starts the others (`led_processes`); on several, torchrun
starts them all.
"""

import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, distributed, nn

from training.errors import TrainingError


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


# Names the file where the processes of one machine meet: no port, which another program may take first.
MEETING_FILE = "NUDGE_MEETING_FILE"


@contextmanager
def led_processes(count: int, command: Sequence[str]) -> Iterator[None]:
    """Be the first of `count` processes that run `command` on this machine; the others end when this one does.

    Nobody watches over them: whoever waits for a process that has died is told so by its closed connection, and ends.
    """
    with tempfile.TemporaryDirectory() as folder:
        group = {"WORLD_SIZE": str(count), MEETING_FILE: str(Path(folder) / "meeting")}
        # One thread each, or the processes fight over the cores.
        environment = {"OMP_NUM_THREADS": "1"} | os.environ | group
        others = [subprocess.Popen(command, env=environment | {"RANK": str(rank)}) for rank in range(1, count)]
        os.environ.update(group | {"RANK": "0"})
        try:
            yield
            _wait_for(others)
        except RuntimeError:  # gloo's, where it is not ours: a connection was closed
            _wait_for(others, seconds=10)
            raise
        finally:
            for name in (*group, "RANK"):
                del os.environ[name]
            for other in others:
                other.kill()
                other.wait()


def _wait_for(others: Sequence[subprocess.Popen[bytes]], seconds: float | None = None) -> None:
    """Wait for processes to end well, or say which did not; with `seconds`, they may also go on."""
    for rank, other in enumerate(others, start=1):
        with suppress(subprocess.TimeoutExpired):
            if other.wait(seconds):
                raise TrainingError(f"process {rank} of {len(others) + 1} failed; what it said is above")


@contextmanager
def joined_processes() -> Iterator[Processes]:
    """Join the group that the environment describes, ours or torchrun's, or be alone."""
    world, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    has_gpu = torch.cuda.is_available()
    # Each of several on one machine has a GPU of its own; torchrun numbers them for every machine.
    device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', rank)}" if has_gpu else "cpu")
    if world == 1:
        yield Processes(0, 1, device)
        return
    meeting = os.environ.get(MEETING_FILE)
    if meeting and not has_gpu:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", _loopback())
    distributed.init_process_group(
        "nccl" if has_gpu else "gloo", f"file://{meeting}" if meeting else "env://", world_size=world, rank=rank
    )
    try:
        yield Processes(rank, world, device)
    finally:
        distributed.destroy_process_group()
    if rank > 0:
        # Its work is done.  Once in twenty times a thread of torch's outlives the interpreter here, which then aborts
        # (torch 2.13 with gloo), and a training that went well would seem to have failed.
        os._exit(0)


def _loopback() -> str:
    """The interface by which a machine speaks to itself, whatever its host name resolves to."""
    return next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
