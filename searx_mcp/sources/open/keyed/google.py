"""Google Programmable Search: the Custom Search JSON API, which ends on 2027-01-01 and so is kept minimal."""

import re
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Final

from searx_mcp.content.values import Fields
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open.config import GOOGLE_ENDS, ProvidersConfig, SafeLevel
from searx_mcp.sources.open.engine import (
    ANY_AGE,
    FORBIDDEN,
    Ask,
    Engine,
    OpenQuery,
    Parsed,
    RefusedError,
    Routing,
    spelled,
)
from searx_mcp.sources.open.rows import MAX_TITLE, Rows, json_object
from searx_mcp.urls.retry_after import retry_after

NAME: Final = "google"
PER_PAGE: Final = 10
MAX_FOUND: Final = 100
"""It refuses results beyond this number
(developers.google.com/custom-search/v1/reference/rest/v1/cse/list)."""

_AGES: Final = {
    TimeRange.DAY: "d1",
    TimeRange.WEEK: "w1",
    TimeRange.MONTH: "m1",
    TimeRange.YEAR: "y1",
}
_LANGUAGES: Final = frozenset(
    [
        "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "hr", "hu", "id",
        "is", "it", "iw", "ja", "ko", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl",
        "sr", "sv", "tr", "zh-CN", "zh-TW",
    ]
)  # fmt: skip
"""Values of `lr` without their `lang_` (same page)."""
_SPELLINGS: Final = {"he": "iw", "nb": "no", "nn": "no", "zh": "zh-CN", "zh-HK": "zh-TW"}
_REASON: Final = re.compile(r"[A-Za-z_]{1,60}")
_KEY_REASONS: Final = frozenset({"API_KEY_INVALID", "keyInvalid", "keyExpired"})
_LIMIT_REASONS: Final = frozenset(
    {"dailyLimitExceeded", "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded"}
)


def ask(query: OpenQuery) -> Ask | None:
    """Search the web, or the sites of the search engine; `safe` has two levels."""
    start = (query.page - 1) * PER_PAGE + 1
    if not query.text or start + PER_PAGE - 1 > MAX_FOUND:
        return None
    parameters = {
        "q": query.text,
        "num": str(PER_PAGE),
        "start": str(start),
        "safe": "active" if query.safe_search else "off",
    }
    if region := query.language.partition("-")[2]:
        parameters["gl"] = region.lower()
    if known := spelled(query.language, _LANGUAGES, _SPELLINGS):
        parameters |= {"lr": f"lang_{known}", "hl": known}
    if query.time_range:
        parameters["dateRestrict"] = _AGES[query.time_range]
    return Ask(parameters)


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `items`; it is missing if there are no results."""
    answer = json_object(body)
    if "searchInformation" not in answer and "items" not in answer:
        raise ValueError("the answer has no searchInformation")
    rows = Rows(NAME, query)
    for item in answer.parts("items"):
        meta = next(iter(item.part("pagemap").parts("metatags")), Fields({}))
        images = item.part("pagemap").parts("cse_thumbnail")
        rows.add(
            item.text("link"),
            item.line("title", MAX_TITLE),
            description=item.line("snippet", 2_000),
            published=meta.text("article:published_time"),
            thumbnail=images[0].text("src") if images else "",
        )
    return rows.parsed(has_next=bool(answer.part("queries").parts("nextPage")))


def read_refusal(status: int, headers: Mapping[str, str], body: bytes) -> RefusedError | None:
    """Parse the first specific reason of `error`; its text may name the user's project."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return RefusedError(Verdict.SERVER_ERROR, f"It failed (HTTP {status}).", again=True)
    try:
        error = json_object(body).part("error")
    except ValueError:
        return None
    told = (part.text("reason") for part in (*error.parts("details"), *error.parts("errors")))
    reason = next((each for each in told if _REASON.fullmatch(each)), "")
    shown = f" (HTTP {status}, {reason})" if reason else f" (HTTP {status})"
    if status == HTTPStatus.TOO_MANY_REQUESTS or reason in _LIMIT_REASONS:
        is_days = "per day" in error.text("message") or reason == "dailyLimitExceeded"
        pause = retry_after(headers) or (FORBIDDEN if is_days else None)
        return RefusedError(Verdict.RATE_LIMITED, f"Your quota is spent{shown}.", pause=pause)
    if reason in _KEY_REASONS or status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return RefusedError(Verdict.REFUSED, f"It rejected your key{shown}.", pause=FORBIDDEN)
    if status == HTTPStatus.NOT_FOUND:
        detail = (
            f"It does not know your search engine{shown}: see providers.google.search_engine_id."
        )
        return RefusedError(Verdict.REFUSED, detail, pause=FORBIDDEN)
    detail = f"It refused the request{shown}."
    return RefusedError(Verdict.REFUSED, detail, ours=status == HTTPStatus.BAD_REQUEST)


ENGINE: Final = Engine(
    name=NAME,
    title="Google Programmable Search",
    operator="Google LLC, US",
    categories={Category.GENERAL: 1, Category.NEWS: 1, Category.IT: 1, Category.SCIENCE: 1},
    endpoint="https://customsearch.googleapis.com/customsearch/v1",
    ask=ask,
    parse=parse,
    read_refusal=read_refusal,
    key_header="X-Goog-Api-Key",
    # Usually 100 requests a minute are allowed (from a secondary source).
    gap=0.7,
    burst=10,
    patience=10.0,
    concurrency=4,
    per_day=100,
    per_month=3_000,
    timeout=6.0,
    notice=f"Google shuts down the Programmable Search API on {GOOGLE_ENDS}; Brave has one, too.",
    is_web_index=True,
    time_ranges=ANY_AGE,
    languages=frozenset(name.partition("-")[0] for name in _LANGUAGES) | {"he", "nb", "nn"},
    filters_language=True,
    filters_safely=True,
    page_size=PER_PAGE,
    routing=Routing(),
    terms_url="https://developers.google.com/custom-search/terms",
    terms_checked="2026-11",
)


def configured(providers: ProvidersConfig) -> Engine | None:
    """Return the row with a key, a search engine and budgets; `None` without one of the first two."""
    config = providers.google
    if not (config.key.get_secret_value() and config.search_engine_id):
        return None
    least = int(config.safe_search is not SafeLevel.OFF)

    def ask_safely(query: OpenQuery) -> Ask | None:
        return ask(replace(query, safe_search=max(query.safe_search, least)))

    return replace(
        ENGINE,
        ask=ask_safely,
        key=config.key,
        parameters={"cx": config.search_engine_id},
        per_day=config.per_day,
        per_month=config.per_month,
    )
