"""Tables about the translation model: its sizes, its training, how it decodes, and its bundle."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from training.config.section import Fraction, Positive, Section

# Of every layer that refines annotations; here, where who counts weights need not wait for torch.
HEADS = 4
HIDDEN_RATIO = 2  # hidden units for each unit of an annotation


class Model(Section):
    """Sizes of the attention-GRU translation model (Bahdanau et al. 2015; the paper's underlying system)."""

    embedding: Positive = Field(default=256, description="E: size of source and target embeddings")
    encoder: Positive = Field(default=256, description="N: GRU units in each of the encoder's two directions")
    decoder: Positive = Field(default=512, description="H: GRU units of the decoder, the state an actor nudges")
    refinement: int = Field(
        default=0, ge=0, description="layers of self-attention that refine annotations, between encoder and decoder"
    )
    attention: Positive = Field(default=128, description="K: size of attention keys and queries")
    readout: Positive = Field(default=256, description="R: size of the readout layer before the output layer")
    tie_output: bool = Field(
        default=False, description="share the output layer's weights with the target embedding (R = E)"
    )
    dropout: Fraction = Field(default=0.0, description="dropout on embeddings, annotations and readout while training")
    word_dropout: Fraction = Field(
        default=0.0, description="chance that a whole word's embedding is zeroed while training"
    )

    @model_validator(mode="after")
    def tied_sizes_agree(self) -> Self:
        if self.tie_output and self.readout != self.embedding:
            raise ValueError(f"tie_output needs readout = embedding, not {self.readout} and {self.embedding}")
        return self

    @model_validator(mode="after")
    def heads_share_units(self) -> Self:
        if self.refinement and self.encoder % HEADS:
            raise ValueError(f"refinement needs an encoder of a multiple of {HEADS} units, not {self.encoder}")
        return self


class Pretrain(Section):
    """Maximum-likelihood training of the translation model."""

    optimizer: Literal["adam", "adadelta"] = "adam"
    learning_rate: float = Field(default=2e-3, gt=0)
    adam_betas: tuple[float, float] = (0.9, 0.98)
    warmup_steps: int = Field(default=400, ge=0, description="steps of linear warm-up")
    decay: Literal["none", "linear", "cosine", "inverse-sqrt"] = Field(default="linear", description="after warm-up")
    final_learning_rate: float = Field(
        default=0.02, ge=0, description="fraction of learning_rate at the end of the decay"
    )
    label_smoothing: Fraction = 0.0
    respelling: Fraction = Field(
        default=0.0,
        description="chance that a subword of the source is written as two shorter ones, as BPE-dropout does",
    )
    batch_tokens: Positive = Field(
        default=3000, description="largest number of target (or source) tokens in a batch, padding included"
    )
    batches_per_update: Positive = Field(
        default=1, description="batches whose gradients make one update; several processes share them out"
    )
    precision: Literal["fp32", "bf16", "auto"] = Field(
        default="fp32",
        description="type of matrix products; bf16 pays on CPUs with AVX512-BF16 or AMX and on GPUs, and takes several "
        "times as long elsewhere; auto tries which is faster",
    )
    max_tokens: Positive = Field(default=50, description="training pairs longer than this many subwords are left out")
    max_steps: Positive = Field(default=10_000, description="updates in all; the decay ends here")
    clip_norm: float = Field(default=1.0, gt=0, description="largest norm of the gradient")
    evaluate_every: Positive = Field(default=500, description="updates between evaluations on the first dev set")
    patience: Positive = Field(
        default=20, description="evaluations without a better dev BLEU before training stops early"
    )
    checkpoint_every: Positive = Field(default=200, description="updates between checkpoints to resume from")
    average: int = Field(
        default=5, ge=0, description="evaluated checkpoints averaged into the final model (0: keep the best)"
    )
    ema: Annotated[float, Field(ge=0.0, lt=1.0)] = Field(
        default=0.0,
        description="decay of an exponential moving average of the weights, evaluated and kept instead (0: off)",
    )
    seed: int = 1

    @model_validator(mode="after")
    def a_batch_holds_a_pair(self) -> Self:
        if self.batch_tokens < self.max_tokens + 2:
            raise ValueError(
                f"batch_tokens must exceed max_tokens by 2 or more, not {self.batch_tokens} and {self.max_tokens}"
            )
        return self


class Decoding(Section):
    max_length_ratio: float = Field(default=2.0, gt=0, description="longest output, in subwords per source subword …")
    max_length_extra: Positive = Field(default=20, description="… plus this many")
    max_length: Positive = Field(default=200, description="and never more than this")
    beam_size: Positive = 5
    length_alpha: float = Field(default=1.0, ge=0, description="beam scores are log-probability / length ** alpha")
    npad_samples: Positive = 10
    npad_sigma: float = Field(default=0.3, gt=0, description="sigma0 of NPAD's noise sigma0 / t")


class Export(Section):
    quantisation: Literal["int8", "fp32"] = "int8"
    golden_examples: Positive = Field(
        default=20, description="examples the service replays before it serves the bundle"
    )
    description: str = Field(default="", description="first paragraph of the model card")
    credits: tuple[str, ...] = Field(default=(), description="data with terms and credits, for the model card")
    licence: str = "Apache-2.0"
    intended_use: str = ""
    known_failures: tuple[str, ...] = ()
    default_objective: str | None = Field(
        default=None,
        description="actor that acts when a request names none, if its gain is significant on every test set",
    )
