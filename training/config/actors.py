"""Tables about actors: the objective each serves, and the three ways to train one."""

from typing import Literal, Self

from pydantic import Field, model_validator

from training.config.section import FileName, Fraction, Positive, Section

# What makes a hypothesis a target: the objective against the reference, or in expectation against the other hypotheses.
Choice = Literal["objective", "consensus"]
# What a return is measured against: the corpus's reference, or the target chosen among the model's own hypotheses.
Reference = Literal["corpus", "target"]


class Supervised(Section):
    """Learn to produce the hypotheses that the objective likes best among those the frozen model likes too."""

    pairs: Positive = Field(default=30_000, description="training pairs to learn from, drawn at random when fewer")
    recombined: int = Field(
        default=0,
        ge=0,
        description="sentences to learn from besides, made of parts of the drawn ones, so that the model has not seen "
        "them; they have no reference: for choice = consensus, or the objective perplexity",
    )
    nbest: Positive = Field(default=10, description="hypotheses of each sentence, by a beam as wide; stored once")
    delta: float = Field(
        default=0.5, ge=0, description="a target may be this many nats less probable than the best hypothesis"
    )
    choice: Choice | Literal["lookahead", "lookahead-consensus"] = Field(
        default="objective",
        description="what is best: the hypothesis that the objective likes against the reference, or in expectation "
        "against the other hypotheses; lookahead: at each step of a greedy output, the word that leads to the best "
        "one when decoding goes on greedily behind it; lookahead-consensus: the best in expectation",
    )
    candidates: int = Field(
        default=4, ge=2, description="of lookahead: words to try at a step, the greedy one included"
    )
    nearness: float = Field(
        default=1.5, gt=0, description="of lookahead: words to try are this many nats less likely at most"
    )
    temperature: float = Field(
        default=2.0, gt=0, description="of the consensus: a hypothesis counts as p ** (1 / temperature)"
    )
    level: bool = Field(
        default=False,
        description="make targets as long as the model's best hypotheses in the mean, by a bonus a token; in "
        "lookahead-consensus every output gets the bonus that would do so",
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

    @property
    def looks_ahead(self) -> bool:
        """Whether lessons are choices at the steps of greedy outputs, not whole targets."""
        return self.choice in ("lookahead", "lookahead-consensus")

    @property
    def judged_by(self) -> Choice:
        """By consensus the model's own hypotheses stand for the reference."""
        return "consensus" if self.choice in ("consensus", "lookahead-consensus") else "objective"


class PolicyGradient(Section):
    """The paper's algorithm: deterministic policy gradient with a critic (names as in its Algorithm 1)."""

    start: str | None = Field(default=None, description="name of an actor of this run to start from; none: no action")
    reference: Reference = Field(
        default="corpus",
        description="what returns are measured against and the critic reads: the corpus's reference, or the target "
        "that the `supervised` options choose among the frozen model's own hypotheses",
    )
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
    through_matches: bool = Field(
        default=False,
        description="let the actor follow the critic only in how its states match the reference's words, not in what "
        "the critic makes of the states themselves",
    )
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
    place: Literal["before", "after"] = Field(
        default="before",
        description="nudge the state that the recurrence receives, as in the paper, or the one that it returns, which "
        "adds fewer nodes to a served step",
    )
    min_tokens: Positive = Field(
        default=1, description="training pairs shorter than this many subwords, on either side, are left out"
    )
    max_tokens: Positive = Field(default=80, description="training pairs longer than this many subwords are left out")
    dev_sentences: Positive = Field(default=1000, description="sentences of the first dev set to look at, at most")
    dev: dict[FileName, Positive] = Field(
        default_factory=dict,
        description="dev sets to look at instead, with the sentences of each: { everyday = 1000, … }; all weigh alike",
    )
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
    def recombined_sentences_need_no_reference(self) -> Self:
        how = self.supervised
        chooses_by_reference = how.judged_by == "objective" and self.objective != "perplexity"
        learns_from_reference = self.method == "dpg" and self.dpg.reference == "corpus"
        if how.recombined and (chooses_by_reference or learns_from_reference):
            raise ValueError(
                f"supervised.recombined = {how.recombined}: such sentences have no reference to hold {self.objective} "
                'against; use supervised.choice = "consensus" or "lookahead-consensus", '
                'and with method = "dpg" also dpg.reference = "target"'
            )
        return self

    @model_validator(mode="after")
    def looking_ahead_has_no_lists_and_no_memory(self) -> Self:
        if not self.supervised.looks_ahead:
            return self
        if self.variant == "recurrent":
            raise ValueError(
                f'supervised.choice = "{self.supervised.choice}" goes on from the middle of outputs, where the memory '
                "of a recurrent actor is not kept; use another variant"
            )
        if self.method == "dpg" and self.dpg.reference == "target":
            raise ValueError(
                f'supervised.choice = "{self.supervised.choice}" has no targets for dpg.reference = "target"'
            )
        return self

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

    @model_validator(mode="after")
    def a_memory_travels_before_the_recurrence(self) -> Self:
        if self.place == "after" and self.variant == "recurrent":
            raise ValueError('a recurrent actor keeps its memory in the state that it nudges; use place = "before"')
        return self
