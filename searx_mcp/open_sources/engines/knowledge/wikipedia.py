"""Wikipedia: full-text search with the beginning of each article, in one request."""

import re
from typing import Final

from searx_mcp.models.request import Category
from searx_mcp.open_sources.engines import mediawiki
from searx_mcp.open_sources.interface import Ask, Engine, OpenQuery, Parsed
from searx_mcp.open_sources.rows import Rows, json_object

NAME: Final = "wikipedia"
PER_PAGE: Final = 10

_LANGUAGE = re.compile(r"[a-z]{2,3}")


def ask(query: OpenQuery) -> Ask | None:
    """Search the articles of the query's language; of any language, the English ones."""
    language = query.language.partition("-")[0]
    if language in {"all", "auto"}:
        language = "en"
    if not query.text or not _LANGUAGE.fullmatch(language):
        return None
    return Ask(
        {
            "gsrsearch": query.text,
            "gsrlimit": str(PER_PAGE),
            "gsroffset": str(PER_PAGE * (query.page - 1)),
        },
        language=language,
    )


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Read `query.pages`, which come in the order of their numbers: `index` has the rank."""
    answer = json_object(body)
    if "error" in answer:
        raise ValueError("the answer is an error of MediaWiki")
    rows = Rows(NAME, query)
    pages = answer.part("query").parts("pages")
    for page in sorted(pages, key=lambda page: page.count("index") or len(pages)):
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
