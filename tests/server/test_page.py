"""The page, in a real browser: Debian's chromium, without a window."""

import json
import os
import shutil
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright
from serving import QUESTIONS, GatedMuppet, running, until

from muppet.pipeline import Muppet
from muppet.server.app import make_app
from muppet.server.settings import ServerSettings

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
MISSING = (
    "NO CHROMIUM HERE, SO THE PAGE IS NOT TESTED. Get it with `apt-get install -y chromium`, or "
    "set MUPPET_NEEDS_BROWSER=1 to fail without it."
)
WAIT = 60_000
"""Milliseconds: machines are busy."""

CONTRAST = """() => {
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(one).backgroundColor);
      layers.push([r, g, b, a]);
      if (a === 1) break;
    }
    return layers.reverse().reduce((below, [r, g, b, a]) =>
      [r, g, b].map((c, i) => c * a + below[i] * (1 - a)), [255, 255, 255]);
  };
  const low = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.getClientRects().length || element.closest("noscript, .unseen")) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push(`${element.className || element.tagName}: ${ratio.toFixed(2)}`);
  }
  return low;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        if os.environ.get("MUPPET_NEEDS_BROWSER"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


@pytest.fixture(scope="module")
def address(muppet: Muppet) -> Iterator[str]:
    with running(make_app({"demo": muppet, "other": muppet})) as running_at:
        yield running_at


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page that may ask nobody but its server, and has nothing to complain about."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    opened.set_default_timeout(WAIT)
    expect.set_options(timeout=WAIT)
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text))
    yield opened
    context.close()
    assert [one for one in complaints if "Failed to load resource" not in one] == []


def link(address: str, question: str) -> str:
    return f"{address}/?q={quote(question)}&kb=demo"


def answer_with(page: Page, content: object) -> None:
    """Let the page be told this, as if the server had."""

    def fulfil(route: Route) -> None:
        body = f"event: answer\ndata: {json.dumps(content)}\n\n"
        route.fulfill(body=body, content_type="text/event-stream")

    page.route("**/api/ask/stream", fulfil)


def test_a_question_is_asked_by_keyboard_and_its_chain_is_drawn(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#holds")).to_contain_text("62 paragraphs")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type(QUESTIONS[0])
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).not_to_be_empty()
    expect(page.locator(".path .hop")).to_have_count(2)
    expect(page.locator(".sure")).to_contain_text("%")
    expect(page.locator(".path .asked")).to_have_text(QUESTIONS[0])
    assert page.locator(".path .said").last.inner_text() == page.locator(".answer").inner_text()
    expect(page).to_have_title(f"{QUESTIONS[0]} – Muppet")
    page.locator(".answer").click()
    page.keyboard.press("/")
    expect(page.locator("#question")).to_be_focused()


def test_the_stages_are_shown_while_it_works(browser: Browser, muppet: Muppet) -> None:
    gated = GatedMuppet(muppet)
    page = browser.new_page()
    with running(make_app({"demo": gated})) as address:
        page.goto(address)
        page.fill("#question", QUESTIONS[0])
        page.keyboard.press("Enter")
        expect(page.locator(".stages .now")).to_contain_text("first paragraph")
        until(lambda: gated.asked)
        page.keyboard.press("Escape")
        expect(page.locator(".stages")).to_be_hidden()
        expect(page.locator("#examples")).to_be_visible()
        gated.gate.set()
        page.close()


def test_a_permalink_asks_and_the_way_back_leads_back(page: Page, address: str) -> None:
    page.goto(link(address, QUESTIONS[1]))
    expect(page.locator(".path .asked")).to_have_text(QUESTIONS[1])
    expect(page.locator("#question")).to_have_value(QUESTIONS[1])
    page.fill("#question", QUESTIONS[3])
    page.click("#go")
    expect(page.locator(".path .asked")).to_have_text(QUESTIONS[3])
    assert quote(QUESTIONS[3].split()[2]) in page.url
    page.go_back()
    expect(page.locator(".path .asked")).to_have_text(QUESTIONS[1])


def test_examples_are_a_press_away(page: Page, address: str) -> None:
    page.goto(address)
    page.locator("#example-list button").first.click()
    expect(page.locator(".path .asked")).to_have_text(QUESTIONS[0])
    expect(page.locator("#examples")).to_be_hidden()


def test_other_answers_and_copies(page: Page, address: str) -> None:
    page.goto(link(address, QUESTIONS[0]))
    other = page.locator(".others button").nth(1)
    text = other.locator("span").first.inner_text()
    other.click()
    expect(page.locator(".answer")).to_have_text(text)
    expect(page.locator(".others button").nth(1)).to_be_focused()
    page.get_by_role("button", name="Copy as JSON").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert copied["question"] == QUESTIONS[0]
    assert copied["answers"][1]["text"] == text
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('/?q=')")


def test_what_the_reformulation_looked_at_is_shown_on_hover_and_on_focus(
    page: Page, address: str
) -> None:
    page.goto(link(address, QUESTIONS[0]))
    before = page.locator(".hop .text").first.inner_html()
    page.hover(".why")
    expect(page.locator("#result.heat .asked .h4").first).to_be_visible()
    assert page.locator(".hop").first.locator(".h1, .h2, .h3, .h4").count() > 0
    page.mouse.move(0, 0)
    expect(page.locator("#result")).not_to_have_class("heat")
    assert page.locator(".hop .text").first.inner_html() == before
    page.locator(".why").press("Enter")
    expect(page.locator(".why")).to_have_attribute("aria-pressed", "true")
    page.locator("#question").focus()
    expect(page.locator("#result")).to_have_class("heat")


def hop(id_: str, title: str, text: str, rank: int | None) -> dict[str, object]:
    facts = {"source": f"/x/{id_}.txt", "score": -0.1, "sentence": 0, "rank_for_question": rank}
    return {"paragraph": id_, "title": title, "text": text} | facts


FOUNDED = "🐋 It was founded by Carl 🐋 Larsen."
RESULT = {
    "question": "Who founded it?",
    "is_known": True,
    "answers": [
        {
            "text": "Carl 🐋 Larsen",
            "kind": "span",
            "probability": 0.8731,
            "span": {"paragraph": "b", "start": 20, "end": 33, "in_title": False},
            "support": [
                {"paragraph": "a", "sentence": 1, "text": " He lies at Grytviken."},
                {"paragraph": "b", "sentence": 0, "text": FOUNDED},
            ],
            "chain": [
                hop("a", "Man", "A man <b>was</b>. He lies at Grytviken.", 1),
                hop("b", "Grytviken (place)", FOUNDED, None),
            ],
        }
    ],
    "chains": [],
    "seconds": {"retrieve": 0.1, "read": 0.2},
}


def test_bridge_support_and_answer_are_marked_where_they_stand(page: Page, address: str) -> None:
    answer_with(page, RESULT)
    page.goto(link(address, "Who founded it?"))
    expect(page.locator(".answer")).to_have_text("Carl 🐋 Larsen")
    expect(page.locator(".sure")).to_have_text("87 % likely right")
    expect(page.locator(".via")).to_have_text("via Grytviken")
    first, second = page.locator(".hop").all()
    assert first.locator(".bridge-word").inner_text() == "Grytviken"
    assert "".join(first.locator(".support").all_inner_texts()) == "He lies at Grytviken."
    assert first.locator(".text").inner_text() == "A man <b>was</b>. He lies at Grytviken."
    assert second.locator("h3 .bridge-word").inner_text() == "Grytviken"
    assert second.locator(".here").inner_text() == "Carl 🐋 Larsen"
    assert "not found by the question alone" in second.inner_text()
    assert page.locator(".others").count() == 0


def test_what_is_not_in_the_documents_is_said_first(page: Page, address: str) -> None:
    answer_with(page, RESULT | {"is_known": False})
    page.goto(link(address, "Who founded it?"))
    expect(page.locator(".notice")).to_contain_text("Not in these documents")
    expect(page.locator(".guess")).to_have_text("Best guess")
    answer_with(page, RESULT | {"is_known": False, "answers": []})
    page.reload()
    expect(page.locator(".notice")).to_contain_text("Nothing in these documents has a word")


def test_what_cannot_be_asked_is_said_in_the_server_s_words(page: Page, address: str) -> None:
    page.goto(link(address, "what is the"))
    expect(page.get_by_role("alert")).to_contain_text("only words that stand everywhere")
    page.fill("#question", QUESTIONS[1])
    page.keyboard.press("Enter")
    expect(page.locator(".path")).to_be_visible()
    page.route("**/api/ask/stream", lambda route: route.abort())
    page.fill("#question", QUESTIONS[0])
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    page.unroute("**/api/ask/stream")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".path .asked")).to_have_text(QUESTIONS[0])


def test_a_token_is_asked_for_once(page: Page, muppet: Muppet) -> None:
    app = make_app({"demo": muppet}, ServerSettings(token="sesame"))
    with running(app) as address:
        page.goto(link(address, QUESTIONS[1]))
        page.fill("#token", "wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("wants its token")
        page.fill("#token", "sesame")
        page.keyboard.press("Enter")
        expect(page.locator(".path .asked")).to_have_text(QUESTIONS[1])
        page.reload()
        expect(page.locator(".path .asked")).to_have_text(QUESTIONS[1])


@pytest.mark.parametrize("width", [320, 390])
def test_a_narrow_page_has_no_sideways_scrolling(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(address)
    expect(page.locator("#examples")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.goto(link(address, QUESTIONS[0]))
    expect(page.locator(".path")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    box = page.locator("#go").bounding_box()
    assert box and box["height"] >= 40 and box["x"] + box["width"] <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_as_wcag_aa_asks(page: Page, address: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(address)
    expect(page.locator("#examples")).to_be_visible()
    assert page.evaluate(CONTRAST) == []
    answer_with(page, RESULT | {"is_known": False})
    page.goto(link(address, "Who founded it?"))
    expect(page.locator(".path")).to_be_visible()
    assert page.evaluate(CONTRAST) == []
    page.unroute("**/api/ask/stream")
    page.goto(link(address, QUESTIONS[0]))
    page.hover(".why")
    expect(page.locator("#result.heat .asked .h4").first).to_be_visible()
    assert page.evaluate(CONTRAST) == []
