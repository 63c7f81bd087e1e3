"""The one config of a translation model and its actors: frozen, documented per field, read from TOML.

Every problem of a file is reported in one go.  Relative paths inside a config are relative to the folder
of the config file, and `${NAME}` in a path is replaced from the environment (`${DATA}/train.de.gz`).
"""

import os
import re
import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from training.errors import ConfigError

Positive = Annotated[int, Field(gt=0)]
Fraction = Annotated[float, Field(ge=0.0, lt=1.0)]


class Section(BaseModel):
    """A table of the config: immutable, and a key it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Languages(Section):
    source: str = Field(pattern=r"^[a-z]{2,3}$", description="language code of the source, as in the service's API")
    target: str = Field(pattern=r"^[a-z]{2,3}$", description="language code of the target")


class ParallelText(Section):
    """Where one piece of parallel text comes from: two plain files, one TSV, a public corpus, or the toy generator."""

    source: Path | None = Field(
        default=None, description="plain file of source sentences, one a line; .gz and .xz are opened"
    )
    target: Path | None = Field(default=None, description="plain file of target sentences, line by line with `source`")
    tsv: Path | None = Field(
        default=None, description="tab-separated file instead of the two plain ones; .gz and .xz too"
    )
    source_column: int = Field(default=0, ge=0, description="column of the source sentence in `tsv`, from 0")
    target_column: int = Field(default=1, ge=0, description="column of the target sentence in `tsv`")
    label_column: int | None = Field(default=None, ge=0, description="column of `tsv` that names where a pair is from")
    labels: tuple[str, ...] = Field(default=(), description="keep only the pairs whose label is one of these")
    mtdata: str | None = Field(
        default=None, description="id of a public corpus, fetched through mtdata (needs a network)"
    )
    toy: Positive | None = Field(default=None, description="generate this many pairs of the toy language instead")
    toy_seed: int = Field(default=0, description="seed of the toy generator: other seeds give other sentences")
    max_words: Positive | None = Field(
        default=None, description="drop longer pairs of this text (words on either side)"
    )
    repeat: Positive = Field(default=1, description="how often each pair of this text is seen in one epoch")

    @model_validator(mode="after")
    def exactly_one_origin(self) -> Self:
        if (self.source is None) != (self.target is None):
            raise ValueError("`source` and `target` name two files and go together")
        origins = [self.source is not None, self.tsv is not None, self.mtdata is not None, self.toy is not None]
        if sum(origins) != 1:
            raise ValueError("give exactly one of: source + target, tsv, mtdata, toy")
        if self.labels and self.label_column is None:
            raise ValueError("`labels` needs `label_column`")
        has_columns = (self.source_column, self.target_column, self.label_column, self.labels) != (0, 1, None, ())
        if self.tsv is None and has_columns:
            raise ValueError("only a `tsv` has columns and labels")
        return self


class Cleaning(Section):
    """Rules applied to training text in this order; each reports how many pairs it removed."""

    max_words: Positive = Field(
        default=100, description="longest sentence, in whitespace-separated words, on either side"
    )
    max_characters: Positive = Field(default=1000, description="longest sentence in characters, on either side")
    max_ratio: float = Field(
        default=3.0, gt=1.0, description="largest ratio of the sides' lengths in words (short pairs exempt)"
    )
    remove_duplicates: bool = Field(default=True, description="keep the first of identical pairs")
    remove_control: bool = Field(default=True, description="drop pairs with control characters or U+FFFD")
    check_language: bool = Field(
        default=False, description="drop pairs a language identifier assigns to another language"
    )


FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$")]


class Corpus(Section):
    train: tuple[ParallelText, ...] = Field(description="training text; all of it is concatenated")
    dev: dict[FileName, ParallelText] = Field(
        description="sets to choose on; the first decides early stopping, and best resembles what you translate"
    )
    test: dict[FileName, ParallelText] = Field(default_factory=dict, description="sets to report on, once")
    cleaning: Cleaning = Cleaning()

    @model_validator(mode="after")
    def there_is_text_to_train_and_to_choose_on(self) -> Self:
        if not self.train or not self.dev:
            raise ValueError("give at least one training text and one dev set")
        return self

    @model_validator(mode="after")
    def evaluation_sets_are_seen_once(self) -> Self:
        repeated = [name for name, text in {**self.dev, **self.test}.items() if text.repeat > 1]
        if repeated:
            raise ValueError(f"`repeat` is for training text, not for {', '.join(repeated)}")
        return self


class Tokenizer(Section):
    """sentencepiece BPE with byte fallback; its normalisation lives in the model file."""

    joint: bool = Field(default=True, description="one subword model for both languages (false: one per side)")
    vocabulary: Positive = Field(
        default=8000, description="subwords in the joint model, or in the source's when not joint"
    )
    target_vocabulary: Positive | None = Field(
        default=None, description="subwords in the target's model when not joint"
    )
    character_coverage: float = Field(
        default=0.9995, gt=0.9, le=1.0, description="share of characters that get a symbol"
    )
    training_sentences: Positive = Field(default=1_000_000, description="sentences sampled to learn the subwords from")


class Model(Section):
    """Sizes of the attention-GRU translation model (Bahdanau et al. 2015; the paper's underlying system)."""

    embedding: Positive = Field(default=256, description="E: size of source and target embeddings")
    encoder: Positive = Field(default=256, description="N: GRU units in each of the encoder's two directions")
    decoder: Positive = Field(default=512, description="H: GRU units of the decoder, the state an actor nudges")
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
    batch_tokens: Positive = Field(
        default=3000, description="largest number of target (or source) tokens in a batch, padding included"
    )
    batches_per_update: Positive = Field(
        default=1, description="batches whose gradients make one update; several processes share them out"
    )
    precision: Literal["fp32", "bf16"] = Field(
        default="fp32", description="type of matrix products; bf16 pays on CPUs with AVX512-BF16 or AMX, and on GPUs"
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


class Supervised(Section):
    """Learn to produce the hypotheses that the objective likes best among those the frozen model likes too."""

    pairs: Positive = Field(default=30_000, description="training pairs to learn from, drawn at random when fewer")
    nbest: Positive = Field(default=10, description="hypotheses of each sentence, by a beam as wide; stored once")
    delta: float = Field(
        default=0.5, ge=0, description="a target may be this many nats less probable than the best hypothesis"
    )
    choice: Literal["objective", "consensus"] = Field(
        default="objective",
        description="what is best: the objective against the reference, or in expectation against the other hypotheses",
    )
    temperature: float = Field(
        default=2.0, gt=0, description="of the consensus: a hypothesis counts as p ** (1 / temperature)"
    )
    level: bool = Field(
        default=False, description="make targets as long as the model's best hypotheses in the mean, by a bonus a token"
    )
    dropout: Fraction = Field(
        default=0.0,
        description="in the frozen model while the actor learns, for it knows its training text too well",
    )
    loss: Literal["margin", "cross-entropy"] = "margin"
    margin: float = Field(default=1.0, gt=0, description="by how much a target's logit shall exceed all others")
    reach: float | None = Field(
        default=None, gt=0, description="give a target up where its logit is further behind than this; none: never"
    )
    rounds: Positive = Field(default=1, description="after a round, decode with the actor and choose targets again")
    learning_rate: float = Field(default=1e-3, gt=0, description="Adam's; falls linearly to a tenth")
    batch_tokens: Positive = 3000
    max_steps: Positive = Field(default=800, description="updates in a round")
    average: Fraction = Field(default=0.99, description="decay of the moving average of the weights that is kept")
    evaluate_every: Positive = Field(default=50, description="updates between looks at the dev set")
    patience: Positive = Field(default=8, description="looks without a better dev objective before training stops")


class PolicyGradient(Section):
    """The paper's algorithm: deterministic policy gradient with a critic (names as in its Algorithm 1)."""

    start: str | None = Field(default=None, description="name of an actor of this run to start from; none: no action")
    vanilla: bool = Field(default=False, description="switch the critic-aware weights off")
    critic_updates: Positive = Field(default=10, description="N_c: critic updates in a cycle")
    actor_updates: Positive = Field(default=1, description="N_a: actor updates in a cycle")
    critic_samples: Positive = Field(default=1, description="S_c: noisy decodings of each sentence for the critic")
    actor_samples: Positive = Field(default=4, description="S_a: noisy decodings of each sentence for the actor")
    sigma: float = Field(default=0.2, gt=0, description="standard deviation of the noise on every action")
    tau: float = Field(default=0.02, gt=0, description="smoothness of the critic-aware weights")
    critic_pretraining: int = Field(default=1000, ge=0, description="critic updates before the actor's first")
    critic_lists: int = Field(
        default=0, ge=0, description="pretrain on so many of a sentence's n-best hypotheses; 0: on noisy decodings"
    )
    critic_units: Positive = Field(default=128, description="GRU units and embedding size of the critic")
    actor_learning_rate: float = Field(default=2e-5, gt=0, description="RMSProp's; the paper's 2e-6 is for 1028 units")
    critic_learning_rate: float = Field(default=2e-4, gt=0)
    batch_tokens: Positive = Field(default=600, description="tokens in a minibatch of either, padding included")
    max_updates: Positive = Field(default=400, description="actor updates in all")
    evaluate_every: Positive = Field(default=20, description="actor updates between looks at the dev set")
    patience: Positive = Field(default=10, description="looks without a better dev objective before training stops")


class Join(Section):
    """Put actors of other tables side by side: one plain actor whose action is the mean of theirs, times a gain."""

    parts: dict[FileName, Positive] = Field(
        default_factory=dict,
        description="how many of which table; { a = 2 } are a-1 and a-2 for seed 1, a-3 and a-4 for seed 2, …",
    )
    gains: tuple[float, ...] = Field(default=(1.0, 1.5, 2.0, 2.5), description="gains to choose from on the dev set")

    def names(self, seed: int) -> list[str]:
        """The parts of the joined actor with this seed."""
        return [
            f"{table}-{count * (seed - 1) + number}"
            for table, count in self.parts.items()
            for number in range(1, count + 1)
        ]


class ActorTraining(Section):
    """One actor: the objective it serves and how it is trained."""

    objective: str = Field(description="bleu, perplexity, chrf, concise, or module:function of your own")
    objective_options: dict[str, bool | int | float | str] = Field(
        default_factory=dict, description="keyword options of the objective, such as concise's length and weight"
    )
    method: Literal["supervised", "dpg", "join"] = "supervised"
    hidden: Positive = Field(default=32, description="tanh units of the actor")
    variant: Literal["plain", "gated", "recurrent", "constant"] = Field(
        default="plain", description="plain and constant can be exported; the others are for measuring"
    )
    sees_previous_word: bool = Field(
        default=False, description="feed the previous word's embedding too, as in the paper's text"
    )
    max_tokens: Positive = Field(default=80, description="training pairs longer than this many subwords are left out")
    dev_sentences: Positive = Field(default=1000, description="sentences of the first dev set to look at, at most")
    seed: int = 1
    seeds: Positive = Field(default=1, description="`nudge-train actors` trains this many, with the seeds 1, 2, …")
    ablation: str = Field(
        default="",
        description="what this variant tries; given, the report has its dev scores alone and no test set",
    )
    supervised: Supervised = Supervised()
    dpg: PolicyGradient = PolicyGradient()
    join: Join = Join()

    def without_seed(self) -> Self:
        """What actors that differ in their seed alone share; each may have started from another's actor of its seed."""
        start = self.dpg.start.removesuffix(f"-{self.seed}") if self.dpg.start else None
        return self.model_copy(update={"seed": 0, "dpg": self.dpg.model_copy(update={"start": start})})

    def without_label(self) -> Self:
        """What decides the training: a label may be reworded afterwards."""
        return self.model_copy(update={"ablation": ""})

    @model_validator(mode="after")
    def a_joined_actor_has_parts(self) -> Self:
        if self.method == "join" and not self.join.parts:
            raise ValueError('method = "join" needs join.parts, how many actors of which tables to put side by side')
        return self

    @model_validator(mode="after")
    def noise_leaves_a_memory_alone(self) -> Self:
        if self.method == "dpg" and self.variant == "recurrent":
            raise ValueError("dpg puts noise on the state, where a recurrent actor keeps its memory; use supervised")
        return self


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


class Config(Section):
    """A whole experiment: from text to bundle."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", description="names the run's folder")
    languages: Languages
    corpus: Corpus
    tokenizer: Tokenizer = Tokenizer()
    model: Model = Model()
    pretrain: Pretrain = Pretrain()
    decoding: Decoding = Decoding()
    actors: dict[FileName, ActorTraining] = Field(default_factory=dict)
    export: Export = Export()

    @model_validator(mode="after")
    def separate_vocabularies_have_two_sizes(self) -> Self:
        if self.tokenizer.joint and self.tokenizer.target_vocabulary is not None:
            raise ValueError("tokenizer.target_vocabulary is for joint = false")
        return self


def load_config(path: Path) -> Config:
    """Read and check a config; raise `ConfigError` with every problem at once."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(str(path), ["no such file"]) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(str(path), [f"not valid TOML: {error}"]) from None
    problems: list[str] = []
    resolved = _resolve_paths(raw, path.resolve().parent, problems)
    try:
        config = Config.model_validate(resolved)
    except ValidationError as error:
        for detail in error.errors():
            place = ".".join(str(part) for part in detail["loc"]) or "config"
            problems.append(f"{place}: {detail['msg']} (given: {detail['input']!r:.80})")
    if problems:
        raise ConfigError(str(path), problems)
    return config


PATH_KEYS = {"tsv"}
PLAIN_FILE_KEYS = {"source", "target"}


def _resolve_paths(value: object, base: Path, problems: list[str], inside_corpus: bool = False) -> object:
    """Return `value` with `${NAME}` expanded and relative paths of the corpus tables made absolute."""
    if isinstance(value, list):
        return [_resolve_paths(item, base, problems, inside_corpus) for item in value]
    if not isinstance(value, dict):
        return value
    result: dict[str, object] = {}
    for key, item in value.items():
        if inside_corpus and isinstance(item, str) and key in PATH_KEYS | PLAIN_FILE_KEYS:
            result[key] = str(base / _expand(item, problems))
        else:
            result[key] = _resolve_paths(item, base, problems, inside_corpus or key == "corpus")
    return result


def _expand(text: str, problems: list[str]) -> str:
    def replace(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in os.environ:
            problems.append(f"{text}: the environment variable {name} is not set; set it to the folder of your corpora")
            return ""
        # A relative folder in the environment is meant from where the command runs, not from where the config lies.
        return str(Path(os.environ[name]).absolute())

    return re.sub(r"\$\{(\w+)\}", replace, text)
