"""Pages with the class names, ids and meta tags of SearXNG's simple theme as of August 2026.

They contain only what a parser of results needs; the rest of the theme is omitted.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from searx_mcp.models.hits import ResultPage
from searx_mcp.testing.instance.index import CATEGORIES, SearchQuery
from searx_mcp.testing.instance.markup import Markup, element, join
from searx_mcp.testing.instance.theme_rows import infobox, result
from searx_mcp.testing.limiter import LINK_TOKEN
from searx_mcp.testing.results import ENGINES

_FORMATS = frozenset({"html", "json"})


@dataclass(frozen=True, slots=True)
class Site:
    """The properties that all pages of an instance share.

    Attributes:
        version: as in the generator tag, without the program's name.
        prefix: path before everything, without a trailing slash; empty for none.
        formats: names of the formats that the operator has enabled, usually including html.
        link_token: whether pages link the limiter's stylesheet and load images through the proxy.

    Raises:
        ValueError: a format is neither html nor json.
    """

    version: str
    prefix: str
    formats: tuple[str, ...]
    link_token: bool

    def __post_init__(self) -> None:
        unknown = sorted(set(self.formats) - _FORMATS)
        if unknown:
            raise ValueError(f"formats are html and json, not {', '.join(unknown)}")


def home_page(site: Site) -> str:
    """Return the home page, to which the limiter redirects scripts."""
    return _document(site, "index", _search_form(site, ""))


def search_page(site: Site, *, error: str | None = None) -> str:
    """Return `/search` without a query, or, with an error, for an invalid parameter."""
    dialog = None
    if error is not None:
        items = element("ul", {}, element("li", {}, error))
        dialog = element("div", {"class": "dialog-error", "role": "alert"}, items)
    return _document(site, "search", dialog, _search_form(site, ""))


def missing_page(site: Site) -> str:
    """Return the page for an unknown path."""
    return _document(site, "None", element("h1", {}, "Page not found"))


def results_page(site: Site, query: SearchQuery, page: ResultPage) -> str:
    """Return the page of one search, with or without rows."""
    alternatives = "|".join(re.escape(word) for word in query.text.split())
    words = re.compile(rf"({alternatives})", re.IGNORECASE)
    proxy = f"{site.prefix}/image_proxy" if site.link_token else ""
    rows = [result(hit, words=words, proxy=proxy) for hit in page.hits]
    if not rows and not page.answers:
        rows = [_nothing_found(query)]
    results = element(
        "div",
        {"id": "results"},
        _answers(page),
        _sidebar(site, query, page),
        _corrections(site, query, page),
        element("div", {"id": "urls", "role": "main"}, *rows),
        _pagination(site, query, page),
    )
    return _document(site, "results", _search_form(site, query.text), results)


def _document(site: Site, endpoint: str, *content: str | None) -> str:
    metas = {
        "endpoint": endpoint,
        "generator": f"searxng/{site.version}",
        "referrer": "no-referrer",
        "robots": "noarchive",
    }
    token = None
    if site.link_token:
        href = f"{site.prefix}/client{LINK_TOKEN}.css"
        token = element("link", {"rel": "stylesheet", "href": href, "type": "text/css"})
    head = element(
        "head",
        {},
        element("meta", {"charset": "UTF-8"}),
        *(element("meta", {"name": name, "content": value}) for name, value in metas.items()),
        element("title", {}, "SearXNG"),
        element("link", {"rel": "stylesheet", "href": f"{site.prefix}/static/simple.css"}),
        token,
    )
    body = element("body", {"class": f"{endpoint}_endpoint"}, element("main", {}, *content))
    return f"<!DOCTYPE html>\n{element('html', {'lang': 'en-EN'}, head, body)}\n"


def _form(site: Site, attributes: dict[str, str], *content: str | None) -> Markup:
    action = {"method": "GET", "action": f"{site.prefix}/search"}
    return element("form", attributes | action, *content)


def _fields(query: SearchQuery, **more: str) -> Markup:
    values = {"q": query.text}
    values |= {f"category_{category}": "1" for category in query.categories}
    values |= {
        "language": query.language,
        "time_range": query.time_range,
        "safesearch": query.safe_search,
    }
    values |= more
    return join(
        *(
            element("input", {"type": "hidden", "name": name, "value": value})
            for name, value in values.items()
        )
    )


def _search_form(site: Site, text: str) -> Markup:
    buttons = (
        element("button", {"type": "submit", "name": f"category_{name}"}, name)
        for name in CATEGORIES
    )
    box = element("input", {"id": "q", "name": "q", "type": "text", "value": text})
    return _form(site, {"id": "search", "role": "search"}, box, *buttons)


def _nothing_found(query: SearchQuery) -> Markup:
    lines: tuple[str, ...] = ("There are no more results.",)
    if query.page == 1:
        lines = (element("strong", {}, "Sorry!"), "No results were found.")
    paragraphs = (element("p", {}, line) for line in lines)
    return element("div", {"class": "dialog-error-block", "role": "alert"}, *paragraphs)


def _answers(page: ResultPage) -> Markup | None:
    if not page.answers:
        return None
    return element(
        "div",
        {"id": "answers", "role": "complementary"},
        element("h4", {"class": "title"}, "Answers :"),
        *(
            element(
                "div",
                {"class": "answer"},
                element("span", {}, answer.text),
                element("a", {"href": answer.url, "class": "answer-url"}, answer.url)
                if answer.url
                else None,
            )
            for answer in page.answers
        ),
    )


def _sidebar(site: Site, query: SearchQuery, page: ResultPage) -> Markup:
    boxes = [infobox(box) for box in page.infoboxes]
    suggestions = _offers(site, query, page.suggestions, {"class": "suggestion"})
    return element(
        "div",
        {"id": "sidebar"},
        element("div", {"id": "infoboxes"}, *boxes) if boxes else None,
        element("div", {"id": "suggestions"}, suggestions) if suggestions else None,
        _engine_messages(page),
        _download_forms(site, query),
    )


def _corrections(site: Site, query: SearchQuery, page: ResultPage) -> Markup | None:
    offers = _offers(site, query, page.corrections, {})
    return element("div", {"id": "corrections"}, offers) if offers else None


def _offers(
    site: Site, query: SearchQuery, texts: Iterable[str], attributes: dict[str, str]
) -> Markup:
    return join(
        *(
            _form(
                site,
                {},
                _fields(query, q=text),
                element("input", {"type": "submit", "value": text} | attributes),
            )
            for text in texts
        )
    )


def _engine_messages(page: ResultPage) -> Markup:
    failed = {entry.engine: entry.reason for entry in page.unresponsive_engines}
    rows = [
        _engine_row(engine, element("td", {"class": "response-error"}, reason))
        for engine, reason in failed.items()
    ]
    seconds = element("div", {"class": "bar-chart-value"}, "0.3")
    rows += [
        _engine_row(engine, element("td", {"class": "response-time"}, seconds))
        for engine in ENGINES
        if engine not in failed
    ]
    table = element("table", {"class": "engine-stats", "id": "engines_msg-table"}, *rows)
    return element("div", {"id": "engines_msg"}, table)


def _engine_row(engine: str, cell: Markup) -> Markup:
    link = element("a", {"href": f"/stats?engine={engine.replace(' ', '+')}"}, engine)
    return element("tr", {}, element("td", {"class": "engine-name"}, link), cell)


def _download_forms(site: Site, query: SearchQuery) -> Markup | None:
    formats = [name for name in site.formats if name != "html"]
    if not formats:
        return None
    forms = (
        _form(
            site,
            {},
            _fields(query, pageno=str(query.page), format=name),
            element("input", {"type": "submit", "value": name}),
        )
        for name in formats
    )
    return element("div", {"id": "apis"}, *forms)


def _pagination(site: Site, query: SearchQuery, page: ResultPage) -> Markup:
    forms = []
    if query.page > 1:
        forms.append(("previous_page", query.page - 1))
    # Upstream links a next page whenever this one has rows, even on the last.
    if page.hits:
        forms.append(("next_page", query.page + 1))
    return element(
        "nav",
        {"id": "pagination", "role": "navigation"},
        *(
            _form(
                site,
                {"class": name},
                _fields(query, pageno=str(number)),
                element("button", {"type": "submit"}, name.replace("_", " ").capitalize()),
            )
            for name, number in forms
        ),
    )
