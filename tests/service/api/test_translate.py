"""GET and POST /translate over HTTP, against a real server."""

import json

import pytest

FIELDS = {
    "translatedText", "source", "target", "objective", "strength", "decoder", "score", "confidence", "truncated",
    "repetitive", "model", "timing",
}  # fmt: skip


def test_the_answer_has_every_field_of_the_contract(server, toy_sentences):
    answer = server.translate(toy_sentences(1)[0])
    assert set(answer) == FIELDS
    assert isinstance(answer["translatedText"], str)
    assert answer["objective"] == "none"
    assert answer["decoder"] == "greedy"
    assert answer["score"] < 0
    assert 0 <= answer["confidence"] <= 1
    assert answer["timing"]["tokens"] > 0
    assert answer["model"].startswith("xa-xb ")


def test_every_encoding_of_a_request_gives_the_same_answer(server, toy_sentences):
    fields = {"q": toy_sentences(1)[0], "source": "xa", "target": "xb", "objective": "bleu", "strength": "0.5"}
    responses = [
        server.post("/translate", json={**fields, "strength": 0.5}),
        server.post("/translate", data=fields),
        server.post("/translate", files={name: (None, value) for name, value in fields.items()}),
        server.post("/translate", params=fields),
        server.get("/translate", params=fields),
        server.post("/translate", content=json.dumps({**fields, "strength": 0.5})),
    ]
    assert [response.status_code for response in responses] == [200] * 6
    assert len({response.json()["translatedText"] for response in responses}) == 1
    assert {response.json()["strength"] for response in responses} == {0.5}


def test_a_list_gives_what_its_texts_give_alone(server, toy_sentences):
    texts = toy_sentences(5, seed=1)
    answer = server.translate(texts)
    assert answer["translatedText"] == [server.translate(text)["translatedText"] for text in texts]
    assert len(answer["score"]) == len(answer["truncated"]) == 5
    assert server.translate([])["translatedText"] == []


def test_an_objective_steers_and_none_does_not(server, toy_sentences):
    texts = toy_sentences(20, seed=2)
    plain = server.translate(texts)["translatedText"]
    assert server.translate(texts, objective="none")["translatedText"] == plain
    assert server.translate(texts, objective="greedy")["translatedText"] == plain
    steered = server.translate(texts, objective="bleu")
    assert steered["objective"] == ["bleu"] * 20
    assert steered["translatedText"] != plain


def test_strength_zero_is_plain_greedy_and_one_is_the_actor_as_trained(server, toy_sentences):
    texts = toy_sentences(20, seed=3)
    assert server.translate(texts, objective="bleu", strength=0)["score"] == server.translate(texts)["score"]
    as_trained = server.translate(texts, objective="bleu")
    assert server.translate(texts, objective="bleu", strength=1)["score"] == as_trained["score"]
    assert server.translate(texts, objective="bleu:1")["score"] == as_trained["score"]
    halved = server.translate(texts, objective="bleu:0.5")["score"]
    assert server.translate(texts, objective="bleu", strength=0.5)["score"] == halved


def test_a_blend_with_one_weight_of_zero_is_the_other_objective(server, toy_sentences):
    names = [o["name"] for o in server.get("/objectives").json()["pairs"][0]["objectives"] if o["name"] != "none"]
    text = toy_sentences(1, seed=4)[0]
    blended = server.translate(text, objective=f"{names[0]}:1,{names[1]}:0")
    assert blended["score"] == server.translate(text, objective=names[0])["score"]
    assert blended["objective"] == f"{names[0]}:1,{names[1]}:0"


def test_a_beam_of_one_is_greedy_and_npad_with_one_sample_too(server, toy_sentences):
    text = toy_sentences(1, seed=5)[0]
    greedy = server.translate(text)["translatedText"]
    assert server.translate(text, decoder="beam", beam_size=1)["translatedText"] == greedy
    assert server.translate(text, decoder="npad", samples=1)["translatedText"] == greedy


def test_alternatives_differ_from_the_answer_and_from_each_other(server, toy_sentences):
    answer = server.translate(toy_sentences(1, seed=6)[0], decoder="beam", beam_size=5, alternatives=3)
    assert answer["decoder"] == "beam"
    assert 1 <= len(answer["alternatives"]) <= 3
    assert len({answer["translatedText"], *answer["alternatives"]}) == 1 + len(answer["alternatives"])


def test_alternatives_without_a_decoder_choose_beam_as_libretranslate_clients_expect(server, toy_sentences):
    answer = server.translate(toy_sentences(1, seed=7)[0], alternatives=2)
    assert answer["decoder"] == "beam"
    assert len(answer["alternatives"]) <= 2


