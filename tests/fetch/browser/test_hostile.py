"""A page that wants to reach this machine and the networks behind it, by all means a browser has.

Real sockets listen where nothing may arrive. The same attacks with the guard lifted do arrive, which
is what tells that they are attacks.
"""

import asyncio
import contextlib
import json
import socket
from dataclasses import dataclass
from random import Random
from urllib.parse import unquote

import pytest
from aiohttp import web

from searx_mcp.errors import FetchError

pytestmark = pytest.mark.slow

ATTACKS = r"""
const { origins, hosts, FULL } = TARGETS;
const tried = [], failed = [];
function attempt(what, run) {
  tried.push(what);
  try { Promise.resolve(run()).catch(() => 0); } catch (error) { failed.push(what); }
}
function put(tag, attributes) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  document.body.append(element);
  return element;
}
function style(text) { document.head.append(Object.assign(document.createElement("style"), {textContent: text})); }
function frame() { return put("iframe", {name: "f" + Math.random()}).name; }
function script(text) { return URL.createObjectURL(new Blob([text], {type: "text/javascript"})); }

function probe(origin) {
  const url = origin + "/?";
  attempt("fetch", () => fetch(url + "fetch", {mode: "no-cors"}));
  attempt("frame", () => put("iframe", {src: url + "frame"}));
  attempt("websocket", () => { new WebSocket(origin.replace("http", "ws") + "/"); });
  attempt("prefetch", () => put("link", {rel: "prefetch", href: url + "prefetch"}));
  attempt("redirect", () => fetch("/to?" + encodeURIComponent(url + "redirect"), {mode: "no-cors"}));
}
function strike(origin) {
  const url = origin + "/?";
  const socket = origin.replace("http", "ws") + "/";
  const opaque = {mode: "no-cors"};
  attempt("fetch", () => fetch(url + "fetch", opaque));
  attempt("post", () => fetch(url + "post", {...opaque, method: "POST", body: "x", keepalive: true}));
  attempt("xhr", () => { const request = new XMLHttpRequest(); request.open("GET", url + "xhr"); request.send(); });
  attempt("image", () => { new Image().src = url + "image"; });
  attempt("frame", () => put("iframe", {src: url + "frame"}));
  attempt("script", () => put("script", {src: url + "script"}));
  attempt("module", () => import(url + "module"));
  attempt("object", () => put("object", {data: url + "object"}));
  attempt("embed", () => put("embed", {src: url + "embed"}));
  attempt("video", () => put("video", {src: url + "video", preload: "auto", autoplay: ""}));
  attempt("audio", () => put("audio", {src: url + "audio", preload: "auto", autoplay: ""}));
  attempt("styles", () => style(`@import "${url}import";`));
  attempt("font", () => style(`@font-face { font-family: f; src: url("${url}font"); } * { font-family: f; }`));
  attempt("background", () => style(`* { background: url("${url}background"); }`));
  for (const rel of ["stylesheet", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload",
                     "manifest", "icon", "prerender"])
    attempt(rel, () => put("link", {rel, href: url + rel, as: "script"}));
  attempt("websocket", () => { new WebSocket(socket); });
  attempt("events", () => { new EventSource(url + "events"); });
  attempt("beacon", () => { navigator.sendBeacon(url + "beacon", "x"); });
  const inside = `try { importScripts("${url}scripts"); } catch (error) {}
    fetch("${url}inside", {mode: "no-cors"}).catch(() => 0);
    try { new WebSocket("${socket}"); } catch (error) {}`;
  attempt("worker", () => { new Worker(script(inside)); });
  attempt("shared worker", () => { new SharedWorker(script(inside)); });
  attempt("form", () => put("form", {action: url + "form", target: frame(), method: "POST"}).submit());
  attempt("ping", () => put("a", {href: "/ok", ping: url + "ping", target: frame()}).click());
  attempt("window", () => { open(url + "window"); });
  attempt("redirect", () => fetch("/to?" + encodeURIComponent(url + "redirect"), opaque));
  attempt("redirected frame", () => put("iframe", {src: "/to?" + encodeURIComponent(url + "moved")}));
  attempt("refreshed frame", () => put("iframe", {srcdoc: `<meta http-equiv=refresh content="0; url=${url}refresh">`}));
  attempt("speculation", () => document.head.append(Object.assign(document.createElement("script"), {
    type: "speculationrules",
    textContent: JSON.stringify({
      prefetch: [{source: "list", urls: [url + "speculated"], eagerness: "immediate"}],
      prerender: [{source: "list", urls: [url + "prerendered"], eagerness: "immediate"}],
    }),
  })));
}
for (const [index, origin] of origins.entries()) (index < FULL ? strike : probe)(origin);
for (const host of hosts) {
  attempt("webrtc", async () => {
    const turn = {username: "u", credential: "c"};
    const peer = new RTCPeerConnection({iceServers: [
      {urls: `stun:${host}`},
      {urls: [`turn:${host}?transport=udp`, `turn:${host}?transport=tcp`], ...turn},
    ]});
    peer.createDataChannel("d");
    await peer.setLocalDescription(await peer.createOffer());
  });
  if (isSecureContext) attempt("webtransport", () => new WebTransport(`https://${host}/`).ready);
}
if (isSecureContext) {
  attempt("service worker", () => navigator.serviceWorker.register("/worker.js"));
  attempt("service worker from a frame", () => {
    const bare = put("iframe", {src: "about:blank"}).contentWindow;
    return bare.ServiceWorkerContainer.prototype.register.call(navigator.serviceWorker, "/worker.js");
  });
}
for (const place of ["file:///etc/hostname", "chrome://version", "view-source:http://www.site.org/"]) {
  attempt(place, () => put("iframe", {src: place}));
  attempt(place, () => fetch(place).then(answer => answer.text()).then(text => document.body.append("READ", text)));
  attempt(place, () => open(place));
}
setTimeout(() => document.body.append(`tried ${tried.length}, failed ${failed.length}.`), 1000);
"""


