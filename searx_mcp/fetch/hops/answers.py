"""One hop: what it asks for, and its answer: a page, a redirect, or the reason for neither.

Challenge pages are recognised by marks that a page *about* challenges does not have: response headers,
elements inside a script or with their own id, and whole titles. A challenge missing from these tables,
sent with status 200, is not recognised.
"""

import asyncio
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from searx_mcp.errors import ErrorCode, FetchError, SearxMcpError, SiteError, TransportError
from searx_mcp.fetch.hops.media import (
    MediaType,
    cut_document,
    parse_content_type,
    refuse_too_large,
    refuse_unreadable,
    resolve,
)
from searx_mcp.http.body import NOTE_DEADLINE, NOTE_SIZE, Body
from searx_mcp.http.http import Reply
from searx_mcp.models.spelling import in_words
from searx_mcp.storage.pages import Validators
from searx_mcp.tasks import Slot
from searx_mcp.urls.retry_after import retry_after

# RFC 9110, section 15.4, and RFC 7538; 300 and 304 have no target to follow.
_FOLLOWED = frozenset({301, 302, 303, 307, 308})

HEAD_BYTES = 16_384
"""Bytes of a body that are checked; the known challenge pages show their marks earlier."""

DEFAULT_RETRY_AFTER = 60.0

# Documented by Cloudflare ("Detect a Challenge Page response"), Vercel and AWS WAF.
_CHALLENGE_HEADERS = {
    "cf-mitigated": frozenset({"challenge", "block"}),
    "x-vercel-mitigated": frozenset({"challenge", "deny"}),
    "x-amzn-waf-action": frozenset({"challenge", "captcha"}),
}
_CHALLENGE_MARKUP = re.compile(
    r"<script[^<>]{0,300}>[^<]{0,300}_cf_chl_opt"  # Cloudflare
    r'|<script[^<>]{0,300}\bid="anubis_challenge"'  # Anubis answers with 200
    r'|<(?:script|iframe)[^<>]{0,300}\bsrc="https://[a-z.-]{0,40}captcha-delivery\.com/'  # DataDome
    r'|<iframe[^<>]{0,300}\bsrc="/_Incapsula_Resource'  # Imperva
    r'|<div[^<>]{0,300}\bid="px-captcha"',  # HUMAN
    re.IGNORECASE,
)
_TITLE = re.compile(r"<title[^<>]{0,300}>([^<]{0,300})", re.IGNORECASE)
_CHALLENGE_TITLES = frozenset(
    {
        "access to this page has been denied",  # HUMAN
        "attention required! | cloudflare",
        "client challenge",  # Fastly
        "ddos-guard",
        "just a moment...",  # Cloudflare
        "making sure you're not a bot!",  # Anubis
        "pardon our interruption",  # Imperva, Akamai
        "vercel security checkpoint",
    }
)
# With a status that refuses, one word in the title is enough.
_SUSPICIOUS_TITLE = re.compile(
    r"captcha|\bbots?\b|\brobots?\b|\bhuman\b|just a moment|checking your browser|security check",
    re.IGNORECASE,
)
_REFUSING = frozenset({403, 429, 451, 503})

_OTHER_SOURCE = "Use another result, or an archived copy of the page."
_PROTECTED = (
    ErrorCode.BLOCKED_BY_SITE,
    "The site refused access: content protected",
    _OTHER_SOURCE,
)
_NOT_FOUND = (
    ErrorCode.NOT_FOUND,
    "The site has no page at this address",
    "Check the address, or search for the page.",
)
# Code, sentence without its end, advice.
_MEANINGS = {
    401: (
        ErrorCode.AUTHENTICATION_REQUIRED,
        "The page needs a login: content protected",
        "Use a public source.",
    ),
    402: _PROTECTED,
    403: _PROTECTED,
    404: _NOT_FOUND,
    410: _NOT_FOUND,
    429: (
        ErrorCode.RATE_LIMITED,
        "The site limits the rate of requests",
        "Wait before asking this site again, or use another result.",
    ),
    451: (
        ErrorCode.HTTP_ERROR,
        "The page is unavailable for legal reasons",
        _OTHER_SOURCE,
    ),
    999: _PROTECTED,  # what LinkedIn sends to programs
}

