"""What one hop of a fetch brought: a page or a redirect."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus

from searx_mcp.errors import FetchError
from searx_mcp.fetch.hops.media import (
    MediaType,
    cut_document,
    parse_content_type,
    refuse_too_large,
    refuse_unreadable,
    resolve,
)
from searx_mcp.fetch.hops.redirects import location_of
from searx_mcp.fetch.hops.site import HEAD_BYTES, is_success, judge
from searx_mcp.http.body import NOTE_SIZE, Body
from searx_mcp.http.http import Reply
from searx_mcp.tasks import Place

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
class NotModified:
    """News that what was captured before is still the page (RFC 9110, section 15.4.5).

    Attributes:
        status: 304.
        headers: by name in any case; they tell until when that holds.
    """

    status: int
    headers: Mapping[str, str]


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


async def receive(
    reply: Reply,
    *,
    max_bytes: int,
    max_document_bytes: int,
    deadline: float,
    place: Place,
    is_conditional: bool = False,
) -> Answer | NotModified | Redirect:
    """Read what a site sent, and find out what it is.

    A redirect's body is left alone. A type that cannot be read is refused by its header, before the
    body costs anything.

    Args:
        reply: the answer, its body not read yet.
        max_bytes: decoded bytes at most; text that is longer is cut.
        max_document_bytes: likewise of a document; what is longer is refused, as it cannot be cut.
        deadline: the event loop's time by which reading ends.
        place: taken before a body is read; a host that is silent before that has none.
        is_conditional: whether the site was told what we have.

    Raises:
        SiteError: the site refused or failed, or sent a challenge.
        ContentError: the body cannot be read, is a document that is too large, or is encoded in a
            way not asked for.
        TransportError: nothing of the body arrived.
    """
    location = location_of(reply.status, reply.headers)
    if location is not None:
        return Redirect(reply.status, reply.headers, location)
    if is_conditional and reply.status == HTTPStatus.NOT_MODIFIED:
        return NotModified(reply.status, reply.headers)
    declared = parse_content_type(reply.headers.get("Content-Type", ""))
    size = _announced_size(reply.headers)
    if not is_success(reply.status):
        body = await _refusal(reply, deadline)
    else:
        if not declared.is_unknown:
            refuse_unreadable(declared, size=size, url=reply.url)
        may_be_document = declared.is_document or declared.is_unknown
        if declared.is_document:
            refuse_too_large(declared, size=size, most=max_document_bytes, url=reply.url)
        most = max_document_bytes if may_be_document else max_bytes
        await place.take()
        body = await reply.read(max_bytes=most, deadline=deadline)
    error = judge(reply.status, reply.headers, body.data, url=reply.url)
    if error is not None:
        raise error
    media = resolve(declared, body.data)
    refuse_unreadable(media, size=size, url=reply.url)
    if media.is_document:
        if body.truncated:
            raise cut_document(media, body, most=max_document_bytes, url=reply.url)
    elif len(body.data) > max_bytes:
        body = replace(body, data=body.data[:max_bytes], truncated=True, notes=(NOTE_SIZE,))
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
