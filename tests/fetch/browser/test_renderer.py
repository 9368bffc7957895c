"""Pages in a real Chromium."""

import asyncio
import os
import signal

import pytest
from aiohttp import web

from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    PolicyError,
    RedirectError,
    SettingsError,
    SiteError,
    TransportError,
)
from searx_mcp.fetch.browser import chromium, visit
from searx_mcp.fetch.browser.chromium import Driver
from searx_mcp.http.gateway import GatewayLimits

pytestmark = pytest.mark.slow

CLOSED = "93.184.216.35"  # nothing listens there

SKELETON = """<!DOCTYPE html><html><body><div id="app"></div><script>
fetch("/text").then(answer => answer.text()).then(text => {
  document.getElementById("app").innerHTML = `<p>${text}</p>`;
});
</script></body></html>"""

COLOURFUL = """<link rel="stylesheet" href="/style.css">
<style>@font-face { font-family: f; src: url("/font.woff2"); }
body { font-family: f; background: url("/background.png"); }</style>
<p>text</p><img src="/image.png"><picture><source srcset="/picture.webp"><img src="/p.png"></picture>
<video src="/video.mp4" preload="auto" autoplay muted></video><audio src="/audio.mp3" autoplay></audio>
<script src="/script.js"></script>"""


POPUPS = """<a id="a" href="/popup" target="_blank">x</a><script>
  open("/popup"); a.click(); onload = () => open("/popup", "_blank", "width=100");
  const form = document.createElement("form"); form.action = "/popup"; form.target = "_blank";
  document.body.append(form); form.submit();</script>"""


async def test_a_skeleton_gives_the_text_that_its_scripts_fetch(site, shared):
    site.pages["/"] = SKELETON
    site.respond("/text", "Grüße 🙂".encode(), Content_Type="text/plain; charset=utf-8")
    async with shared() as shown:
        rendered = await shown.render("/", user_agent="searx-mcp/9 (test)")
        assert "<p>Grüße 🙂</p>" in rendered.body.data.decode()
        assert (rendered.url, rendered.status) == ("http://www.site.org/", 200)
        assert not rendered.body.truncated
        assert rendered.body.notes == ()
        for path in ("/", "/text"):
            assert site.headers[path]["User-Agent"] == "searx-mcp/9 (test)"
            assert site.headers[path]["Host"] == "www.site.org"


async def test_pages_of_one_renderer_share_a_browser_and_nothing_else(site, shared):
    page = b"""<p id="p"></p><script>
      p.append(`[${document.cookie}|${localStorage.a}]`);
      document.cookie = "a=b"; localStorage.a = "c";</script>"""
    site.respond("/", page, Set_Cookie="d=e; HttpOnly", Content_Type="text/html")
    async with shared() as shown:
        assert "[|undefined]" in (await shown.render("/")).body.data.decode()
        before = shown.leftovers.browsers()
        assert "[|undefined]" in (await shown.render("/")).body.data.decode()
        assert "Cookie" not in site.headers["/"]
        assert len({gateway.credentials for gateway in shown.gateways}) == 2
        assert shown.leftovers.browsers() <= before
        environments = shown.leftovers.environments()
        assert environments
        assert b"very-secret" not in b"".join(environments)


async def test_certificates_count(shared):
    async with shared() as shown:
        with pytest.raises(TransportError) as caught:
            await shown.render("https://www.site.org/")
        assert caught.value.code == ErrorCode.TLS_ERROR


async def test_only_what_text_may_come_from_is_loaded_and_no_other_window_opens(site, shared):
    site.pages["/"] = COLOURFUL + POPUPS
    site.respond("/script.js", b"document.body.append('script')", Content_Type="text/javascript")
    async with shared() as shown:
        assert "script" in (await shown.render("/")).body.data.decode()
        assert {*site.requests} - {"/favicon.ico"} == {"/", "/script.js", "/style.css"}


