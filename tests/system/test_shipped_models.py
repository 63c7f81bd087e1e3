"""The bundles that ship, over HTTP: everyday sentences come out right or nearly so, odd input comes out sane."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from everyday import EVERYDAY, FRAMES, LONE_WORDS, NAMES, PHRASES, TOWN_FRAMES, TOWNS

MODELS = Path(__file__).resolve().parents[2] / "models"
PAIRS = [pair for pair in EVERYDAY if (MODELS / pair / "manifest.json").is_file()]
OBJECTIVES = ["none", "bleu", "perplexity", "chrf", "concise"]
WORDS_RIGHT = 0.75
NAMES_KEPT = 0.9

pytestmark = pytest.mark.skipif(not PAIRS, reason="no bundle ships in models/")

ODD = {
    "de": ["Hund", "GUTEN MORGEN!!!", "Hallo 😀 Welt", "3,50 €", "Angela Merkel", "2023", "Ja.", "!!!", "Tschüss :-)"],
    "en": ["dog", "GOOD MORNING!!!", "Hello 😀 world", "$3.50", "Barack Obama", "2023", "Yes.", "!!!", "Bye :-)"],
}
PARAGRAPH = {
    "de": "Am Montag war ich müde.\n\nAm Dienstag ging es mir besser! Am Mittwoch habe ich 25 Seiten gelesen.\n",
    "en": "On Monday I was tired.\n\nOn Tuesday I felt better! On Wednesday I read 25 pages.\n",
}
KEPT = {
    "de": [
        "Der Zug fährt um 14:35 ab.",
        "Es kostet 1299 Euro.",
        "Siehe https://example.org/a?b=1 für mehr.",
        "Öffne die Datei Bericht_2024.pdf!",
    ],
    "en": [
        "The train leaves at 14:35.",
        "It costs 1299 euros.",
        "See https://example.org/a?b=1 for more.",
        "Open the file report_2024.pdf!",
    ],
}
RARE_CAPITALS = {
    "de": {"Ich wohne in Österreich.": "austria", "Öffne die Tür!": "open", "Die Qualität ist gut.": "quality"},
    "en": {"Quiet!": "ruhe|ruhig|still", "They said 25% of it was new.": "25 ?%"},
}
# Where an amount goes, and amounts as the two languages write them.
PRICES = {
    "de": [
        "Der Preis beträgt {} Euro.",
        "Er hat {} Dollar verloren.",
        "Es sind {} Kilometer.",
        "Das Zimmer hat {} Meter.",
    ],
    "en": ["The price is {} euros.", "He lost {} dollars.", "It is {} kilometres.", "The room has {} metres."],
}
AMOUNTS = {
    "de": ["0,25", "3,5", "47,11", "1.299,99", "12.500", "1.234.567", "98765"],
    "en": ["0.25", "3.5", "47.11", "1,299.99", "12,500", "1,234,567", "98765"],
}
# Sentences with a measure, or something below zero, and how the translation has it.
MEASURES = {
    "de": {
        "Mein Bruder wiegt 75 kg.": "75 kg",
        "Die Temperatur beträgt -5 °C.": "-5 °C",
        "Das Auto fährt 180 km/h.": "180 km/h",
        "Das Zimmer ist 10-12 m lang.": "10-12 m",
        "Die Flasche hat 1,5 l.": "1.5 l",
        "Gestern waren es -12 Grad.": "-12",
    },
    "en": {
        "My brother weighs 75 kg.": "75 kg",
        "The temperature is -5 °C.": "-5 °C",
        "The car goes 180 km/h.": "180 km/h",
        "The room is 10-12 m long.": "10-12 m",
        "The bottle holds 1.5 l.": "1,5 l",
        "The train leaves at 6:30 p.m.": "18:30|18.30",
    },
}
# Days and months in the languages' own spellings, and where they go.
DATED = {
    "de": ["Am {} fährt mein Bruder ab.", "Ich habe am {} 2 Karten 😀 gekauft.", "Sie kommt am {} nach Hause."],
    "en": ["On {} my brother leaves.", "I bought 2 tickets 😀 on {}.", "She comes home on {} at six."],
}
MONTHS = [
    ("Januar", "January"),
    ("Februar", "February"),
    ("März", "March"),
    ("April", "April"),
    ("Mai", "May"),
    ("Juni", "June"),
    ("Juli", "July"),
    ("August", "August"),
    ("September", "September"),
    ("Oktober", "October"),
    ("November", "November"),
    ("Dezember", "December"),
]
DAYS = (1, 2, 3, 4, 5, 7, 11, 15, 20, 23, 30, 31)
WRITTEN = {"de": ["{day}. {month}"], "en": ["{day} {month}", "{month} {day}"]}
DATES_ALONE = 0.9


@pytest.fixture(scope="module")
def shipped(start_server):
    return start_server(MODELS)


def ask(server, pair: str, q, **parameters) -> dict:
    source, target = pair.split("-")
    response = server.post("/translate", json={"q": q, "source": source, "target": target, **parameters})
    assert response.status_code == 200, response.text
    return response.json()


def longest_loop(text: str) -> int:
    """How often, at most, a run of one to four words follows itself."""
    words, longest = text.lower().split(), 1
    for size in (1, 2, 3, 4):
        for start in range(len(words)):
            unit, count = words[start : start + size], 1
            while len(unit) == size and words[start + count * size : start + (count + 1) * size] == unit:
                count += 1
            longest = max(longest, count)
    return longest


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("pair", PAIRS)
def test_everyday_sentences_come_out_right_or_nearly_so(shipped, pair, objective) -> None:
    texts = [text for text, *_ in EVERYDAY[pair]]
    answer = ask(shipped, pair, texts, objective=objective)
    assert not any(answer["truncated"])
    assert not any(answer["repetitive"])
    found = total = 0
    for (text, *families), output in zip(EVERYDAY[pair], answer["translatedText"], strict=True):
        assert longest_loop(output) <= 2, output
        assert 0.4 <= len(output) / len(text) <= 2.2, output
        assert output[-1] == text[-1], output
        total += len(families)
        found += sum(bool(re.search(family, output.lower())) for family in families)
    assert found / total >= WORDS_RIGHT, answer["translatedText"]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(("typed", "least"), [(LONE_WORDS, 0.75), (PHRASES, 0.65)], ids=["words", "phrases"])
def test_lone_words_and_phrases_come_out_as_such(shipped, pair, typed, least) -> None:
    words = typed[pair]
    outputs = ask(shipped, pair, list(words))["translatedText"]
    wrong = {
        word: output
        for (word, wanted), output in zip(words.items(), outputs, strict=True)
        if not re.fullmatch(wanted, output.lower())
    }
    assert len(wrong) <= (1 - least) * len(words), wrong


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(("names", "frames"), [(NAMES, FRAMES), (TOWNS, TOWN_FRAMES)], ids=["people", "towns"])
def test_names_that_nobody_taught_are_copied(shipped, pair, names, frames) -> None:
    asked = [(name, frame.format(name)) for name in names for frame in frames[pair[:2]]]
    outputs = ask(shipped, pair, [text for _, text in asked])["translatedText"]
    lost = [output for (name, _), output in zip(asked, outputs, strict=True) if name not in output]
    assert len(lost) <= (1 - NAMES_KEPT) * len(asked), lost


@pytest.mark.parametrize("pair", PAIRS)
def test_odd_input_comes_out_sane(shipped, pair) -> None:
    for text in ODD[pair[:2]]:
        answer = ask(shipped, pair, text)
        output = answer["translatedText"]
        assert output.strip()
        assert len(output) <= 3 * len(text) + 20, output
        assert longest_loop(output) <= 3, output
        for emoji in re.findall("😀", text):
            assert emoji in output
        for number in re.findall(r"\d+", text):
            assert number in output


@pytest.mark.parametrize("pair", PAIRS)
def test_numbers_and_addresses_are_kept(shipped, pair) -> None:
    for text in KEPT[pair[:2]]:
        output = ask(shipped, pair, text)["translatedText"]
        for part in re.findall(r"https?://\S+|\w+\.pdf|\d+", text):
            assert part in output, output


@pytest.mark.parametrize("objective", ["none", "bleu"])
@pytest.mark.parametrize("pair", PAIRS)
def test_dates_are_exact_and_nearly_always_the_only_ones(shipped, pair, objective) -> None:
    """Every day and month comes through, and the models seldom make up another number beside it."""
    source, target = pair.split("-")
    asked = []
    for day, (german, english) in zip(DAYS, MONTHS, strict=True):
        month, translated = (german, english) if source == "de" else (english, german)
        date = WRITTEN[target][0].format(day=day, month=translated)
        written = [form.format(day=day, month=month) for form in WRITTEN[source]]
        asked += [(frame.format(one), date) for one in written for frame in DATED[source]]
    outputs = ask(shipped, pair, [text for text, _ in asked], objective=objective)["translatedText"]
    assert not [output for (_, date), output in zip(asked, outputs, strict=True) if date not in output]
    alone = [
        not re.findall(r"\d+", re.sub(r"(?<!\d)2(?!\d)", "", output.replace(date, "", 1)))
        for (_, date), output in zip(asked, outputs, strict=True)
    ]
    assert sum(alone) >= DATES_ALONE * len(alone), [one for one, fine in zip(outputs, alone, strict=True) if not fine]


@pytest.mark.parametrize("pair", PAIRS)
def test_words_with_a_capital_that_has_no_subword_are_translated(shipped, pair) -> None:
    for text, wanted in RARE_CAPITALS[pair[:2]].items():
        assert re.search(wanted, ask(shipped, pair, text)["translatedText"].lower())


@pytest.mark.parametrize("pair", PAIRS)
def test_amounts_are_exact_and_written_as_the_target_language_does(shipped, pair) -> None:
    source, target = pair.split("-")
    amounts = list(zip(AMOUNTS[source], AMOUNTS[target], strict=True))
    asked = [(text.format(given), wanted) for text in PRICES[source] for given, wanted in amounts]
    answer = ask(shipped, pair, [text for text, _ in asked], explain=True)
    outputs = answer["translatedText"]
    for (text, wanted), output, (explained,) in zip(asked, outputs, answer["explain"], strict=True):
        assert re.findall(r"\d[\d.,]*\d", output) == [wanted], output
        assert explained["source"] == text
        assert "".join(token["text"] for token in explained["tokens"]).strip() == output


@pytest.mark.parametrize("objective", ["none", "bleu"])
@pytest.mark.parametrize("pair", PAIRS)
def test_measures_are_exact(shipped, pair, objective) -> None:
    measures = MEASURES[pair[:2]]
    outputs = ask(shipped, pair, list(measures), objective=objective)["translatedText"]
    for wanted, output in zip(measures.values(), outputs, strict=True):
        assert re.search(rf"(?<![\d-])(?:{wanted})(?!\w)", output), output


@pytest.mark.parametrize("pair", PAIRS)
def test_a_paragraph_keeps_its_lines_and_sentences(shipped, pair) -> None:
    text = PARAGRAPH[pair[:2]]
    output = ask(shipped, pair, text)["translatedText"]
    assert [not line for line in output.split("\n")] == [not line for line in text.split("\n")]
    assert "25" in output
    assert len(re.findall(r"[.!?](?=\s)", output)) == 3, output


@pytest.mark.parametrize("pair", PAIRS)
def test_there_and_back_is_in_the_language_it_began_in(shipped, pair) -> None:
    source, target = pair.split("-")
    if f"{target}-{source}" not in PAIRS:
        pytest.skip(f"{target}-{source} does not ship")
    text = EVERYDAY[pair][12][0]
    there = ask(shipped, pair, text)["translatedText"]
    back = ask(shipped, f"{target}-{source}", there)["translatedText"]
    detected = shipped.post("/detect", data={"q": back}).json()[0]["language"]
    assert detected == source


def test_both_pairs_are_ready_and_their_objectives_have_measured_gains(shipped) -> None:
    pairs = shipped.get("/objectives").json()["pairs"]
    assert sorted(f"{pair['source']}-{pair['target']}" for pair in pairs) == sorted(PAIRS)
    for pair in pairs:
        names = {objective["name"]: objective for objective in pair["objectives"]}
        assert set(OBJECTIVES) <= set(names)
        for name in OBJECTIVES[1:]:
            assert names[name]["gains"], f"{name} has no measured gain"
