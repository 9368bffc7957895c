"""Wikipedia: full-text search with the beginning of each article, in one request."""

from typing import Final

from searx_mcp.content.fields import Fields
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import Ask, Engine, OpenQuery, Parsed
from searx_mcp.sources.open.engines import mediawiki
from searx_mcp.sources.open.rows import Rows


def ask(query: OpenQuery) -> Ask | None:
    """Search the articles of the query's language; of any language, the English ones."""
    language = mediawiki.language(query)
    parameters = mediawiki.searched(query, query.text)
    return Ask(parameters, language=language) if language and parameters else None


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Read the articles, each with its beginning."""
    return mediawiki.parsed(body, query, ENGINE, _add)


def _add(rows: Rows, page: Fields) -> None:
    rows.add(
        page.text("fullurl"),
        page.line("title"),
        description=page.line("extract", 1_000) or page.line("description"),
        thumbnail=page.part("thumbnail").text("source"),
    )


ENGINE: Final[Engine] = mediawiki.wiki(
    name="wikipedia",
    title="Wikipedia",
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
    timeout=4.0,
    licence="Wikipedia's text is CC BY-SA 4.0.",
    filters_language=True,
    hosts=("wikipedia.org",),
)
