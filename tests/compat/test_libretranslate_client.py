"""libretranslatepy, unchanged, and requests as deep-translator sends them."""

import urllib.error

import pytest
from libretranslatepy import LibreTranslateAPI


@pytest.fixture
def client(server):
    return LibreTranslateAPI(server.url)


def test_translate(client, server, toy_sentences):
    text = toy_sentences(1, seed=50)[0]
    assert client.translate(text, "xa", "xb") == server.translate(text)["translatedText"]


def test_translate_with_a_key_where_none_is_needed(server):
    assert LibreTranslateAPI(server.url, api_key="whatever").translate("Ta netu.", "xa", "xb")


def test_translate_keeps_odd_characters(client):
    assert client.translate("42 & 😀 = ß?", "xa", "xb").endswith("?")


def test_detect(client):
    assert client.detect("Ta netu.")[0]["language"] in ("xa", "xb")


def test_languages(client):
    assert [language["code"] for language in client.languages()] == ["xa", "xb"]


def test_an_unsupported_pair_is_a_bad_request(client):
    with pytest.raises(urllib.error.HTTPError) as caught:
        client.translate("a", "xb", "xa")
    assert caught.value.code == 400
    caught.value.close()


def test_everything_in_the_query_string_as_deep_translator_sends_it(server, toy_sentences):
    text = toy_sentences(1, seed=51)[0]
    parameters = {"q": text, "source": "xa", "target": "xb", "format": "text", "api_key": "free"}
    answer = server.post("/translate", params=parameters).json()
    assert answer["translatedText"] == server.translate(text)["translatedText"]
