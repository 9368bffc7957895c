"""arXiv: preprints of physics, mathematics and computer science, from an Atom feed."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Final, Protocol

from searx_mcp.content.clean import clean_line
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import Paper
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    ANY_AGE,
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    RefusedError,
    Routing,
)
from searx_mcp.sources.open.question import IdentifierKind, Signal
from searx_mcp.sources.open.rows import MAX_DESCRIPTION, MAX_NAME, MAX_TITLE, Rows, address, names

NAME: Final = "arxiv"
PER_PAGE: Final = 10

_OPERATORS: Final = frozenset({"AND", "OR", "ANDNOT", "NOT", "TO"})
_WORD = re.compile(r"\w+")
_ID = re.compile(r"https?://arxiv\.org/abs/([\w./-]{5,40}?)(?:v[0-9]{1,4})?")
_ERRORS: Final = "arxiv.org/api/errors"
_ATOM: Final = "{http://www.w3.org/2005/Atom}"
_ARXIV: Final = "{http://arxiv.org/schemas/atom}"
_OPENSEARCH: Final = "{http://a9.com/-/spec/opensearch/1.1/}"


class _Element(Protocol):
    """The used part of lxml's element, which has no type hints."""

    tag: object

    def get(self, name: str) -> str | None: ...
    def findtext(self, path: str) -> str | None: ...
    def iterfind(self, path: str) -> Iterator["_Element"]: ...


def ask(query: OpenQuery) -> Ask | None:
    """Search all fields for all keywords, or look up the preprint that the question names."""
    parameters = {"start": str(PER_PAGE * (query.page - 1)), "max_results": str(PER_PAGE)}
    if query.identifier and _is_named(query):
        return Ask({"id_list": query.identifier.value, **parameters}) if query.page == 1 else None
    clauses = [f"all:{term}" for term in map(_term, query.keywords) if term]
    if not clauses:
        return None
    if query.since:
        clauses.append(f"submittedDate:[{query.since:%Y%m%d}0000 TO {query.today:%Y%m%d}2359]")
    return Ask({"search_query": " AND ".join(clauses), **parameters, "sortBy": "relevance"})


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse the entries of the feed; an error is an entry, too."""
    feed = _feed(body)
    total = _number(feed.findtext(f"{_OPENSEARCH}totalResults"))
    rows = Rows(NAME, query)
    is_named = _is_named(query)
    for entry in feed.iterfind(f"{_ATOM}entry"):
        if _ERRORS not in (entry.findtext(f"{_ATOM}id") or ""):
            _add(rows, entry)
        elif not is_named:
            raise RefusedError(Verdict.REFUSED, "arXiv could not parse the query.", ours=True)
    parsed = rows.parsed(has_next=total > PER_PAGE * query.page)
    # An unknown id is counted, and has no entry, an empty one, or an error.
    if not is_named and not parsed.rows_seen and total > PER_PAGE * (query.page - 1):
        raise ValueError("the answer counts entries but has none")
    return parsed


def _is_named(query: OpenQuery) -> bool:
    return query.identifier is not None and query.identifier.kind is IdentifierKind.ARXIV


def _term(keyword: str) -> str:
    """Return a keyword without punctuation; one with punctuation inside becomes a phrase."""
    words = _WORD.findall(keyword)
    text = " ".join(words)
    return f'"{text}"' if len(words) > 1 or text in _OPERATORS else text


def _feed(body: bytes) -> _Element:
    from lxml import etree  # noqa: PLC0415 - no other answer is XML

    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise ValueError("the answer declares a document type")
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        feed: _Element = etree.fromstring(body, parser)
    except etree.XMLSyntaxError as exc:
        raise ValueError("the answer is not XML") from exc
    if feed.tag != f"{_ATOM}feed":
        raise ValueError("the answer is not a feed")
    return feed


def _add(rows: Rows, entry: _Element) -> None:
    about = entry.findtext(f"{_ATOM}id") or ""
    found = _ID.fullmatch(about.strip())
    links = {link.get("title"): link.get("href") for link in entry.iterfind(f"{_ATOM}link")}
    # Without a version, the address leads to the latest one.
    rows.add(
        f"https://arxiv.org/abs/{found[1]}" if found else "",
        entry.findtext(f"{_ATOM}title") or "",
        description=entry.findtext(f"{_ATOM}summary") or "",
        published=entry.findtext(f"{_ATOM}published") or "",
        template="paper",
        paper=Paper(
            authors=names(_texts(entry, f"{_ATOM}author/{_ATOM}name")),
            journal=clean_line(entry.findtext(f"{_ARXIV}journal_ref") or "", MAX_TITLE),
            doi=clean_line(entry.findtext(f"{_ARXIV}doi") or "", MAX_NAME),
            tags=names(tag.get("term") or "" for tag in entry.iterfind(f"{_ATOM}category")),
            comments=clean_line(entry.findtext(f"{_ARXIV}comment") or "", MAX_DESCRIPTION),
            pdf_url=address((links.get("pdf") or "").replace("http://", "https://", 1)),
        ),
    )


def _texts(entry: _Element, path: str) -> Iterator[str]:
    return (found.findtext(".") or "" for found in entry.iterfind(path))


def _number(text: str | None) -> int:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < MAX_NAME else 0


ENGINE: Final = Engine(
    name=NAME,
    title="arXiv",
    operator="Cornell University, US",
    categories={Category.SCIENCE: 2},
    endpoint="https://export.arxiv.org/api/query",
    ask=ask,
    parse=parse,
    # Its CDN answers 406 to clients without this header, and, like 429, below the published rate.
    accept="application/atom+xml, text/xml, */*",
    limits=frozenset({HTTPStatus.NOT_ACCEPTABLE}),
    # One request in three seconds, one at a time, over all of arXiv's interfaces.
    gap=3.1,
    per_day=500,
    patience=3.0,
    timeout=8.0,
    wants_contact=True,
    licence="Thank you to arXiv for use of its open access interoperability.",
    is_slow=True,
    time_ranges=ANY_AGE,
    languages=frozenset({"en"}),
    hosts=("arxiv.org",),
    routing=Routing(
        signals={Signal.SCHOLARLY: 1, Signal.FORMAL: 2},
        pairs={
            frozenset({Signal.SCHOLARLY, Signal.FORMAL}): 3,
            frozenset({Signal.SCHOLARLY, Signal.BIOMEDICAL}): -1,
        },
        within={Category.SCIENCE: {Signal.FORMAL: 4}},
        homes={Category.SCIENCE: frozenset({Signal.FORMAL})},
    ),
    words=EngineWords(
        names="arxiv",
        frames="arxiv_paper_on arxiv_papers_on arxiv on_arxiv",
        implied="paper papers study arxiv preprint article research",
    ),
    finds=frozenset({IdentifierKind.ARXIV}),
    terms_url="https://info.arxiv.org/help/api/tou.html",
    terms_checked="2026-11",
)
