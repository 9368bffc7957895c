"""Classifies one answer by status, headers and body.

Status codes alone say little: an instance that blocks us answers 302 or 200, one whose engines all failed
answers 200, and a challenge comes with 200, 403, 429 or 503. The rules in order:

1. a challenge is a challenge whatever its status
2. a redirect: the home page means blocked, another origin is foreign
3. 429, 5xx, other 4xx; 403 for JSON means that the format is off
4. otherwise the body, by its own type: results are judged by their content

Every answer of SearXNG has a header with the times of its engines.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Final
from urllib.parse import SplitResult, parse_qs, urljoin, urlsplit

from searx_mcp.content.clean import unescaped
from searx_mcp.http.body import Response
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import ResultPage
from searx_mcp.pool.engine_care import trouble_of
from searx_mcp.pool.proposal import Outcome
from searx_mcp.sources.searxng.fields import MAX_NAME, MAX_NAMES, line, number
from searx_mcp.sources.searxng.json_parser import BodyKind, parse_json
from searx_mcp.urls.retry_after import retry_after

_MAX_HEADER: Final = 16_384
_TOTAL = re.compile(r"(?:^|,) *total_[0-9]{1,4}_([^;,]{1,200});dur=([0-9.]{1,20})")


def server_timing(value: str) -> Mapping[str, float]:
    """Parse a `Server-Timing` header.

    SearXNG writes `total;dur=9.1, render;dur=1.2, total_0_bing;dur=4.4, load_0_bing;dur=3.4`, in
    milliseconds. The whole page's entries and the load times are left out.

    Args:
        value: the header's value, of any length and content.

    Returns:
        Seconds by engine, at most 100 of them.
    """
    timings: dict[str, float] = {}
    for found in _TOTAL.finditer(value[:_MAX_HEADER]):
        engine, milliseconds = line(found[1], MAX_NAME), number(found[2])
        if engine and milliseconds is not None and len(timings) < MAX_NAMES:
            timings[engine] = round(milliseconds / 1000, 6)
    return timings


FULL_PAGE: Final = 3
"""Hits from which a page is a full answer."""

_ENGINES_NAMED: Final = 3
"""How many failed engines a sentence names: models read it too."""
_ENGINE_NAME: Final = re.compile(r"(?=.{1,24}\Z)[a-z0-9.]+(?: [a-z0-9.]+){0,2}")
"""SearXNG requires lower-case names; a longer name than those of its default settings is only counted as one
more."""
_CHALLENGE_WINDOW: Final = 65_536
"""Bytes that are searched for a challenge; such pages are shorter."""
_CHALLENGE_TITLE = re.compile(
    r"<title[^>]{0,200}>\s{0,50}(?:just a moment|making sure you're not a bot|one moment, please"
    r"|attention required! \| cloudflare|checking your browser|verifying your browser|ddos-guard"
    r"|vercel security checkpoint|are you (?:a )?(?:human|robot)|human verification"
    r"|security check|access denied \| )"
)
_CHALLENGE_MARKUP: Final = (
    "/cdn-cgi/challenge-platform/",
    "/.within.website/x/",  # Anubis
    "anubis_challenge",
    "/.well-known/.git.gammaspectra.live/",  # go-away
    "challenges.cloudflare.com/turnstile",
    "hcaptcha.com/1/api.js",
    "google.com/recaptcha/",
    "_incapsula_resource",
)
_CHALLENGE_PATH = re.compile(r"/cdn-cgi\b|/\.within\.website\b|captcha|challenge")
_SEARXNG = re.compile(
    r"""<meta\s+name=["']?generator["']?\s+content=["']?searx"""
    r"""|<body[^>]{0,200}\b(?:results|search|index)_endpoint\b"""
)
_GENERATOR = re.compile(
    rb"""<meta\s+name=["']?generator["']?\s+content=["']?(searx[\w./+-]{1,60})""", re.IGNORECASE
)
_BLOCK_LIST: Final = b"IP is on BLOCKLIST"
"""How SearXNG's limiter begins the body of a 429 for an address that its operator has blocked."""
_PLAIN = re.compile(r"[A-Za-z0-9./_~:\[\]-]{1,100}")
"""A host or path that is safe in a sentence of ours: it cannot contain another sentence."""
_BLANK: Final = b"\xef\xbb\xbf \t\r\n"