FULL = 3
"""Origins that meet every attack. The others are further spellings: what a browser sends past its proxy depends
on the host alone."""


@dataclass
class Aims:
    """What is attacked.

    Attributes:
        origins: for everything that speaks HTTP; the first `FULL` of them meet every attack.
        hosts: for everything that sends datagrams.
        alias: an address of this machine.
        own: another that is not on loopback, or the same if there is none.
    """

    origins: list[str]
    hosts: list[str]
    alias: str
    own: str


async def aims(traps) -> Aims:
    # Any address of 127.0.0.0/8 is this machine's; on this one port 8080 is nobody else's.
    dice = Random()
    alias = f"127.{dice.randrange(1, 250)}.{dice.randrange(1, 250)}.{dice.randrange(2, 250)}"
    number = int.from_bytes(socket.inet_aton(alias), "big")
    own = own_address() or alias
    await traps.lay(alias, 8080)
    port = await traps.lay("127.0.0.1")
    hosts = [f"{address}:{await traps.lay_udp(address)}" for address in {alias, own, "127.0.0.1"}]
    origins = [
        f"http://{alias}:8080", f"https://{alias}:8080", "http://inner.org:8080",
        f"http://{number}:8080", f"http://0x{number:x}:8080", f"http://[::ffff:{alias}]:8080",
        f"http://127.0.0.1:{port}", f"http://x.localhost:{port}", f"http://0.0.0.0:{port}",
        f"http://localhost:{port}", "https://mixed.org:8080",
    ]  # fmt: skip
    if own != alias:
        origins.append(f"http://{own}:{await traps.lay(own)}")
    with contextlib.suppress(OSError):  # no IPv6 here
        origins.append(f"http://[::1]:{await traps.lay('::1')}")
    return Aims(origins, hosts, alias, own)


