"""The translation model: a bi-GRU encoder, additive attention and a GRU decoder (Bahdanau et al. 2015).

The paper writes  p(y_t | y_<t, X) ∝ exp g(y_t, z_t)  with  z_t = f(z_{t-1}, y_{t-1}, e_t(X)).  Here `attend` is e_t,
`advance` is f and `read` is g; an actor acts on the state that f receives, as in the paper, or on the one that f
returns (`move`).

Shapes:  B batch · S source length · T target length · E embedding · N encoder units · A annotation = 2N ·
         H decoder state · K attention key · R readout · V vocabulary
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from training.nmt.dropout import dropout
from training.nmt.gates import gru
from training.nmt.recurrence import attentional_gru, bidirectional_gru
from training.nmt.refinement import Refinement

# An actor maps (state [B, H], context [B, A], embedding of the previous word [B, E]) to an action [B, H].  One that
# acts after the recurrence has a true attribute `acts_after`.
Actor = Callable[[Tensor, Tensor, Tensor], Tensor]

# Not -inf: a fully padded row would become NaN and poison the batch.
MASKED = -1e9


@dataclass(frozen=True)
class ModelSizes:
    """Everything that decides the shapes of the parameters."""

    source_vocabulary: int
    target_vocabulary: int
    embedding: int
    encoder: int
    decoder: int
    attention: int
    readout: int
    tie_output: bool = False
    refinement: int = 0


class Encoded(NamedTuple):
    """A batch of source sentences, ready to be attended to."""

    annotations: Tensor  # [B, S, A]
    keys: Tensor  # [B, S, K]
    mask: Tensor  # [B, S], 1 on real positions
    first_state: Tensor  # [B, H]

    def select(self, rows: Tensor) -> "Encoded":
        """The given rows, in the given order; a row may be named several times."""
        return Encoded(*(tensor.index_select(0, rows) for tensor in self))


class StepOutput(NamedTuple):
    """What one decoder step yields."""

    logits: Tensor  # [B, V]
    state: Tensor  # [B, H], z_t
    context: Tensor  # [B, A], e_t
    action: Tensor | None  # [B, H], what was added to z_{t-1}, or to z_t by an actor that acts after the recurrence


def linear(inputs: Tensor, weight: Tensor, bias: Tensor | None, product_dtype: torch.dtype) -> Tensor:
    """`F.linear` whose product runs in `product_dtype` and whose result has the inputs' type again."""
    if product_dtype == inputs.dtype:
        return F.linear(inputs, weight, bias)
    product = F.linear(inputs.to(product_dtype), weight.to(product_dtype)).to(inputs.dtype)
    return product if bias is None else product + bias


class Encoder(nn.Module):
    """A bidirectional GRU whose two directions share every matrix product."""

    def __init__(self, embedding: int, units: int) -> None:
        super().__init__()
        self.input_weight = nn.Parameter(torch.empty(2, 3 * units, embedding))
        self.input_bias = nn.Parameter(torch.zeros(2, 3 * units))
        self.state_weight = nn.Parameter(torch.empty(2, 3 * units, units))
        self.state_bias = nn.Parameter(torch.zeros(2, 3 * units))

    def forward(self, embedded: Tensor, mask: Tensor, product_dtype: torch.dtype) -> Tensor:
        """Return the annotations [B, S, 2N], zero on padding, of embedded words [B, S, E]."""
        words = embedded.transpose(0, 1).contiguous()
        forward, backward = (
            linear(words, weight, bias, product_dtype)
            for weight, bias in zip(self.input_weight, self.input_bias, strict=True)
        )
        # The backward direction runs from the end; padding multiplies its state with 0, so it starts at the last word.
        gates = torch.stack([forward, backward.flip(0)], dim=1)
        steps_mask = mask.t().unsqueeze(2)
        masks = torch.stack([steps_mask, steps_mask.flip(0)], dim=1)
        states = bidirectional_gru(gates, masks, self.state_weight, self.state_bias, product_dtype)
        return torch.cat([states[:, 0], states[:, 1].flip(0)], dim=2).transpose(0, 1)


class Attention(nn.Module):
    """Additive attention; keys are computed once for each sentence."""

    def __init__(self, annotation: int, state: int, key: int) -> None:
        super().__init__()
        self.key = nn.Linear(annotation, key)
        self.query = nn.Linear(state, key, bias=False)
        self.energy = nn.Parameter(torch.empty(key))

    def forward(self, state: Tensor, encoded: Encoded) -> tuple[Tensor, Tensor]:
        """Return the context [B, A] and the alignment [B, S] of states [B, H]."""
        hidden = torch.tanh(self.query(state).unsqueeze(1) + encoded.keys)  # [B, S, K]
        energies = hidden @ self.energy  # [B, S]
        alignment = torch.softmax(energies + (1 - encoded.mask) * MASKED, dim=1)
        return torch.bmm(alignment.unsqueeze(1), encoded.annotations).squeeze(1), alignment