_FROM_BODY: Final = {
    BodyKind.SEARCH_ERROR: Verdict.REFUSED,
    BodyKind.HOME: Verdict.BLOCKED,
    BodyKind.MALFORMED: Verdict.MALFORMED,
    BodyKind.FOREIGN: Verdict.NOT_SEARXNG,
}


def judge(received: Response, *, base_url: str, format: Format) -> Outcome:  # noqa: A002 - the model's name for it
    """Classify one answer; never raises.

    Args:
        received: the answer.
        base_url: the instance, with its path prefix if it has one.
        format: the requested format.
    """
    headers = {name.lower(): value for name, value in received.headers.items()}
    if _is_challenge(received, headers):
        return Outcome(
            Verdict.CHALLENGE,
            retry_after=retry_after(headers),
            detail="A browser challenge blocks access to the instance.",
        )
    match received.status // 100:
        case 3:
            return _judge_redirect(headers.get("location", ""), received.url, base_url)
        case 4 | 5:
            return _judge_failure(received, headers, format)
        case _:
            return _judge_body(received, headers, base_url, format)


def generator(body: bytes) -> str:
    """Return the program and version in a page's head; empty if it is not SearXNG or searx."""
    found = _GENERATOR.search(body[:_CHALLENGE_WINDOW])
    return found[1].decode("ascii", "replace") if found else ""


def naming_engines(outcome: Outcome) -> Outcome:
    """Name the engines that all failed and why, for an instance whose owner can change that.

    A name is shown if it looks like one, and a reason in our words: sites behind engines can influence it.
    """
    failed = outcome.page.unresponsive_engines if outcome.page is not None else ()
    named = [
        f"{each.engine} ({_engine_reason(each.reason)})"
        for each in failed
        if _ENGINE_NAME.fullmatch(each.engine)
    ][:_ENGINES_NAMED]
    if not named:
        return outcome
    more = f" and {len(failed) - len(named)} more" if len(failed) > len(named) else ""
    return replace(outcome, detail=f"Engines failed: {', '.join(named)}{more}.")


def _engine_reason(text: str) -> str:
    suspended = "suspended" if "suspended" in text.casefold() else ""
    return ": ".join(filter(None, (suspended, trouble_of(text)[0]))) or "error"


def _is_challenge(received: Response, headers: Mapping[str, str]) -> bool:
    if headers.get("cf-mitigated", "").lower() == "challenge":
        return True
    if not received.body.lstrip(_BLANK).startswith(b"<"):
        return False
    start = received.body[:_CHALLENGE_WINDOW].decode("utf-8", "replace").lower()
    if _SEARXNG.search(start):  # a result page may well quote a challenge
        return False
    page = unescaped(start).replace("\u2019", "'")
    return bool(_CHALLENGE_TITLE.search(page)) or any(sign in page for sign in _CHALLENGE_MARKUP)


def _judge_redirect(location: str, url: str, base_url: str) -> Outcome:
    """Classify a redirect by its target; `docs/decisions/searxng-answers.md` has the table."""
    base = urlsplit(base_url)
    try:
        target = urlsplit(urljoin(url or base_url, location))
        same_origin = _origin(target) == _origin(base)
        keeps_query = "q" in parse_qs(target.query, max_num_fields=100)
    except ValueError:
        return _LEADS_NOWHERE
    if not location or target.scheme not in {"http", "https"} or not target.hostname:
        return _LEADS_NOWHERE
    if same_origin:
        return _judge_own_path(target.path, base.path, keeps_query=keeps_query)
    host = target.netloc.rpartition("@")[2]
    where = f"{target.scheme}://{host}" if _PLAIN.fullmatch(host) else "another host"
    if keeps_query and target.hostname == base.hostname:
        return Outcome(Verdict.FOREIGN_REDIRECT, detail=f"The instance has moved to {where}.")
    return Outcome(Verdict.FOREIGN_REDIRECT, detail=f"The answer is a redirect to {where}.")


_LEADS_NOWHERE: Final = Outcome(Verdict.MALFORMED, detail="The redirect has no usable target.")