def test_explain_gives_every_token_with_its_log_probability_and_influence(server, toy_sentences):
    text = " ".join(toy_sentences(2, seed=8))
    answer = server.translate(text, objective="bleu", explain=True)
    assert len(answer["explain"]) == 2
    tokens = [token for sentence in answer["explain"] for token in sentence["tokens"]]
    assert len(tokens) == answer["timing"]["tokens"]
    mean = sum(token["logProbability"] for token in tokens) / len(tokens)
    assert mean == pytest.approx(answer["score"], abs=1e-3)
    assert any(token["influence"] > 0 for token in tokens)
    plain = server.translate(text, explain=True)["explain"]
    assert all(token["influence"] == 0 for sentence in plain for token in sentence["tokens"])


def test_auto_tells_what_was_detected(server, toy_sentences):
    text = toy_sentences(1, seed=9)[0]
    answer = server.translate(text, source="auto")
    assert answer["detectedLanguage"] == {"confidence": 0, "language": "xa"}  # no model knows the toy language
    assert answer["translatedText"] == server.translate(text)["translatedText"]
    assert [found["language"] for found in server.translate([text, text], source="auto")["detectedLanguage"]] == [
        "xa"
    ] * 2


def test_a_text_in_the_target_language_stays_as_it_is(server):
    answer = server.translate("Zo wibo.", source="xb")
    assert answer["translatedText"] == "Zo wibo."
    assert answer["model"] is None


def test_codes_with_a_region_mean_the_language(server, toy_sentences):
    text = toy_sentences(1, seed=13)[0]
    regional = server.translate(text, source="XA-zz", target="xb-Latn")
    assert (regional["source"], regional["target"]) == ("xa", "xb")
    assert regional["translatedText"] == server.translate(text)["translatedText"]


def test_html_keeps_its_tags(server, toy_sentences):
    first, second = toy_sentences(2, seed=10)
    html = f'<div class="a"><p>{first}</p>\n<!-- c --><script>x < y</script><p>{second}</p></div>'
    answer = server.translate(html, format="html")["translatedText"]
    one, two = server.translate([first, second], format="html")["translatedText"]
    assert answer == f'<div class="a"><p>{one}</p>\n<!-- c --><script>x < y</script><p>{two}</p></div>'


def test_paragraphs_spaces_and_emoji_survive(server, toy_sentences):
    first, second = toy_sentences(2, seed=11)
    answer = server.translate(f"\n  {first}\n\n\t{second} \n😀 42\n")["translatedText"]
    one, two = server.translate([first, second])["translatedText"]
    assert answer == f"\n  {one}\n\n\t{two} \n😀 42\n"


@pytest.mark.parametrize("text", ["", " ", "\n\n", "42", "😀😀", "https://example.org/a?b=c", "3.14 — 2.71", "!!!"])
def test_text_with_nothing_to_translate_comes_back_as_it_is(server, text):
    answer = server.translate(text)
    assert answer["translatedText"] == text
    assert answer["score"] is None
    assert answer["confidence"] is None


def test_a_sentence_longer_than_the_model_takes_is_translated_in_parts(server, toy_sentences):
    long = " ".join(sentence.rstrip(".").lower() for sentence in toy_sentences(100, seed=12)) + "."
    answer = server.translate(long, explain=True)
    assert len(answer["explain"]) > 1
    assert " ".join(part["source"] for part in answer["explain"]) == long


def test_a_glossary_fixes_terms_and_keeps_names_in_every_encoding(server):
    text = "Ta netu Nudge. Netu monu."
    glossary = {"Nudge": "Nudge", "monu": "MOND"}
    answer = server.translate(text, glossary=glossary)["translatedText"]
    assert answer.count("Nudge") == 1
    assert answer.count("MOND") == 1
    form = {"q": text, "source": "xa", "target": "xb", "glossary": json.dumps(glossary)}
    assert server.post("/translate", data=form).json()["translatedText"] == answer
    body = {"text": [text], "source_lang": "XA", "target_lang": "XB", "glossary": glossary}
    assert server.post("/v2/translate", json=body).json()["translations"][0]["text"] == answer


def test_a_glossary_works_in_html_and_cannot_inject_markup(server):
    answer = server.translate("<p>Ta <b>netu</b> monu.</p>", format="html", glossary={"monu": "<i>"})["translatedText"]
    assert "&lt;i&gt;" in answer
    assert "<i>" not in answer


def test_a_long_text_fits_the_query_string(server, toy_sentences):
    text = "\n".join(toy_sentences(300, seed=14))
    response = server.get("/translate", params={"q": text, "source": "xa", "target": "xb"})
    assert response.json()["translatedText"] == server.translate(text)["translatedText"]
