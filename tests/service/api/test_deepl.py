"""/v2 as DeepL's clients of both languages speak it."""

import httpx
import pytest


def test_json_as_the_python_client_sends_it(server, toy_sentences):
    texts = toy_sentences(2, seed=30)
    body = {"text": texts, "target_lang": "XB", "source_lang": "XA", "show_billed_characters": True}
    answer = server.post("/v2/translate", json=body).json()
    assert [entry["text"] for entry in answer["translations"]] == server.translate(texts)["translatedText"]
    assert [entry["billed_characters"] for entry in answer["translations"]] == [len(text) for text in texts]
    assert {entry["detected_source_language"] for entry in answer["translations"]} == {"XA"}


def test_forms_as_the_node_client_sends_them(server, toy_sentences):
    texts = toy_sentences(2, seed=31)
    body = {"text": texts, "target_lang": "xb"}
    answer = server.post("/v2/translate", data=body).json()
    assert [entry["text"] for entry in answer["translations"]] == server.translate(texts)["translatedText"]


def test_one_text_as_a_string(server):
    assert len(server.post("/v2/translate", data={"text": "Ta netu.", "target_lang": "XB"}).json()["translations"]) == 1


def test_objective_and_decoder_are_extra_fields(server, toy_sentences):
    text = toy_sentences(1, seed=32)[0]
    body = {"text": [text], "target_lang": "XB", "objective": "bleu", "decoder": "beam", "beam_size": 3}
    answer = server.post("/v2/translate", json=body).json()
    expected = server.translate(text, objective="bleu", decoder="beam", beam_size=3)
    assert answer["translations"][0]["text"] == expected["translatedText"]


def test_tags_are_handled(server):
    body = {"text": ["<p>Ta netu.</p>"], "target_lang": "XB", "tag_handling": "html"}
    text = server.post("/v2/translate", json=body).json()["translations"][0]["text"]
    assert text.startswith("<p>")
    assert text.endswith("</p>")


@pytest.mark.parametrize("how", ["query", "body"])
def test_languages_by_type_in_query_or_body(server, how):
    arguments = {"params": {"type": "target"}} if how == "query" else {"data": {"type": "target"}}
    response = httpx.request("GET", server.url + "/v2/languages", timeout=60, **arguments)
    assert response.json() == [{"language": "XB", "name": "Toy language B", "supports_formality": False}]


def test_source_languages_are_the_default(server):
    assert server.get("/v2/languages").json() == [{"language": "XA", "name": "Toy language A"}]


def test_usage_without_keys_has_no_limit(server):
    assert server.get("/v2/usage").json() == {"character_count": 0, "character_limit": 1_000_000_000_000}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"target_lang": "XB"}, 400),
        ({"text": ["a"]}, 400),
        ({"text": ["a"], "target_lang": "ZZ"}, 400),
        ({"text": ["a"], "target_lang": "XB", "objective": "nonsense"}, 400),
        ({"text": ["a"], "target_lang": "XB", "formality": "more"}, 400),
        ({"text": ["a"], "target_lang": "XB", "glossary_id": "1234"}, 400),
        ({"text": ["a"], "target_lang": "XB", "tag_handling": "xml", "ignore_tags": ["x"]}, 400),
        ({"text": ["a" * 100_001], "target_lang": "XB"}, 413),
        ({"text": 5, "target_lang": "XB"}, 400),
    ],
)
def test_errors_are_messages_and_never_details(server, body, status):
    response = server.post("/v2/translate", json=body)
    assert response.status_code == status
    assert set(response.json()) == {"message"}
    assert isinstance(response.json()["message"], str)