_REFRESH_BYTES = 4_096
"""A larger page has a text of its own; Sphinx, Doxygen, Javadoc and rustdoc forward with at most 1 kB."""
_REFRESH = re.compile(r"<meta\b(?=[^<>]*\bhttp-equiv\s*=\s*[\"']?refresh\b)[^<>]*>", re.IGNORECASE)
# Longer waits are for a reader: a text to read first, or a download.
_FORWARD = re.compile(
    r"""\bcontent\s*=\s*+(["'])?\s*+[01](?:\.\d*)?\s*[;,]\s*url\s*=\s*["']?"""
    r"""((?(1)[^"'<>]+|[^\s"'<>]+))""",
    re.IGNORECASE,
)
_NOT_MARKUP = re.compile(
    r"<!--.*?-->|<(noscript|script|style|template|textarea)\b.*?</\1", re.IGNORECASE | re.DOTALL
)

# The status already refuses; the body only distinguishes a challenge from a plain refusal.
_REFUSAL_TIME = 2.0
_MAX_DIGITS = 18


@dataclass(frozen=True, slots=True)
class HopRequest:
    """One request and its limits.

    Attributes:
        headers: of the request; another origin gets only those that do not identify the caller.
        max_bytes: limit of decoded bytes of text; longer text is cut.
        max_document_bytes: the same for a document that cannot be cut, such as a PDF: a longer one is refused.
        deadline: loop time by which the last byte must have arrived.
        follow: whether to follow redirects.
        obey_robots: whether to check robots.txt.
        unless: validators by address, for conditional requests.
        place: taken before a body is read, so a host that is silent before that holds none.
        takes_data: whether types that are not text are read, too.
    """

    headers: Mapping[str, str]
    max_bytes: int
    max_document_bytes: int
    deadline: float
    place: Slot
    follow: bool = True
    obey_robots: bool = True
    unless: Mapping[str, Validators] = field(default_factory=dict)
    takes_data: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirect.

    Attributes:
        status: one of those that are followed, or 200 if the page itself forwards.
        headers: case-insensitive.
        location: as sent, not checked.
    """

    status: int
    headers: Mapping[str, str]
    location: str


@dataclass(frozen=True, slots=True)
class NotModified:
    """The last capture is still current (RFC 9110, section 15.4.5).

    Attributes:
        status: 304.
        headers: case-insensitive; they say until when.
    """

    status: int
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReceivedPage:
    """A readable page as received.

    Attributes:
        url: of the last hop.
        status: 200 to 299.
        headers: case-insensitive.
        media: type of the body, declared or sniffed.
        body: up to the limits.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    media: MediaType
    body: Body

    @property
    def was_late(self) -> bool:
        """True if the deadline cut the body."""
        return NOTE_DEADLINE in self.body.notes

    @property
    def refresh(self) -> str:
        """Where a page without a text of its own forwards its readers at once, as written; else empty."""
        if self.media.name != "text/html" or len(self.body.data) > _REFRESH_BYTES:
            return ""
        text = _NOT_MARKUP.sub("", self.body.data.decode("utf-8", "surrogateescape"))
        tag = _REFRESH.search(text)
        found = _FORWARD.search(tag[0]) if tag else None
        return html.unescape(found[2]) if found else ""


def location_of(status: int, headers: Mapping[str, str]) -> str | None:
    """Return the Location of a redirect, else `None`."""
    return (headers.get("Location") or None) if status in _FOLLOWED else None


async def receive(
    reply: Reply, request: HopRequest, *, is_conditional: bool = False
) -> ReceivedPage | NotModified | Redirect:
    """Read an answer and determine what it is.

    A redirect's body is not read. An unreadable type is refused by its header, before the body is read.

    Args:
        reply: the answer, its body not read yet.
        request: with the limits.
        is_conditional: whether this hop was asked conditionally.

    Raises:
        SiteError: the site refused or failed, or sent a challenge.
        ContentError: the body cannot be read, is a document that is too large, or has an encoding that
            was not asked for.
        TransportError: no part of the body arrived.
    """
    location = location_of(reply.status, reply.headers)
    if location is not None:
        return Redirect(reply.status, reply.headers, location)
    if is_conditional and reply.status == HTTPStatus.NOT_MODIFIED:
        return NotModified(reply.status, reply.headers)
    declared = parse_content_type(reply.headers.get("Content-Type", ""))
    size = _announced_size(reply.headers)
    if not is_success(reply.status):
        body = await _refusal(reply, request.deadline)
    else:
        if not (declared.is_unknown or request.takes_data):
            refuse_unreadable(declared, size=size, url=reply.url)
        may_be_document = declared.is_document or declared.is_unknown
        if declared.is_document:
            refuse_too_large(declared, size=size, most=request.max_document_bytes, url=reply.url)
        most = request.max_document_bytes if may_be_document else request.max_bytes
        await request.place.take()
        body = await reply.read(max_bytes=most, deadline=request.deadline)
    error = judge(reply.status, reply.headers, body.data, url=reply.url)
    if error is not None:
        raise error
    if request.takes_data:
        return ReceivedPage(reply.url, reply.status, reply.headers, declared, body)
    return _text(reply, request, declared, body)


