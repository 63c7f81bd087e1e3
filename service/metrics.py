"""What Prometheus sees.  Labels come from small closed sets (routes, codes, pairs, objectives, …), never from text.

Each app has a registry of its own, so that two apps in one process (tests) do not add up.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from service.bundle.loader import LoadedPair

LATENCY_BUCKETS_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
BATCH_BUCKETS = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(slots=True)
class DecodingCost:
    """What an objective cost so far: decoded tokens, and the time from encoder to last token."""

    sentences_s: float = 0.0
    tokens: int = 0


class Metrics:
    """The counters of one app."""

    def __init__(self, pairs: Callable[[], Iterable[LoadedPair]]) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self.registry.register(EngineCollector(pairs))
        self.requests = Counter(
            "nudge_requests", "Requests by route and status", ["route", "method", "status"], registry=self.registry
        )
        self.request_seconds = Histogram(
            "nudge_request_seconds",
            "Time from the request's head to the last byte of its answer",
            ["route"],
            buckets=LATENCY_BUCKETS_S,
            registry=self.registry,
        )
        self.translation_seconds = Histogram(
            "nudge_translation_seconds",
            "Time of a translation: segmenting, queueing, decoding, rejoining",
            ["pair", "objective", "decoder"],
            buckets=LATENCY_BUCKETS_S,
            registry=self.registry,
        )
        self.translated_tokens = Counter(
            "nudge_translated_tokens", "Tokens of answers", ["pair", "objective", "decoder"], registry=self.registry
        )
        self.decode_seconds = Counter(
            "nudge_decode_seconds",
            "Time sentences spent between encoder and last token; by tokens, the cost of an objective",
            ["pair", "objective", "decoder"],
            registry=self.registry,
        )
        self.characters = Counter(
            "nudge_characters", "Characters of texts that were translated", ["pair"], registry=self.registry
        )
        self.refused = Counter("nudge_refused", "Requests refused, by error code", ["code"], registry=self.registry)
        self._costs: dict[tuple[str, str, str], DecodingCost] = {}
        # A child is looked up by its labels, which takes longer than counting; there are few, so they are kept.
        self._of_requests = lru_cache(maxsize=256)(self.requests.labels)
        self._of_routes = lru_cache(maxsize=256)(self.request_seconds.labels)
        self._of_kinds = lru_cache(maxsize=256)(self._children)

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count one request that was answered."""
        self._of_requests(route, method, str(status)).inc()
        self._of_routes(route).observe(seconds)

    def count_translation(
        self,
        pair: str,
        objective: str,
        decoder: str,
        *,
        characters: int,
        tokens: int,
        decode_s: float,
        seconds: float,
    ) -> None:
        """Count one text that was translated, in `seconds` from its request."""
        translation_seconds, translated_tokens, decode_seconds, translated_characters, cost = self._of_kinds(
            pair, objective, decoder
        )
        translation_seconds.observe(seconds)
        translated_tokens.inc(tokens)
        decode_seconds.inc(decode_s)
        translated_characters.inc(characters)
        cost.sentences_s += decode_s
        cost.tokens += tokens

    def _children(
        self, pair: str, objective: str, decoder: str
    ) -> tuple[Histogram, Counter, Counter, Counter, DecodingCost]:
        labels = (pair, objective, decoder)
        return (
            self.translation_seconds.labels(*labels),
            self.translated_tokens.labels(*labels),
            self.decode_seconds.labels(*labels),
            self.characters.labels(pair),
            self._costs.setdefault(labels, DecodingCost()),
        )

    def milliseconds_per_token(self, pair: str, objective: str, decoder: str) -> float | None:
        """The mean time of a token of this kind since the start, or None if there was none."""
        cost = self._costs.get((pair, objective, decoder))
        return round(1000 * cost.sentences_s / cost.tokens, 4) if cost and cost.tokens else None

    def render(self) -> bytes:
        return generate_latest(self.registry)


class EngineCollector(Collector):
    """Reads the engines' own counters when Prometheus asks."""

    def __init__(self, pairs: Callable[[], Iterable[LoadedPair]]) -> None:
        self._pairs = pairs

    def collect(self) -> Iterator[Metric]:
        gauges = {
            "queued_jobs": GaugeMetricFamily("nudge_queued_sentences", "Sentences waiting", labels=["pair"]),
            "queued_tokens": GaugeMetricFamily("nudge_queued_tokens", "Source tokens waiting", labels=["pair"]),
            "active_jobs": GaugeMetricFamily("nudge_active_sentences", "Sentences being decoded", labels=["pair"]),
            "active_rows": GaugeMetricFamily("nudge_active_rows", "Rows being decoded", labels=["pair"]),
            "tokens_per_s": GaugeMetricFamily("nudge_tokens_per_second", "Recent decoding speed", labels=["pair"]),
        }
        counters = {
            "steps": CounterMetricFamily("nudge_steps", "Calls of the step graph", labels=["pair"]),
            "row_steps": CounterMetricFamily("nudge_row_steps", "Rows those calls advanced", labels=["pair"]),
            "tokens": CounterMetricFamily("nudge_decoded_tokens", "Tokens of finished sentences", labels=["pair"]),
            "encoded": CounterMetricFamily("nudge_encoded_sentences", "Sentences encoded", labels=["pair"]),
            "finished": CounterMetricFamily("nudge_finished_sentences", "Sentences finished", labels=["pair"]),
            "cancelled": CounterMetricFamily("nudge_cancelled_sentences", "Sentences given up", labels=["pair"]),
            "expired": CounterMetricFamily("nudge_expired_sentences", "Sentences past their time", labels=["pair"]),
            "overloaded": CounterMetricFamily("nudge_overloaded_requests", "Refused: queue full", labels=["pair"]),
        }
        batch = HistogramMetricFamily("nudge_batch_rows", "Rows of a step", labels=["pair"])
        for loaded in self._pairs():
            stats = loaded.engine.stats()
            pair = "-".join(loaded.pair)
            for name, gauge in gauges.items():
                gauge.add_metric([pair], getattr(stats, name))
            for name, counter in counters.items():
                counter.add_metric([pair], getattr(stats, name))
            batch.add_metric([pair], *_cumulative(stats.batch_sizes))
        yield from gauges.values()
        yield from counters.values()
        yield batch


def _cumulative(sizes: dict[int, int]) -> tuple[list[tuple[str, float]], float]:
    """Prometheus' cumulative buckets of the batch sizes, and their sum."""
    buckets: list[tuple[str, float]] = [
        (str(bound), sum(count for size, count in sizes.items() if size <= bound)) for bound in BATCH_BUCKETS
    ]
    buckets.append(("+Inf", sum(sizes.values())))
    return buckets, sum(size * count for size, count in sizes.items())
