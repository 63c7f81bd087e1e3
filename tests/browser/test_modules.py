"""The page's own arithmetic, called in the browser, with answers that can be worked out by hand."""

import math

import pytest


@pytest.fixture(scope="module")
def visit(open_visit):
    """One page for all: nothing here changes it."""
    return open_visit()


def diff(visit, before, after):
    return [(change["kind"], change["text"]) for change in visit.call("words", "diffWords", before, after, "en")]


def test_equal_texts_have_no_difference(visit):
    assert diff(visit, "one two.", "one two.") == [("same", "one two.")]


def test_changed_word_is_removed_and_added(visit):
    assert diff(visit, "one two three", "one 2 three") == [
        ("same", "one "),
        ("removed", "two "),
        ("added", "2 "),
        ("same", "three"),
    ]


def test_difference_keeps_the_longest_common_part(visit):
    # a b c d and b c d e have b c d in common: one word leaves, one comes.
    assert diff(visit, "a b c d", "b c d e") == [("removed", "a "), ("same", "b c d "), ("added", "e")]


@pytest.mark.parametrize(("before", "after"), [("", "new"), ("old", ""), ("", "")])
def test_difference_from_and_to_nothing(visit, before, after):
    changes = diff(visit, before, after)
    assert "".join(text for kind, text in changes if kind != "added") == before
    assert "".join(text for kind, text in changes if kind != "removed") == after


def token(text, influence=0.0, log_probability=0.0):
    return {"text": text, "influence": influence, "logProbability": log_probability}


def test_influence_of_a_word_is_the_sum_over_its_tokens(visit):
    tokens = [token(" ha", 0.25, -1.0), token("us", 0.5, -0.5), token(" rot", 0.125), token(".", 0.0), token("", 1.0)]
    words = visit.call(
        "explain", "explainWords", "haus rot.", [{"translatedText": "haus rot.", "tokens": tokens}], "de"
    )
    assert [(word["text"], word["influence"]) for word in words] == [
        ("haus", 0.75),
        (" ", 0),
        ("rot", 0.125),
        (".", 1.0),  # the decision to end belongs to the last word
    ]
    assert words[0]["logProbability"] == -1.5
    assert words[-1]["tokens"][-1]["text"] == "end of sentence"


def test_words_of_each_sentence_get_the_tokens_of_that_sentence(visit):
    sentences = [
        {"translatedText": "ja.", "tokens": [token(" ja", 0.5), token("."), token("")]},
        {"translatedText": "ja.", "tokens": [token(" ja", 2.0), token("."), token("")]},
    ]
    words = visit.call("explain", "explainWords", "ja.\n\nja.", sentences, "de")
    assert [word["influence"] for word in words if word["text"] == "ja"] == [0.5, 2.0]
    assert "".join(word["text"] for word in words) == "ja.\n\nja."


def test_text_that_was_carried_over_has_no_tokens(visit):
    tokens = [token(" ja", 0.5), token(" nein", 0.25), token("")]
    words = visit.call(
        "explain", "explainWords", "ja 🙂 nein", [{"translatedText": "ja 🙂 nein", "tokens": tokens}], "de"
    )
    assert {word["text"]: word["influence"] for word in words if word["text"].strip()} == {
        "ja": 0.5,
        "🙂": 0,
        "nein": 0.25,
    }


@pytest.mark.parametrize(
    ("nats", "heat"), [(0, 0), (0.009, 0), (0.01, 1), (0.05, 2), (0.2, 3), (0.5, 4), (1, 5), (9, 5)]
)
def test_heat_grows_with_the_influence(visit, nats, heat):
    assert visit.call("explain", "heatOf", nats) == heat


def preview(visit, source, events):
    return visit.run(
        """async ([source, events]) => {
          const { Preview } = await import('/js/preview.js');
          const preview = new Preview(source);
          for (const [name, data] of events) preview.add({ name, data });
          return String(preview);
        }""",
        [source, events],
    )


