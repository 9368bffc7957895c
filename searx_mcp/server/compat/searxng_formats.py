"""The answer to a search as CSV and as RSS, like SearXNG's."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from email.utils import format_datetime
from io import StringIO
from typing import Final
from urllib.parse import quote_plus
from xml.sax.saxutils import escape, quoteattr

from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.server.rest.operation import Text
from searx_mcp.urls.hosts import host_in

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
