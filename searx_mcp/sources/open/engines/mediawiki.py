"""The shared API of Wikimedia's wikis: limits, errors, addresses."""

import re
from collections.abc import Callable
from functools import partial
from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote

from searx_mcp.content.values import Fields
from searx_mcp.models.attempt import Verdict
from searx_mcp.sources.open.engine import Engine, OpenQuery, Parsed, RefusedError, fitting
from searx_mcp.sources.open.rows import Rows, json_object

PARAMETERS: Final = {
    "action": "query",
    "format": "json",
    "formatversion": "2",
    "generator": "search",
}
_PER_PAGE: Final = 10
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_MAX_QUERY: Final = 300
"""Maximum characters of a search, including keywords such as `filetype:` (CirrusSearch)."""

_PATH = re.compile(r"/(?:wiki|zh(?:-[a-z]{2,4})?|sr-e[cl])/(.{1,500})")
_FILE: Final = re.compile(r"(?:file|image):", re.IGNORECASE)

_BUSY: Final = frozenset({"ratelimited", "maxlag", "cirrussearch-too-busy-error"})
_BROKEN: Final = ("internal_api_error", "cirrussearch-backend-error", "readonly")
"""Prefixes of error codes that are the server's fault; any other is about the query."""


wiki: Final = partial(
    Engine,
    operator="Wikimedia Foundation, US",
    demands_all=True,
    # It allows 200 requests a minute with a contact, ten without; three at a time. An address has these for
    # all of Wikimedia's wikis together, which therefore share one bucket.
    gap=0.5,
    gap_without_contact=8.0,
    burst=3,
    per_day=2_000,
    concurrency=3,
    bucket="wikimedia",
    wants_contact=True,
    terms_url="https://www.mediawiki.org/wiki/Wikimedia_APIs/Rate_limits",
    terms_checked="2026-11",
)
"""Makes the row of one wiki."""


def language(query: OpenQuery) -> str:
    """Return the code of the query's language, English for any; empty if no wiki could have it."""
    if query.spoken in {"all", "auto"}:
        return "en"
    return query.spoken if _LANGUAGE.fullmatch(query.spoken) else ""


def searched(query: OpenQuery, text: str, *, keyword: str = "") -> dict[str, str] | None:
    """Return the parameters of a search, or `None` if it has no words.

    Args:
        query: for its page number.
        text: its words; those that fit are sent.
        keyword: of CirrusSearch, put before them.
    """
    words = fitting(text.split(), _MAX_QUERY - len(keyword))
    if not words:
        return None
    return {
        "gsrsearch": f"{keyword}{words}",
        "gsrlimit": str(_PER_PAGE),
        "gsroffset": str(_PER_PAGE * (query.page - 1)),
    }


def parsed(
    body: bytes, query: OpenQuery, engine: Engine, add: Callable[[Rows, Fields], None]
) -> Parsed:
    """Parse an answer: add each of its pages to the rows, by rank.

    Args:
        body: the answer.
        query: the query.
        engine: the row of the wiki.
        add: adds one page.

    Raises:
        ValueError: it is not as documented.
        RefusedError: it is an error, which has status 200.
    """
    answer = _read(body, engine.title)
    rows = Rows(engine.name, query)
    pages = answer.part("query").parts("pages")
    # They are in the order of their ids, and `index` contains the rank.
    for page in sorted(pages, key=lambda page: page.count("index") or len(pages)):
        add(rows, page)
    return rows.parsed(has_next=bool(answer.part("continue")))


def title_at(parts: SplitResult) -> str:
    """Return the title of the page at a wiki address; empty for an old revision, an edit and the like."""
    query = parse_qs(parts.query)
    if query.keys() & {"action", "oldid", "diff", "curid"}:
        return ""
    page = _PATH.fullmatch(parts.path)
    return title(page[1] if page else query.get("title", [""])[0])


def title(text: str) -> str:
    """Normalise a title like MediaWiki: spaces, and a capital first letter in each part."""
    whole = " ".join(unquote(text).replace("_", " ").split())
    if is_file := _FILE.match(whole):
        name = whole[is_file.end() :].strip()
        return f"File:{name[:1].upper()}{name[1:]}"
    return f"{whole[:1].upper()}{whole[1:]}"


def _read(body: bytes, title: str) -> Fields:
    answer = json_object(body)
    if "error" not in answer:
        return answer
    code = answer.part("error").text("code")
    if not code:
        raise ValueError("the answer is an error without a code")
    if code in _BUSY:
        raise RefusedError(Verdict.RATE_LIMITED, f"{title} asked us to wait.")
    if code.startswith(_BROKEN):
        raise RefusedError(Verdict.SERVER_ERROR, f"{title} failed.")
    raise RefusedError(Verdict.REFUSED, f"{title} could not parse the query.", ours=True)
