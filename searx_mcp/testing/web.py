"""A small website on loopback, with good pages and bad ones."""

import asyncio
import ssl
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import repeat

from aiohttp import web
from typing_extensions import override

from searx_mcp.testing.instance.markup import element
from searx_mcp.testing.loopback import LoopbackServer, ReceivedRequest, never

HTML = "text/html; charset=utf-8"

_BLOCK = bytes(1 << 16)


@dataclass(frozen=True, slots=True)
class FakePage:
    """One response of a fake site; the functions below create the common bad ones.

    Attributes:
        body: text is sent as UTF-8.
        content_type: the header, sent unchanged; empty sends an empty header.
        status: the HTTP status.
        headers: additional headers; they override the server's own.
        delay: seconds before the response begins.
        interval: seconds before every piece of the body.
        piece: bytes per piece; 0 sends the body at once.
        copies: how many times the body is sent, one copy after the other.
        cut_after: bytes after which the connection breaks, despite a larger Content-Length.
        silent: never answer.
    """

    body: str | bytes = b""
    content_type: str = HTML
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    interval: float = 0.0
    piece: int = 0
    copies: int = 1
    cut_after: int | None = None
    silent: bool = False

    @property
    def content(self) -> bytes:
        """One copy of the body."""
        return self.body.encode() if isinstance(self.body, str) else self.body


PageMaker = Callable[[ReceivedRequest], FakePage]


class FakeWeb(LoopbackServer):
    """A website that serves prepared pages from a real socket; other paths are a 404.

    It has no `/robots.txt` unless given one.

    Args:
        pages: pages by path. A key with a query string matches exactly that target, one
            without matches its path with any query. A function is called with each request and
            returns the page.
        ssl_context: serves https with this context instead of http.
        otherwise: creates the pages of all other paths, instead of a 404.

    Attributes:
        requests: every request in order of arrival, except those for `/robots.txt`.
        robots_requests: the requests for `/robots.txt`.
    """

    def __init__(
        self,
        pages: Mapping[str, FakePage | PageMaker] | None = None,
        *,
        ssl_context: ssl.SSLContext | None = None,
        otherwise: PageMaker | None = None,
    ) -> None:
        super().__init__(self.respond, ssl_context=ssl_context)
        self._pages = dict(pages or {})
        self._otherwise = otherwise
        self.robots_requests: list[ReceivedRequest] = []

    @override
    def _log_for(self, received: ReceivedRequest) -> list[ReceivedRequest]:
        return self.robots_requests if received.path == "/robots.txt" else self.requests

    @property
    def links(self) -> tuple[str, ...]:
        """The addresses of all pages, in the order they were given."""
        return tuple(self.url(path) for path in self._pages)

    def url(self, path: str) -> str:
        """Return the absolute address of a path, which begins with `/`."""
        return f"{self.base}{path}"

    def put(self, path: str, page: FakePage | PageMaker) -> None:
        """Add or replace a page, also while the site is running."""
        self._pages[path] = page

    async def respond(
        self, request: web.BaseRequest, received: ReceivedRequest
    ) -> web.StreamResponse:
        """Answer a request; extend it for what the faults and pages cannot do."""
        page = self._pages.get(received.target) or self._pages.get(received.path) or self._otherwise
        if page is None:
            page = FakePage(article("Not found", ["There is nothing here."]), status=404)
        elif not isinstance(page, FakePage):
            page = page(received)
        if page.silent:
            await never()
        await asyncio.sleep(page.delay)
        return await _send(request, page)


def article(
    title: str, paragraphs: Iterable[str], *, language: str = "en", description: str = ""
) -> str:
    """Return an HTML page with one article between a site's navigation and footer.

    Args:
        title: of the page and its only heading.
        paragraphs: plain text, one `<p>` each.
        language: of the `lang` attribute.
        description: of the meta tag; omitted if empty.
    """
    about = element("meta", {"name": "description", "content": description})
    head = element(
        "head",
        {},
        element("meta", {"charset": "utf-8"}),
        element("title", {}, title),
        about if description else None,
    )
    text = (element("p", {}, paragraph) for paragraph in paragraphs)
    body = element(
        "body",
        {},
        element("nav", {}, element("a", {"href": "/"}, "Home")),
        element("main", {}, element("article", {}, element("h1", {}, title), *text)),
        element("footer", {}, element("p", {}, "An example site.")),
    )
    return f"<!DOCTYPE html>\n{element('html', {'lang': language}, head, body)}\n"


def redirect(location: str, *, status: int = 302) -> FakePage:
    """Return a redirect; `location` is sent unchanged, so it may be relative or invalid."""
    return FakePage(status=status, headers={"Location": location})


def silent() -> FakePage:
    """Return a page that is never answered."""
    return FakePage(silent=True)


def drip(body: str | bytes, *, interval: float, piece: int = 1) -> FakePage:
    """Return a page that arrives `piece` bytes at a time, every `interval` seconds."""
    return FakePage(body, interval=interval, piece=piece)


def huge(size: int, *, content_type: str = "text/plain; charset=utf-8") -> FakePage:
    """Return a page of about `size` bytes, at least one block of 64 KiB, that uses no memory."""
    block = b"All work and no play. ".ljust(64, b".") * 1_024
    return FakePage(block, content_type=content_type, copies=max(1, size // len(block)))


def broken(body: str | bytes, *, cut_after: int) -> FakePage:
    """Return a page whose connection breaks after `cut_after` bytes of the body."""
    return FakePage(body, cut_after=cut_after)


def gzip_bomb(decoded_size: int) -> FakePage:
    """Return a small gzip body that expands to about `decoded_size` zero bytes, about 1000-fold."""
    compressor = zlib.compressobj(wbits=31)
    blocks = repeat(_BLOCK, max(1, decoded_size // len(_BLOCK)))
    body = b"".join(compressor.compress(block) for block in blocks) + compressor.flush()
    return FakePage(body, headers={"Content-Encoding": "gzip"})


async def _send(request: web.BaseRequest, page: FakePage) -> web.StreamResponse:
    response = web.StreamResponse(status=page.status)
    response.headers["Content-Type"] = page.content_type
    response.headers["Content-Length"] = str(len(page.content) * page.copies)
    response.headers.update(page.headers)
    await response.prepare(request)
    if request.method == "HEAD":
        return response
    # Either side may close in the middle of a page; aiohttp would log that as an error.
    with suppress(ConnectionError):
        for piece in _pieces(page):
            if page.interval:
                await asyncio.sleep(page.interval)
            await response.write(piece)
    if page.cut_after is not None and request.transport is not None:
        request.transport.close()
        await never()
    return response


def _pieces(page: FakePage) -> Iterator[bytes]:
    content = page.content[: page.cut_after]
    size = page.piece or max(1, len(content))
    for _ in range(page.copies):
        for start in range(0, len(content), size):
            yield content[start : start + size]
