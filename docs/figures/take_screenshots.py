"""The page as docs/figures shows it: light, dark with what the reformulation saw, and a phone.

muppet serve KB --port 8321               KB of src/muppet/demo/paragraphs.jsonl
python docs/figures/take_screenshots.py
"""

import argparse
import io
import shutil
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

HERE = Path(__file__).parent
QUESTION = (
    "Which Norwegian sea captain founded the whaling station where Ernest Shackleton is buried?"
)
PATIENCE = 300_000
"""Milliseconds."""


def take(browser: Browser, address: str, name: str, scheme: str, width: int, height: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(PATIENCE)
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{address}/?q={quote(QUESTION)}")
    page.wait_for_selector(".path")
    if scheme == "dark":
        page.locator(".why").first.hover()
        page.wait_for_selector(".heat")
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    image.quantize(256).save(HERE / f"page-{name}.png", optimize=True)
    page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--address", default="http://127.0.0.1:8321")
    given = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        take(browser, given.address, "light", "light", 1000, 1060)
        take(browser, given.address, "dark", "dark", 1000, 1060)
        take(browser, given.address, "phone", "light", 390, 844)


if __name__ == "__main__":
    main()