def _judge_own_path(path: str, base_path: str, *, keeps_query: bool) -> Outcome:
    base_path, path = base_path.rstrip("/"), path.rstrip("/")
    if _CHALLENGE_PATH.search(path.lower()) or (keeps_query and path == f"{base_path}/search"):
        # The same search again is a test for cookies.
        return Outcome(Verdict.CHALLENGE, detail="The answer is a redirect to a challenge.")
    if keeps_query:
        prefix = path.removesuffix("/search") or "/"
        where = f"the path {prefix}" if _PLAIN.fullmatch(prefix) else "another path"
        return Outcome(Verdict.FOREIGN_REDIRECT, detail=f"The instance has moved to {where}.")
    if path in {"", base_path}:
        return Outcome(Verdict.BLOCKED, detail="The instance redirects searches to its home page.")
    return Outcome(
        Verdict.REFUSED, detail="The instance redirects searches to another of its pages."
    )


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    default = {"http": 80, "https": 443}.get(url.scheme)
    return url.scheme, url.hostname, url.port or default


def _judge_failure(
    received: Response,
    headers: Mapping[str, str],
    format: Format,  # noqa: A002 - the model's name for it
) -> Outcome:
    wait, status = retry_after(headers), received.status
    if status == HTTPStatus.TOO_MANY_REQUESTS and received.body.startswith(_BLOCK_LIST):
        return Outcome(
            Verdict.BLOCKED, retry_after=wait, detail="The instance's operator blocks our address."
        )
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Outcome(
            Verdict.RATE_LIMITED, retry_after=wait, detail="The instance limits our requests."
        )
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Outcome(
            Verdict.SERVER_ERROR, retry_after=wait, detail=f"The instance failed with {status}."
        )
    if status == HTTPStatus.UNAUTHORIZED:
        return Outcome(Verdict.REFUSED, retry_after=wait, detail=_WANTS_CREDENTIALS)
    if status == HTTPStatus.FORBIDDEN and format is Format.JSON:
        return Outcome(Verdict.JSON_OFF, detail="The instance has not enabled JSON.")
    return Outcome(Verdict.REFUSED, retry_after=wait, detail=f"The instance refused with {status}.")


_WANTS_CREDENTIALS: Final = (
    "The instance rejected our credentials: set those of your own instance in SEARXNG_URL or"
    " instances.credentials."
)


def _judge_body(
    received: Response,
    headers: Mapping[str, str],
    base_url: str,
    format: Format,  # noqa: A002 - the model's name for it
) -> Outcome:
    body = received.body
    start = body.lstrip(_BLANK)[:1]
    # By its own type, not the requested one: an unknown format is answered with HTML, and so are blocks
    # and start pages.
    if start in (b"{", b"[") or (format is Format.JSON and start != b"<"):
        parsed = parse_json(body, base_url=base_url)
    else:
        from searx_mcp.sources.searxng.html_parser import parse_html  # noqa: PLC0415 - an answer in JSON needs none of its libraries

        parsed = parse_html(body, base_url=base_url)
    if parsed.page is None:
        detail = _CUT_OFF if received.truncated else parsed.detail
        return Outcome(_FROM_BODY[parsed.kind], detail=detail)
    verdict, detail = judge_page(parsed.page, truncated=received.truncated)
    timings = server_timing(headers.get("server-timing", ""))
    page = replace(parsed.page, timings=timings) if timings else parsed.page
    return Outcome(verdict, page=page, detail=detail)


_CUT_OFF: Final = "The answer was cut off."


def judge_page(page: ResultPage, *, truncated: bool = False) -> tuple[Verdict, str]:
    """Classify a result page by its content.

    Args:
        page: the parsed page.
        truncated: whether bytes are missing at its end.

    Returns:
        The verdict, and a sentence for a person if something is wrong.
    """
    if len(page.hits) >= FULL_PAGE or page.answers or page.infoboxes:
        return Verdict.FULL, ""
    if page.hits:
        return Verdict.THIN, ""
    if page.rows_seen:
        return Verdict.MALFORMED, f"None of the page's {page.rows_seen} rows could be read."
    if page.unresponsive_engines:
        return Verdict.ENGINES_FAILED, f"{len(page.unresponsive_engines)} engines failed."
    return (Verdict.MALFORMED, _CUT_OFF) if truncated else (Verdict.EMPTY, "")
