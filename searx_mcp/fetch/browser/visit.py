"""One visit to one page, from an empty tab to its HTML, and the errors for its failures."""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Browser, BrowserContext, CDPSession, Error, Page
from playwright.async_api import TimeoutError as PlaywrightTimeoutError
from yarl import URL

from searx_mcp.content.clean import clean_line
from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    FetchError,
    PolicyError,
    RedirectError,
    SiteError,
    TransportError,
)
from searx_mcp.fetch.browser.chromium import BYPASS
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.hops.media import MediaType
from searx_mcp.http.body import Body
from searx_mcp.http.gateway import Gateway
from searx_mcp.tasks import Spawn
from searx_mcp.urls.hosts import without_userinfo

COMPLETE_TIME: Final = 15.0
"""Seconds for the document and the scripts it waits for. A page that starts to navigate and cannot is
never reported complete."""

SETTLE_TIME: Final = 5.0
"""Seconds after the document is complete in which a page may load its content. Pages that poll never
become silent; they are read after this time."""

MAX_EVENTS: Final = 1_000
"""Frames, workers, WebSockets, films and navigations of one page, together: each is an event that blocks
this process for a moment."""

_READING_SHARE: Final = 0.2
_READING_TIME: Final = 2.0
"""Seconds reserved for reading the page at the end, and their maximum share of the time."""

_CLOSING_SHARE: Final = 0.1
_CLOSING_TIME: Final = 1.0
"""The same for closing it."""

_MAX_HOST: Final = 100
"""Characters of a host name in a note."""

_READINGS: Final = 3
"""How often to read a page that keeps navigating."""

# Runs in an isolated world, where no script of the page has replaced the functions. It avoids
# `document.documentElement`, which <img name="documentElement"> replaces.
_READ: Final = """(limit => {
  const own = Object.getOwnPropertyDescriptor(Document.prototype, "documentElement");
  const root = own.get.call(document);
  const html = root === null ? "" : root.outerHTML;
  const [navigation] = performance.getEntriesByType("navigation");
  return {
    type: document.contentType,
    html: html.slice(0, limit),
    isCut: html.length > limit,
    url: location.href,
    status: navigation === undefined ? 0 : navigation.responseStatus,
  };
})"""

_TLS: Final = ("net::ERR_CERT_", "net::ERR_SSL_", "net::ERR_BAD_SSL")
_OTHERS: Final = (
    "net::ERR_ABORTED",
    "net::ERR_HTTP_RESPONSE_CODE_FAILURE",
    "net::ERR_INVALID_AUTH_CREDENTIALS",
    "net::ERR_TOO_MANY_REDIRECTS",
    "net::ERR_UNSAFE_PORT",
)


@dataclass(frozen=True, slots=True)
class _Reading:
    html: str
    url: str
    status: int
    is_cut: bool


