"""`/search` like that of SearXNG, so that its clients use the pool as one instance; as JSON, CSV or RSS.

A row's fields have the names that SearXNG's templates use.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from email.utils import format_datetime
from io import StringIO
from typing import Annotated, Any, Final, Literal
from urllib.parse import quote_plus, urlparse
from xml.sax.saxutils import escape, quoteattr

from pydantic import BaseModel, ConfigDict, Field

from searx_mcp.arguments import SearchDefaults, parse_search
from searx_mcp.errors import InvalidArgumentError, SearxMcpError
from searx_mcp.models.base import Frozen
from searx_mcp.models.hits import TEMPLATE_FIELDS, Answer, Media, Video
from searx_mcp.models.request import (
    FURTHER_CATEGORIES,
    MAX_QUERY_LENGTH,
    MAX_SKIPPED,
    Category,
    SearchRequest,
)
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.render.errors import cause_of
from searx_mcp.render.searxng_fields import TEMPLATES, infobox_fields, kind_fields
from searx_mcp.server.compat import searxng_instance as instance
from searx_mcp.server.rest.foreign import status_for
from searx_mcp.server.rest.operation import Body, Call, Operation, Text, body, run_search
from searx_mcp.server.web.policy import SEARXNG_PATH
from searx_mcp.settings.tools import Tool
from searx_mcp.urls.hosts import host_in

_FORMAT: Final = "format"
_QUERY: Final = "q"
_PAGE: Final = "pageno"
_CATEGORY: Final = "category_"
_OUR_ARGUMENTS: Final = ("language", "time_range", "engines", "safesearch")
"""Parameters that are also our own arguments."""
_ALLOWED: Final = {
    "safesearch": ("0", "1", "2"),
    "time_range": ("day", "week", "month", "year"),
}
"""Other values that SearXNG accepts for them; it refuses the rest."""
_MOST_DIGITS: Final = 3


class SearxngQuery(Frozen):
    """The parameters of a search; others are ignored, as in SearXNG.

    Attributes:
        q: what to search for.
        format: `json`, `csv` or `rss`.
        categories: comma-separated names; the first known one is searched.
        engines: comma-separated names, instead of a category.
        language: two letters, a region such as en-US, all, or auto.
        pageno: page of results, from 1.
        time_range: how old results may be; empty for any age.
        safesearch: 0 off, 1 moderate, 2 strict.
    """

    model_config = ConfigDict(extra="ignore")

    q: Annotated[str, Field(min_length=1, max_length=MAX_QUERY_LENGTH)]
    format: Annotated[str, Field(pattern="^(json|csv|rss)$")]
    categories: str = ""
    engines: str = ""
    language: str = ""
    pageno: Annotated[int, Field(ge=1)] = 1
    time_range: Annotated[str, Field(pattern="^(day|week|month|year)?$")] = ""
    safesearch: Annotated[int, Field(ge=0, le=2)] = 1


class _Open(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)


class SearxngResult(_Open):
    """A row. Those of a template other than `default.html` have further fields, as in SearXNG.

    Attributes:
        template: kind of the row.
        url: address of the page.
        parsed_url: its six parts, as Python's `urlparse` gives them.
        title: plain text.
        content: excerpt of the page, from a search engine.
        engine: the first of `engines`.
        engines: all engines that found it.
        positions: its place in the list.
        score: 1 for the best row.
        category: category of the row.
        publishedDate: ISO 8601, or null.
        pubdate: the same as `2026-02-01 00:46:35+0000`, or the date as the engine wrote it.
        thumbnail: address of an image; empty without one.
    """

    template: str
    url: str
    parsed_url: tuple[str, ...] | None
    title: str
    content: str
    engine: str
    engines: tuple[str, ...]
    positions: tuple[int, ...]
    score: float
    category: str
    publishedDate: str | None  # noqa: N815 - SearXNG's name
    pubdate: str
    thumbnail: str


class SearxngAnswer(_Open):
    """The answer to a search.

    Attributes:
        query: the query as searched.
        number_of_results: number of results found; SearXNG dropped the field in 2025, but clients read it.
        results: results of this page.
        answers: direct answers.
        corrections, suggestions: other queries.
        infoboxes: boxes of facts.
        unresponsive_engines: names and reasons.
    """

    query: str
    number_of_results: int
    results: tuple[SearxngResult, ...]
    answers: tuple[dict[str, Any], ...]
    corrections: tuple[str, ...]
    infoboxes: tuple[dict[str, Any], ...]
    suggestions: tuple[str, ...]
    unresponsive_engines: tuple[tuple[str, str], ...]


class SearxngError(Frozen):
    """The body of a failed search.

    Attributes:
        error: the reason, in one sentence.
    """

    error: str


async def search(call: Call) -> Body:
    """Search, without reading the pages."""
    request = _request(call.arguments, call.backend.settings.search_defaults())
    response = await run_search(call, request)
    write = _FORMATS[str(_parameters_of(call.arguments)[_FORMAT])]
    return body(response, lambda: write(response))


def error_response(error: SearxMcpError) -> tuple[int, Mapping[str, Any]]:
    """Return SearXNG's status and body for an error."""
    is_format = isinstance(error, InvalidArgumentError) and error.field == _FORMAT
    return 403 if is_format else status_for(error), {"error": cause_of(error)}


