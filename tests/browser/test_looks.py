"""Themes, contrast, and screens of all sizes."""

import re

import pytest
from playwright.sync_api import expect

SENTENCE = "Ta lirura maru ta kunana lo."

# Contrast of WCAG 2 between the text of an element and what is painted behind it.
CONTRASTS = """(selectors) => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const behind = (element) => {
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 || !element.parentElement ? own : over(own, behind(element.parentElement));
  };
  const luminance = ([r, g, b]) => [r, g, b]
    .map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  return selectors.map((selector) => {
    const element = document.querySelector(selector);
    const under = behind(element);
    const [a, b] = [over(rgba(getComputedStyle(element).color), under), under].map(luminance);
    return [selector, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  });
}"""
TEXTS = [
    "#source-text", "#output", ".word[data-heat]:not([data-heat='0'])", "#counter", "#facts dt", "#facts dd",
    "#detected", ".tagline", "#status", ".card-aim", ".gain", "input:checked + .card-face .card-aim", "#measured",
    ".segment span", ".dial .hint", "#compare", "#compare-hint", ".comparison ins", ".comparison del",
    ".sameness, .comparison dt",
    "#curl", "#model", "#share",
]  # fmt: skip

STICKING_OUT = """(width) => [...document.querySelectorAll('main *, header *, footer *')]
  .filter((element) => !element.closest('.hidden') && element.checkVisibility())
  .filter((element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && (box.right > width + 1 || box.left < -1);
  })
  .map((element) => element.tagName + '.' + element.className)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(visitor, nudged_sentence, scheme):
    visit = visitor(color_scheme=scheme)
    visit.choose(visit.objective("BLEU"))
    visit.text.fill(nudged_sentence)
    expect(visit.output.locator(".word").first).to_be_visible()
    visit.button("Compare").click()
    expect(visit.page.locator("#compare-state")).to_contain_text("Each ran once")
    visit.page.get_by_text("This request as curl").click()
    weak = {selector: round(contrast, 2) for selector, contrast in visit.run(CONTRASTS, TEXTS) if contrast < 4.5}
    assert weak == {}


def ground(visit):
    return visit.run("() => getComputedStyle(document.documentElement).backgroundColor")


def test_page_follows_the_systems_theme_until_one_is_chosen(visitor):
    visit = visitor(color_scheme="dark")
    dark = ground(visit)
    visit.page.emulate_media(color_scheme="light")
    light = ground(visit)
    assert dark != light
    theme = visit.page.locator("#theme")
    theme.click()
    expect(theme).to_have_attribute("aria-label", "Theme: light")
    theme.click()
    expect(theme).to_have_attribute("aria-label", "Theme: dark")
    assert ground(visit) == dark
    theme.click()
    expect(theme).to_have_attribute("aria-label", "Theme: system")
    assert ground(visit) == light


def test_chosen_theme_lasts_and_is_there_before_the_first_paint(visitor):
    visit = visitor(color_scheme="light")
    theme = visit.page.locator("#theme")
    theme.click()
    theme.click()
    dark = ground(visit)
    # Modules run after the document has been read; without them the theme must be right already.
    visit.page.route("**/main.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    visit.page.reload()
    assert ground(visit) == dark
    expect(visit.page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1440])
def test_nothing_sticks_out_at_any_width(visitor, nudged_sentence, width):
    visit = visitor(viewport={"width": width, "height": 800}, has_touch=width < 700)
    visit.choose(visit.objective("BLEU"))
    visit.page.get_by_label("Alternatives").select_option("2")
    visit.text.fill(nudged_sentence + " " + "x" * 200)
    expect(visit.page.locator("#alternatives-list li").first).to_be_visible()
    visit.button("Compare").click()
    expect(visit.page.locator("#compare-state")).to_contain_text("Each ran once")
    visit.page.get_by_text("This request as curl").click()
    assert visit.run("() => document.documentElement.scrollWidth") <= width
    sticking_out = visit.run(STICKING_OUT, width)
    assert sticking_out == []


def test_a_card_holds_a_long_measure_on_a_phone(visitor):
    visit = visitor(viewport={"width": 320, "height": 800}, has_touch=True)
    expect(visit.page.locator(".gain").first).to_be_visible()
    faces = """() => {
        document.querySelector(".gain").textContent = "+0.019 Log probability of a token";
        const width = (element) => element.getBoundingClientRect().width;
        const cards = [...document.querySelectorAll(".card")];
        return cards.map((card) => width(card.querySelector(".card-face")) - width(card));
    }"""
    assert max(visit.run(faces)) <= 0.5


def test_phone_has_the_panes_one_below_the_other_and_large_targets(visitor):
    visit = visitor(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit.text.fill(SENTENCE)
    expect(visit.output).not_to_be_empty()
    source, target = visit.text.bounding_box(), visit.output.bounding_box()
    assert target["y"] >= source["y"] + source["height"]
    assert abs(target["x"] - source["x"]) < 2
    for button in visit.page.locator("button:visible, select:visible").all():
        box = button.bounding_box()
        assert box["height"] >= 24, button.inner_text()
        assert box["width"] >= 24, button.inner_text()


def test_phone_tells_of_a_word_that_is_tapped(visitor, nudged_sentence):
    visit = visitor(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    visit.choose(visit.objective("BLEU"))
    visit.text.fill(nudged_sentence)
    visit.output.locator(".word").nth(1).tap()
    tooltip = visit.page.get_by_role("tooltip")
    expect(tooltip).to_contain_text(re.compile("nats"))
    box = tooltip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
