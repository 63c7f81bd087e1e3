"""The page without a mouse, and for those who hear it."""

from playwright.sync_api import expect

SENTENCE = "Ta lirura maru ta kunana lo."


def tab_until(visit, selector, limit=40):
    """Press Tab until the element has the focus, as somebody without a mouse would."""
    for _ in range(limit):
        visit.page.keyboard.press("Tab")
        if visit.run("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} was not reached in {limit} steps")


def test_text_has_the_focus_at_first(visit):
    expect(visit.text).to_be_focused()


def test_everything_can_be_done_with_the_keyboard(visit, nudged_sentence, page_server):
    visit.page.keyboard.type(nudged_sentence)
    expect(visit.output).to_have_text(page_server.translate(nudged_sentence)["translatedText"])
    tab_until(visit, "#clear")
    tab_until(visit, "#output")
    tab_until(visit, "#share")
    tab_until(visit, "#copy")
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("#copy")).to_have_text("Copied")
    tab_until(visit, "#objectives input:checked")
    visit.page.keyboard.press("ArrowRight")
    expect(visit.objective("BLEU")).to_be_checked()
    expect(visit.output).to_have_text(page_server.translate(nudged_sentence, objective="bleu")["translatedText"])
    tab_until(visit, "#decoders input:checked")
    visit.page.keyboard.press("ArrowRight")
    expect(visit.decoder("Beam")).to_be_checked()
    tab_until(visit, "#size")
    visit.page.keyboard.press("ArrowLeft")
    expect(visit.page.locator("#size-value")).to_have_text("4")
    tab_until(visit, "#strength")
    visit.page.keyboard.press("Home")
    expect(visit.page.locator("#strength-value")).to_have_text("0.00")
    tab_until(visit, "#influence")
    visit.page.keyboard.press("Space")
    expect(visit.page.locator("#influence")).not_to_be_checked()
    tab_until(visit, "#compare")
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator(".comparison")).to_have_count(4)
    tab_until(visit, "#request summary")
    visit.page.keyboard.press("Enter")
    expect(visit.page.locator("#curl")).to_be_visible()


def test_shortcuts_do_what_their_list_says(visit, nudged_sentence, page_server):
    visit.page.get_by_label("Translate from").select_option("xa")
    visit.text.fill(nudged_sentence)
    visit.text.press("Alt+2")
    expect(visit.objective("BLEU")).to_be_checked()
    there = page_server.translate(nudged_sentence, objective="bleu")["translatedText"]
    expect(visit.output).to_have_text(there)
    visit.text.press("Alt+C")
    expect(visit.page.locator("#copy")).to_have_text("Copied")
    visit.text.press("Alt+M")
    expect(visit.page.locator("#compare-state")).to_contain_text("Each ran once")
    with visit.page.expect_request("**/translate"):
        visit.text.press("Control+Enter")
    expect(visit.output).to_have_text(there)
    expect(visit.output).to_have_attribute("aria-busy", "false")  # its preview, while it comes, reads the same
    visit.text.press("Alt+S")
    expect(visit.text).to_have_value(there)
    visit.text.press("?")
    expect(visit.text).to_have_value(there + "?")
    visit.button("Compare again").press("?")
    expect(visit.page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    visit.page.keyboard.press("Escape")
    expect(visit.page.get_by_role("dialog")).to_be_hidden()


def test_letters_that_a_mac_types_with_alt_are_left_to_the_text(visit):
    visit.text.fill("Stra")
    kept = visit.run(
        """(field) => {
            const typed = new KeyboardEvent("keydown",
                { key: "ß", code: "KeyS", altKey: true, bubbles: true, cancelable: true });
            return document.querySelector(field).dispatchEvent(typed);
        }""",
        "#source-text",
    )
    assert kept  # nobody has prevented it from being typed


def test_arrow_keys_go_from_word_to_word_and_tell_the_influence(visit, nudged_sentence):
    visit.choose(visit.objective("BLEU"))
    visit.text.fill(nudged_sentence)
    words = visit.output.locator(".word")
    expect(words.first).to_be_visible()
    visit.output.focus()
    visit.page.keyboard.press("ArrowRight")
    expect(words.nth(0)).to_have_attribute("data-current", "")
    visit.page.keyboard.press("ArrowRight")
    expect(words.nth(1)).to_have_attribute("data-current", "")
    expect(visit.page.get_by_role("tooltip")).to_be_visible()
    expect(visit.page.locator("#announcer")).to_contain_text(f"{words.nth(1).inner_text()}: influence")
    visit.page.keyboard.press("Escape")
    expect(visit.page.get_by_role("tooltip")).to_be_hidden()


def test_every_control_has_a_name(visit):
    snapshot = visit.page.locator("body").aria_snapshot()
    controls = ("button", "combobox", "textbox", "radio", "slider", "switch", "link", "checkbox")
    nameless = [
        line
        for line in map(str.strip, snapshot.splitlines())
        if line.startswith(tuple(f"- {control}" for control in controls)) and '"' not in line
    ]
    assert snapshot.count("- radio") >= 6
    assert nameless == []


def test_translation_is_announced_when_typing_has_come_to_rest(visit, page_server):
    visit.text.press_sequentially(SENTENCE, delay=2)
    expect(visit.page.locator("#announcer")).to_have_text(page_server.translate(SENTENCE)["translatedText"])


def test_focus_can_be_seen(visit):
    for selector in ("#source", "#theme", "#copy-curl", "#strength", "#output"):
        visit.page.get_by_text("This request as curl").focus()
        if selector == "#copy-curl":
            visit.page.keyboard.press("Enter")
        if selector == "#strength":
            visit.page.keyboard.press("Alt+2")
            expect(visit.page.locator(selector)).to_be_enabled()
        visit.page.keyboard.press("Tab")  # from now on the focus is that of a keyboard
        visit.page.locator(selector).focus()
        outline = visit.run("(s) => getComputedStyle(document.querySelector(s)).outlineStyle", selector)
        assert outline == "solid", selector