class Decoder(nn.Module):
    """f: the GRU's weights on the previous word, the context and the state."""

    def __init__(self, embedding: int, annotation: int, state: int) -> None:
        super().__init__()
        self.word = nn.Linear(embedding, 3 * state, bias=False)
        self.context = nn.Linear(annotation, 3 * state, bias=False)
        self.state = nn.Linear(state, 3 * state, bias=False)
        self.input_bias = nn.Parameter(torch.zeros(3 * state))
        self.state_bias = nn.Parameter(torch.zeros(3 * state))


class Readout(nn.Module):
    """g without its output layer: tanh of the state, the context and the previous word."""

    def __init__(self, embedding: int, annotation: int, state: int, readout: int) -> None:
        super().__init__()
        self.state = nn.Linear(state, readout, bias=False)
        self.context = nn.Linear(annotation, readout, bias=False)
        self.word = nn.Linear(embedding, readout, bias=False)
        self.bias = nn.Parameter(torch.zeros(readout))

    def forward(self, state: Tensor, context: Tensor, word: Tensor) -> Tensor:
        """o_t [..., R] from z_t [..., H], e_t [..., A] and the embedded y_{t-1} [..., E]."""
        return torch.tanh(self.state(state) + self.context(context) + self.word(word) + self.bias)


class Output(nn.Module):
    """The output layer; with tied weights it holds its bias alone."""

    def __init__(self, readout: int, vocabulary: int, tied: bool) -> None:
        super().__init__()
        self.weight = None if tied else nn.Parameter(torch.empty(vocabulary, readout))
        self.bias = nn.Parameter(torch.zeros(vocabulary))


