"""Typing and getting a translation, with everything around it that people expect of such a page."""

from playwright.sync_api import expect

SENTENCE = "Ta lirura maru ta kunana lo."


def test_typed_text_is_translated_as_the_api_translates_it(visit, page_server):
    visit.text.press_sequentially(SENTENCE, delay=5)
    expect(visit.output).to_have_text(page_server.translate(SENTENCE)["translatedText"])


def test_paragraphs_and_spaces_survive(visit, page_server):
    text = f"  {SENTENCE}\n\n\t{SENTENCE} 🙂\n"
    visit.text.fill(text)
    expected = page_server.translate(text)["translatedText"]
    assert expected.count("\n") == 3
    visit.page.wait_for_function("(text) => document.querySelector('#output').textContent === text", arg=expected)


def test_translation_appears_while_it_is_decoded(visit, toy_sentences, page_server):
    text = " ".join(toy_sentences(1500, seed=3))  # long enough to take several frames of the page
    visit.run(
        """() => {
          const output = document.querySelector('#output');
          window.lengths = new Set();
          new MutationObserver(() => {
            if (output.hasAttribute('data-streaming')) window.lengths.add(output.textContent.length);
          }).observe(output, {childList: true, attributes: true});
        }"""
    )
    visit.text.fill(text)
    expected = page_server.translate(text)["translatedText"]
    visit.page.wait_for_function("(text) => document.querySelector('#output').textContent === text", arg=expected)
    assert visit.run("() => window.lengths.size") >= 3
    expect(visit.output).not_to_have_attribute("data-streaming", "")


def test_typing_on_gives_up_the_request_before(visit, toy_sentences, page_server):
    def given_up():
        return sum(line.get("status") == 499 for line in page_server.log_lines())

    before = given_up()
    with visit.page.expect_request("**/translate"):
        visit.text.fill(" ".join(toy_sentences(2000, seed=4)))
    visit.text.fill(SENTENCE)
    expect(visit.output).to_have_text(page_server.translate(SENTENCE)["translatedText"])
    page_server.wait_until(lambda: given_up() == before + 1)


def test_answer_tells_confidence_score_and_time(visit, page_server):
    visit.text.fill(SENTENCE)
    answer = page_server.translate(SENTENCE)
    facts = visit.page.locator(".target-pane .facts")
    expect(facts).to_contain_text(f"Confidence{round(100 * answer['confidence'])} %")
    expect(facts).to_contain_text("Score−0.0")
    expect(facts).to_contain_text(" ms")


def test_detected_language_is_shown_and_forgotten_with_the_text(visit):
    expect(visit.page.get_by_label("Translate from")).to_have_value("auto")
    visit.text.fill(SENTENCE)
    expect(visit.page.locator("#detected")).to_contain_text("Detected: Toy language A")
    visit.text.fill("")
    expect(visit.page.locator("#detected")).to_have_text("")


def test_targets_are_those_of_the_source(visit):
    targets = visit.page.get_by_label("Translate to").locator("option")
    expect(targets).to_have_text(["Toy language A", "Toy language B"])
    visit.page.get_by_label("Translate from").select_option("xb")
    expect(targets).to_have_text(["Toy language A"])


def test_swap_turns_the_translation_into_the_text(visit, page_server):
    visit.page.get_by_label("Translate from").select_option("xa")
    visit.text.fill(SENTENCE)
    there = page_server.translate(SENTENCE)["translatedText"]
    expect(visit.output).to_have_text(there)
    visit.button("Swap languages").click()
    expect(visit.text).to_have_value(there)
    expect(visit.page.get_by_label("Translate from")).to_have_value("xb")
    expect(visit.page.get_by_label("Translate to")).to_have_value("xa")
    expect(visit.output).to_have_text(page_server.translate(there, source="xb", target="xa")["translatedText"])


def test_swap_is_off_when_nobody_translates_back(visitor, server):
    one_way = visitor(server.url)
    expect(one_way.page.locator("#status")).to_contain_text("Ready")
    expect(one_way.button("Swap languages")).to_be_disabled()
    expect(one_way.button("Swap languages")).to_have_attribute(
        "title", "No model translates from Toy language B to Toy language A"
    )


def test_clear_empties_both_panes_and_undo_brings_the_text_back(visit):
    visit.text.fill(SENTENCE)
    expect(visit.output).not_to_be_empty()
    visit.button("Clear the text").click()
    expect(visit.text).to_have_value("")
    expect(visit.output).to_be_empty()
    expect(visit.text).to_be_focused()
    expect(visit.button("Clear the text")).to_be_hidden()
    visit.page.keyboard.press("Control+Z")
    expect(visit.text).to_have_value(SENTENCE)


def test_copy_says_copied_and_copies_the_translation(visit, page_server):
    expect(visit.button("Copy").first).to_be_disabled()
    visit.text.fill(SENTENCE)
    expect(visit.page.locator("#announcer")).not_to_be_empty()  # the translation, when typing has come to rest
    visit.button("Copy").first.click()
    expect(visit.page.locator("#copy")).to_have_text("Copied")
    expect(visit.page.locator("#announcer")).to_have_text("Copied")
    assert visit.run("() => navigator.clipboard.readText()") == page_server.translate(SENTENCE)["translatedText"]
    expect(visit.page.locator("#copy")).to_have_text("Copy")


def test_counter_counts_characters_and_not_utf16_units(visit):
    visit.text.fill("a🙂b")
    expect(visit.page.locator("#counter")).to_have_text("3 / 100,000")


def test_text_over_the_limit_is_not_sent(visitor, start_server, page_models):
    small = visitor(start_server(page_models, max_characters=40).url)
    sent = []
    small.page.on("request", lambda request: sent.append(request.url))
    small.text.fill("x" * 42)
    expect(small.page.locator("#counter")).to_have_text("2 over the limit of 40 characters")
    expect(small.text).to_have_attribute("aria-invalid", "true")
    small.page.wait_for_timeout(600)  # longer than the pause after typing
    assert not [url for url in sent if url.endswith("/translate")]
    small.text.fill(SENTENCE)
    expect(small.output).not_to_be_empty()


def test_text_follows_the_direction_of_its_script(visit):
    visit.text.fill("שלום")
    assert visit.run("() => getComputedStyle(document.querySelector('#source-text')).direction") == "rtl"
    visit.text.fill("hello")
    assert visit.run("() => getComputedStyle(document.querySelector('#source-text')).direction") == "ltr"


def test_settings_are_remembered_and_text_is_not(visit):
    visit.choose(visit.objective("Concise"))
    visit.text.fill(SENTENCE)
    expect(visit.output).not_to_be_empty()
    visit.page.goto("about:blank")
    visit.open()
    expect(visit.objective("Concise")).to_be_checked()
    expect(visit.text).to_have_value("")
