"""The dashboard in Chromium: by keyboard, kept current, in both themes, on a phone."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.instance import InstanceState, PoolReport
from searx_mcp.models.response import SearchResult
from searx_mcp.server.dashboard import routes

pytestmark = pytest.mark.slow

TOKEN = "0123456789abcdef"
POLL = 5_000

AXE = """async () => {
  document.querySelectorAll("details").forEach((each) => (each.open = true));
  const found = await axe.run({ rules: { "target-size": { enabled: true } } });
  // What it cannot decide, as a contrast, counts too.
  return [...found.violations, ...found.incomplete].map((rule) => [rule.id, ...rule.nodes.map((node) => node.html)]);
}"""


@pytest.fixture(scope="module")
def anyio_backend(backend_at: Any) -> Any:
    """One loop for the module, whose tests share a browser."""
    return backend_at(1.0)


@pytest.fixture(scope="module")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(
            executable_path=chromium, chromium_sandbox=not is_root
        )
        yield launched
        await launched.close()


def watch(page: Page, url: str, wrong: list[str]) -> None:
    """Note what goes wrong in a page, and whom else it asks."""

    def said(message: ConsoleMessage) -> None:
        if not message.text.endswith(("(Unauthorized)", "(Service Unavailable)")):  # Chromium's own
            wrong.append(message.text)

    def asked(request: Request) -> None:
        if not request.url.startswith((url, "data:")):
            wrong.append(request.url)

    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", said)
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.on("request", asked)


@pytest.fixture
async def tab(browser: Browser):
    """Give what opens a page; nothing may go wrong in it, and nothing may be asked of another server."""
    wrong: list[str] = []
    pages: list[Page] = []

    async def opened(url: str, path: str = "/", **options: Any) -> Page:
        page = await browser.new_page(**options)
        pages.append(page)
        watch(page, url, wrong)
        await page.clock.install()
        await page.goto(url + path)
        return page

    yield opened
    for page in pages:
        await page.close()
    assert wrong == []


async def test_a_person_searches_by_keyboard_and_stays_in_the_box(serve, tab, pool):
    async with serve() as url:
        page = await tab(url)
        await page.keyboard.press("Tab")
        assert await page.locator(":focus").inner_text() == "Skip to the content"
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        await page.keyboard.type("honey bees")
        await page.keyboard.press("Enter")
        await page.get_by_role("status").get_by_text("2 results in 540 ms").wait_for()
        assert await page.locator(":focus").input_value() == "honey bees"
        rows = page.get_by_role("table", name="Instances asked, in order").get_by_role("row")
        assert await rows.count() == 3
        assert pool.searched == ["honey bees"]


async def test_a_search_that_fails_is_read_out(serve, tab, pool):
    pool.failure = NoInstancesError(
        "Nobody could serve", reason=UnavailableReason.EXHAUSTED, advice="Run `searx-mcp doctor`."
    )
    async with serve() as url:
        page = await tab(url)
        await page.get_by_label("Query").fill("bees")
        await page.keyboard.press("Enter")
        status = page.get_by_role("status")
        await status.get_by_text("Nobody could serve. Run searx-mcp doctor.").wait_for()
        assert await status.get_by_role("code").inner_text() == "searx-mcp doctor"


async def test_without_scripts_everything_is_there(serve, tab):
    async with serve() as url:
        page = await tab(url, java_script_enabled=False)
        assert not await page.get_by_text("Pause updates").is_visible()
        await page.get_by_label("Query").fill("bees")
        await page.keyboard.press("Enter")
        await page.get_by_text("2 results in 540 ms").wait_for()
        tier = page.locator("#tier-b")
        await tier.locator("> summary").click()
        assert await tier.get_by_text("b.example").is_visible()


async def test_the_page_stays_current_and_what_is_open_stays_open(serve, tab, pool, monkeypatch):
    monkeypatch.setattr(routes, "_SNAPSHOT_SECONDS", 0.0)
    async with serve() as url:
        page = await tab(url)
        score = page.locator("#tier-own-rows summary").first
        await score.focus()
        await page.keyboard.press("Enter")
        row = pool.report.instances[0].model_copy(update={"state": InstanceState.FAILING})
        pool.report = pool.report.model_copy(
            update={"instances": (row, *pool.report.instances[1:])}
        )
        await page.clock.run_for(POLL)
        await page.locator("#tier-own-rows").get_by_text("failing").wait_for()
        assert await page.get_by_text("weight of observed").first.is_visible()
        assert await page.evaluate("document.activeElement.tagName") == "SUMMARY"


async def test_a_person_can_stop_the_updates(serve, tab, pool, monkeypatch):
    monkeypatch.setattr(routes, "_SNAPSHOT_SECONDS", 0.0)
    async with serve() as url:
        page = await tab(url)
        await page.get_by_role("button", name="Pause updates").click()
        looks = pool.looks
        await page.clock.run_for(3 * POLL)
        assert pool.looks == looks
        await page.get_by_role("button", name="Resume updates").click()
        await page.get_by_text("Updated ").wait_for()
        assert pool.looks == looks + 1


async def test_a_person_logs_in_by_keyboard_and_is_led_back_when_that_ends(serve, tab):
    async with serve(token=TOKEN) as url:
        page = await tab(url)
        await page.locator("input:focus").wait_for()  # a browser sets the focus after the load
        await page.keyboard.type(TOKEN)
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Pool").wait_for()
        await page.context.clear_cookies()
        await page.clock.run_for(POLL)
        await page.get_by_label("Token").wait_for()
        assert page.url == f"{url}/login"


@pytest.mark.parametrize("width", [320, 768])
async def test_no_width_makes_a_person_scroll_sideways(serve, tab, width):
    async with serve() as url:
        page = await tab(url, viewport={"width": width, "height": 800})
        await page.get_by_label("Query").fill("bees")
        await page.keyboard.press("Enter")
        await page.get_by_text("2 results in 540 ms").wait_for()
        await page.evaluate("document.querySelectorAll('details').forEach((e) => (e.open = true))")
        assert await page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.fixture(scope="module")
def axe(node_modules: Path) -> str:
    """Give the script that looks for what keeps people with disabilities from using a page."""
    return (node_modules / "axe-core" / "axe.min.js").read_text("utf-8")


async def inaccessible(page: Page, axe: str) -> dict[tuple[str, int], list[Any]]:
    """What axe finds in a page, by theme and width."""
    await page.evaluate(axe)
    found = {}
    for theme in ("light", "dark"):
        await page.emulate_media(color_scheme=theme)
        for width in (360, 1280):
            await page.set_viewport_size({"width": width, "height": 800})
            found[theme, width] = await page.evaluate(AXE)
    return found


CLEAN: dict[tuple[str, int], list[Any]] = {
    (theme, width): [] for theme in ("light", "dark") for width in (360, 1280)
}


async def test_axe_finds_nothing_wrong_with_the_dashboard(serve, tab, axe):
    async with serve() as url:
        page = await tab(url)
        assert await inaccessible(page, axe) == CLEAN


async def test_axe_finds_nothing_wrong_with_an_empty_pool(serve, tab, axe, pool):
    pool.report = PoolReport(instances=())
    async with serve() as url:
        page = await tab(url)
        assert await inaccessible(page, axe) == CLEAN


@pytest.mark.parametrize(
    ("script", "fails"), [(True, True), (False, False)], ids=["failed", "found without a script"]
)
async def test_axe_finds_nothing_wrong_with_a_search(
    serve, tab, axe, pool, attempts, script, fails
):
    if fails:
        pool.failure = NoInstancesError(
            "Nobody could serve", reason=UnavailableReason.EXHAUSTED, attempts=attempts
        )
    async with serve() as url:
        page = await tab(url)
        if not script:  # axe is a script itself: only ours is missing
            await page.route("**/dashboard.js", lambda route: route.fulfill(body=""))
            await page.reload()
        await page.get_by_label("Query").fill("bees")
        await page.keyboard.press("Enter")
        await page.get_by_text("Instances asked, in order").wait_for()
        assert await inaccessible(page, axe) == CLEAN


@pytest.mark.parametrize("tries", [0, 1])
async def test_axe_finds_nothing_wrong_with_the_login(serve, tab, axe, tries):
    async with serve(token=TOKEN) as url:
        page = await tab(url)
        for _ in range(tries):
            await page.get_by_label("Token").fill("wrong")
            await page.keyboard.press("Enter")
            await page.get_by_role("alert").wait_for()
        assert await inaccessible(page, axe) == CLEAN


async def test_the_parts_of_the_page_have_roles_and_names(serve, tab):
    async with serve() as url:
        page = await tab(url, viewport={"width": 360, "height": 800})
        for role in ("banner", "main", "search"):
            assert await page.get_by_role(role).count() == 1
        levels = await page.evaluate(
            "[...document.querySelectorAll('h1, h2, h3')].map((e) => e.tagName)"
        )
        assert levels == ["H1", "H2", "H2", "H2", *["H3"] * 4]
        table = page.get_by_role("table", name="Own instances")
        assert await table.get_by_role("rowheader").all_inner_texts() == ["127.0.0.1:8888"]
        unnamed = await page.evaluate(
            "[...document.querySelectorAll('input, button')].filter((e) => !e.labels.length && !e.textContent).length"
        )
        assert unnamed == 0


async def test_what_strangers_write_does_not_run(serve, tab, pool):
    acts = '"><script>alert(1)</script><img src="//evil.example/x" onerror=alert(2)>'
    pool.report = pool.report.model_copy(update={"notes": (acts,)})
    pool.results = (
        SearchResult(title=acts, url="javascript:alert(3)", description=acts, score=1.0),
    )
    async with serve() as url:
        page = await tab(url)
        await page.get_by_label("Query").fill(acts)
        await page.keyboard.press("Enter")
        await page.get_by_text("1 result in 540 ms").wait_for()
        assert await page.get_by_text(acts).count() >= 3
