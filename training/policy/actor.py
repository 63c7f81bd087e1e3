"""Actors: small networks that look at the decoder and nudge its state,  a_t = π(z_{t-1}, e_t (, y_{t-1})).

Every actor's output layer is zero at the start, so that an untrained actor is exactly plain greedy decoding.

    plain       a = A2 tanh(A1 [z; e (; word)] + b1)               the paper's; what a bundle can hold
    constant    a = A2 tanh(1), no input: a control                 a plain actor too, with A1 = 0
    gated       a = σ(g · x + b) A2 tanh(A1 x + b1)                 may choose not to act
    recurrent   a = A2 m_t,  m_t = GRU(m_{t-1}, x)                  remembers what it saw

Where it acts:  z_t = f(z_{t-1} + a_t, …) before the recurrence, as in the paper, or z_t = f(z_{t-1}, …) + a_t after it.
The second adds two nodes to a served step, the first eight: its hidden units are a few more gates of the GRU.

Shapes:  B batch · H decoder state · A annotation · E embedding · U hidden units · X observation = H + A (+ E)
"""

from typing import Literal

import torch
from torch import Tensor, nn

from training.nmt.gates import gru
from training.nmt.model import Actor as ActorFunction
from training.nmt.model import Encoded, ModelSizes, StepOutput, TranslationModel

Variant = Literal["plain", "gated", "recurrent", "constant"]
Place = Literal["before", "after"]
EXPORTABLE: tuple[Variant, ...] = ("plain", "constant")


class PlainActor(nn.Module):
    """One tanh layer, and a linear one without bias: zero hidden units are exactly no action."""

    acts_after = False

    def __init__(self, state: int, annotation: int, embedding: int, hidden: int, sees_previous_word: bool) -> None:
        super().__init__()
        self.sees_previous_word = sees_previous_word
        self.hidden = nn.Linear(state + annotation + (embedding if sees_previous_word else 0), hidden)
        self.output = nn.Linear(hidden, state, bias=False)
        nn.init.xavier_uniform_(self.hidden.weight)
        nn.init.zeros_(self.hidden.bias)
        nn.init.zeros_(self.output.weight)

    def observe(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        """What the actor sees of the decoder [B, X]."""
        return torch.cat([state, context, word] if self.sees_previous_word else [state, context], dim=1)

    def forward(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        """The action [B, H] for states [B, H], contexts [B, A] and embedded previous words [B, E]."""
        return self.output(torch.tanh(self.hidden(self.observe(state, context, word))))


class ConstantActor(PlainActor):
    """The same action at every step of every sentence: what an actor is worth beyond it, it owes to its input.

    One hidden unit of a fixed value: the column of A2 is the action up to scale, and the only thing that is learnt.
    """

    def __init__(self, state: int, annotation: int, embedding: int) -> None:
        super().__init__(state, annotation, embedding, hidden=1, sees_previous_word=False)
        nn.init.zeros_(self.hidden.weight)
        nn.init.ones_(self.hidden.bias)
        self.hidden.requires_grad_(False)


class GatedActor(PlainActor):
    """A plain actor with a gate in [0, 1] that decides at every step how much to act at all."""

    def __init__(self, state: int, annotation: int, embedding: int, hidden: int, sees_previous_word: bool) -> None:
        super().__init__(state, annotation, embedding, hidden, sees_previous_word)
        self.gate = nn.Linear(self.hidden.in_features, 1)
        nn.init.zeros_(self.gate.weight)
        nn.init.zeros_(self.gate.bias)

    def forward(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        observed = self.observe(state, context, word)
        return torch.sigmoid(self.gate(observed)) * self.output(torch.tanh(self.hidden(observed)))


class RecurrentActor(PlainActor):
    """An actor with a memory of U numbers, which travels behind the decoder's state (see `MemoryModel`).

    It returns [a_t; m_t − m_{t-1}], so that adding the action to the extended state also replaces the memory.
    """

    def __init__(self, state: int, annotation: int, embedding: int, hidden: int, sees_previous_word: bool) -> None:
        super().__init__(state, annotation, embedding, hidden, sees_previous_word)
        self.state_size = state
        self.hidden = nn.Linear(self.hidden.in_features, 3 * hidden)
        self.memory = nn.Linear(hidden, 3 * hidden)

    def forward(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        decoder_state, memory = state[:, : self.state_size], state[:, self.state_size :]
        inputs = self.hidden(self.observe(decoder_state, context, word))
        next_memory = gru(inputs, self.memory(memory), memory)
        return torch.cat([self.output(next_memory), next_memory - memory], dim=1)


class MemoryModel(TranslationModel):
    """A translation model whose state carries M more numbers, zero at first, that only the actor reads and writes.

    Decoders gather, copy and drop rows of states; a memory inside the state goes wherever its row goes.
    """

    def __init__(self, model: TranslationModel, memory: int) -> None:
        nn.Module.__init__(self)
        self.inner = model
        self.sizes = model.sizes
        self.memory = memory
        self.target_embedding = model.target_embedding

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> Encoded:
        encoded = self.inner.encode(source_ids, source_mask)
        blank = encoded.first_state.new_zeros(len(source_ids), self.memory)
        return encoded._replace(first_state=torch.cat([encoded.first_state, blank], dim=1))

    def attend(self, state: Tensor, encoded: Encoded) -> tuple[Tensor, Tensor]:
        return self.inner.attend(self._own(state), encoded)

    def advance(self, state: Tensor, previous_ids: Tensor, context: Tensor) -> Tensor:
        moved = self.inner.advance(self._own(state), previous_ids, context)
        return torch.cat([moved, state[:, -self.memory :]], dim=1)

    def read(self, state: Tensor, previous_ids: Tensor, context: Tensor) -> Tensor:
        return self.inner.read(self._own(state), previous_ids, context)

    def step(
        self,
        previous_ids: Tensor,
        state: Tensor,
        encoded: Encoded,
        actor: ActorFunction | None = None,
        noise: Tensor | None = None,
    ) -> StepOutput:
        if noise is not None and noise.shape[1] < state.shape[1]:  # the memory is nobody's to disturb
            noise = nn.functional.pad(noise, (0, self.memory))
        return super().step(previous_ids, state, encoded, actor, noise)

    def _own(self, state: Tensor) -> Tensor:
        # Contiguous, as without a memory: products of strided rows may differ in their last bits.
        return state[:, : -self.memory].contiguous()


def build_actor(
    sizes: ModelSizes, variant: Variant, hidden: int, sees_previous_word: bool, seed: int, place: Place = "before"
) -> PlainActor:
    """A new actor for a model of these sizes that does not act yet, the same one for the same seed."""
    shape = (sizes.decoder, 2 * sizes.encoder, sizes.embedding)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return new_actor(shape, variant, hidden, sees_previous_word, place)


def new_actor(
    shape: tuple[int, int, int], variant: Variant, hidden: int, sees_previous_word: bool, place: Place = "before"
) -> PlainActor:
    """The same from the sizes of state, annotation and embedding alone."""
    builders = {"plain": PlainActor, "gated": GatedActor, "recurrent": RecurrentActor}
    actor = ConstantActor(*shape) if variant == "constant" else builders[variant](*shape, hidden, sees_previous_word)
    actor.acts_after = place == "after"
    return actor


def model_for(model: TranslationModel, actor: nn.Module) -> TranslationModel:
    """The model that this actor acts on: the one given, or one with room for the actor's memory."""
    if isinstance(actor, RecurrentActor):
        return MemoryModel(model, actor.output.in_features)
    return model
