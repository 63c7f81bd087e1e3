"""What is wrong with a request is said: which parameter, what was given, what is allowed."""

import json

import pytest

GOOD = {"q": "Ta netu.", "source": "xa", "target": "xb"}


def refused(server, body, status=400, **arguments):
    response = server.post("/translate", json=body, **arguments)
    assert response.status_code == status, response.text
    answer = response.json()
    assert set(answer) == {"error", "code", "request_id"}
    assert response.headers["x-request-id"] == answer["request_id"]
    return answer


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"q": None}, "invalid_parameter", ["q is missing"]),
        ({"q": 5}, "invalid_parameter", ["q", "5", "string"]),
        ({"q": ["a", None]}, "invalid_parameter", ["q", "string"]),
        ({"q": {"a": 1}}, "invalid_parameter", ["q", "string"]),
        ({"q": "half \ud800"}, "invalid_parameter", ["surrogate"]),
        ({"target": None}, "invalid_parameter", ["target is missing"]),
        ({"target": 3}, "invalid_parameter", ["target", "3"]),
        ({"target": "zz"}, "unsupported_language", ["zz", "xa-xb"]),
        ({"source": "zz"}, "unsupported_language", ["zz", "xa-xb"]),
        ({"source": "xb", "target": "xa"}, "unsupported_language", ["xb", "xa", "xa-xb"]),
        ({"source": "auto", "target": "zz"}, "unsupported_language", ["zz", "Served: xb"]),
        ({"objective": "blue"}, "unknown_objective", ["blue", "Did you mean bleu?", "/objectives"]),
        ({"objective": "bleu:x"}, "invalid_parameter", ["objective", "bleu:x", "blend"]),
        ({"objective": "bleu:nan"}, "invalid_parameter", ["objective"]),
        ({"objective": "bleu:9"}, "invalid_parameter", ["from 0 to 2"]),
        ({"objective": "bleu,bleu"}, "invalid_parameter", ["once"]),
        ({"objective": 7}, "invalid_parameter", ["objective"]),
        ({"strength": -0.1}, "invalid_parameter", ["strength", "-0.1", "0 to 2"]),
        ({"strength": "1"}, "invalid_parameter", ["strength"]),
        ({"strength": 10**400}, "invalid_parameter", ["strength", "a number"]),
        ({"beam_size": 10**400, "decoder": "beam"}, "invalid_parameter", ["beam_size", "whole number"]),
        ({"strength": True}, "invalid_parameter", ["strength"]),
        ({"decoder": "magic"}, "invalid_parameter", ["magic", "greedy, beam, npad"]),
        ({"decoder": "beam", "beam_size": 0}, "invalid_parameter", ["beam_size", "1 to 10"]),
        ({"decoder": "beam", "beam_size": 10**9}, "invalid_parameter", ["beam_size", "1 to 10"]),
        ({"decoder": "beam", "beam_size": 2.5}, "invalid_parameter", ["beam_size", "whole"]),
        ({"decoder": "beam", "beam_size": 2, "alternatives": 5}, "invalid_parameter", ["alternatives", "6"]),
        ({"decoder": "npad", "samples": 1000}, "invalid_parameter", ["samples", "1 to 16"]),
        ({"decoder": "greedy", "alternatives": 2}, "invalid_parameter", ["alternatives", "decoder=beam"]),
        ({"alternatives": 1000}, "invalid_parameter", ["alternatives", "0 to 9"]),
        ({"format": "pdf"}, "invalid_parameter", ["format", "text, html"]),
        ({"explain": "maybe"}, "invalid_parameter", ["explain", "true or false"]),
        ({"stream": 3}, "invalid_parameter", ["stream"]),
        ({"glossary": "x"}, "invalid_parameter", ["glossary", "object"]),
        ({"glossary": {"a": 1}}, "invalid_parameter", ["glossary", "object"]),
        ({"glossary": {" ": "b"}}, "invalid_parameter", ["glossary"]),
        ({"glossary": {str(n): "b" for n in range(501)}}, "invalid_parameter", ["500"]),
    ],
)
def test_a_bad_parameter_is_named_with_what_is_allowed(server, change, code, words):
    response = server.post(
        "/translate", content=json.dumps(GOOD | change), headers={"content-type": "application/json"}
    )
    assert response.status_code == 400, response.text
    assert response.json()["code"] == code
    for word in words:
        assert word in response.json()["error"]


@pytest.mark.parametrize(
    ("content", "content_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b'"q"', "application/json", 400),
        (b"NaN", "application/json", 400),
        (b'{"q": NaN}', "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"q": ' + b"9" * 10_000 + b"}", "application/json", 400),
        (b"q=%ff&target=xb", "application/x-www-form-urlencoded", 400),
        (b"\xff", "application/x-www-form-urlencoded", 400),
        (b"garbage", "multipart/form-data; boundary=x", 400),
        (b"garbage", "multipart/form-data", 400),
        (b"<q/>", "application/xml", 415),
        (b"", "application/json", 400),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(server, content, content_type, status):
    response = server.post("/translate", content=content, headers={"content-type": content_type})
    assert response.status_code == status, response.text
    assert set(response.json()) == {"error", "code", "request_id"}


def test_a_file_is_not_a_text(server):
    response = server.post("/translate", files={"q": ("a.txt", b"Ta netu."), "target": (None, "xb")})
    assert response.status_code == 400


def test_the_message_never_carries_the_whole_text_back(server):
    answer = refused(server, GOOD | {"target": "z" * 5000})
    assert len(answer["error"]) < 300


def test_too_long_a_text_is_refused_with_both_numbers(server):
    answer = refused(server, GOOD | {"q": "a" * 100_001})
    assert answer["code"] == "text_too_long"
    assert "100001" in answer["error"]
    assert "100000" in answer["error"]


def test_the_limit_counts_all_texts_together(server):
    assert refused(server, GOOD | {"q": ["a" * 60_000] * 2})["code"] == "text_too_long"


def test_too_many_texts_are_refused(server):
    assert "1000" in refused(server, GOOD | {"q": ["a"] * 1001})["error"]


def test_parameters_nobody_knows_are_ignored_as_other_clients_send_their_own(server):
    assert server.translate("Ta netu.", secret="x", suggestion=True)["translatedText"]


def test_endless_digits_in_a_form_are_refused(server):
    response = server.post("/translate", data={**GOOD, "decoder": "beam", "beam_size": "1" * 400})
    assert response.status_code == 400
    assert response.json()["code"] == "invalid_parameter"


def test_a_query_string_that_is_not_utf_8_is_refused(server):
    response = server.get("/translate?q=%FCber&source=xa&target=xb")
    assert response.status_code == 400
    assert "UTF-8" in response.json()["error"]
