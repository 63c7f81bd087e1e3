"""Objective, decoder, strength, alternatives, colours, and the same as curl."""

import shlex

import httpx
from playwright.sync_api import expect


def test_switching_the_objective_translates_again(visit, nudged_sentence, page_server):
    visit.text.fill(nudged_sentence)
    plain = page_server.translate(nudged_sentence, objective="none")["translatedText"]
    nudged = page_server.translate(nudged_sentence, objective="bleu")["translatedText"]
    expect(visit.output).to_have_text(plain)
    visit.choose(visit.objective("BLEU"))
    expect(visit.output).to_have_text(nudged)
    visit.choose(visit.objective("Plain"))
    expect(visit.output).to_have_text(plain)


def test_objectives_show_what_was_measured(visit):
    card = visit.page.locator(".card", has=visit.objective("BLEU"))
    expect(card).to_contain_text("sentence BLEU")
    expect(card.locator(".gain")).to_have_text("+1.5 BLEU")
    expect(card.locator(".gain")).to_have_attribute("data-better", "")
    visit.choose(visit.objective("BLEU"))
    expect(visit.page.locator("#measured")).to_contain_text("toy-test")
    expect(visit.page.locator("#measured")).to_contain_text("BLEU 40.0 → 41.5 (beam 41.8), p = 0.002")


def test_strength_zero_is_plain_decoding(visit, nudged_sentence, page_server):
    strength = visit.page.get_by_label("Strength of the nudge")
    expect(strength).to_be_disabled()
    visit.choose(visit.objective("BLEU"))
    expect(strength).to_be_enabled()
    visit.text.fill(nudged_sentence)
    expect(visit.output).to_have_text(page_server.translate(nudged_sentence, objective="bleu")["translatedText"])
    strength.fill("0")
    expect(visit.output).to_have_text(page_server.translate(nudged_sentence, objective="none")["translatedText"])


def test_blend_sends_a_weight_for_each_objective(visit, nudged_sentence):
    visit.text.fill(nudged_sentence)
    visit.choose(visit.objective("Blend"))
    with visit.page.expect_request(
        lambda request: request.post_data is not None and '"bleu:0.9,concise:0.5"' in request.post_data
    ):
        visit.page.locator("#weight-bleu").fill("0.9")
    expect(visit.page.locator("#measured")).to_have_text("A blend: BLEU 0.9 + Concise 0.5.")
    expect(visit.output).not_to_be_empty()
    expect(visit.banner).to_be_hidden()


def test_alternatives_choose_beam_and_greedy_has_none(visit, nudged_sentence, page_server):
    visit.text.fill(nudged_sentence)
    visit.page.get_by_label("Alternatives").select_option("3")
    expect(visit.decoder("Beam")).to_be_checked()
    expected = page_server.translate(nudged_sentence, objective="none", alternatives=3, beam_size=5)
    expect(visit.page.locator("#alternatives-list li > span")).to_have_text(expected["alternatives"])
    visit.choose(visit.decoder("Greedy"))
    expect(visit.page.locator("#alternatives")).to_be_hidden()
    expect(visit.page.get_by_label("Alternatives")).to_have_value("0")


def test_size_belongs_to_the_decoder_and_holds_the_alternatives(visit):
    size = visit.page.locator("#size")
    expect(size).to_be_hidden()
    visit.choose(visit.decoder("NPAD"))
    expect(visit.page.locator("#size-label")).to_have_text("Samples")
    expect(size).to_have_value("10")
    visit.choose(visit.decoder("Beam"))
    expect(visit.page.locator("#size-label")).to_have_text("Beam size")
    expect(size).to_have_value("5")
    visit.page.get_by_label("Alternatives").select_option("7")
    expect(size).to_have_value("8")
    size.fill("4")
    expect(visit.page.get_by_label("Alternatives")).to_have_value("3")


def test_words_are_coloured_by_influence_and_tell_of_it(visit, nudged_sentence, page_server):
    visit.choose(visit.objective("BLEU"))
    visit.text.fill(nudged_sentence)
    words = visit.output.locator(".word")
    expect(words.first).to_be_visible()
    answer = page_server.translate(nudged_sentence, objective="bleu", explain=True)
    strongest = max(token["influence"] for token in answer["explain"][0]["tokens"])
    heats = [int(heat) for heat in words.evaluate_all("(words) => words.map((word) => word.dataset.heat)")]
    assert max(heats) >= visit.call("explain", "heatOf", strongest) > 0
    words.nth(heats.index(max(heats))).hover()
    expect(visit.page.get_by_role("tooltip")).to_contain_text("nats")
    expect(visit.page.get_by_role("tooltip")).to_contain_text("probability")
    expect(visit.output).to_have_text(answer["translatedText"])


def test_colours_can_be_turned_off_without_another_request(visit, nudged_sentence):
    visit.choose(visit.objective("BLEU"))
    visit.text.fill(nudged_sentence)
    expect(visit.output.locator(".word").first).to_be_visible()
    sent = []
    visit.page.on("request", lambda request: sent.append(request.url))
    visit.page.get_by_role("switch", name="Colour words by influence").uncheck()
    expect(visit.output.locator(".word")).to_have_count(0)
    expect(visit.output).not_to_be_empty()
    visit.page.wait_for_timeout(300)
    assert f"{visit.url}/translate" not in sent


def test_plain_decoding_colours_nothing(visit, nudged_sentence):
    visit.text.fill(nudged_sentence)
    expect(visit.output).not_to_be_empty()
    expect(visit.output.locator(".word")).to_have_count(0)


def test_curl_command_gives_what_the_page_shows(visit, nudged_sentence):
    visit.choose(visit.objective("BLEU"))
    visit.choose(visit.decoder("Beam"))
    visit.text.fill(f'{nudged_sentence} it\'s \\ "quoted"')
    expect(visit.output).not_to_be_empty()
    visit.page.get_by_text("This request as curl").click()
    command = visit.page.locator("#curl").inner_text()
    name, url, _, header, _, body = shlex.split(command.replace("\\\n", ""))
    assert name == "curl"
    answer = httpx.post(url, headers=dict([header.split(": ")]), content=body, timeout=60)
    assert answer.status_code == 200
    expect(visit.output).to_have_text(answer.json()["translatedText"])
