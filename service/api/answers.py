"""The JSON of answers."""

import json
from collections.abc import Sequence
from typing import Any

from starlette.responses import JSONResponse

from service.api.stream import Event
from service.bundle.manifest import Manifest
from service.metrics import Metrics
from service.text.detection import Detection
from service.translation.options import DECODERS, Options
from service.translation.plan import Translation
from service.translation.stream import FinishedSentence, News, Started, Token

# Made once: `json.dumps` makes a new one whenever it is given an option.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class JSONAnswer(JSONResponse):
    """An answer that is given often."""

    def render(self, content: Any) -> bytes:
        return _ENCODER.encode(content).encode()


def native_answer(
    options: Options, translations: Sequence[Translation], is_list: bool, seconds: float
) -> dict[str, Any]:
    """LibreTranslate's answer with our fields beside; for a list, what belongs to a text is a list."""

    def each(values: Sequence[Any]) -> Any:
        return list(values) if is_list else values[0]

    answer: dict[str, Any] = {"translatedText": each([translation.text for translation in translations])}
    if options.source is None:
        answer["detectedLanguage"] = each([_detected(translation) for translation in translations])
    if options.alternatives:
        answer["alternatives"] = each([list(translation.alternatives) for translation in translations])
    answer |= {
        "source": each([translation.route.source for translation in translations]),
        "target": options.target,
        "objective": each([str(translation.objective) for translation in translations]),
        "strength": options.strength,
        "decoder": options.decoder,
        "score": each([_rounded(translation.score) for translation in translations]),
        "confidence": each([_rounded(translation.confidence) for translation in translations]),
        "truncated": each([translation.is_truncated for translation in translations]),
        "repetitive": each([translation.is_repetitive for translation in translations]),
        "model": each([translation.model for translation in translations]),
        "timing": {
            "total_ms": _ms(seconds),
            "queue_ms": _ms(max((translation.queue_s for translation in translations), default=0.0)),
            "decode_ms": _ms(max((translation.decode_s for translation in translations), default=0.0)),
            "tokens": sum(translation.tokens for translation in translations),
        },
    }
    if options.explain:
        answer["explain"] = each([translation.explanation for translation in translations])
    return answer


def stream_event(item: News) -> Event:
    """The server-sent event for a piece of news."""
    match item:
        case Started(sentences=sentences):
            return Event("start", {"sentences": list(sentences)})
        case Token(text_index=text, sentence_index=sentence, text=piece):
            return Event("token", {"text": text, "sentence": sentence, "token": piece})
        case FinishedSentence():
            return Event(
                "sentence",
                {
                    "text": item.text_index,
                    "sentence": item.sentence_index,
                    "source": item.source,
                    "translatedText": item.text,
                    "score": _rounded(item.score),
                    "truncated": item.is_truncated,
                },
            )


def detection_answer(detection: Detection) -> dict[str, Any]:
    """LibreTranslate's spelling: a percentage."""
    return {"confidence": round(100 * detection.confidence), "language": detection.language}


def objectives_answer(manifest: Manifest, metrics: Metrics) -> dict[str, Any]:
    """What a pair can be asked for, what that gained on test sets, and what it has cost on this machine."""
    pair = f"{manifest.source}-{manifest.target}"

    def cost(objective: str) -> dict[str, float | None]:
        return {decoder: metrics.milliseconds_per_token(pair, objective, decoder) for decoder in DECODERS}

    return {
        "source": manifest.source,
        "target": manifest.target,
        "model": {"name": manifest.name, "version": manifest.version, "parameters": manifest.sizes.parameters},
        "default": manifest.default_objective or "none",
        "beam_size": manifest.decoding.beam_size,
        "samples": manifest.decoding.npad_samples,
        "confidence": manifest.calibration.meaning if manifest.calibration else None,
        "objectives": [
            {
                "name": "none",
                "optimises": "nothing beyond the model's likelihood: plain decoding, no actor",
                "method": None,
                "gains": [],
                "milliseconds_per_token": cost("none"),
            },
            *(
                {
                    "name": actor.name,
                    "optimises": actor.optimises,
                    "method": actor.method,
                    "gains": [gain.model_dump() for gain in actor.gains],
                    "milliseconds_per_token": cost(actor.name),
                }
                for actor in manifest.actors
            ),
        ],
        "scores": [score.model_dump() for score in manifest.scores],
    }


def _detected(translation: Translation) -> dict[str, Any]:
    detection = translation.route.detection
    return detection_answer(detection) if detection else {"confidence": 0, "language": translation.route.source}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _ms(seconds: float) -> float:
    return round(1000 * seconds, 2)