class Visit:
    """One page in its own context.

    Attributes:
        is_closed: whether nothing of it is left in the browser.
    """

    def __init__(
        self,
        browser: Browser,
        gateway: Gateway,
        url: URL,
        *,
        user_agent: str,
        verify: bool,
        spawn: Spawn,
    ) -> None:
        """Configure the visit.

        Args:
            browser: creates the page's own context.
            gateway: the page's only network access, used by this visit alone.
            url: of the page.
            user_agent: sent with all requests.
            verify: whether certificates must be valid.
            spawn: starts a coroutine as a task of the client.
        """
        self._spawn = spawn
        self.is_closed = False
        self._browser = browser
        self._gateway = gateway
        self._url = url
        self._user_agent = user_agent
        self._verify = verify
        self._events = 0
        self._is_over = False
        self._refusals: list[asyncio.Task[None]] = []
        self._limit = asyncio.timeout(None)

    async def run(self, *, deadline: float, max_bytes: int) -> ReceivedPage:
        """Make the visit. Call it once.

        Args:
            deadline: instant on the running loop's clock by which it ends.
            max_bytes: of the HTML in UTF-8.

        Raises:
            PolicyError: the page, or an address it led to, may not be fetched.
            TransportError: it could not be reached or rendered in time.
            ContentError: it is not a page, or the browser could not handle it.
        """
        left = deadline - asyncio.get_running_loop().time()
        read_at = deadline - min(_READING_TIME, _READING_SHARE * left)
        self._limit = asyncio.timeout_at(deadline - min(_CLOSING_TIME, _CLOSING_SHARE * left))
        outcome: ReceivedPage | FetchError
        try:
            async with self._limit:
                context = await self._open()
                try:
                    outcome = await self._look(context, read_at, max_bytes)
                except FetchError as exc:
                    outcome = exc
                finally:
                    self._is_over = True
        except TimeoutError as exc:
            raise self._overdue() from exc
        except Error as exc:
            raise _broke_down(str(self._url)) from exc
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout_at(deadline):
                await context.close()
                self.is_closed = True
        if isinstance(outcome, FetchError):
            raise outcome
        return outcome

    async def _open(self) -> BrowserContext:
        username, password = self._gateway.credentials
        return await self._browser.new_context(
            proxy={
                "server": self._gateway.url,
                "bypass": BYPASS,
                "username": username,
                "password": password,
            },
            user_agent=self._user_agent,
            ignore_https_errors=not self._verify,
            service_workers="block",
            accept_downloads=False,
        )

    async def _look(self, context: BrowserContext, read_at: float, max_bytes: int) -> ReceivedPage:
        page = await context.new_page()
        session = await context.new_cdp_session(page)
        await self._watch(page, session)
        await self._arrive(page, read_at)
        has_settled = await self._settle(page, read_at)
        reading = await self._read(page, session, read_at, max_bytes)
        return self._rendered(reading, max_bytes, has_settled=has_settled)

    async def _watch(self, page: Page, session: CDPSession) -> None:
        page.on("frameattached", self._count)
        page.on("framenavigated", self._count)
        page.on("worker", self._count)
        page.on("websocket", self._count)

        def refuse(event: Mapping[str, str]) -> None:
            if self._is_over:
                return
            self._count()
            self._refusals.append(self._spawn(_refuse(session, event["requestId"])))

        session.on("Fetch.requestPaused", refuse)
        await session.send("Fetch.enable", {"patterns": [{"resourceType": "Media"}]})

    def _count(self, _: object = None) -> None:
        self._events += 1
        if self._events == MAX_EVENTS + 1 and not (self._is_over or self._limit.expired()):
            self._limit.reschedule(asyncio.get_running_loop().time())

    async def _arrive(self, page: Page, read_at: float) -> None:
        try:
            await page.goto(str(self._url), wait_until="commit", timeout=_left(read_at))
        except Error as exc:
            # Until the page has loaded, it can only have asked for its own address.
            raise self._gateway.record.last_error or _not_reached(exc, str(self._url)) from exc

    async def _settle(self, page: Page, read_at: float) -> bool:
        """Wait until the page is complete and silent; return whether that was in time."""
        loop = asyncio.get_running_loop()
        try:
            complete_at = min(read_at, loop.time() + COMPLETE_TIME)
            await page.wait_for_load_state("domcontentloaded", timeout=_left(complete_at))
            silent_at = min(read_at, loop.time() + SETTLE_TIME)
            await page.wait_for_load_state("networkidle", timeout=_left(silent_at))
        except PlaywrightTimeoutError:
            return False
        return True

    async def _read(
        self, page: Page, session: CDPSession, read_at: float, max_bytes: int
    ) -> _Reading:
        for attempt in range(1, _READINGS + 1):
            try:
                return await self._read_once(session, max_bytes)
            except Error as exc:
                if attempt == _READINGS:
                    raise ContentError(
                        "The page keeps navigating, or crashes.",
                        code=ErrorCode.EXTRACTION_FAILED,
                        url=str(self._url),
                    ) from exc
            # It navigated: the content belongs to the next document.
            with contextlib.suppress(PlaywrightTimeoutError):
                await page.wait_for_load_state("domcontentloaded", timeout=_left(read_at))
        raise AssertionError("the last attempt returns or raises")

    async def _read_once(self, session: CDPSession, max_bytes: int) -> _Reading:
        tree = await session.send("Page.getFrameTree")
        frame = tree["frameTree"]["frame"]
        if frame.get("unreachableUrl"):
            raise self._led_nowhere(URL(frame["unreachableUrl"]))
        world = await session.send("Page.createIsolatedWorld", {"frameId": frame["id"]})
        answer = await session.send(
            "Runtime.evaluate",
            {
                "contextId": world["executionContextId"],
                "expression": f"{_READ}({max_bytes})",
                "returnByValue": True,
            },
        )
        value = answer["result"].get("value")
        if not isinstance(value, dict):  # for example, if a string would exceed V8's limit
            raise ContentError(
                "The rendered page is too large to be read.",
                code=ErrorCode.CONTENT_TOO_LARGE,
                url=str(self._url),
            )
        if value["type"] not in {"text/html", "application/xhtml+xml"}:
            raise _no_page(value["url"])
        return _Reading(value["html"], value["url"], value["status"], value["isCut"])

    def _led_nowhere(self, url: URL) -> FetchError:
        return self._gateway.record.error(url) or TransportError(
            "The page navigated to an address that cannot be reached.",
            code=ErrorCode.CONNECTION_ERROR,
            url=without_userinfo(str(url)),
        )

    def _overdue(self) -> FetchError:
        if self._events > MAX_EVENTS:
            return ContentError(
                f"The page opens more than {MAX_EVENTS} frames, workers and connections.",
                code=ErrorCode.EXTRACTION_FAILED,
                url=str(self._url),
            )
        return TransportError(
            "The page was not rendered in time.", code=ErrorCode.TIMEOUT, url=str(self._url)
        )

    def _rendered(self, reading: _Reading, max_bytes: int, *, has_settled: bool) -> ReceivedPage:
        final_url = _landed(reading.url, self._url)
        # JavaScript cuts between UTF-16 units and may split a character; so may a cut of bytes.
        data = reading.html.encode("utf-8", "replace")
        kept = data[:max_bytes].decode("utf-8", "ignore").encode()
        return ReceivedPage(
            url=str(final_url),
            status=reading.status,
            headers={},
            media=MediaType("text/html", "utf-8"),
            body=Body(
                kept,
                truncated=reading.is_cut or len(data) > max_bytes,
                notes=tuple(self._notes(has_settled=has_settled)),
            ),
        )

    def _notes(self, *, has_settled: bool) -> Iterator[str]:
        if not has_settled:
            yield "The page was still loading when it was read."
        if self._gateway.record.is_spent:
            yield "The page exceeds the limit of requests; some of it may be missing."
        if refused := self._gateway.record.refused:
            name = clean_line(next(iter(refused)), _MAX_HOST)
            yield (
                f"The page's requests to {len(refused)} blocked hosts were refused, such as {name}."
            )


