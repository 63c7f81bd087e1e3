"""What people see when the service is starting, busy, away or says no, and how they get on."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect

SENTENCE = "Ta lirura maru ta kunana lo."
NUDGE = Path(sys.executable).parent / "nudge"


def test_service_that_went_away_is_told_and_its_return_is_noticed(visit):
    visit.may_fail = True
    visit.context.set_offline(True)
    visit.text.fill(SENTENCE)
    expect(visit.banner).to_contain_text("The service cannot be reached.")
    expect(visit.banner).to_contain_text("Trying again in")
    expect(visit.page.locator("#status")).to_have_text("Unreachable")
    visit.context.set_offline(False)
    expect(visit.output).not_to_be_empty()
    expect(visit.banner).to_be_hidden()
    expect(visit.page.locator("#status")).to_have_text("Ready")


def test_waits_grow_until_somebody_retries_by_hand(visitor):
    visit = visitor(may_fail=True, own_clock=True)
    expect(visit.page.locator("#status")).to_contain_text("Ready")
    is_away = True
    visit.page.route(f"{visit.url}/*", lambda route: route.abort() if is_away else route.continue_())
    visit.stop_the_clock()
    visit.text.fill(SENTENCE)
    visit.page.clock.run_for(300)  # the pause after typing
    countdown = visit.page.locator("#banner-countdown")
    for seconds in (2, 4, 8, 16, 30, 30):
        expect(countdown).to_have_text(f"Trying again in {seconds} s")
        visit.page.clock.run_for(1000 * seconds)
    expect(countdown).to_have_text("Trying again in 30 s")
    is_away = False
    visit.button("Retry now").click()
    expect(visit.output).not_to_be_empty()
    expect(visit.banner).to_be_hidden()


def test_server_process_that_died_is_told_and_the_text_stays(visitor, start_server, page_models):
    server = start_server(page_models)
    visit = visitor(server.url)
    visit.text.fill(SENTENCE)
    expect(visit.output).not_to_be_empty()
    visit.may_fail = True
    server.stop()
    visit.choose(visit.objective("BLEU"))
    expect(visit.banner).to_contain_text("The service cannot be reached.")
    expect(visit.text).to_have_value(SENTENCE)
    expect(visit.output).not_to_be_empty()  # the old translation, dimmed
    expect(visit.page.locator("#target-pane")).to_have_attribute("data-stale", "")


def test_service_without_a_model_is_waited_for_and_then_translates_by_itself(
    visitor, start_server, install_toy, tmp_path
):
    install_toy(tmp_path, "xa-xb")
    server = start_server(tmp_path, reload_interval_s=0.2)
    shutil.rmtree(tmp_path / "xa-xb")
    server.wait_until(lambda: server.get("/ready").status_code == 503)
    visit = visitor(server.url, may_fail=True)
    expect(visit.banner).to_contain_text("The service is starting.")
    expect(visit.page.locator("#status")).to_have_text("Starting")
    visit.text.fill(SENTENCE)
    install_toy(tmp_path, "xa-xb")
    expect(visit.output).not_to_be_empty()
    expect(visit.banner).to_be_hidden()
    expect(visit.page.locator("#status")).to_have_text("Ready")


def test_busy_service_is_told_with_a_countdown_from_retry_after(visitor, start_server, page_models):
    server = start_server(page_models, requests_per_minute=1)
    visit = visitor(server.url, may_fail=True, own_clock=True)
    visit.text.fill(SENTENCE)
    expect(visit.output).not_to_be_empty()
    visit.stop_the_clock()
    visit.text.fill(SENTENCE + " Ta")
    visit.page.clock.run_for(300)
    expect(visit.banner).to_contain_text("The service is busy.")
    expect(visit.banner).to_contain_text("More than 1 requests in a minute.")
    expect(visit.page.locator("#status")).to_have_text("Busy")
    first = seconds_left(visit)
    assert 1 < first <= 60
    visit.page.clock.run_for(1000)
    assert seconds_left(visit) == first - 1


def seconds_left(visit):
    return int(re.search(r"in (\d+) s", visit.page.locator("#banner-countdown").inner_text())[1])


def test_refusal_is_told_with_the_reason_and_the_request_id(visitor, start_server, install_toy, tmp_path):
    for pair in ("xa-xb", "xb-xa"):
        install_toy(tmp_path, pair)
    server = start_server(tmp_path, reload_interval_s=0.2)
    visit = visitor(server.url)
    visit.page.get_by_label("Translate from").select_option("xb")
    shutil.rmtree(tmp_path / "xb-xa")
    server.wait_until(lambda: server.get("/ready").json()["pairs"] == ["xa-xb"])
    visit.may_fail = True
    visit.text.fill(SENTENCE)
    expect(visit.banner).to_contain_text("The service refused this.")
    expect(visit.banner).to_contain_text("No model translates from 'xb' to 'xa'.")
    expect(visit.page.locator("#banner-id")).to_have_text(re.compile("request [0-9a-f]{16}"))
    expect(visit.page.locator("#banner-countdown")).to_be_empty()
    visit.button("Retry now").click()  # asks again what is served
    expect(visit.page.get_by_label("Translate to")).to_have_value("xb")
    expect(visit.output).not_to_be_empty()
    expect(visit.banner).to_be_hidden()


def test_service_that_needs_a_key_asks_for_it_and_keeps_it_out_of_the_curl(
    visitor, start_server, page_models, tmp_path
):
    keys = tmp_path / "keys.json"
    added = subprocess.run([NUDGE, "keys", "add", "page", "--file", keys], capture_output=True, text=True, check=True)
    key = re.search(r"nudge[_-]\S+", added.stdout)[0]
    visit = visitor(start_server(page_models, keys_file=keys).url)
    visit.may_fail = True
    visit.text.fill(SENTENCE)
    expect(visit.banner).to_contain_text("This service needs an API key")
    visit.page.get_by_label("API key").fill(key)
    visit.button("Use key").click()
    expect(visit.output).not_to_be_empty()
    expect(visit.banner).to_be_hidden()
    visit.page.get_by_text("This request as curl").click()
    expect(visit.page.locator("#curl")).to_contain_text("Authorization: Bearer $NUDGE_KEY")
    assert key not in visit.page.content()
