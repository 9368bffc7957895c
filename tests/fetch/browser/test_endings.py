"""However a page behaves and whenever a call ends, nothing hangs and nothing is left."""

import asyncio

import pytest

from searx_mcp.errors import ContentError, ErrorCode, SettingsError, TransportError
from searx_mcp.fetch.browser import visit

pytestmark = pytest.mark.slow

ENDLESS = {
    "a loop that begins later": "setTimeout(() => { for (;;); }, 100);",
    "messages": "for (;;) { alert('x'.repeat(1e4)); confirm(); prompt(); print(); }",
    "objects": "const all = []; for (;;) all.push(new Array(1e6).fill({}));",
    "a console": "for (;;) console.log('x'.repeat(1e5), document);",
    "reloads": "for (let i = 0; i < 5; i++) fetch('/gone?' + Math.random()); location.reload();",
    "a farewell": "onbeforeunload = event => { event.preventDefault(); alert(); for (;;); }; onunload = () => { for (;;); };",
}


@pytest.mark.parametrize("script", ENDLESS.values(), ids=ENDLESS)
async def test_an_endless_page_ends_in_time(site, shared, script):
    site.pages["/"] = f"<p>text</p><script>{script}</script>"
    async with shared() as shown:
        now = asyncio.get_running_loop().time
        ends = now() + 1
        assert await outcome_of(shown.render("/", within=1)) in {"rendered", "late", "crashed"}
        # The loop may be late, but no later than a step of it takes.
        assert now() < ends + 2
        assert (await shown.render("/gone")).status == 404


FLOODS = {
    "frames": "const f = document.createElement('iframe'); document.body.append(f); f.remove();",
    "workers": "new Worker('data:text/javascript,1');",
}


@pytest.mark.parametrize("script", FLOODS.values(), ids=FLOODS)
async def test_a_page_that_does_too_much_is_given_up(site, shared, monkeypatch, script):
    # Each event costs the browser a frame or a thread, so few are enough: a slow machine has time for them.
    monkeypatch.setattr(visit, "MAX_EVENTS", 10)
    site.pages["/"] = (
        f"<p>text</p><script>for (let i = 0; i < 20; i++) {{ {script} }} fetch('/hung');</script>"
    )
    site.hang("/hung")
    async with shared() as shown:
        with pytest.raises(ContentError, match="opens more than 10 frames"):
            await shown.render("/")


async def test_a_page_that_takes_too_much_memory_is_given_up(site, screen):
    site.pages["/"] = """<p>text</p><script>const all = []; fetch("/hung");
      setInterval(() => { if (all.length < 40) all.push(new Uint8Array(2e7).fill(1)); }, 1);</script>"""
    site.hang("/hung")
    async with screen(max_memory=700_000_000, idle_time=0.0) as shown:
        with pytest.raises(ContentError, match="memory"):
            await shown.render("/")
        assert (await shown.render("/gone")).status == 404
        await shown.leftovers.until_gone()  # as it is idle


@pytest.mark.parametrize("has_driver", [False, True])
async def test_a_call_may_be_cancelled_while_the_browser_starts(screen, has_driver):
    async with screen() as shown, asyncio.TaskGroup() as group:
        rendering = group.create_task(shown.render("/gone"))
        await asyncio.sleep(0)
        if has_driver:
            await shown.leftovers.until_running()
        rendering.cancel()


@pytest.mark.parametrize("path", ["/hung", "/loop"])
async def test_a_call_may_be_cancelled_while_the_page_loads(site, shared, path):
    site.hang("/hung")
    site.pages["/loop"] = """<script>const request = new XMLHttpRequest();
      request.open("GET", "/gone", false); request.send(); for (;;);</script>"""
    async with shared() as shown:
        async with asyncio.TaskGroup() as group:
            rendering = group.create_task(shown.render(path))
            await site.until("/gone" if path == "/loop" else path)
            rendering.cancel()
        assert shown.gateways[0].record.refused == {}
        assert (await shown.render("/gone")).status == 404


@pytest.mark.parametrize(
    "running", [None, "", "--user-data-dir"], ids=["nothing", "a driver", "a browser"]
)
async def test_the_owner_may_end_at_any_time(site, screen, running):
    site.pages["/"] = "<p>text</p>"
    async with screen() as shown, asyncio.TaskGroup() as group:
        outcome = group.create_task(outcome_of(shown.render("/")))
        await asyncio.sleep(0)
        if running is not None:
            await shown.leftovers.until_running(what=running)
        await shown.renderer.aclose()
        await shown.renderer.aclose()
        assert await outcome in {"rendered", "closed", "crashed"}
        with pytest.raises(RuntimeError, match="closed"):
            await shown.render("/")


async def outcome_of(rendering):
    try:
        rendered = await rendering
    except RuntimeError:
        return "closed"
    except TransportError as exc:
        return "late" if exc.code == ErrorCode.TIMEOUT else str(exc.code)
    except (ContentError, SettingsError):
        return "crashed"
    return "rendered" if "text" in rendered.body.data.decode() else rendered.body.data.decode()
