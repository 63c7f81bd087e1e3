"""Cleaning of training text: sentences are tidied, then each rule drops pairs and counts what it dropped.

A pair is charged to the first rule that drops it, in the order of `RULES`.  Evaluation sets are never cleaned.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rich.table import Table

from training.config import Cleaning, Languages, ParallelText
from training.errors import CorpusError

Pair = tuple[str, str]

RULES = {
    "empty": "empty side",
    "control": "control chars",
    "words": "too many words",
    "characters": "too many chars",
    "ratio": "uneven sides",
    "duplicate": "seen before",
    "language": "wrong language",
}

# C0 and C1 controls (a tab too), the replacement character, and separators that some readers take for line ends.
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ufffd\u2028\u2029]")
SPACES = re.compile(" {2,}")

# "3 pairs" and "drei Wörterpaare, ungefähr": below this many words on the longer side the ratio says nothing.
RATIO_APPLIES_FROM_WORDS = 8
# Shorter sentences are names, numbers and interface labels as often as not, and the identifier guesses.
LANGUAGE_APPLIES_FROM_CHARACTERS = 20
LANGUAGE_CONFIDENCE = 0.9


@dataclass
class CleaningReport:
    """How many pairs of one text were read and kept, and how many each rule removed."""

    name: str
    read: int = 0
    kept: int = 0
    removed: Counter[str] = field(default_factory=Counter)


class Cleaner:
    """Applies the rules of a config to one text after the other; duplicates are found across all of them."""

    def __init__(self, rules: Cleaning, languages: Languages) -> None:
        self.rules = rules
        self.reports: list[CleaningReport] = []
        self._seen: set[int] = set()
        self._identify = LanguagePairIdentifier(languages) if rules.check_language else None

    def clean(self, pairs: Iterable[Pair], name: str, text: ParallelText | None = None) -> Iterator[Pair]:
        """Yield the tidied pairs that pass, and keep their report under `name`."""
        report = CleaningReport(name)
        self.reports.append(report)
        max_words = min(self.rules.max_words, (text.max_words if text else None) or self.rules.max_words)
        for raw_source, raw_target in pairs:
            report.read += 1
            source, target = tidy(raw_source), tidy(raw_target)
            rule = self._first_broken_rule(source, target, max_words)
            if rule is None:
                report.kept += 1
                yield source, target
            else:
                report.removed[rule] += 1

    def _first_broken_rule(self, source: str, target: str, max_words: int) -> str | None:
        rules = self.rules
        if not source or not target:
            return "empty"
        if rules.remove_control and (CONTROL.search(source) or CONTROL.search(target)):
            return "control"
        source_words, target_words = len(source.split()), len(target.split())
        fewer, more = sorted((source_words, target_words))
        if more > max_words:
            return "words"
        if max(len(source), len(target)) > rules.max_characters:
            return "characters"
        if more >= RATIO_APPLIES_FROM_WORDS and more > rules.max_ratio * fewer:
            return "ratio"
        if rules.remove_duplicates:
            key = hash((source, target))  # 64 bits: a false alarm among a million pairs has a chance of 1 in 10**7
            if key in self._seen:
                return "duplicate"
            self._seen.add(key)
        if self._identify is not None and self._identify.is_wrong(source, target):
            return "language"
        return None

    def table(self) -> Table:
        """Return the reports as a table: a row for each text, a column for each rule that removed something."""
        used = [rule for rule in RULES if any(report.removed[rule] for report in self.reports)]
        table = Table(title="Cleaning: pairs removed by each rule")
        table.add_column("training text")
        for heading in ("read", *(RULES[rule] for rule in used), "kept"):
            table.add_column(heading, justify="right")
        for report in self.reports:
            removed = (f"{report.removed[rule]:,}" for rule in used)
            table.add_row(report.name, f"{report.read:,}", *removed, f"{report.kept:,}")
        return table


def tidy(sentence: str) -> str:
    """Return `sentence` in Unicode's composed form (NFC), without outer spaces and without runs of spaces."""
    if not unicodedata.is_normalized("NFC", sentence):
        sentence = unicodedata.normalize("NFC", sentence)
    sentence = sentence.strip(" ")
    return SPACES.sub(" ", sentence) if "  " in sentence else sentence


class LanguagePairIdentifier:
    """Tells when a sentence of a pair is surely in the other side's language: swapped, or left untranslated."""

    def __init__(self, languages: Languages) -> None:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # loading it takes a second

        self._source, self._target = languages.source, languages.target
        self._identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        try:
            self._identifier.set_languages([self._source, self._target])
        except ValueError as error:
            raise CorpusError(
                f"corpus.cleaning.check_language: the language identifier cannot tell {self._source} from "
                f"{self._target} ({error}); set it to false"
            ) from None

    def is_wrong(self, source: str, target: str) -> bool:
        return self._is_in(self._target, source) or self._is_in(self._source, target)

    def _is_in(self, language: str, sentence: str) -> bool:
        if len(sentence) < LANGUAGE_APPLIES_FROM_CHARACTERS:
            return False
        found, confidence = self._identifier.classify(sentence)
        return bool(found == language and confidence >= LANGUAGE_CONFIDENCE)
