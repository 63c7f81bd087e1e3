"""The official deepl client, unchanged, pointed at us."""

import deepl
import pytest


@pytest.fixture
def client(server):
    translator = deepl.Translator("any-key", server_url=server.url, send_platform_info=False)
    yield translator
    translator.close()


def test_translate_text(client, server, toy_sentences):
    text = toy_sentences(1, seed=40)[0]
    result = client.translate_text(text, target_lang="XB")
    assert result.text == server.translate(text)["translatedText"]
    assert result.detected_source_lang == "XA"
    assert result.billed_characters == len(text)


def test_translate_a_list_with_an_objective(client, server, toy_sentences):
    texts = toy_sentences(5, seed=41)
    results = client.translate_text(
        texts, source_lang="XA", target_lang="XB", extra_body_parameters={"objective": "bleu"}
    )
    assert [result.text for result in results] == server.translate(texts, objective="bleu")["translatedText"]


def test_translate_html(client):
    result = client.translate_text("<p>Ta <b>netu</b>.</p>", target_lang="XB", tag_handling="html")
    assert result.text.startswith("<p>")
    assert result.text.endswith("</p>")


def test_languages(client):
    assert [(language.code, language.name) for language in client.get_source_languages()] == [("XA", "Toy language A")]
    targets = client.get_target_languages()
    assert [(language.code, language.supports_formality) for language in targets] == [("XB", False)]


def test_usage(client):
    usage = client.get_usage()
    assert usage.character.count == 0
    assert not usage.any_limit_reached


def test_errors_are_read_as_errors(client):
    with pytest.raises(deepl.DeepLException, match="zz"):
        client.translate_text("a", target_lang="ZZ")


def test_text_that_is_too_long_is_an_error_with_our_message(client):
    with pytest.raises(deepl.DeepLException, match="100001 characters"):
        client.translate_text("a" * 100_001, target_lang="XB")
