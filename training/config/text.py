"""Tables about text: languages, corpora, cleaning and subwords."""

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from training.config.section import FileName, Fraction, Positive, Section


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
    lines: tuple[Positive, Positive] | None = Field(
        default=None, description="only the pairs from this one to that one, both included, counted from 1"
    )
    repeat: Positive = Field(default=1, description="how often each pair of this text is seen in one epoch")
    any_case: bool = Field(
        default=False, description="show each pair with its source in lower case too, as it may be typed"
    )

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
        if self.lines is not None and self.lines[0] > self.lines[1]:
            raise ValueError("`lines` names the first and the last one, in this order")
        return self


class Lesson(ParallelText):
    """Text for actors to learn from; where they need no references, the target side may be anybody's translation."""

    sentences: Positive = Field(default=10_000, description="how many pairs of it, drawn at random when there are more")


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


class ShortText(Section):
    """Lone words and bare phrases, made of the training text and added to it."""

    min_count: Positive = Field(default=4, description="rarer words are left out")
    min_score: Fraction = Field(
        default=0.05, description="least p(target | source) p(source | target) of a word and its translation"
    )
    word_repeat: Positive = Field(
        default=1,
        description="how often a rare lone word is seen in one epoch; as often again for each doubling of its count",
    )
    phrase_words: int = Field(
        default=5, ge=0, description="sentences of at most so many words are seen without their final mark too"
    )
    phrase_repeat: Positive = Field(default=1, description="how often each of these is seen in one epoch")


class OtherNames(Section):
    """Sentences of the training text with other names in them, added to it."""

    variants: Positive = Field(default=3, description="how often each is shown with other names in one epoch")
    max_words: Positive = Field(default=12, description="longer sentences (words on either side) are left out")
    translated: ParallelText | None = Field(
        default=None, description="names that the two languages spell differently, to be drawn too"
    )
    translated_share: float = Field(
        default=0.25, ge=0, le=1, description="share of the names that are drawn from `translated`"
    )


class Corpus(Section):
    train: tuple[ParallelText, ...] = Field(description="training text; all of it is concatenated")
    dev: dict[FileName, ParallelText] = Field(
        description="sets to choose on; the first decides early stopping, and best resembles what you translate"
    )
    test: dict[FileName, ParallelText] = Field(default_factory=dict, description="sets to report on, once")
    lessons: tuple[Lesson, ...] = Field(
        default=(),
        description="what actors learn from, instead of the training text: the model knows that too well, and much of "
        "it may be no running text",
    )
    cleaning: Cleaning = Cleaning()
    short_text: ShortText | None = Field(
        default=None, description="make lone words and bare phrases of the training text, which has too few of them"
    )
    other_names: OtherNames | None = Field(
        default=None, description="show sentences with other names too, so that unknown names are copied"
    )

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
    spaced_openings: bool = Field(
        default=False,
        description="read a word behind a quotation mark or a bracket as if a space were before it, like any other",
    )
    training_sentences: Positive = Field(default=1_000_000, description="sentences sampled to learn the subwords from")
