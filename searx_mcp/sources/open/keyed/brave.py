"""Brave's Search API: an independent index of the web."""

import re
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from itertools import islice
from typing import Final

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open.config import ProvidersConfig
from searx_mcp.sources.open.engine import (
    ANY_AGE,
    FORBIDDEN,
    Ask,
    Engine,
    OpenQuery,
    Parsed,
    RefusedError,
    Routing,
    fitting,
    spelled,
)
from searx_mcp.sources.open.rows import MAX_TITLE, Rows, json_object, plain
from searx_mcp.urls.retry_after import retry_after, within_limits

NAME: Final = "brave"
PER_PAGE: Final = 20
MAX_PAGE: Final = 10
MAX_WORDS: Final = 50
MAX_CHARS: Final = 400
"""Maximum of a query (api-dashboard.search.brave.com/api-reference/web/search/get, also for the other
limits)."""

_SAFE: Final = ("off", "moderate", "strict")
_AGES: Final = {
    TimeRange.DAY: "pd",
    TimeRange.WEEK: "pw",
    TimeRange.MONTH: "pm",
    TimeRange.YEAR: "py",
}
_LANGUAGES: Final = frozenset(
    [
        "ar", "eu", "bn", "bg", "ca", "zh-hans", "zh-hant", "hr", "cs", "da", "nl", "en", "en-gb",
        "et", "fi", "fr", "gl", "de", "gu", "he", "hi", "hu", "is", "it", "jp", "kn", "ko", "lv",
        "lt", "ms", "ml", "mr", "nb", "pl", "pt-br", "pt-pt", "pa", "ro", "ru", "sr", "sk", "sl",
        "es", "sv", "ta", "te", "th", "tr", "uk", "vi",
    ]
)  # fmt: skip
_SPELLINGS: Final = {
    "ja": "jp",
    "no": "nb",
    "nn": "nb",
    "pt": "pt-pt",
    "zh": "zh-hans",
    "zh-tw": "zh-hant",
    "zh-hk": "zh-hant",
}
_COUNTRIES: Final = frozenset(
    [
        "AR", "AU", "AT", "BE", "BR", "CA", "CL", "DK", "FI", "FR", "DE", "HK", "IN", "ID", "IT",
        "JP", "KR", "MY", "MX", "NL", "NZ", "NO", "CN", "PL", "PT", "PH", "RU", "SA", "ZA", "ES",
        "SE", "CH", "TW", "TR", "GB", "US",
    ]
)  # fmt: skip
_NUMBERS: Final = re.compile(r"\d{1,9}")
_CODE: Final = re.compile(r"[A-Z_]{1,60}")


def ask(query: OpenQuery) -> Ask | None:
    """Search web pages; values that Brave does not list would be refused and are left out."""
    text = fitting(islice(query.text.split(), MAX_WORDS), MAX_CHARS)
    if not text or query.page > MAX_PAGE:
        return None
    region = query.language.partition("-")[2].upper()
    parameters = {
        "q": text,
        "count": str(PER_PAGE),
        "offset": str(query.page - 1),
        "safesearch": _SAFE[query.safe_search],
        "result_filter": "web",
        # By default it uses the US.
        "country": region if region in _COUNTRIES else "ALL",
    }
    if known := spelled(query.language.lower(), _LANGUAGES, _SPELLINGS):
        parameters["search_lang"] = known
    if query.time_range:
        parameters["freshness"] = _AGES[query.time_range]
    return Ask(parameters)


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `web.results`; `web` is missing if there are no results. Snippets mark words with tags."""
    answer = json_object(body)
    if answer.text("type") != "search":
        raise ValueError("the answer is not a search answer")
    rows = Rows(NAME, query)
    for result in answer.part("web").parts("results"):
        rows.add(
            result.text("url"),
            plain(result.text("title"), MAX_TITLE),
            description=plain(result.text("description")),
            published=result.text("page_age"),
            thumbnail=result.part("thumbnail").text("src"),
            author=result.part("profile").line("name"),
        )
    return rows.parsed(has_next=answer.part("query").flag("more_results_available"))


def read_refusal(status: int, headers: Mapping[str, str], body: bytes) -> RefusedError | None:
    """Parse `error.code`, and for a limit which of the plan's windows is spent."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return RefusedError(Verdict.SERVER_ERROR, f"It failed (HTTP {status}).", again=True)
    try:
        code = json_object(body).part("error").text("code")
    except ValueError:
        return None
    shown = f" (HTTP {status}, {code})" if _CODE.fullmatch(code) else f" (HTTP {status})"
    if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.PAYMENT_REQUIRED}:
        detail = f"Your plan allows no more requests now{shown}."
        return RefusedError(
            Verdict.RATE_LIMITED, detail, pause=_spent_for(headers) or retry_after(headers)
        )
    # It answers a wrong key with 422, like a wrong parameter.
    if code.startswith("SUBSCRIPTION") or status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return RefusedError(Verdict.REFUSED, f"It rejected your key{shown}.", pause=FORBIDDEN)
    is_ours = status in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}
    return RefusedError(Verdict.REFUSED, f"It refused the request{shown}.", ours=is_ours)


def _spent_for(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until the longest spent window restarts: `X-RateLimit-Remaining: 0, 0`."""
    lower = {name.lower(): value[:200] for name, value in headers.items()}
    left = _NUMBERS.findall(lower.get("x-ratelimit-remaining", ""))
    resets = _NUMBERS.findall(lower.get("x-ratelimit-reset", ""))
    spent = [int(reset) for count, reset in zip(left, resets, strict=False) if not int(count)]
    return within_limits(float(max(spent))) if spent else None


ENGINE: Final = Engine(
    name=NAME,
    title="Brave Search API",
    operator="Brave Software Inc., US",
    categories={Category.GENERAL: 1, Category.NEWS: 1, Category.IT: 1, Category.SCIENCE: 1},
    endpoint="https://api.search.brave.com/res/v1/web/search",
    ask=ask,
    parse=parse,
    read_refusal=read_refusal,
    key_header="X-Subscription-Token",
    # The smallest plan allows one request a second.
    gap=1.1,
    patience=10.0,
    per_day=0,
    per_month=1_000,
    timeout=6.0,
    is_web_index=True,
    time_ranges=ANY_AGE,
    languages=frozenset(name.partition("-")[0] for name in _LANGUAGES) | {"ja", "no", "nn"},
    filters_language=True,
    filters_safely=True,
    page_size=PER_PAGE,
    routing=Routing(),
    terms_url="https://api-dashboard.search.brave.com/api-reference/web/search/get",
    terms_checked="2026-11",
)


def configured(providers: ProvidersConfig) -> Engine | None:
    """Return the row with a key and a budget; `None` without a key."""
    config = providers.brave
    if not config.key.get_secret_value():
        return None
    return replace(ENGINE, key=config.key, per_month=config.per_month)
