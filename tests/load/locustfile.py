"""Callers as they come: mostly a sentence, sometimes a paragraph or a list, every objective, now and then beam search.

    locust -f tests/load/locustfile.py --host http://127.0.0.1:8000                     with its page on :8089
    locust -f tests/load/locustfile.py --host … --headless -u 16 -t 1m --html report.html

`make locust` starts the service for it.  The statistics are grouped by what was asked for and how.
"""

import random
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import gevent
from locust import FastHttpUser, between, events, task
from locust.env import Environment
from traffic import Pair, read_pairs, read_sentences, request_body

DETECT_SHARE = 0.2  # callers who leave the source language to us


@events.init_command_line_parser.add_listener
def add_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--models",
        type=Path,
        default=None,
        env_var="LOAD_MODELS",
        help="folder of bundles, for the sentences of languages that have no list here",
    )


@events.init.add_listener
def look_at_the_clock(**_: object) -> None:
    """gevent's idea of now is from before the imports, which would be taken off the run time."""
    gevent.get_hub().loop.update_now()


class Caller(FastHttpUser):
    """Someone who reads the answer for a moment before asking again."""

    wait_time = between(0.2, 1.5)

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.dice = random.Random()
        self.texts: dict[Pair, list[str]] = {}

    def on_start(self) -> None:
        """Learn what is served."""
        models = self.environment.parsed_options.models
        with self.client.get("/objectives", name="objectives") as answer:
            self.texts = {pair: read_sentences(pair, models) for pair in read_pairs(answer.json())}

    @task(12)
    def sentence(self) -> None:
        pair = self._pair()
        self._translate("sentence", pair, self.dice.choice(self.texts[pair]), self._greedy(pair))

    @task(4)
    def paragraph(self) -> None:
        pair = self._pair()
        text = " ".join(self.dice.choices(self.texts[pair], k=self.dice.randint(3, 8)))
        self._translate("paragraph", pair, text, self._greedy(pair))

    @task(2)
    def list_of_texts(self) -> None:
        pair = self._pair()
        texts = self.dice.choices(self.texts[pair], k=self.dice.randint(2, 16))
        self._translate("list", pair, texts, self._greedy(pair))

    @task(3)
    def beam_search(self) -> None:
        pair = self._pair()
        parameters = {"objective": "none", "decoder": "beam", "beam_size": 5}
        self._translate("sentence", pair, self.dice.choice(self.texts[pair]), parameters)

    @task(1)
    def detection(self) -> None:
        text = self.dice.choice(self.texts[self._pair()])
        self.client.post("/detect", json={"q": text}, name="detect")

    @task(1)
    def page(self) -> None:
        self.client.get("/", name="page")

    def _pair(self) -> Pair:
        return self.dice.choice(list(self.texts))

    def _greedy(self, pair: Pair) -> dict[str, Any]:
        return {"objective": self.dice.choice(["none", *pair.actors]), "decoder": "greedy"}

    def _translate(self, shape: str, pair: Pair, text: str | list[str], parameters: dict[str, Any]) -> None:
        body = request_body(pair, text, parameters)
        # With other pairs there is something to detect; the toy language is none that a detector knows.
        if len(self.texts) > 1 and self.dice.random() < DETECT_SHARE:
            body["source"] = "auto"
        name = f"{pair.name} {shape}, {parameters['decoder']}, {parameters['objective']}"
        with self.client.post("/translate", json=body, name=name, catch_response=True) as answer:
            if answer.status_code != 200:
                answer.failure(f"status {answer.status_code}: {(answer.text or '')[:200]}")
            elif not answer.json()["translatedText"]:
                answer.failure("an empty translation")
