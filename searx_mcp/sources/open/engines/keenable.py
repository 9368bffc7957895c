"""Keenable: a commercial index of the web for programs, without a key; off unless enabled."""

from typing import Final

from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import ANY_AGE, Ask, Engine, OpenQuery, Parsed, Routing
from searx_mcp.sources.open.question import Signal
from searx_mcp.sources.open.rows import MAX_TITLE, Rows, json_object

NAME: Final = "keenable"
MAX_RESULTS: Final = 10

_SNIPPET: Final = 500
"""Characters of a page that are requested."""


def ask(query: OpenQuery) -> Ask | None:
    """Search the web by meaning; there is one page, and no choice of language."""
    if not query.text or query.page > 1:
        return None
    body: dict[str, object] = {
        "query": query.text,
        "mode": "pro",
        "max_results": MAX_RESULTS,
        "snippet_max_length": _SNIPPET,
    }
    if query.since:
        body["published_after"] = query.since.isoformat()
    return Ask(body=body)


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `results`, whose `snippet` is text of the page; a description is rare."""
    answer = json_object(body, key="results")
    rows = Rows(NAME, query)
    for result in answer.parts("results"):
        rows.add(
            result.text("url"),
            result.line("title", MAX_TITLE),
            description=result.line("snippet", 2_000) or result.line("description", 2_000),
            published=result.text("published_at"),
        )
    return rows.parsed()


ENGINE: Final = Engine(
    name=NAME,
    title="Keenable",
    operator="Keenable",
    categories={Category.GENERAL: 1, Category.NEWS: 2.8, Category.IT: 1, Category.SCIENCE: 1},
    endpoint="https://api.keenable.ai/v1/search/public",
    ask=ask,
    parse=parse,
    headers={"X-Keenable-Title": "searx-mcp"},
    weight=1.5,
    # It allows 1,000 requests an hour and ten a second per address.
    gap=0.5,
    per_day=400,
    timeout=8.0,
    notice=(
        "Keenable is on: a company with its own web index, which sees every query sent to it"
        " and your IP address. We could not read its terms."
    ),
    is_web_index=True,
    is_semantic=True,
    time_ranges=ANY_AGE,
    pages=False,
    routing=Routing(
        anyway=2.0,
        signals={Signal.NEWS: 2},
        homes={Category.IT: frozenset(), Category.SCIENCE: frozenset()},
    ),
    switch=lambda config: config.keenable,
    terms_url="https://docs.keenable.ai/authentication",
    terms_checked="2026-11",
)
