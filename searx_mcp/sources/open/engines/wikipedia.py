"""Wikipedia: full-text search with the beginning of each article, in one request."""

from typing import Final
from urllib.parse import SplitResult

from searx_mcp.content.values import Fields
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import Ask, Engine, EngineWords, OpenQuery, Parsed, Routing
from searx_mcp.sources.open.engines import mediawiki
from searx_mcp.sources.open.question import Signal
from searx_mcp.sources.open.rows import Rows


def ask(query: OpenQuery) -> Ask | None:
    """Search the articles in the query's language; in English for any language."""
    language = mediawiki.language(query)
    parameters = mediawiki.searched(query, query.text)
    return Ask(parameters, language=language) if language and parameters else None


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse the articles, each with its beginning."""
    return mediawiki.parsed(body, query, ENGINE, _add)


def identify(host: str, parts: SplitResult) -> str:
    """Return the article at an address, in the language of its wiki."""
    language, _, rest = host.replace(".m.", ".").partition(".")
    title = mediawiki.title_at(parts) if rest == "wikipedia.org" else ""
    return f"wikipedia:{language}:{title}" if title else ""


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
    categories={Category.GENERAL: 1, Category.MAP: 1},
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
    identify=identify,
    timeout=4.0,
    licence="Wikipedia's text is CC BY-SA 4.0.",
    filters_language=True,
    hosts=("wikipedia.org",),
    routing=Routing(
        anyway=1.0,
        signals={
            Signal.TECHNOLOGY: 2,
            Signal.DEFINITION: 2.5,
            Signal.BIOMEDICAL: 2,
            Signal.FORMAL: 2,
            Signal.PLACE: 2,
            Signal.ENTITY: 3,
            Signal.MUSIC: 1,
        },
        pairs={
            frozenset({Signal.SCHOLARLY, Signal.FORMAL}): -2,
            frozenset({Signal.SCHOLARLY, Signal.BIOMEDICAL}): -1,
        },
        homes={Category.IT: frozenset(), Category.MAP: frozenset()},
        further={"software wikis": 2, "wikimedia": 1},
        on_code=0.3,
    ),
    words=EngineWords(
        names="wikipedia wikipedia_article",
        frames=(
            "wikipedia_article_on wikipedia_article_about wikipedia_article wikipedia on_wikipedia"
        ),
        implied="wikipedia article",
    ),
)