def _text(reply: Reply, request: HopRequest, declared: MediaType, body: Body) -> ReceivedPage:
    """Determine the type of a body and keep its readable part; arguments and errors are those of `receive`."""
    media = resolve(declared, body.data)
    refuse_unreadable(media, size=_announced_size(reply.headers), url=reply.url)
    if media.is_document:
        if body.truncated:
            raise cut_document(media, body, most=request.max_document_bytes, url=reply.url)
    elif len(body.data) > request.max_bytes:
        body = replace(
            body, data=body.data[: request.max_bytes], truncated=True, notes=(NOTE_SIZE,)
        )
    return ReceivedPage(reply.url, reply.status, reply.headers, media, body)


async def _refusal(reply: Reply, deadline: float) -> Body:
    deadline = min(deadline, asyncio.get_running_loop().time() + _REFUSAL_TIME)
    try:
        return await reply.read(max_bytes=HEAD_BYTES, deadline=deadline)
    except FetchError:
        return Body(b"")


def _announced_size(headers: Mapping[str, str]) -> int | None:
    size = headers.get("Content-Length", "")
    return int(size) if size.isascii() and size.isdigit() and len(size) <= _MAX_DIGITS else None


def judge(status: int, headers: Mapping[str, str], head: bytes, *, url: str) -> SiteError | None:
    """Check an answer that is not a redirect to follow.

    Args:
        status: the HTTP status.
        headers: case-insensitive, or with canonical names.
        head: the first bytes of the decoded body; `HEAD_BYTES` of them are checked.
        url: where it was found.

    Returns:
        The error to raise, or `None` if the answer is the page.
    """
    if _is_challenge(status, headers, head[:HEAD_BYTES]):
        return SiteError(
            f"The site asks for a browser check or CAPTCHA (HTTP {status}).",
            code=ErrorCode.BLOCKED_BY_SITE,
            url=url,
            status_code=status,
            advice=_OTHER_SOURCE,
        )
    if is_success(status):
        return None
    code, message, advice = _meaning(status)
    return SiteError(
        f"{message} (HTTP {status}).",
        code=code,
        url=url,
        status_code=status,
        advice=advice,
        retry_after=_waiting_time(status, headers),
    )


def is_success(status: int) -> bool:
    """Return whether a status is a success (RFC 9110, section 15.3)."""
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def _is_challenge(status: int, headers: Mapping[str, str], head: bytes) -> bool:
    for name, values in _CHALLENGE_HEADERS.items():
        if headers.get(name, "").strip().lower() in values:
            return True
    text = head.decode("utf-8", errors="replace")
    if _CHALLENGE_MARKUP.search(text):
        return True
    match = _TITLE.search(text)
    title = (
        " ".join(html.unescape(match[1]).split()).lower().replace("\u2019", "'") if match else ""
    )
    if title in _CHALLENGE_TITLES:
        return True
    return status in _REFUSING and _SUSPICIOUS_TITLE.search(title) is not None


def _meaning(status: int) -> tuple[ErrorCode, str, str]:
    if known := _MEANINGS.get(status):
        return known
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return ErrorCode.HTTP_ERROR, "The site failed", "Try again later, or use another result."
    if status >= HTTPStatus.BAD_REQUEST:
        return ErrorCode.HTTP_ERROR, "The site refused the request", "Use another result."
    return ErrorCode.HTTP_ERROR, "The site answered without content", "Use another result."


def _waiting_time(status: int, headers: Mapping[str, str]) -> float | None:
    match status:
        case HTTPStatus.TOO_MANY_REQUESTS:
            return retry_after(headers) or DEFAULT_RETRY_AFTER
        case HTTPStatus.SERVICE_UNAVAILABLE:
            return retry_after(headers)
        case _:
            return None


def is_passing(error: SearxMcpError) -> bool:
    """Return whether an error says nothing about the page itself, so that a cached copy may serve."""
    return (
        isinstance(error, TransportError)
        or _is_ours(error)
        or (
            isinstance(error, SiteError)
            and error.code in {ErrorCode.HTTP_ERROR, ErrorCode.RATE_LIMITED}
        )
    )


def _is_ours(error: SearxMcpError) -> bool:
    return isinstance(error, FetchError) and error.code is ErrorCode.INTERNAL


def as_it_was(error: SearxMcpError, age: float) -> str:
    """Describe how old the cached copy is, and why it serves: the site fails, or we do."""
    failed = "It could not be read" if _is_ours(error) else "The site failed"
    return f"{failed} just now ({error.code}); this is a copy from {in_words(age)} ago."
