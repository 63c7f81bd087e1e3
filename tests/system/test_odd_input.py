"""Whatever is sent, there is an answer in the right shape, soon, and the server goes on."""

import random
import time

import pytest

PIECES = [
    "Ta netu.", "😀", "\u0000", "\u200b", "\u202e", "\ufffd", "ß", "日本語", "العربية", "ﷺ", "e\u0301" * 5, "\r\n",
    "\t", "<b>", "&amp;", "'", '"', "\\", "%s", "{}", "1e999", "a" * 300, "\U0010ffff", "…", "―",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("form", ["text", "html"])
def test_odd_characters_are_answered(server, piece, form):
    answer = server.translate(f"Ta {piece} netu.{piece}", format=form)
    assert isinstance(answer["translatedText"], str)


def test_random_mixtures_are_answered(server):
    dice = random.Random(80)
    texts = ["".join(dice.choices(PIECES, k=20)) for _ in range(50)]
    assert len(server.translate(texts)["translatedText"]) == 50
    assert len(server.translate(texts, format="html", objective="bleu")["translatedText"]) == 50


def test_emoji_survive_wherever_they_are(server):
    text = "😀 Ta 👩‍👩‍👧 netu 🏳️‍🌈. Ta ❤️!\n👍🏽"
    answer = server.translate(text)["translatedText"]
    for emoji in ("😀", "👩‍👩‍👧", "🏳️‍🌈", "❤️", "👍🏽"):
        assert answer.count(emoji) == 1


def test_a_megabyte_is_refused_quickly(server):
    started = time.perf_counter()
    response = server.post("/translate", json={"q": "Ta netu. " * 115_000, "target": "xb"})
    assert response.status_code == 400
    assert response.json()["code"] == "text_too_long"
    assert time.perf_counter() - started < 30  # a busy machine; the translation itself would take minutes


@pytest.mark.parametrize("unit", ["netu ", "Ta netu. ", "x", "a-", "😀", ". ", "1 ", "<b>x", "<", "&"])
def test_twenty_thousand_characters_of_anything_are_answered(server, unit):
    text = (unit * 20_000)[:20_000]
    answer = server.translate(text, format="html")
    assert isinstance(answer["translatedText"], str)


def test_the_longest_allowed_text_is_translated_whole(server, toy_sentences):
    line = toy_sentences(1, seed=81)[0]
    lines = [line] * (100_000 // (len(line) + 1))
    answer = server.translate("\n".join(lines))["translatedText"]
    assert answer == "\n".join([server.translate(line)["translatedText"]] * len(lines))