async def test_the_final_address_is_what_redirects_and_scripts_make_it(site, shared):
    site.redirect("/", "http://other.org/first")
    site.pages["/first"] = "<p>first</p><script>location = '/second'</script>"
    site.pages["/second"] = "<p>second</p><script>history.pushState(0, '', '/pushed?a#b')</script>"
    async with shared() as shown:
        rendered = await shown.render("/")
        assert rendered.url == "http://other.org/pushed?a#b"
        assert "second" in rendered.body.data.decode()


async def test_html_is_cut_where_it_may_be(site, shared):
    site.pages["/"] = "<p id=p></p><script>p.append('\\ud83d' + 'ä'.repeat(5000))</script>"
    async with shared() as shown:
        cut = (await shown.render("/", max_bytes=2_001)).body
        assert cut.truncated
        assert len(cut.data) in {2_000, 2_001}
        assert cut.data.decode().rstrip("ä").endswith('<p id="p">?')


async def test_a_page_cannot_forge_how_it_is_read(site, shared):
    site.pages["/"] = """<p>truth</p><img name="documentElement"><form name="contentType"></form>
      <script>for (const kind of [Element, HTMLElement])
        Object.defineProperty(kind.prototype, "outerHTML", {get: () => "x".repeat(1e6)});
      String.prototype.slice = () => "x".repeat(1e6);
      performance.getEntriesByType = () => [{responseStatus: 999}];</script>"""
    async with shared() as shown:
        rendered = await shown.render("/")
        assert rendered.status == 200
        assert "<p>truth</p>" in rendered.body.data.decode()
        assert len(rendered.body.data.decode()) < 1_000


async def test_what_is_refused_and_what_is_missing_is_said(site, shared):
    site.pages["/"] = """<p>text</p><script src="http://127.0.0.1/a.js"></script>
      <script src="http://10.0.0.1:8080/b.js"></script><iframe src="/pour"></iframe>"""
    site.pour("/pour")
    async with shared(limits=GatewayLimits(connection_bytes=100_000)) as shown:
        assert (await shown.render("/")).body.notes == (
            "The page exceeds the limit of requests; some of it may be missing.",
            "The page's requests to 2 blocked hosts were refused, such as 127.0.0.1.",
        )


async def test_a_page_that_never_ends_is_read_as_far_as_it_came(site, shared, monkeypatch):
    monkeypatch.setattr(visit, "COMPLETE_TIME", 1.0)
    site.drip("/")
    async with shared() as shown:
        rendered = await shown.render("/")
        assert "<p>the beginning</p>" in rendered.body.data.decode()
        assert rendered.body.notes == ("The page was still loading when it was read.",)


FAILURES = [
    ("/attachment", ContentError, ErrorCode.UNSUPPORTED_CONTENT_TYPE),
    ("/text", ContentError, ErrorCode.UNSUPPORTED_CONTENT_TYPE),
    ("/login", SiteError, ErrorCode.AUTHENTICATION_REQUIRED),
    ("/empty", SiteError, ErrorCode.HTTP_ERROR),
    ("/loop", RedirectError, ErrorCode.TOO_MANY_REDIRECTS),
    ("/to-loopback", PolicyError, ErrorCode.BLOCKED_ADDRESS),
    ("/to-inner-https", PolicyError, ErrorCode.BLOCKED_ADDRESS),
    ("/to-unsafe-port", PolicyError, ErrorCode.BLOCKED_PORT),
    ("/to-blocked", PolicyError, ErrorCode.BLOCKED_DOMAIN),
    ("/script-to-inner-https", PolicyError, ErrorCode.BLOCKED_ADDRESS),
    ("/script-to-blank", ContentError, ErrorCode.EXTRACTION_FAILED),
    ("http://gone.org/", TransportError, ErrorCode.DNS_ERROR),
    ("https://closed.org/", TransportError, ErrorCode.CONNECTION_ERROR),
]


