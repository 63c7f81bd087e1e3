"""A real browser in front of a real server.

Without a chromium the tests of this folder are skipped and the summary says so; under CI that is a failure.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, expect, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CHROMIUM = os.environ.get("NUDGE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
NO_BROWSER = "no chromium found: install Debian's `chromium`, or name one in NUDGE_CHROMIUM, to test the page"
IS_CI = os.environ.get("CI", "").lower() in ("true", "1")
# A busy machine is slow, and a wrong page stays wrong.
expect.set_options(timeout=30_000)

DESKTOP = {"width": 1280, "height": 900}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if any(NO_BROWSER in str(report.longrepr) for report in terminalreporter.stats.get("skipped", [])):
        terminalreporter.write_line(f"browser tests skipped: {NO_BROWSER}", yellow=True)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        if IS_CI:
            pytest.fail(NO_BROWSER, pytrace=False)
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def page_models(install_toy: Callable[[Path, str], None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy bundle and, so that languages can be swapped, the same one under the opposite languages."""
    folder = tmp_path_factory.mktemp("page-models")
    for pair in ("xa-xb", "xb-xa"):
        install_toy(folder, pair)
    return folder


@pytest.fixture(scope="session")
def install_toy(toy_models: Path) -> Callable[[Path, str], None]:
    """Puts the toy bundle into a folder of models, under a pair's name and with a gain that is easy to read."""

    def install(models: Path, pair: str) -> None:
        building = models / f".{pair}"
        shutil.copytree(toy_models / "xa-xb", building)
        manifest = json.loads((building / "manifest.json").read_text(encoding="utf-8"))
        manifest["name"] = pair
        manifest["source"], manifest["target"] = pair.split("-")
        for actor in manifest["actors"]:
            gain = {"test_set": "toy-test", "metric": "bleu", "greedy": 40.0, "actor": 41.5, "beam": 41.75, "p": 0.002}
            actor["gains"] = [gain]
        (building / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        building.rename(models / pair)

    return install


@pytest.fixture(scope="session")
def page_server(start_server: Callable[..., Any], page_models: Path) -> Any:
    return start_server(page_models)


@dataclass
class Visit:
    """A page somebody has opened, with names for what is on it."""

    page: Page
    context: BrowserContext
    url: str
    problems: list[str] = field(default_factory=list)
    may_fail: bool = False  # requests that fail are what the test is about
    network_changed: bool = False

    @property
    def text(self) -> Locator:
        return self.page.get_by_label("Text to translate")

    @property
    def output(self) -> Locator:
        return self.page.locator("#output")

    @property
    def banner(self) -> Locator:
        return self.page.get_by_role("alert")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def objective(self, name: str) -> Locator:
        return self.page.get_by_role("radio", name=re.compile(f"^{name} "))

    def decoder(self, name: str) -> Locator:
        return self.page.get_by_role("radio", name=name, exact=True)

    def open(self, fragment: str = "") -> "Visit":
        for _ in range(3):
            self.network_changed = False
            self.page.goto(self.url + "/" + fragment)
            if not self.network_changed:
                break
        return self

    def choose(self, radio: Locator) -> None:
        """As a mouse does: on what is painted over the input."""
        radio.check(force=True)

    def stop_the_clock(self) -> None:
        """With `own_clock`: from now on the page's time passes only by `self.page.clock.run_for(milliseconds)`."""
        self.page.clock.pause_at(self.run("() => Date.now() + 1000"))

    def run(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)

    def call(self, module: str, function: str, *arguments: Any) -> Any:
        """What a function of one of the page's modules returns."""
        return self.run(
            "async ([module, name, args]) => (await import(`/js/${module}.js`))[name](...args)",
            [module, function, list(arguments)],
        )

    def hear(self, message: ConsoleMessage) -> None:
        if "ERR_NETWORK_CHANGED" in message.text:
            # The machine got or lost an interface (a container started, say), and chromium dropped its connections.
            self.network_changed = True
            return
        is_failed_request = "Failed to load resource" in message.text
        if message.type in ("error", "warning") and not (self.may_fail and is_failed_request):
            self.problems.append(f"{message.type}: {message.text}")


@contextmanager
def visits(browser: Browser, url: str) -> Iterator[Callable[..., Visit]]:
    """Opens pages; at the end nobody may have seen an error, a warning or a breach of the content policy."""
    opened: list[Visit] = []
    server_url = url

    def open_visit(
        url: str = server_url, fragment: str = "", may_fail: bool = False, own_clock: bool = False, **options: Any
    ) -> Visit:
        context = browser.new_context(**{"viewport": DESKTOP, "reduced_motion": "reduce", **options})
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=url)
        page = context.new_page()
        if own_clock:
            page.clock.install()
        visit = Visit(page, context, url, may_fail=may_fail)
        opened.append(visit)
        page.on("console", visit.hear)
        page.on("pageerror", lambda error: visit.problems.append(f"uncaught: {error}"))
        page.add_init_script(
            "addEventListener('securitypolicyviolation', (e) => console.error('policy', e.violatedDirective))"
        )
        return visit.open(fragment)

    yield open_visit
    for visit in opened:
        visit.context.close()
    assert [problem for visit in opened for problem in visit.problems] == []


@pytest.fixture
def visitor(browser: Browser, page_server: Any) -> Iterator[Callable[..., Visit]]:
    """Opens the page for a test: each time a new browser profile."""
    with visits(browser, page_server.url) as open_visit:
        yield open_visit


@pytest.fixture(scope="module")
def open_visit(browser: Browser, page_server: Any) -> Iterator[Callable[..., Visit]]:
    """The same for a whole module."""
    with visits(browser, page_server.url) as open_visit:
        yield open_visit


@pytest.fixture
def visit(visitor: Callable[..., Visit]) -> Visit:
    """The page, ready to be typed into."""
    opened = visitor()
    expect(opened.page.locator("#status")).to_contain_text("Ready")
    return opened


@pytest.fixture(scope="session")
def nudged_sentence(page_server: Any, toy_sentences: Callable[..., list[str]]) -> str:
    """A sentence that the actor of BLEU changes."""
    sentences = toy_sentences(200, seed=7)
    plain = page_server.translate(sentences, objective="none")["translatedText"]
    nudged = page_server.translate(sentences, objective="bleu")["translatedText"]
    return next(text for text, a, b in zip(sentences, plain, nudged, strict=True) if a != b)