class TranslationModel(nn.Module):
    """The whole network θ.  Frozen once trained: actors are trained on top of it."""

    def __init__(self, sizes: ModelSizes, dropout: float = 0.0, word_dropout: float = 0.0) -> None:
        super().__init__()
        self.sizes = sizes
        self.dropout = dropout
        self.word_dropout = word_dropout
        # The type of teacher forcing's matrix products; decoding always multiplies in the weights' own type.
        self.product_dtype = torch.float32
        annotation = 2 * sizes.encoder
        self.source_embedding = nn.Embedding(sizes.source_vocabulary, sizes.embedding)
        self.encoder = Encoder(sizes.embedding, sizes.encoder)
        self.refinement = Refinement(sizes.refinement, annotation)
        self.initial_state = nn.Linear(sizes.encoder, sizes.decoder)
        self.attention = Attention(annotation, sizes.decoder, sizes.attention)
        self.target_embedding = nn.Embedding(sizes.target_vocabulary, sizes.embedding)
        self.decoder = Decoder(sizes.embedding, annotation, sizes.decoder)
        self.readout = Readout(sizes.embedding, annotation, sizes.decoder, sizes.readout)
        self.output = Output(sizes.readout, sizes.target_vocabulary, sizes.tie_output)
        self.initialise()

    def initialise(self) -> None:
        """Glorot-uniform matrices, orthogonal recurrences, zero biases, embeddings of unit-norm order."""
        for name, parameter in self.named_parameters():
            if "embedding" in name:
                nn.init.normal_(parameter, std=self.sizes.embedding**-0.5)
            elif name in ("encoder.state_weight", "decoder.state.weight"):
                for gate in parameter.data.view(-1, parameter.shape[-1], parameter.shape[-1]):
                    nn.init.orthogonal_(gate)
            elif name == "attention.energy":
                nn.init.uniform_(parameter, -(parameter.numel() ** -0.5), parameter.numel() ** -0.5)
            elif parameter.dim() == 3:
                for matrix in parameter.data:
                    nn.init.xavier_uniform_(matrix)
            elif name.startswith("refinement") and "_out." in name:
                nn.init.zeros_(parameter)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)

    def output_weight(self) -> Tensor:
        """The output layer's weights [V, R], shared with the target embedding when tied."""
        return self.target_embedding.weight if self.output.weight is None else self.output.weight

    # -- the source ----------------------------------------------------------------------------------------------

    def encode(self, source_ids: Tensor, source_mask: Tensor) -> Encoded:
        """Annotate source sentences [B, S] (each ends with eos), mask [B, S]."""
        embedded = self._drop(self._embed(self.source_embedding, source_ids))
        annotations = self.encoder(embedded, source_mask, self._product_dtype(embedded))
        # z_0 sees the whole sentence through the backward direction's last state, as in Bahdanau et al.
        first_state = torch.tanh(self.initial_state(annotations[:, 0, self.sizes.encoder :]))
        annotations = self._drop(
            self.refinement(annotations, source_mask, self._drop, self._product_dtype(annotations))
        )
        key = self.attention.key
        keys = linear(annotations, key.weight, key.bias, self._product_dtype(annotations))
        return Encoded(annotations, keys, source_mask, first_state)

    # -- one step ------------------------------------------------------------------------------------------------

    def attend(self, state: Tensor, encoded: Encoded) -> tuple[Tensor, Tensor]:
        """e_t: the context [B, A] and the alignment [B, S] that the state z_{t-1} [B, H] looks at."""
        context, alignment = self.attention(state, encoded)
        return context, alignment

    def advance(self, state: Tensor, previous_ids: Tensor, context: Tensor) -> Tensor:
        """f: the next state z_t [B, H] from z_{t-1} (nudged or not), y_{t-1} [B] and e_t [B, A]."""
        decoder = self.decoder
        word = self.target_embedding(previous_ids)
        input_gates = decoder.word(word) + decoder.context(context) + decoder.input_bias
        return gru(input_gates, decoder.state(state) + decoder.state_bias, state)

    def read(self, state: Tensor, previous_ids: Tensor, context: Tensor) -> Tensor:
        """g: logits [B, V] from z_t, y_{t-1} and e_t."""
        readout = self.readout(state, context, self.target_embedding(previous_ids))
        return F.linear(readout, self.output_weight(), self.output.bias)

    def step(
        self,
        previous_ids: Tensor,
        state: Tensor,
        encoded: Encoded,
        actor: Actor | None = None,
        noise: Tensor | None = None,
    ) -> StepOutput:
        """One step of decoding, with the actor's action and noise [B, H] added to the state where given."""
        context, _ = self.attend(state, encoded)
        action = None if actor is None else actor(state, context, self.target_embedding(previous_ids))
        if noise is not None:
            action = noise if action is None else action + noise
        next_state = move(self, state, previous_ids, context, action, acts_after(actor))
        return StepOutput(self.read(next_state, previous_ids, context), next_state, context, action)

    # -- teacher forcing -----------------------------------------------------------------------------------------

    def forward(self, source_ids: Tensor, source_mask: Tensor, target_inputs: Tensor) -> Tensor:
        """Logits [B, T, V] of target sentences fed as given [B, T] (bos first), without an actor."""
        readout = self.force(self.encode(source_ids, source_mask), target_inputs)
        return F.linear(readout, self.output_weight(), self.output.bias)

    def force(self, encoded: Encoded, target_inputs: Tensor) -> Tensor:
        """Readouts [B, T, R] of the given target words; logits are one product away."""
        readout, words = self.readout, self.embed_targets(target_inputs)
        dtype = self._product_dtype(words)
        states, contexts = self.force_states(encoded, words)
        by_state, by_word = (
            linear(part, layer.weight, None, dtype)
            for part, layer in ((states, readout.state), (words.transpose(0, 1).contiguous(), readout.word))
        )
        by_row = linear(contexts, readout.context.weight, readout.bias, dtype)
        return self._drop(torch.tanh((by_state + by_word).transpose(0, 1) + by_row))

    def force_states(self, encoded: Encoded, words: Tensor) -> tuple[Tensor, Tensor]:
        """The states z_1 … z_T [T, B, H] and contexts [B, T, A] on the way through embedded target words [B, T, E]."""
        decoder, dtype = self.decoder, self._product_dtype(words)
        states, alignments = attentional_gru(
            linear(words.transpose(0, 1).contiguous(), decoder.word.weight, decoder.input_bias, dtype),
            encoded.first_state,
            encoded.keys,
            linear(encoded.annotations, decoder.context.weight, None, dtype),
            (1 - encoded.mask) * MASKED,
            decoder.state.weight,
            decoder.state_bias,
            self.attention.query.weight,
            self.attention.energy,
            dtype,
        )
        return states, torch.bmm(alignments.transpose(0, 1), encoded.annotations)

    def embed_targets(self, target_inputs: Tensor) -> Tensor:
        """Embedded target words [B, T, E]; some of them dropped while the model is in training mode."""
        return self._drop(self._embed(self.target_embedding, target_inputs))

    def _product_dtype(self, like: Tensor) -> torch.dtype:
        return self.product_dtype if self.training and like.dtype == torch.float32 else like.dtype

    # -- regularisation ------------------------------------------------------------------------------------------

    def _drop(self, tensor: Tensor) -> Tensor:
        return dropout(tensor, self.dropout) if self.training else tensor

    def _embed(self, embedding: nn.Embedding, ids: Tensor) -> Tensor:
        """Embed ids [B, T]; while training, whole words are zeroed with probability `word_dropout`."""
        embedded = embedding(ids)
        if self.training and self.word_dropout:
            embedded = embedded * dropout(torch.ones_like(ids, dtype=embedded.dtype), self.word_dropout).unsqueeze(2)
        return embedded


def acts_after(actor: Actor | None) -> bool:
    """Whether this actor nudges the state that the recurrence returns; any function may be an actor."""
    return getattr(actor, "acts_after", False)


def move(
    model: TranslationModel,
    state: Tensor,
    previous_ids: Tensor,
    context: Tensor,
    action: Tensor | None,
    after: bool,
) -> Tensor:
    """z_t [B, H] with the actor's action a_t [B, H]:  f(z_{t-1} + a_t, …),  or after it  f(z_{t-1}, …) + a_t."""
    if action is None:
        return model.advance(state, previous_ids, context)
    if after:
        return model.advance(state, previous_ids, context) + action
    return model.advance(state + action, previous_ids, context)