async def test_whatever_is_no_page_is_a_typed_error_and_the_browser_goes_on(site, shared):
    """One browser for all of them: none may spoil it."""
    site.respond("/attachment", b"<p>", Content_Type="text/html", Content_Disposition="attachment")
    site.respond("/text", b"text", Content_Type="text/plain")
    challenge = {"WWW-Authenticate": 'Basic realm="x"', "Content-Type": "text/html"}
    site.respond("/login", b"log in", status=401, **challenge)
    site.respond("/empty", status=404)
    site.redirect("/loop", "/loop")
    site.redirect("/to-loopback", "http://127.0.0.1:8080/")
    site.redirect("/to-inner-https", "https://inner.org/")
    site.redirect("/to-unsafe-port", "http://www.site.org:25/")
    site.redirect("/to-blocked", "http://blocked.org/")
    for name, address in {
        "/script-to-inner-https": "https://inner.org/",
        "/script-to-blank": "about:blank",
    }.items():
        site.pages[name] = f"<p>text<script>location = '{address}'</script>"

    def admit(url: object) -> None:
        if "blocked.org" in str(url):
            raise PolicyError("no", code=ErrorCode.BLOCKED_DOMAIN, url=str(url))

    names = {"inner.org": [["10.20.30.40"]], "gone.org": [[]], "closed.org": [[CLOSED]]}
    async with shared(names=names, admit=admit) as shown:
        before = shown.leftovers.browsers()
        failures = [await failure_of(shown.render(path)) for path, _, _ in FAILURES]
        assert shown.leftovers.browsers() <= before
    found = [(type(failure), getattr(failure, "code", None)) for failure in failures]
    assert [(path, *each) for (path, _, _), each in zip(FAILURES, found, strict=True)] == FAILURES
    assert "10.20.30.40" not in "".join(str(failure) for failure in failures)


async def test_pages_wait_for_each_other(site, screen):
    go = asyncio.Event()

    async def hold(request: web.BaseRequest) -> web.StreamResponse:
        await go.wait()
        return web.Response(text="<p>held", content_type="text/html")

    site.pages["/held"] = hold
    site.pages["/next"] = "<p>next"
    async with screen(pages_at_once=1) as shown, asyncio.TaskGroup() as group:
        first = group.create_task(shown.render("/held"))
        await site.until("/held")
        second = group.create_task(shown.render("/next"))
        with pytest.raises(TransportError, match="ready"):
            await shown.render("/next", within=0.05)
        assert site.requests == ["/held"]
        go.set()
        assert "held" in (await first).body.data.decode()
        assert "next" in (await second).body.data.decode()


async def test_a_browser_that_was_killed_is_replaced(site, shared):
    site.hang("/hung")
    async with shared() as shown, asyncio.TaskGroup() as group:
        hung = group.create_task(failure_of(shown.render("/hung")))
        await site.until("/hung")
        for line in shown.leftovers.processes():
            if "--remote-debugging" in line:
                os.kill(int(line.split(" ")[0]), signal.SIGKILL)
        assert isinstance(await hung, ContentError)
        assert (await shown.render("/gone")).status == 404


async def failure_of(work):
    try:
        await work
    except Exception as exc:  # noqa: BLE001 - what the test is about
        return exc
    return None


@pytest.fixture
def impatient(monkeypatch):
    """Leaves the browser a second to start, but the driver all its time."""
    started = Driver.start

    async def start():
        driver = await started()
        monkeypatch.setattr(chromium, "LAUNCH_TIMEOUT", 1.0)
        return driver

    monkeypatch.setattr(Driver, "start", start)


async def refusal_of(screen, program, script: str) -> SettingsError:
    program.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    program.chmod(0o755)
    async with screen(program=str(program)) as shown:
        with pytest.raises(SettingsError, match=r"fetch\.browser") as caught:
            await shown.render("/")
    return caught.value


@pytest.mark.parametrize("script", ["exit 1", "echo No usable sandbox >&2; exit 1"])
async def test_what_is_no_browser_is_a_setting_to_correct(screen, tmp_path, script):
    error = await refusal_of(screen, tmp_path / "program", script)
    assert ("namespaces" in error.advice) is ("sandbox" in script)
    assert str(tmp_path) not in str(error) + error.advice


@pytest.mark.usefixtures("impatient")
async def test_what_never_becomes_a_browser_is_given_up(screen, tmp_path):
    error = await refusal_of(screen, tmp_path / "program", "exec sleep 1000 --")
    assert str(tmp_path) not in str(error) + error.advice