def own_address() -> str | None:
    """The address of this machine that packets to others would bear; none is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address: str = probe.getsockname()[0]
        return address


def lay_out(site, aimed: Aims) -> None:
    targets = json.dumps({"origins": aimed.origins, "hosts": aimed.hosts, "FULL": FULL})
    page = f"<!DOCTYPE html><body><script>{ATTACKS.replace('TARGETS', targets)}</script>"
    place = f"http://{aimed.alias}:8080"
    headers = {
        "Content-Type": "text/html",
        "Link": f"<{place}/hint>; rel=preload; as=script",
        "Content-Security-Policy-Report-Only": f"img-src 'none'; report-uri {place}/report",
        "Report-To": json.dumps({"max_age": 60, "endpoints": [{"url": f"{place}/nel"}]}),
        "NEL": '{"report_to": "default", "max_age": 60, "success_fraction": 1}',
        "Refresh": f"3600; url={place}/",
        "Alt-Svc": f'h3="{aimed.hosts[0]}"; ma=60',
    }
    site.respond("/", page.encode(), **headers)
    site.respond("/ok", b"ok", Content_Type="text/html")
    spy = f"fetch('{place}/worker', {{mode: 'no-cors'}}); self.skipWaiting()"
    site.respond("/worker.js", spy.encode(), Content_Type="text/javascript")

    async def redirect(request: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": unquote(request.query_string)})

    site.pages["/to"] = redirect


def inner_names(aimed: Aims) -> dict[str, list[list[str]]]:
    return {"inner.org": [[aimed.alias]], "mixed.org": [["93.184.216.34", aimed.alias]]}


async def test_a_hostile_page_reaches_nothing_on_this_machine(site, screen, traps):
    aimed = await aims(traps)
    lay_out(site, aimed)
    async with screen(names=inner_names(aimed), verify=False) as shown:
        for scheme in ("http", "https"):
            rendered = await shown.render(f"{scheme}://www.site.org/", max_bytes=10_000_000)
            told = rendered.body.data.decode().rpartition("</script>")[2]
            tried = int(told.rpartition("tried ")[2].partition(",")[0])
            assert tried > 35 * FULL + 5 * (len(aimed.origins) - FULL)
            assert "READ" not in told
            assert {aimed.alias, "127.0.0.1", "localhost", "inner.org", "mixed.org"} <= {
                *shown.gateways[-1].record.refused
            }
        assert {address for address, _ in shown.dialled} == {"93.184.216.34"}
        # Whatever was still to be sent has its time.
        await shown.render("/ok")
    assert traps.caught == []


async def test_the_same_page_arrives_where_the_operator_allows_it(site, shared, traps):
    """Without this, the attacks of the test above might be blanks."""
    aimed = await aims(traps)
    aimed.origins = [f"http://{aimed.alias}:8080"]
    lay_out(site, aimed)
    arrived: list[str] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readline()).decode("latin-1")
        arrived.append(line.partition("?")[2].partition(" ")[0] or line.split(" ")[1])
        writer.close()

    server = await asyncio.start_server(note, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    def lead(address, asked):
        return port if address == aimed.alias else site.lead(address, asked)

    async with shared(allow=[f"{aimed.alias}:8080"], lead=lead) as shown:
        await shown.render("http://www.site.org/", max_bytes=10_000_000)
    server.close()
    assert {"fetch", "xhr", "frame", "script", "events", "inside", "redirect"} <= {*arrived}


WAYS = {
    "a script": "<script>location = 'PLACE'</script>",
    "a refresh": "<meta http-equiv=refresh content='0; url=PLACE'>",
    "a form": "<form id=f method=POST action='PLACE'></form><script>f.submit()</script>",
    "a frame": "<iframe src='/frame'></iframe>",
}
FILE = "file:///etc/hostname"


@pytest.mark.parametrize(
    ("way", "place"),
    [*((way, "http://ALIAS:8080/") for way in WAYS), ("a script", FILE)],
)
async def test_a_page_that_goes_there_itself_does_not_arrive(site, shared, traps, way, place):
    aimed = await aims(traps)
    there = place.replace("ALIAS", aimed.alias)
    site.pages["/frame"] = f"<script>top.location = '{there}'</script>"
    site.pages["/"] = f"<p>harmless</p>{WAYS[way].replace('PLACE', there)}"
    async with shared() as shown:
        outcome = await outcome_of(shown.render("/"))
        # A plain POST is refused whatever it is for; the browser itself stays away from files.
        assert outcome in {"blocked_address", "connection_error", "harmless"}
    assert traps.caught == []


async def outcome_of(rendering):
    try:
        rendered = await rendering
    except FetchError as exc:
        return str(exc.code)
    return "harmless" if "harmless" in rendered.body.data.decode() else rendered.body.data.decode()
