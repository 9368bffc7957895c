"""What a site's answer means: the page, a refusal, or a failure.

Marks of challenge pages are chosen so that a page *about* challenges is not taken for one: response
headers, elements inside a script or with an id of their own, and whole titles. A challenge in no
table here, sent with status 200, is not recognised.
"""

import html
import re
from collections.abc import Mapping
from http import HTTPStatus

from searx_mcp.errors import ErrorCode, SiteError
from searx_mcp.urls.retry_after import retry_after

HEAD_BYTES = 16_384
"""How much of a body is looked at; the challenge pages of the tables show themselves in less."""

DEFAULT_RETRY_AFTER = 60.0

# Cloudflare ("Detect a Challenge Page response"), Vercel and AWS WAF name their own answers.
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
# Beside a refusing status a word in the title is enough.
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
        "The site limits how often it may be asked",
        "Wait before asking this site again, or use another result.",
    ),
    451: (
        ErrorCode.HTTP_ERROR,
        "The site may not show the page for legal reasons",
        _OTHER_SOURCE,
    ),
    999: _PROTECTED,  # what LinkedIn sends to programs
}


def judge(status: int, headers: Mapping[str, str], head: bytes, *, url: str) -> SiteError | None:
    """Judge an answer that is not a redirect to follow.

    Args:
        status: the HTTP status.
        headers: of the answer; case-insensitive, or with canonical names.
        head: the first bytes of the decoded body, of which `HEAD_BYTES` count.
        url: where it was found.

    Returns:
        The error to raise, or `None` if the answer is the page.
    """
    if _is_challenge(status, headers, head[:HEAD_BYTES]):
        return SiteError(
            f"The site wants a browser check or CAPTCHA instead of answering (HTTP {status}).",
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
    """Tell whether a status promises the page (RFC 9110, section 15.3)."""
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def _wait(headers: Mapping[str, str]) -> float | None:
    return retry_after(headers.get("Retry-After", ""), date=headers.get("Date", ""))


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
    return ErrorCode.HTTP_ERROR, "The site answered without a page", "Use another result."


def _waiting_time(status: int, headers: Mapping[str, str]) -> float | None:
    match status:
        case HTTPStatus.TOO_MANY_REQUESTS:
            return _wait(headers) or DEFAULT_RETRY_AFTER
        case HTTPStatus.SERVICE_UNAVAILABLE:
            return _wait(headers)
        case _:
            return None
