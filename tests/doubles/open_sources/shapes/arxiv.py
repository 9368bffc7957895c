"""arXiv: the search interface, which answers with an Atom feed."""

import re
from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.call import Call, page_of, text_page
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.lucene import Fields, scored_by
from tests.doubles.open_sources.matching import ranked

_ATOM: Final = "application/atom+xml; charset=UTF-8"
_VERSION = re.compile(r"v\d+$")
_ID = re.compile(r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?")
_NAMESPACES: Final = (
    'xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"'
    ' xmlns:arxiv="http://arxiv.org/schemas/atom"'
)
_LINE: Final = 60
"""Characters after which the double breaks a summary, as the service's summaries are broken."""


def arxiv(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/api/query`, by `id_list` or by `search_query` in Lucene's language."""
    if call.path != "/api/query":
        return text_page("Not Found", status=404)
    wanted = [each.strip() for each in call.text("id_list").split(",") if each.strip()]
    query = call.text("search_query")
    for identifier in wanted:
        if not _ID.fullmatch(identifier):
            return _error(call, "incorrect_id_format", f"incorrect id format for {identifier}")
    found = list(documents)
    if wanted:
        bare = {_VERSION.sub("", identifier) for identifier in wanted}
        found = [each for each in found if _VERSION.sub("", each.identifier) in bare]
    else:
        found = ranked(found, scored_by(query, _fields))
    start, size = call.number("start", 0), call.number("max_results", 10)
    part = page_of(found, start=start, size=size)
    return _feed(call, "".join(map(_entry, part)), total=len(found), start=start, size=size)


def _fields(document: Document) -> Fields:
    return {
        # A bare word, without `all:`, is looked for everywhere too.
        "": document.searched,
        "all": document.searched,
        "title": document.title,
        "abs": document.text,
        "id": document.identifier,
        "submitteddate": document.stamp,
    }


def _feed(call: Call, entries: str, *, total: int, start: int, size: int) -> FakePage:
    title = f"ArXiv Query: search_query={call.text('search_query')}&id_list={call.text('id_list')}"
    body = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<feed {_NAMESPACES}>\n'
        f'  <link href={quoteattr(call.url)} rel="self" type="application/atom+xml"/>\n'
        f'  <title type="html">{escape(title)}</title>\n'
        f"  <id>http://arxiv.org/api/double</id>\n"
        f"  <updated>{call.now:%Y-%m-%dT00:00:00-05:00}</updated>\n"
        f"  <opensearch:totalResults>{total}</opensearch:totalResults>\n"
        f"  <opensearch:startIndex>{start}</opensearch:startIndex>\n"
        f"  <opensearch:itemsPerPage>{size}</opensearch:itemsPerPage>\n{entries}</feed>\n"
    )
    return FakePage(body, _ATOM)


def _error(call: Call, name: str, message: str) -> FakePage:
    entry = (
        f"  <entry>\n    <id>http://arxiv.org/api/errors#{name}</id>\n    <title>Error</title>\n"
        f"    <summary>{escape(message)}</summary>\n"
        f"    <author><name>arXiv api core</name></author>\n  </entry>\n"
    )
    page = _feed(call, entry, total=1, start=0, size=1)
    return FakePage(page.body, _ATOM, status=400)


def _entry(document: Document) -> str:
    page = f"http://arxiv.org/abs/{document.identifier}"
    authors = "".join(
        f"    <author><name>{escape(name)}</name></author>\n" for name in document.authors
    )
    optional = ""
    if document.doi:
        optional += f"    <arxiv:doi>{escape(document.doi)}</arxiv:doi>\n"
        optional += f'    <link title="doi" href="http://dx.doi.org/{escape(document.doi)}" rel="related"/>\n'
    if document.container:
        optional += f"    <arxiv:journal_ref>{escape(document.container)}</arxiv:journal_ref>\n"
    subjects = "".join(
        f'    <category term="{escape(tag)}" scheme="http://arxiv.org/schemas/atom"/>\n'
        for tag in document.tags
    )
    pdf = page.replace("/abs/", "/pdf/")
    return (
        f"  <entry>\n    <id>{page}</id>\n    <updated>{document.stamp}</updated>\n"
        f"    <published>{document.stamp}</published>\n"
        f"    <title>{escape(document.title)}</title>\n"
        f"    <summary>  {escape(_broken(document.text))}\n</summary>\n{authors}{optional}"
        f'    <link href="{page}" rel="alternate" type="text/html"/>\n'
        f'    <link title="pdf" href="{pdf}" rel="related" type="application/pdf"/>\n'
        f'    <arxiv:primary_category term="{escape(document.tags[0])}"/>\n{subjects}  </entry>\n'
    )


def _broken(text: str) -> str:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > _LINE:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)
