"""Take the README's picture of the page: `python tests/browser/take_picture.py URL "text" [--objective bleu]`.

The service must be running; the text should be one that the objective changes.
"""

import argparse
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

PICTURE = Path(__file__).resolve().parents[2] / "service" / "README-page.png"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("text")
    parser.add_argument("--source", default="auto")
    parser.add_argument("--target", required=True)
    parser.add_argument("--objective", default="bleu")
    parser.add_argument("--theme", choices=["light", "dark"], default="light")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--out", type=Path, default=PICTURE)
    given = parser.parse_args()
    wanted = {name: getattr(given, name) for name in ("source", "target", "objective", "text")}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(
            viewport={"width": 1280, "height": 900}, color_scheme=given.theme, device_scale_factor=1.5
        )
        page.goto(f"{given.url.rstrip('/')}/#{urlencode(wanted)}")
        page.locator("#output:not([data-streaming]):not(:empty)").wait_for()
        page.locator("#compare").click()
        page.get_by_text("Each ran once").wait_for()
        page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
        bottom = page.locator(".compare").bounding_box()
        assert bottom is not None
        page.mouse.move(0, 0)
        clip = {"x": 0, "y": 0, "width": 1280, "height": bottom["y"] + bottom["height"] + 24}
        page.screenshot(path=given.out, clip=clip, full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