def _request(raw: Mapping[str, Any], defaults: SearchDefaults) -> SearchRequest:
    parameters = _parameters_of(raw)
    if parameters.get(_FORMAT) not in _FORMATS:
        raise InvalidArgumentError(_FORMAT, f"must be one of {', '.join(_FORMATS)}")
    if not str(parameters.get(_QUERY, "")).strip():
        raise InvalidArgumentError(_QUERY, "is missing: no query")
    for name, known in _ALLOWED.items():
        if str(parameters.get(name, known[0])) not in known:
            raise InvalidArgumentError(name, f"must be one of {', '.join(known)}")
    values: dict[str, Any] = {_QUERY: parameters[_QUERY], "fetch_content": False}
    values |= {name: parameters[name] for name in _OUR_ARGUMENTS if name in parameters}
    if (category := _category(parameters, defaults)) is not None:
        values["category"] = category
    request = parse_search(values, defaults=defaults)
    # Pages of an instance vary in length. Ours follow one another without a gap.
    skipped = (_page(parameters.get(_PAGE, "1")) - 1) * request.results_count
    if skipped > MAX_SKIPPED:
        raise InvalidArgumentError(_PAGE, f"is too large: results end at {MAX_SKIPPED:,}")
    return request.model_copy(update={"offset": skipped, "page": 1})


def _parameters_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the non-empty parameters; the first of repeated ones."""
    firsts = {name: each[0] if isinstance(each, list) else each for name, each in raw.items()}
    return {name: value for name, value in firsts.items() if value}


def _page(text: str) -> int:
    if len(text) > _MOST_DIGITS or not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise InvalidArgumentError(_PAGE, "must be a number, 1 or more")
    return int(text)


def _category(parameters: Mapping[str, Any], defaults: SearchDefaults) -> str | None:
    """Return the first known category; SearXNG skips the others, and also accepts a category's name as a parameter."""
    listed = str(parameters.get("categories", "")).split(",")
    named = (name.removeprefix(_CATEGORY) for name in parameters if name.startswith(_CATEGORY))
    known = {*Category, *FURTHER_CATEGORIES, *defaults.categories}
    found = (name.strip().lower() for name in (*listed, *named))
    return next((name for name in found if name in known), None)