async def _refuse(session: CDPSession, request_id: str) -> None:
    with contextlib.suppress(Error):  # the page has gone
        answer = {"requestId": request_id, "errorReason": "BlockedByClient"}
        await session.send("Fetch.failRequest", answer)


def _left(until: float) -> float:
    """Return the milliseconds left; never 0, which means no limit."""
    return max(1.0, 1_000 * (until - asyncio.get_running_loop().time()))


def _not_reached(failure: Error, url: str) -> FetchError:
    """Make the error for a page that did not open although its host was reached."""
    said = failure.message
    if isinstance(failure, PlaywrightTimeoutError):
        message, code = "No answer in time.", ErrorCode.TIMEOUT
    elif any(name in said for name in _TLS):
        message, code = "The TLS handshake or the certificate failed.", ErrorCode.TLS_ERROR
    elif "net::ERR_" in said and not any(name in said for name in _OTHERS):
        message, code = "The connection failed or broke.", ErrorCode.CONNECTION_ERROR
    else:
        return _answered(said, url)
    return TransportError(message, code=code, url=url)


def _answered(said: str, url: str) -> FetchError:
    if "net::ERR_TOO_MANY_REDIRECTS" in said:
        return RedirectError(
            "The page redirects endlessly.", code=ErrorCode.TOO_MANY_REDIRECTS, url=url
        )
    if "net::ERR_UNSAFE_PORT" in said:  # the browser has its own list
        return PolicyError("The port is not allowed.", code=ErrorCode.BLOCKED_PORT, url=url)
    if "net::ERR_INVALID_AUTH_CREDENTIALS" in said:
        return SiteError(
            "The site asks for a login.", code=ErrorCode.AUTHENTICATION_REQUIRED, url=url
        )
    if "net::ERR_HTTP_RESPONSE_CODE_FAILURE" in said:
        return SiteError(
            "The site answered with an error and no page.",
            code=ErrorCode.HTTP_ERROR,
            url=url,
        )
    if "net::ERR_ABORTED" in said or "Download is starting" in said:
        return _no_page(url)
    return _broke_down(url)


def _no_page(url: str) -> ContentError:
    """Make the error for an address that is not a page."""
    return ContentError(
        "The address leads to a file, not a page.",
        code=ErrorCode.UNSUPPORTED_CONTENT_TYPE,
        url=url,
    )


def _broke_down(url: str) -> ContentError:
    """Make the error for a page that crashed its browser, or that a browser cannot handle."""
    return ContentError(
        "The browser crashed while rendering the page.",
        code=ErrorCode.EXTRACTION_FAILED,
        url=url,
    )


def _landed(text: str, url: URL) -> URL:
    """Parse the page's final address, as the browser gave it.

    Raises:
        ContentError: it is not a web address: scripts navigated to an empty or synthetic page.
    """
    try:
        final = URL(without_userinfo(text))
    except ValueError:
        final = URL()
    if final.scheme not in {"http", "https"} or not final.raw_host:
        raise ContentError(
            "The page's scripts navigate to an address that is not on the web.",
            code=ErrorCode.EXTRACTION_FAILED,
            url=str(url),
        )
    return final
