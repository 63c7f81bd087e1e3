"""The same text gets the same answer: alone, in a list, and under full load with other objectives and lengths."""

import random
from concurrent.futures import ThreadPoolExecutor

import httpx

KINDS = [
    {},
    {"objective": "bleu"},
    {"objective": "bleu", "strength": 0.5},
    {"decoder": "beam", "beam_size": 4},
    {"decoder": "beam", "beam_size": 3, "objective": "bleu"},
    {"decoder": "npad", "samples": 3},
]


def ask(client: httpx.Client, url: str, text: str, kind: dict) -> tuple:
    body = {"q": text, "source": "xa", "target": "xb", **kind}
    response = client.post(url + "/translate", json=body, timeout=120)
    assert response.status_code == 200, response.text
    answer = response.json()
    return answer["translatedText"], answer["score"], answer["truncated"]


def test_a_thousand_sentences_alone_and_under_32_callers(server, toy_sentences):
    sentences = toy_sentences(1000, seed=60, longest=20)
    dice = random.Random(60)
    work = [(text, KINDS[0] if dice.random() < 0.7 else dice.choice(KINDS)) for text in sentences]
    with httpx.Client() as client:
        alone = [ask(client, server.url, text, kind) for text, kind in work]
    order = list(range(len(work)))
    dice.shuffle(order)
    before = server.metric("nudge_row_steps_total"), server.metric("nudge_steps_total")
    limits = httpx.Limits(max_connections=32)
    with httpx.Client(limits=limits) as client, ThreadPoolExecutor(32) as callers:
        crowded = dict(zip(order, callers.map(lambda index: ask(client, server.url, *work[index]), order), strict=True))
    rows, steps = server.metric("nudge_row_steps_total") - before[0], server.metric("nudge_steps_total") - before[1]
    assert rows / steps > 2, "there was no company to speak of"
    assert [crowded[index] for index in range(len(work))] == alone


def test_a_long_document_gives_what_its_sentences_give_alone(server, toy_sentences):
    sentences = toy_sentences(200, seed=61)
    together = server.translate("\n".join(sentences), objective="bleu")["translatedText"].split("\n")
    with httpx.Client() as client:
        alone = [ask(client, server.url, text, {"objective": "bleu"})[0] for text in sentences]
    assert together == alone