def as_json(response: SearchResponse) -> dict[str, Any]:
    """Format the answer to a search as SearXNG 2026.8 does.

    Attributions that open collections require are in `attribution`, which SearXNG does not have.
    """
    answer = {
        "query": response.query,
        "number_of_results": response.total_results,
        "results": [_row(each, place) for place, each in enumerate(response.results, 1)],
        "answers": [_answer(each) for each in response.answers],
        "corrections": [*response.corrections],
        "infoboxes": [infobox_fields(each, each.engine) for each in response.infoboxes],
        "suggestions": [*response.suggestions],
        "unresponsive_engines": [
            [each.engine, each.reason] for each in response.unresponsive_engines
        ],
    }
    return answer | ({"attribution": [*response.attribution]} if response.attribution else {})


def _row(result: SearchResult, place: int) -> dict[str, Any]:
    published, pubdate = _times(result)
    row: dict[str, Any] = {
        "template": "default.html",
        "title": result.title,
        "content": result.description,
        "img_src": "",
        "iframe_src": "",
        "audio_src": "",
        "thumbnail": result.thumbnail or "",
        "publishedDate": published,
        "pubdate": pubdate,
        "length": None,
        "views": "",
        "author": result.author,
        "metadata": result.attribution,
        "priority": "",
        "engines": [*result.engines],
        "open_group": False,
        "close_group": False,
        "positions": [place],
        "score": result.score,
        "category": result.category,
        "url": result.url,
        "engine": result.engine,
        "parsed_url": _parsed(result.url),
    }
    for name in TEMPLATE_FIELDS:
        if (values := getattr(result, name)) is not None:
            row["template"] = f"{TEMPLATES[name]}.html"
            row |= (
                _media_fields(values) if name in {"video", "media"} else kind_fields(name, values)
            )
    if result.image is not None:
        row["thumbnail_src"] = result.thumbnail or ""
    return row


def _times(result: SearchResult) -> tuple[str | None, str]:
    """Return the time as `publishedDate`, which is always machine-readable, and as `pubdate`."""
    try:
        at = datetime.fromisoformat(result.published_at or "")
    except ValueError:  # only a year, or nothing
        return None, result.published_at or result.published_text
    return at.isoformat(), at.strftime("%Y-%m-%d %H:%M:%S%z")


def _parsed(url: str | None) -> list[str] | None:
    try:
        return [*urlparse(url)] if url else None
    except ValueError:
        return None


def _answer(answer: Answer) -> dict[str, Any]:
    words = "; ".join((answer.text, *(f"{each.label}: {each.value}" for each in answer.details)))
    return {
        "url": answer.url,
        "engine": "",
        "parsed_url": _parsed(answer.url),
        "template": "answer/legacy.html",
        "answer": words,
    }


def _media_fields(media: Video | Media) -> dict[str, Any]:
    fields = {
        "length": media.length if media.seconds is None else media.seconds,
        "iframe_src": media.embed_url or "",
    }
    if isinstance(media, Video):
        return fields | {"views": media.views}
    return fields | {"audio_src": media.audio_url or ""}


_COLUMNS: Final = ("title", "url", "content", "host", "engine", "score", "type")
_FORMULA: Final = re.compile(r"[=+\-@\t\r]")
"""Characters that begin a formula if a spreadsheet opens the file."""
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow (2.2)."""
_RSS: Final = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">
  <channel>
    <title>SearXNG search: {query}</title>
    <link>search?q={encoded}</link>
    <description>Search results for "{query}" - SearXNG</description>
    <opensearch:startIndex>1</opensearch:startIndex>
    <opensearch:Query role="request" searchTerms={quoted} startPage="1"/>
{items}  </channel>
</rss>
"""
_ITEM: Final = """    <item>
      <title>{title}</title>
      <type>result</type>
      <link>{url}</link>
      <description>{content}</description>
{date}    </item>
"""


def as_csv(response: SearchResponse) -> Text:
    """Format results, answers, suggestions and corrections as rows."""
    sheet = StringIO()
    rows = csv.writer(sheet)
    rows.writerow(_COLUMNS)
    for row in _rows(response):
        rows.writerow([_cell(row.get(column, "")) for column in _COLUMNS])
    headers = (("content-disposition", "attachment; filename=searxng.csv"),)
    return Text(sheet.getvalue(), "application/csv; charset=utf-8", headers)


