"""The sentences an export is checked with: those of a run's dev and test sets."""

from dataclasses import dataclass

from training.config import Config
from training.corpus.cache import EOS, TokenCorpus
from training.decoding.hypothesis import LengthLimits
from training.evaluation.metrics import References
from training.recipes.run_folder import RunFolder
from training.tokenizer.subwords import Subwords


@dataclass(frozen=True)
class ExportTexts:
    """Sentences with references, the first dev set first, and what it takes to translate them."""

    sets: tuple[str, ...]
    texts: list[str]
    reference_texts: list[str]
    sources: list[list[int]]  # ids that end with eos
    references: References
    dev_sentences: int  # how many of them are the first dev set's
    limits: LengthLimits
    target: Subwords

    @property
    def dev_name(self) -> str:
        return self.sets[0]

    @property
    def name(self) -> str:
        """What the sentences are, for people."""
        return f"{len(self.texts):,} sentences of {', '.join(self.sets)}"


def read_texts(config: Config, run: RunFolder, sentences: int) -> ExportTexts:
    """Read at most `sentences` sentences: the dev sets', then the test sets'."""
    source = Subwords.load(run.source_tokenizer)
    sets: list[str] = []
    texts: list[str] = []
    references: list[str] = []
    dev_sentences = 0
    for found in (*run.dev_sets(config), *run.test_sets(config)):
        room = sentences - len(texts)
        if room > 0:
            sets.append(found.name)
            texts += found.sources[:room]
            references += found.references[:room]
            dev_sentences = dev_sentences or len(texts)
    return ExportTexts(
        tuple(sets),
        texts,
        references,
        [[*source.encode(text), EOS] for text in texts],
        References(references),
        dev_sentences,
        LengthLimits.from_config(config.decoding),
        Subwords.load(run.target_tokenizer),
    )


def parity_sources(config: Config, run: RunFolder, texts: ExportTexts, sentences: int) -> list[list[int]]:
    """Return so many different sentences, of the training text too where the sets have too few."""
    longest = config.decoding.max_length
    chosen = dict.fromkeys(tuple(source) for source in texts.sources if len(source) <= longest)
    if len(chosen) < sentences and run.data.is_dir():
        corpus = TokenCorpus.open(run.data)
        for index in range(len(corpus)):
            if len(chosen) >= sentences:
                break
            source = tuple(int(word) for word in corpus.pair(index)[0])
            if len(source) <= longest:
                chosen[source] = None
    return [list(source) for source in list(chosen)[:sentences]]
