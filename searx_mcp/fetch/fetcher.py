"""One page: policy, hops, body, Markdown, all within one deadline."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from searx_mcp.content.clean import clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import Converted, convert
from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    FetchError,
    InvalidArgumentError,
    TransportError,
)
from searx_mcp.fetch.config import WebFetchConfig
from searx_mcp.fetch.hops.answer import Answer, Redirect, receive
from searx_mcp.fetch.hops.media import parse_content_type
from searx_mcp.fetch.hops.redirects import Trail, carried_headers, join, next_url
from searx_mcp.fetch.policy.lists import DomainPolicy
from searx_mcp.models.page import Page
from searx_mcp.models.request import MAX_URL_LENGTH, FetchRequest
from searx_mcp.net.address import AllowList
from searx_mcp.net.http import NOTE_DEADLINE, HttpSession
from searx_mcp.net.url import check_url

logger = logging.getLogger("searx_mcp.fetch")

_REQUEST_HEADERS = {
    "Accept": (
        "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,"
        "application/json;q=0.7,application/xml;q=0.7,*/*;q=0.5"
    ),
    "Accept-Language": "en",
}
_SHOWN_HEADERS = ("server", "content-encoding", "content-language", "last-modified")
_MAX_HEADER = 200

# Kept back of the time for turning what has arrived into Markdown, so that a body cut by the
# deadline still becomes a page: this share of the whole, at most so many seconds.
_CONVERSION_SHARE = 0.1
_MAX_CONVERSION_TIME = 1.0


@dataclass(slots=True)
class _Call:
    """One call of `fetch` under way; instants are those of the event loop.

    Attributes:
        request: what was asked for.
        max_bytes: decoded bytes read at most.
        query: what the caller wants to know.
        started: when the call came.
        end: when it must have returned.
        url: the hop under way.
        status: of the last hop that was answered, or `None`.
    """

    request: FetchRequest
    max_bytes: int
    query: str
    started: float
    end: float
    url: str
    status: int | None = None

    @property
    def read_until(self) -> float:
        """When the last byte must be there."""
        reserve = min((self.end - self.started) * _CONVERSION_SHARE, _MAX_CONVERSION_TIME)
        return self.end - reserve

    def elapsed_ms(self) -> int:
        return round((_now() - self.started) * 1_000)

    def complete(self, error: FetchError) -> FetchError:
        """Write on an error what only the call knows."""
        error.url = clean_line(error.url or self.url, MAX_URL_LENGTH)
        error.response_time_ms = self.elapsed_ms()
        if isinstance(error, ContentError):
            error.status_code = self.status
        return error

    def timed_out(self) -> TransportError:
        return TransportError(
            f"The page was not there within {max(self.end - self.started, 0):.3g} seconds.",
            code=ErrorCode.TIMEOUT,
            advice="Try again with a longer timeout, or use another result.",
        )


class Fetcher:
    """Fetches pages, many at a time, each call by its own deadline.

    Redirects are followed here and not by the session, because each hop is judged like an address
    that a caller gave: first by `net.url.check_url`, then by the domain policy; what its name
    resolves to is the session's to judge. No cookies and no Referer are sent.
    """

    def __init__(
        self,
        session: Callable[[], HttpSession],
        *,
        config: WebFetchConfig,
        domains: DomainPolicy,
        allow: AllowList,
        content: ContentConfig,
        user_agent: str,
    ) -> None:
        """Take the parts; nothing is opened.

        Args:
            session: gives the session for pages; asked once a call.
            config: limits and defaults.
            domains: what is never fetched.
            allow: private addresses that may be fetched.
            content: how a page becomes Markdown.
            user_agent: sent when neither the call nor the configuration names one.
        """
        self._session = session
        self._config = config
        self._domains = domains
        self._allow = allow
        self._content = content
        self._user_agent = config.user_agent or user_agent

    async def fetch(
        self,
        request: FetchRequest,
        *,
        deadline: float | None = None,
        max_bytes: int | None = None,
        query: str = "",
    ) -> Page:
        """Fetch one page and turn it into Markdown.

        A body that is too long, or still arriving when the time is over, is cut and the page is
        marked `truncated`.

        Args:
            request: the page and the call's own limits.
            deadline: the event loop's time by which to return; the limits of the request and the
                configuration hold too.
            max_bytes: decoded bytes read at most, instead of the request's or configured number.
            query: what the caller wants to know; it steers the summary and is never sent.

        Returns:
            The page. Without `follow_redirects`, a redirect is a page without content and with a
            note that names the target.

        Raises:
            InvalidArgumentError: the URL is malformed.
            FetchError: any of its kinds, with `url` and `response_time_ms`.
        """
        started = _now()
        end = started + self._allowed_time(request)
        call = _Call(
            request=request,
            max_bytes=max_bytes or request.max_content_length or self._config.max_content_size,
            query=query,
            started=started,
            end=end if deadline is None else min(end, deadline),
            url=request.url,
        )
        try:
            async with asyncio.timeout_at(call.end):
                return await self._visit(call)
        except FetchError as error:
            call.complete(error)
            raise
        except InvalidArgumentError:
            raise
        except TimeoutError as exc:
            raise call.complete(call.timed_out()) from exc
        except Exception as exc:
            # A page is a stranger's work; what it breaks must not surface as a library's error.
            logger.exception("fetch.unexpected_error")
            raise call.complete(_fault()) from exc

    def _allowed_time(self, request: FetchRequest) -> float:
        if request.timeout is not None:
            return request.timeout
        return min(self._config.default_timeout, self._config.max_response_time)

    async def _visit(self, call: _Call) -> Page:
        """Go from hop to hop to the last answer, and make the page of it."""
        request = call.request
        session = self._session()
        start = check_url(request.url, allow=self._allow)
        trail = Trail(start, max_redirects=self._config.max_redirects)
        headers = {**_REQUEST_HEADERS, "User-Agent": request.user_agent or self._user_agent}
        while True:
            call.url = str(trail.current)
            self._domains.check(trail.current)
            async with session.open(
                call.url, headers=headers, timeout=max(call.read_until - _now(), 0)
            ) as reply:
                call.status = reply.status
                trail.answered(reply.status)
                answer = await receive(reply, max_bytes=call.max_bytes, deadline=call.read_until)
            if isinstance(answer, Answer):
                return await self._page(call, trail, answer)
            if not request.follow_redirects:
                return _redirect_page(call, trail, answer)
            target = next_url(trail.current, answer.location, allow=self._allow)
            headers = carried_headers(headers, trail.current, target)
            trail.follow(target)

    async def _page(self, call: _Call, trail: Trail, answer: Answer) -> Page:
        response_time_ms = call.elapsed_ms()
        body = answer.body
        converted = await self._converted(call, answer)
        return Page(
            url=call.request.url,
            final_url=call.url,
            title=converted.title,
            description=converted.description,
            content_type=answer.media.name,
            content_length=len(body.data),
            status_code=answer.status,
            response_time_ms=response_time_ms,
            markdown_content=converted.markdown,
            word_count=converted.word_count,
            summary=converted.summary,
            headers=_shown(answer.headers),
            redirect_count=trail.redirects,
            redirect_chain=tuple(trail.chain),
            truncated=body.truncated,
            hidden_chars_removed=converted.hidden_chars_removed,
            notes=_notes(trail, answer, converted),
        )

    async def _converted(self, call: _Call, answer: Answer) -> Converted:
        """Convert in a thread, since a page costs up to seconds of parsing.

        The thread cannot be interrupted: when the call ends before it, its result is dropped.
        """
        was_late = NOTE_DEADLINE in answer.body.notes
        try:
            converted = await asyncio.to_thread(
                convert,
                answer.body.data,
                media_type=answer.media.read_as,
                charset=answer.media.charset,
                url=call.url,
                config=self._content,
                query=call.query,
            )
        except ContentError as exc:
            if was_late:
                raise call.timed_out() from exc
            raise
        if was_late and not converted.markdown.strip():
            raise call.timed_out()
        return converted


def _redirect_page(call: _Call, trail: Trail, redirect: Redirect) -> Page:
    try:
        target = str(join(trail.current, redirect.location))
    except ValueError:
        target = redirect.location
    return Page(
        url=call.request.url,
        final_url=call.url,
        content_type=parse_content_type(redirect.headers.get("Content-Type", "")).name,
        content_length=0,
        status_code=redirect.status,
        response_time_ms=call.elapsed_ms(),
        markdown_content="",
        word_count=0,
        headers=_shown(redirect.headers),
        redirect_chain=tuple(trail.chain),
        notes=(f"Not followed: a redirect to {clean_line(target, MAX_URL_LENGTH)}",),
    )


def _notes(trail: Trail, answer: Answer, converted: Converted) -> tuple[str, ...]:
    if not answer.body.wire_bytes:
        missing = ["The site sent an empty page."]
    else:
        missing = [f"The page is incomplete: {note}." for note in answer.body.notes]
    return (*trail.notes, *missing, *converted.notes)


def _shown(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: clean_line(headers[name], _MAX_HEADER) for name in _SHOWN_HEADERS if name in headers
    }


def _fault() -> FetchError:
    return FetchError(
        "The page could not be read because of a fault in this program.",
        code=ErrorCode.INTERNAL,
        advice="Use another result.",
    )


def _now() -> float:
    return asyncio.get_running_loop().time()
