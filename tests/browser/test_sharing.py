"""The address of what the page shows."""

from playwright.sync_api import expect

SENTENCE = "Ta lirura maru ta kunana lo."


def test_shared_link_shows_the_same_to_somebody_else(visit, visitor, nudged_sentence):
    visit.page.get_by_label("Translate from").select_option("xa")
    visit.choose(visit.objective("BLEU"))
    visit.page.get_by_label("Strength of the nudge").fill("1.5")
    visit.page.get_by_label("Alternatives").select_option("2")
    visit.text.fill(f"{nudged_sentence}\n100% & more = #1?")
    expect(visit.page.locator("#alternatives-list li")).not_to_have_count(0)
    visit.button("Share").click()
    expect(visit.page.locator("#share")).to_have_text("Link copied")
    link = visit.run("() => navigator.clipboard.readText()")

    other = visitor(fragment=link.removeprefix(visit.url + "/"))
    expect(other.text).to_have_value(f"{nudged_sentence}\n100% & more = #1?")
    expect(other.page.get_by_label("Translate from")).to_have_value("xa")
    expect(other.objective("BLEU")).to_be_checked()
    expect(other.decoder("Beam")).to_be_checked()
    expect(other.page.get_by_label("Strength of the nudge")).to_have_value("1.5")
    expect(other.page.get_by_label("Alternatives")).to_have_value("2")
    expect(other.output).to_have_text(visit.output.inner_text())


def test_text_of_a_link_reaches_no_address_that_a_server_sees(visitor, page_server):
    requested = []
    opened = visitor(fragment=f"#source=xa&target=xb&text={SENTENCE}")
    opened.page.on("request", lambda request: requested.append(request.url))
    opened.page.reload()
    expect(opened.output).not_to_be_empty()
    assert requested
    assert not [url for url in requested if "lirura" in url.split("#")[0]]
    assert "lirura" not in page_server.log()


def test_address_that_changes_changes_the_page(visit):
    visit.text.fill(SENTENCE)
    expect(visit.output).not_to_be_empty()
    visit.run("() => { location.hash = '#source=xb&target=xa&decoder=beam&beam_size=3&text=Zo'; }")
    expect(visit.text).to_have_value("Zo")
    expect(visit.page.get_by_label("Translate to")).to_have_value("xa")
    expect(visit.page.locator("#size")).to_have_value("3")


def test_link_to_what_is_not_served_says_so_and_shows_the_text(visitor):
    opened = visitor(fragment=f"#source=xa&target=xb&objective=poetry&text={SENTENCE}")
    expect(opened.page.locator("#link-problem")).to_contain_text("poetry is not an objective of xa-xb")
    expect(opened.objective("Plain")).to_be_checked()
    expect(opened.output).not_to_be_empty()


def test_nonsense_in_an_address_is_left_out(visitor):
    opened = visitor(fragment=f"#source=xa&target=xb&strength=1e9&decoder=magic&beam_size=-1&text={SENTENCE}")
    expect(opened.output).not_to_be_empty()
    expect(opened.decoder("Greedy")).to_be_checked()
    expect(opened.page.get_by_label("Strength of the nudge")).to_have_value("1")


def test_markup_in_a_link_is_text(visitor):
    opened = visitor(fragment="#source=xa&target=xb&text=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    expect(opened.text).to_have_value("<img src=x onerror=alert(1)>")
    expect(opened.output).not_to_be_empty()
    expect(opened.page.locator("#output img")).to_have_count(0)


def test_text_too_long_for_an_address_is_left_out_and_the_page_says_so(visit):
    visit.text.fill("ta " * 4000)
    visit.button("Share").click()
    expect(visit.page.locator("#share")).to_have_text("Copied without the text")
    assert "text=" not in visit.run("() => navigator.clipboard.readText()")
