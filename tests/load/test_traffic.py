"""What the load tests send."""

import json

import pytest
from traffic import SENTENCES, NoTraffic, Pair, checked_kinds, compared_kinds, read_pairs, read_sentences

GERMAN = Pair("de", "en", "de-en 1.0.0", ("bleu", "concise"))
TOY = Pair("xa", "xb", "xa-xb 1.0.0", ("bleu",))


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_written_sentences_are_many_distinct_and_of_every_length(language):
    sentences = (SENTENCES / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    lengths = sorted(len(sentence.split()) for sentence in sentences)
    assert len(sentences) == len(set(sentences)) == 60
    assert lengths[0] <= 2
    assert 6 <= lengths[30] <= 12
    assert lengths[-1] >= 20
    assert all(sentence == sentence.strip() and sentence[-1] in ".!?" for sentence in sentences)


def test_a_language_without_a_list_is_read_from_its_bundle(toy_models):
    golden = (toy_models / "xa-xb" / "golden.jsonl").read_text(encoding="utf-8").splitlines()
    sentences = read_sentences(TOY, toy_models)
    assert sentences
    assert set(sentences) == {json.loads(line)["text"] for line in golden}


def test_a_language_without_any_sentence_is_refused_with_a_way_out():
    with pytest.raises(NoTraffic, match=r"no sentences in xa.*xa\.txt"):
        read_sentences(TOY, None)


def test_overhead_compares_plain_each_actor_a_mixture_and_beam():
    kinds = compared_kinds(GERMAN.actors)
    assert [(kind.name, kind.actors) for kind in kinds] == [
        ("no actors", 0),
        ("no actors again", 0),
        ("one actor: bleu", 1),
        ("2 actors: plain", None),
        ("2 actors: bleu", None),
        ("2 actors: concise", None),
        ("2 actors: mixed", None),
        ("beam 5", None),
    ]
    mixed = kinds[6]
    assert [mixed.parameters(turn)["objective"] for turn in range(3)] == ["bleu", "concise", "bleu"]


def test_a_bundle_without_actors_has_no_mixture():
    assert [kind.name for kind in compared_kinds(())] == ["no actors", "no actors again", "beam 5"]


def test_every_way_of_asking_is_accepted_by_the_service(server, toy_models):
    (pair,) = read_pairs(server.get("/objectives").json())
    text = read_sentences(pair, toy_models)[0]
    for kind in [*compared_kinds(pair.actors), *checked_kinds(pair.actors)]:
        for parameters in kind.variants:
            answer = server.translate(text, **parameters)
            assert answer["decoder"] == parameters.get("decoder", "greedy")
            assert answer["objective"] == parameters["objective"]
