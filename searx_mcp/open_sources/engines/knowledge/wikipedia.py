"""Wikipedia: full-text search with the beginning of each article, in one request."""

import re
from typing import Final

from searx_mcp.models.request import Category
from searx_mcp.open_sources.engines import mediawiki
from searx_mcp.open_sources.interface import Ask, Engine, OpenQuery, Parsed, fitting
from searx_mcp.open_sources.rows import Rows

NAME: Final = "wikipedia"
PER_PAGE: Final = 10

_LANGUAGE = re.compile(r"[a-z]{2,3}")


def ask(query: OpenQuery) -> Ask | None:
    """Search the articles of the query's language; of any language, the English ones."""
    language = query.language.partition("-")[0]
    if language in {"all", "auto"}:
        language = "en"
    words = fitting(query.text.split(), mediawiki.MAX_QUERY)
    if not words or not _LANGUAGE.fullmatch(language):
        return None
    return Ask(
        {
            "gsrsearch": words,
            "gsrlimit": str(PER_PAGE),
            "gsroffset": str(PER_PAGE * (query.page - 1)),
        },
        language=language,
    )


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Read the articles, each with its beginning."""
    answer = mediawiki.read(body, ENGINE.title)
    rows = Rows(NAME, query)
    for page in mediawiki.found(answer):
        about = page.line("extract", 1_000) or page.line("description")
        rows.add(
            page.text("fullurl"),
            page.line("title"),
            description=about,
            thumbnail=page.part("thumbnail").text("source"),
        )
    return rows.parsed(has_next=bool(answer.part("continue")))


ENGINE: Final = Engine(
    name=NAME,
    title="Wikipedia",
    operator="Wikimedia Foundation, US",
    categories=frozenset({Category.GENERAL, Category.MAP}),
    endpoint="https://{language}.wikipedia.org/w/api.php",
    parameters={
        **mediawiki.PARAMETERS,
        "redirects": "1",
        "gsrnamespace": "0",
        "prop": "extracts|info|pageimages|description",
        "exintro": "1",
        "explaintext": "1",
        "exsentences": "3",
        "exlimit": "max",
        "inprop": "url",
        "piprop": "thumbnail",
        "pithumbsize": "320",
    },
    ask=ask,
    parse=parse,
    demands_all=True,
    # With a contact 200 requests a minute are allowed, without one ten; three at a time.
    gap=0.5,
    gap_without_contact=8.0,
    burst=3,
    per_day=2_000,
    concurrency=3,
    timeout=4.0,
    bucket=mediawiki.BUCKET,
    wants_contact=True,
    licence="Wikipedia's text is CC BY-SA 4.0.",
    filters_language=True,
    terms_url=mediawiki.TERMS,
    terms_checked="2026-11",
    hosts=("wikipedia.org",),
)
