"""What is written to be copied never reaches the model."""

import time

import pytest

from service.text.anchors import lift
from service.text.opaque import Glossary, find_spans


def copied(sentence: str, glossary: Glossary | None = None) -> list[str]:
    spans = find_spans(sentence, lambda cluster: True, glossary or Glossary({}))
    return [sentence[span.start : span.stop] for span in spans]


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("Siehe https://example.org/a?b=c.", ["https://example.org/a?b=c"]),
        ("Ich gehe zu google.com, dann zu github.com/a_b.", ["google.com", "github.com/a_b"]),
        ("Schreib an anna.k@example.org, bitte.", ["anna.k@example.org"]),
        ("Öffne bericht_2024.pdf und Fotos.ZIP!", ["bericht_2024.pdf", "Fotos.ZIP"]),
        ("Siehe src/main.py, README.md.", ["src/main.py", "README.md"]),
        ("Es liegt in /usr/local/bin/start.sh.", ["/usr/local/bin/start.sh"]),
        ("Lies ~/notes, ../other/ und /tmp.", ["~/notes", "../other/", "/tmp"]),
        (r"C:\Users\Anna\Eigene fehlt, D:\ auch.", ["C:\\Users\\Anna\\Eigene", "D:\\"]),
        ("Setze NUDGE_MODELS und max_rows.", ["NUDGE_MODELS", "max_rows"]),
        ("Rufe get_user() oder main() auf.", ["get_user()", "main()"]),
        ("Der Befehl `git commit -m` hilft.", ["`git commit -m`"]),
        ("Frag @anna_k nach #Wetter.", ["@anna_k", "#Wetter"]),
        ("Nimm v2.10.3 oder V1.0.", ["v2.10.3", "V1.0"]),
        ("Das Konto DE89 3704 0044 0532 0130 00 ist neu.", ["DE89 3704 0044 0532 0130 00"]),
        ("Kein Kaffee :-( Schade ;) und <3!", [":-(", ";)", "<3"]),
        ("Die Rechnung AB-12345 für COVID-19.", ["AB-12345", "COVID-19"]),
        ('Sag <b>ja</b>, <a href="/x">hier</a><br/>.', ["<b>", "</b>", '<a href="/x">', "</a>", "<br/>"]),
        ("Tom &amp; Mary &#8211; sie&nbsp;da.", ["&amp;", "&#8211;", "&nbsp;"]),
        ("Hallo {name}, {0} von {{item.count}} in ${HOME}!", ["{name}", "{0}", "{{item.count}}", "${HOME}"]),
        (
            "Ein [Link](https://example.org/a_b) und [noch (einer)](x.md).",
            ["[", "](https://example.org/a_b)", "[", "](x.md)"],
        ),
        (r"Es gilt $E = mc^2$, wo $m$ die Masse ist, und $\alpha$.", ["$E = mc^2$", "$m$", r"$\alpha$"]),
        ("Du hast %d von %1$s, %(name)s.", ["%d", "%1$s", "%(name)s"]),
    ],
)
def test_what_is_written_to_be_copied_is_found(sentence: str, found: list[str]) -> None:
    assert copied(sentence) == found


@pytest.mark.parametrize(
    "sentence",
    [
        "Er/sie kommt und/oder geht, mit 80 km/h.",
        "Die Lehrer_innen und der Schüler_in sind da.",
        "Das ist _wichtig_, bitte hier ____ ausfüllen.",
        "Der 100-Meter-Lauf der 20-Jährigen auf A4, in 3D.",
        "This is good.it works, stop.no more.",
        "Das war gut.So ist das. Z.B. hier, d.h. dort.",
        "Platz #1 um 18:30 @ 5 Uhr, Nr. 12.",
        "NATO UND EU SIND LAUT.",
        "Ein Wert (etwa) von 1.299,99.",
        "5 < 7 und 8 > 3, a<b und {eine Menge} von {Tom, Mary}.",
        "Ich habe $5 und $10, also 5$ oder A$ [und mehr] (vielleicht).",
        "20 %der Leute, 100%sicher, R&D; das ist es.",
    ],
)
def test_what_people_say_is_left_to_the_model(sentence: str) -> None:
    assert copied(sentence) == []


def test_soft_hyphens_and_other_invisible_signs_are_dropped_and_words_stay_whole() -> None:
    sentence = "Die Kin\u00adder\u200b spie\u00adlen."
    spans = find_spans(sentence, lambda cluster: True)
    assert lift(sentence, spans) == ("Die Kinder spielen.", [])


def test_a_word_with_an_unknown_sign_that_is_part_of_it_is_kept_whole() -> None:
    sentence = "Auf 50 m² gibt es H₂O. 🙂"
    spans = find_spans(sentence, lambda cluster: cluster not in "²₂🙂")
    assert [sentence[span.start : span.stop] for span in spans] == ["m²", "H₂O", "🙂"]


def test_degrees_stay_with_their_number() -> None:
    sentence = "Es waren -5 °C, also 23°F, bei 90° Neigung in °C."
    spans = find_spans(sentence, lambda cluster: cluster != "°")
    assert [sentence[: span.start].count("°") for span in spans] == [2, 3]


def test_several_spaces_are_read_as_one() -> None:
    sentence = "Ich  habe \u00a0 viele      Wörter."
    text, anchors = lift(sentence, find_spans(sentence, lambda cluster: True))
    assert text == "Ich habe viele Wörter."
    assert [anchor.literal for anchor in anchors] == [" ", "\u00a0 ", " " * 5]


def test_an_address_loses_what_cannot_be_seen() -> None:
    (span,) = find_spans("https://exam\u00adple.org", lambda cluster: True)
    assert span.literal == "https://example.org"


def test_a_term_of_the_glossary_counts_more() -> None:
    spans = find_spans("Nimm report.pdf!", lambda cluster: True, Glossary({"report": "Bericht"}))
    assert [span.literal for span in spans] == ["Bericht"]


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "_", "a_", ".", "/", "/.", "A1", "A-", "1-", "a.b", "`a", "@", "x()", "a@", "~/", "@a\u00ad "),
        *("<a ", "&a", "{a", "{{", "%(a", "[a", "](a", "$a", "$=", "$ ", "  "),
    ],
)
def test_time_grows_no_faster_than_the_text(unit: str) -> None:
    short, long = unit * 2_000, unit * 40_000

    def seconds(sentence: str) -> float:
        times = []
        for _ in range(3):
            began = time.process_time()
            find_spans(sentence, lambda cluster: True)
            times.append(time.process_time() - began)
        return min(times)

    # Twenty times the text; read again and again, it would take four hundred times as long.
    assert seconds(long) < 200 * max(seconds(short), 1e-4)