def _rows(response: SearchResponse) -> Iterator[Mapping[str, object]]:
    for each in response.results:
        yield {
            "title": each.title,
            "url": each.url,
            "content": each.description,
            "host": host_in(each.url),
            "engine": each.engine,
            "score": each.score,
            "type": "result",
        }
    for answer in response.answers:
        yield {"title": answer.text, "url": answer.url or "", "type": "answer"}
    kinds: Sequence[tuple[str, Sequence[str]]] = (
        ("suggestion", response.suggestions),
        ("correction", response.corrections),
    )
    for kind, words in kinds:
        yield from ({"title": each, "type": kind} for each in words)


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def as_rss(response: SearchResponse) -> Text:
    """Format the results as a feed."""
    query = _xml(response.query)
    feed = _RSS.format(
        query=query,
        encoded=escape(quote_plus(response.query, errors="replace")),
        quoted=quoteattr(_NO_XML.sub("", response.query)),
        items="".join(map(_item, response.results)),
    )
    return Text(feed, "text/xml; charset=utf-8")


def _item(result: SearchResult) -> str:
    date = _date(result.published_at)
    return _ITEM.format(
        title=_xml(result.title),
        url=_xml(result.url),
        content=_xml(result.description),
        date=f"      <pubDate>{date}</pubDate>\n" if date else "",
    )


def _date(published: str | None) -> str:
    """Format a time for RSS (RFC 822); empty if it is not one."""
    try:
        return format_datetime(datetime.fromisoformat(published or ""))
    except ValueError:
        return ""


def _xml(text: str) -> str:
    return escape(_NO_XML.sub("", text))


_FORMATS: Final[Mapping[str, Callable[[SearchResponse], Mapping[str, Any] | Text]]] = {
    "json": as_json,
    "csv": as_csv,
    "rss": as_rss,
}


def _search_operation(method: Literal["GET", "POST"], name: str, summary: str) -> Operation:
    return Operation(
        name=name,
        method=method,
        path=SEARXNG_PATH,
        summary=summary,
        request=SearxngQuery,
        responses=(SearxngAnswer,),
        statuses=(400, 403, 429, 500, 503, 504),
        perform=search,
        tool=Tool.WEB_SEARCH,
        takes_form=method == "POST",
        error=SearxngError,
        error_response=error_response,
        media_types=("application/json", "application/csv", "text/xml"),
    )


def _instance_operation(name: str, path: str, summary: str, **rest: Any) -> Operation:  # noqa: ANN401 - fields
    return Operation(
        name=f"searxng_{name}",
        method="GET",
        path=path,
        summary=summary,
        statuses=(500, 504),
        error=SearxngError,
        error_response=error_response,
        **rest,
    )


OPERATIONS: Final = (
    _search_operation("GET", "searxng_search", "Search like a SearXNG instance."),
    _search_operation(
        "POST", "searxng_search_form", "Search like a SearXNG instance, with a form."
    ),
    _instance_operation(
        "config",
        "/config",
        "Tell what can be searched, like a SearXNG instance.",
        request=None,
        responses=(instance.SearxngConfig,),
        perform=instance.config,
    ),
    _instance_operation(
        "autocompleter",
        "/autocompleter",
        "Suggest nothing, like a SearXNG instance without autocompletion.",
        request=instance.SearxngPrefix,
        responses=(instance.SearxngSuggestions,),
        perform=instance.autocompleter,
        media_types=("application/x-suggestions+json",),
    ),
    _instance_operation(
        "stats_errors",
        "/stats/errors",
        "Tell how engines of own instances failed, like a SearXNG instance.",
        request=None,
        responses=(instance.SearxngFaults,),
        perform=instance.stats_errors,
    ),
)
