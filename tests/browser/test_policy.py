"""Nothing inline, nothing from elsewhere, nothing large."""

import re
from pathlib import Path

import httpx
import pytest

import service

WEB = Path(service.__file__).parent / "web"
FILES = sorted(path for path in WEB.rglob("*") if path.is_file())


def test_policy_lets_in_our_own_files_only(page_server):
    policy = httpx.get(page_server.url + "/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "style-src 'self';" in policy
    assert "unsafe" not in policy


def test_inline_script_and_style_would_be_refused(visit):
    """The policy is enforced by the browser, and not only sent."""
    visit.run(
        """() => {
          const script = document.createElement('script');
          script.textContent = 'window.wasRun = true';
          document.body.append(script);
          document.body.setAttribute('style', 'color: red');
        }"""
    )
    assert visit.run("() => window.wasRun") is None
    assert visit.run("() => getComputedStyle(document.body).color") != "rgb(255, 0, 0)"
    assert len(visit.problems) >= 2
    visit.problems.clear()


def test_page_has_no_inline_script_or_style():
    html = (WEB / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", html)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_file_refers_to_no_other_host(path):
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"(https?:)?//[a-z0-9-]+\.[a-z]", text)


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".js"], ids=lambda path: path.name)
def test_module_is_small_and_puts_nothing_in_as_markup(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") < 250
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)


def test_whole_page_is_small_and_loads_nothing_else(visitor, page_server):
    visit = visitor()
    loaded = []
    visit.page.on("response", lambda response: loaded.append((response.url, len(response.body()))))
    visit.page.reload(wait_until="networkidle")
    assert loaded
    assert {url for url, _ in loaded if not url.startswith(page_server.url)} == set()
    assert sum(size for _, size in loaded) < 150_000