def test_preview_puts_tokens_into_their_sentences(visit):
    events = [
        ["start", {"sentences": [2]}],
        ["token", {"sentence": 1, "token": "Zwei"}],
        ["token", {"sentence": 0, "token": "Ei"}],
        ["token", {"sentence": 0, "token": "ns."}],
    ]
    assert preview(visit, "One. Two.", events) == "Eins. Zwei"


def test_preview_keeps_the_gap_after_a_finished_sentence(visit):
    events = [
        ["start", {"sentences": [2]}],
        ["sentence", {"sentence": 0, "source": "One.", "translatedText": "Eins."}],
        ["token", {"sentence": 1, "token": "Zw"}],
    ]
    assert preview(visit, "One.\n\nTwo.", events) == "Eins.\n\nZw"


def test_events_are_read_across_chunks_and_comments(visit):
    # Cut in the middle of a line and in the middle of a character.
    raw = ': hello\n\nevent: token\ndata: {"token": "ä"}\n\nevent: done\ndata: {"n": 1}\n\n'.encode()
    cut = raw.index("ä".encode()) + 1
    events = visit.run(
        """async (chunks) => {
          const { readEvents } = await import('/js/events.js');
          const body = new ReadableStream({ start(controller) {
            for (const chunk of chunks) controller.enqueue(new Uint8Array(chunk));
            controller.close();
          }});
          const events = [];
          for await (const event of readEvents(body)) events.push([event.name, event.data]);
          return events;
        }""",
        [list(raw[:cut]), list(raw[cut:])],
    )
    assert events == [["token", {"token": "ä"}], ["done", {"n": 1}]]


@pytest.mark.parametrize(
    ("status", "code", "kind", "wait"),
    [
        (503, "not_ready", "starting", 3),
        (503, "busy", "busy", 3),
        (429, "rate_limited", "busy", 3),
        (429, "quota_exceeded", "refused", None),
        (502, "", "unreachable", None),
        (504, "deadline_exceeded", "failed", None),
        (500, "internal_error", "failed", None),
        (400, "invalid_parameter", "refused", None),
        (403, "invalid_key", "refused", None),
    ],
)
def test_failures_are_told_apart(visit, status, code, kind, wait):
    failure = visit.run(
        """async ([status, body, wait]) => {
          const { Failure } = await import('/js/failures.js');
          const { kind, retryAfterS, message } = Failure.fromBody(status, body, wait);
          return [kind, retryAfterS, message];
        }""",
        [status, {"error": "why", "code": code}, 3],
    )
    assert failure == [kind, wait, "why"]


def test_gain_is_green_only_if_it_is_better_and_not_by_chance(visit):
    def badge(metric, greedy, actor, p):
        gain = {"test_set": "t", "metric": metric, "greedy": greedy, "actor": actor, "beam": None, "p": p}
        return visit.run(
            """async (gain) => {
              const { gainBadge } = await import('/js/gains.js');
              const badge = gainBadge(gain);
              return [badge.textContent, 'better' in badge.dataset, 'worse' in badge.dataset];
            }""",
            gain,
        )

    assert badge("bleu", 40, 41.5, 0.01) == ["+1.5 BLEU", True, False]
    assert badge("bleu", 40, 41.5, 0.2) == ["+1.5 BLEU", False, False]
    assert badge("bleu", 40, 39, 0.01) == ["−1.0 BLEU", False, True]
    assert badge("perplexity", 3, 2.75, 0.01) == ["−0.25 Perplexity", True, False]
    assert badge("length_ratio", 1, 0.9, 0.01) == ["−0.10 Length ratio", False, False]


def test_confidence_and_score_are_written_for_people(visit):
    assert visit.call("facts", "formatScore", -0.0123) == "−0.012"
    assert visit.call("facts", "formatScore", -math.log(2)) == "−0.69"
    assert visit.call("facts", "formatTime", 4.26) == "4.3 ms"
    assert visit.call("facts", "formatTime", 1260) == "1.3 s"
