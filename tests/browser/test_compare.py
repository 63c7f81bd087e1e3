"""One text under every objective, side by side."""

from playwright.sync_api import expect

WITHOUT_REMOVED = """(text) => {
  const copy = text.cloneNode(true);
  for (const removed of copy.querySelectorAll('del')) removed.remove();
  return copy.textContent;
}"""


def test_compare_shows_every_objective_plain_greedy_and_beam(visit, nudged_sentence, page_server):
    visit.text.fill(nudged_sentence)
    visit.button("Compare").click()
    cards = visit.page.locator(".comparison")
    expect(cards.locator("h3")).to_have_text(["Plaingreedy", "BLEUgreedy", "Concisegreedy", "Plainbeam 5"])
    expect(visit.page.locator("#compare-state")).to_contain_text("Each ran once")
    asked = [
        {"objective": "none"},
        {"objective": "bleu"},
        {"objective": "concise"},
        {"objective": "none", "decoder": "beam", "beam_size": 5},
    ]
    for index, parameters in enumerate(asked):
        answer = page_server.translate(nudged_sentence, **parameters)
        kept = cards.nth(index).locator(".comparison-text").evaluate(WITHOUT_REMOVED)
        assert kept.split() == answer["translatedText"].split()
        expect(cards.nth(index).locator(".facts")).to_contain_text(f"Confidence{round(100 * answer['confidence'])} %")
        expect(cards.nth(index).locator(".facts")).to_contain_text("Score")
        expect(cards.nth(index).locator(".facts")).to_contain_text(" ms")


def test_compare_marks_what_differs_from_plain_greedy(visit, nudged_sentence, page_server):
    visit.text.fill(nudged_sentence)
    visit.button("Compare").click()
    expect(visit.page.locator("#compare-state")).to_contain_text("Each ran once")
    plain = page_server.translate(nudged_sentence, objective="none")["translatedText"]
    nudged = page_server.translate(nudged_sentence, objective="bleu")["translatedText"]
    baseline, bleu = visit.page.locator(".comparison").nth(0), visit.page.locator(".comparison").nth(1)
    expect(baseline.locator("ins, del")).to_have_count(0)
    changed = bleu.locator("ins, del")
    assert changed.count() > 0
    for element in changed.all():
        words, is_new = element.inner_text(), element.evaluate("(element) => element.tagName") == "INS"
        assert words in (nudged if is_new else plain)


def test_comparison_of_another_text_is_marked_as_old(visit, nudged_sentence):
    visit.text.fill(nudged_sentence)
    visit.button("Compare").click()
    expect(visit.page.locator("#compare-state")).to_contain_text("Each ran once")
    visit.text.press_sequentially(" Ta")
    expect(visit.page.locator("#compare-state")).to_have_text("The text or a language has changed since.")
    visit.button("Compare again").click()
    expect(visit.button("Compare")).to_be_visible()
    expect(visit.page.locator("#compare-state")).to_contain_text("Each ran once")


def test_long_text_is_not_compared_and_the_page_says_why(visit):
    expect(visit.button("Compare")).to_be_disabled()
    visit.text.fill("ta " * 334)
    expect(visit.page.locator("#compare-hint")).to_have_text(
        "Up to 1,000 characters can be compared; this text has 1,002."
    )
    expect(visit.button("Compare")).to_be_disabled()
    visit.text.fill("ta " * 333)
    expect(visit.button("Compare")).to_be_enabled()


def test_comparison_that_fails_says_so_and_can_be_repeated(visit, nudged_sentence):
    visit.may_fail = True
    visit.text.fill(nudged_sentence)
    expect(visit.output).not_to_be_empty()
    visit.context.set_offline(True)
    visit.button("Compare").click()
    expect(visit.page.locator("#compare-state")).to_contain_text("The service cannot be reached.")
    visit.context.set_offline(False)
    visit.button("Compare").click()
    expect(visit.page.locator(".comparison")).to_have_count(4)
    expect(visit.page.locator("#compare-state")).to_contain_text("Each ran once")
