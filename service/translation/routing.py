"""Which pair translates a text, when the caller may have left the source language open."""

from collections.abc import Collection
from dataclasses import dataclass

from service.bundle.registry import Registry
from service.errors import NotReady, UnsupportedLanguage
from service.text.detection import Detection, detect

# A text that is surely in the target language already is handed back; a doubtful one is translated.
ALREADY_TRANSLATED = 0.8


@dataclass(frozen=True, slots=True)
class Route:
    """From a language to a language; `is_identity` if the text is in the target language already, and stays."""

    source: str
    target: str
    detection: Detection | None = None

    @property
    def languages(self) -> tuple[str, str]:
        return self.source, self.target

    @property
    def is_identity(self) -> bool:
        return self.source == self.target


def served_pairs(registry: Registry) -> list[tuple[str, str]]:
    """What is served now, or NotReady."""
    pairs = [loaded.pair for loaded in registry.pairs()]
    if not pairs:
        raise NotReady(
            "No model is loaded: the service is starting, or its models folder holds no usable bundle (see /ready).",
            retry_after_s=2.0,
        )
    return pairs


def served_languages(registry: Registry) -> list[str]:
    """Every source and target language, sorted."""
    return sorted({language for pair in served_pairs(registry) for language in pair})


def find_route(text: str, source: str | None, target: str, pairs: Collection[tuple[str, str]]) -> Route:
    """The pair for a text; detects the source language, among those that can be translated to the target, if None."""
    if source is not None:
        is_same = source == target and any(target in pair for pair in pairs)
        if (source, target) in pairs or is_same:
            return Route(source, target)
        raise UnsupportedLanguage.pair(source, target, [f"{a}-{b}" for a, b in pairs])
    sources = [a for a, b in pairs if b == target]
    if not sources:
        raise UnsupportedLanguage.code_of("target", target, {b for _, b in pairs})
    found = detect(text, {*sources, target})
    best = found[0]
    if best.language == target and best.confidence < ALREADY_TRANSLATED:
        best = next(detection for detection in found if detection.language in sources)
    return Route(best.language, target, best)
