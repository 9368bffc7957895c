"""Hacker News: stories by their titles and addresses, from Algolia's index."""

import html
from datetime import datetime, time
from typing import Final
from urllib.parse import SplitResult, parse_qs

from searx_mcp.content.addresses import absolute_web
from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open.engine import (
    ANY_AGE,
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    Routing,
    one_line,
)
from searx_mcp.sources.open.question import IdentifierKind, Signal
from searx_mcp.sources.open.rows import Rows, json_object, plain

NAME: Final = "hackernews"
PER_PAGE: Final = 50
"""Includes stories with few points: since June 2026 the index refuses to filter by `points` (status 400)."""
MIN_POINTS: Final = 3
"""Stories with fewer points were ignored by everyone."""
MUST: Final = 2
"""Up to this many words, each must match; with more, some must, and the index ranks by how many do."""

_ENGLISH: Final = frozenset({"en", "all", "auto"})
_FRESH: Final = frozenset({TimeRange.DAY, TimeRange.WEEK})
_DISCUSSION: Final = "https://news.ycombinator.com/item?id="


def ask(query: OpenQuery) -> Ask | None:
    """Search stories; recent news by date, everything else by relevance."""
    words = _words(query)
    if not words or query.spoken not in _ENGLISH:
        return None
    parameters = {
        "query": one_line(words),
        "tags": "story",
        "hitsPerPage": str(PER_PAGE),
        "page": str(query.page - 1),
    }
    if query.since:
        first = datetime.combine(query.since, time.min, query.now.tzinfo)
        parameters["numericFilters"] = f"created_at_i>={int(first.timestamp())}"
    by_date = query.category == Category.NEWS and query.time_range in _FRESH
    # By date, a story with one of the words would come before an older one with all.
    if len(words) > MUST and not by_date:
        parameters["optionalWords"] = ",".join(word for word in words if " " not in word)
    return Ask(parameters, path=("search_by_date" if by_date else "search",))


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `hits`: a story links a page, or has its own text."""
    answer = json_object(body, key="hits")
    rows = Rows(NAME, query)
    for hit in answer.parts("hits"):
        points = hit.count("points") or 0
        number = hit.line("objectID", 20)
        if points < MIN_POINTS or not (number.isascii() and number.isdigit()):
            rows.skip()
            continue
        discussion = f"{_DISCUSSION}{number}"
        comments = hit.count("num_comments") or 0
        told = f"Hacker News: {points} points, {comments} comments, {discussion}"
        rows.add(
            absolute_web("", hit.text("url")) or discussion,
            html.unescape(hit.line("title", 500)),
            description=f"{plain(hit.text('story_text'), 1_000)} {told}",
            published=str(hit.count("created_at_i") or ""),
            author=hit.line("author"),
        )
    page, pages = answer.count("page"), answer.count("nbPages")
    return rows.parsed(has_next=None if page is None or pages is None else page + 1 < pages)


def identify(host: str, parts: SplitResult) -> str:
    """Return the story or comment at an address."""
    if host != "news.ycombinator.com" or parts.path != "/item":
        return ""
    number = parse_qs(parts.query).get("id", [""])[0]
    return f"{NAME}:{number}" if number.isascii() and number.isdigit() else ""


def _words(query: OpenQuery) -> list[str]:
    """Return the keywords, none of which excludes or opens a phrase; of a vulnerability, only its number."""
    if query.identifier and query.identifier.kind == IdentifierKind.CVE:
        return [query.identifier.value]
    words = (" ".join(word.replace('"', " ").split()).lstrip("-") for word in query.keywords)
    return [word for word in words if word]


ENGINE: Final = Engine(
    name=NAME,
    title="Hacker News",
    operator="Algolia, US",
    categories={Category.IT: 2, Category.NEWS: 2.5, Category.GENERAL: 1},
    endpoint="https://hn.algolia.com/api/v1",
    ask=ask,
    parse=parse,
    identify=identify,
    weight=0.8,
    # 10,000 requests an hour are said to be allowed per address.
    gap=0.5,
    per_day=2_000,
    timeout=4.0,
    time_ranges=ANY_AGE,
    languages=frozenset({"en"}),
    routing=Routing(
        signals={
            Signal.CODE: 1,
            Signal.TECHNOLOGY: 2,
            Signal.REPOSITORY: 1,
            Signal.MODEL: 1,
            Signal.VULNERABILITY: 2.5,
            Signal.OPINION: 2.5,
            Signal.NEWS: 1,
        },
        pairs={frozenset({Signal.NEWS, Signal.TECHNOLOGY}): 1.5},
        within={
            Category.IT: {Signal.VULNERABILITY: 2, Signal.OPINION: 3, Signal.NEWS: 3},
            Category.NEWS: {Signal.TECHNOLOGY: 1},
        },
        homes={Category.NEWS: frozenset({Signal.TECHNOLOGY})},
    ),
    words=EngineWords(
        names="hacker_news hackernews show_hn ask_hn hn_thread hn_discussion",
        frames=(
            "hacker_news_discussion_of hacker_news_discussion_on "
            "hacker_news_discussion_about hacker_news_thread_on hacker_news_thread_about "
            "hacker_news on_hacker_news show_hn ask_hn"
        ),
        implied="hacker news discussion hn thread",
    ),
    terms_url="https://hn.algolia.com/api",
    terms_checked="2026-11",
)
