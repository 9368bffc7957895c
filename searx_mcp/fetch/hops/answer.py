"""What one hop of a fetch brought: a page or a redirect."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from searx_mcp.errors import FetchError
from searx_mcp.fetch.hops.media import MediaType, parse_content_type, refuse_unreadable, resolve
from searx_mcp.fetch.hops.redirects import location_of
from searx_mcp.fetch.hops.site import HEAD_BYTES, is_success, judge
from searx_mcp.net.body import Body
from searx_mcp.net.http import Reply

# The refusal is known by then; its body only tells a challenge from a plain one.
_REFUSAL_TIME = 2.0
_MAX_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Redirect:
    """An answer that sends us elsewhere.

    Attributes:
        status: one of those that are followed.
        headers: by name in any case.
        location: as the site wrote it, unjudged.
    """

    status: int
    headers: Mapping[str, str]
    location: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A readable page as it came.

    Attributes:
        status: 200 to 299.
        headers: by name in any case.
        media: what the body is: declared, or found by looking at it.
        body: as far as the limits allowed.
    """

    status: int
    headers: Mapping[str, str]
    media: MediaType
    body: Body


async def receive(reply: Reply, *, max_bytes: int, deadline: float) -> Answer | Redirect:
    """Read what a site sent, and find out what it is.

    A redirect's body is left alone. A type that is not text is refused by its header, before the body costs anything.

    Args:
        reply: the answer, its body not read yet.
        max_bytes: decoded bytes at most; what is longer is cut.
        deadline: the event loop's time by which reading ends.

    Raises:
        SiteError: the site refused or failed, or sent a challenge.
        ContentError: the body is no text, or encoded in a way not asked for.
        TransportError: nothing of the body arrived.
    """
    location = location_of(reply.status, reply.headers)
    if location is not None:
        return Redirect(reply.status, reply.headers, location)
    declared = parse_content_type(reply.headers.get("Content-Type", ""))
    if not is_success(reply.status):
        body = await _refusal(reply, deadline)
    else:
        if not declared.is_unknown:
            refuse_unreadable(declared, size=_announced_size(reply.headers), url=reply.url)
        body = await reply.read(max_bytes=max_bytes, deadline=deadline)
    error = judge(reply.status, reply.headers, body.data, url=reply.url)
    if error is not None:
        raise error
    media = resolve(declared, body.data)
    refuse_unreadable(media, size=_announced_size(reply.headers), url=reply.url)
    return Answer(reply.status, reply.headers, media, body)


async def _refusal(reply: Reply, deadline: float) -> Body:
    deadline = min(deadline, asyncio.get_running_loop().time() + _REFUSAL_TIME)
    try:
        return await reply.read(max_bytes=HEAD_BYTES, deadline=deadline)
    except FetchError:
        return Body(b"")


def _announced_size(headers: Mapping[str, str]) -> int | None:
    size = headers.get("Content-Length", "")
    return int(size) if size.isascii() and size.isdigit() and len(size) <= _MAX_DIGITS else None
