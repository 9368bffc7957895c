"""However a page behaves and whenever a call ends, nothing hangs and nothing is left."""

import asyncio

import pytest
from aiohttp import web

from searx_mcp.errors import ContentError, ErrorCode, SettingsError, TransportError
from searx_mcp.fetch.browser import visit

pytestmark = pytest.mark.slow

ENDLESS = {
    "a loop": "for (;;);",
    "a loop that begins later": "setTimeout(() => { for (;;); }, 100);",
    "messages": "for (;;) { alert('x'.repeat(1e4)); confirm(); prompt(); print(); }",
    "a tree that grows": "const t = '<i>x</i>'.repeat(1e5); for (;;) document.body.insertAdjacentHTML('beforeend', t);",
    "objects": "const all = []; for (;;) all.push(new Array(1e6).fill({}));",
    "a console": "for (;;) console.log('x'.repeat(1e5), document);",
    "addresses": "for (let i = 0;; i++) history.pushState(0, '', '/' + i);",
    "reloads": "location.reload();",
    "requests": "setInterval(() => { for (let i = 0; i < 50; i++) fetch('/gone?' + Math.random()); }, 1);",
    "windows": "setInterval(() => { for (let i = 0; i < 50; i++) open('/gone'); }, 1);",
    "errors": "setInterval(() => { for (let i = 0; i < 99; i++) Promise.reject(new Error('x'.repeat(1e5))); }, 1);",
    "a farewell": "onbeforeunload = event => { event.preventDefault(); alert(); for (;;); }; onunload = () => { for (;;); };",
}


@pytest.mark.parametrize("script", ENDLESS.values(), ids=ENDLESS)
async def test_an_endless_page_ends_in_time(site, shared, script):
    site.pages["/"] = f"<p>text</p><script>{script}</script>"
    async with shared() as shown:
        now = asyncio.get_running_loop().time
        ends = now() + 1.5
        assert await outcome_of(shown.render("/", within=1.5)) in {"rendered", "late", "crashed"}
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
      setInterval(() => { if (all.length < 100) all.push(new Uint8Array(2e7).fill(1)); }, 1);</script>"""
    site.hang("/hung")
    async with screen(max_memory=700_000_000) as shown:
        await shown.render("/gone")
        with pytest.raises(ContentError, match="memory"):
            await shown.render("/")
        assert (await shown.render("/gone")).status == 404


@pytest.mark.parametrize("turns", [1, 500, 5_000])
async def test_a_call_may_be_cancelled_while_the_browser_starts(screen, turns):
    async with screen() as shown, asyncio.TaskGroup() as group:
        rendering = group.create_task(shown.render("/gone"))
        for _ in range(turns):
            await asyncio.sleep(0)
        rendering.cancel()


@pytest.mark.parametrize("path", ["/hung", "/script", "/loop", "/drip"])
async def test_a_call_may_be_cancelled_while_the_page_loads(site, shared, path):
    site.hang("/hung")
    site.drip("/drip")
    site.pages["/script"] = "<script src='/hung'></script>"
    site.pages["/loop"] = """<script>const request = new XMLHttpRequest();
      request.open("GET", "/gone", false); request.send(); for (;;);</script>"""
    async with shared() as shown:
        async with asyncio.TaskGroup() as group:
            rendering = group.create_task(shown.render(path))
            await site.until({"/script": "/hung", "/loop": "/gone"}.get(path, path))
            rendering.cancel()
        assert shown.gateways[0].record.refused == {}
        assert (await shown.render("/gone")).status == 404


@pytest.mark.parametrize("turns", [0, 20, 2_000])
async def test_the_owner_may_end_at_any_time(site, screen, turns):
    async def work(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text="<p>text</p>", content_type="text/html")

    site.pages["/"] = work
    async with screen() as shown, asyncio.TaskGroup() as group:
        outcome = group.create_task(outcome_of(shown.render("/")))
        for _ in range(turns):
            await asyncio.sleep(0)
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
