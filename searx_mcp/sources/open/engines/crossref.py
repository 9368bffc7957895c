"""Crossref: publishers' metadata of articles, books and proceedings, by words or by DOI."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final
from urllib.parse import quote

from searx_mcp.content.values import Fields, loads
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
from searx_mcp.sources.open.rows import MAX_TITLE, Rows, cited, names, plain

NAME: Final = "crossref"
PER_PAGE: Final = 10

_FIELDS: Final = (
    "DOI,title,abstract,author,issued,container-title,publisher,type,URL,is-referenced-by-count,"
    "volume,issue,page"
)
_MAIL = re.compile(r"[^@\s/:]+@[^@\s/:]+")
_NOT_FOUND: Final = 404
_MONTHS: Final = range(1, 13)
_YEARS: Final = range(1000, 10_000)


def ask(query: OpenQuery) -> Ask | None:
    """Search titles, authors and journals, or look up the DOI that the question names."""
    mail = query.contact.removeprefix("mailto:")
    contact = {"mailto": mail} if _MAIL.fullmatch(mail) else {}
    if query.identifier and query.identifier.kind is IdentifierKind.DOI:
        return Ask(contact, path=(query.identifier.value,)) if query.page == 1 else None
    if not query.text:
        return None
    parameters = {
        "query.bibliographic": query.text,
        "rows": str(PER_PAGE),
        "offset": str(PER_PAGE * (query.page - 1)),
        "select": _FIELDS,
    }
    if query.since:
        parameters["filter"] = f"from-pub-date:{query.since}"
    return Ask({**parameters, **contact})


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `message`: a list of works, or the one work of a DOI."""
    rows = Rows(NAME, query)
    has_next = False
    match loads(body):
        case {"message": {"items": list(items)} as message}:
            total = Fields(message).count("total-results") or 0
            has_next = bool(items) and total > PER_PAGE * query.page
        case {"message": {"DOI": str()} as work}:
            items = [work]
        case _:
            raise ValueError("the answer has no works")
    for item in items:
        if isinstance(item, dict) and item.get("type") != "component":
            _add(rows, Fields(item), item.get("issued"))
        else:
            rows.skip()
    return rows.parsed(has_next=has_next)


def read_refusal(status: int, headers: Mapping[str, str], body: bytes) -> RefusedError | None:
    """Parse 404, the answer to a DOI that no member of Crossref has registered."""
    del headers, body
    return (
        RefusedError(Verdict.EMPTY, "Crossref has no work with this DOI.")
        if status == _NOT_FOUND
        else None
    )


def _add(rows: Rows, work: Fields, issued: object) -> None:
    doi = work.line("DOI")
    authors = (
        f"{author.text('given')} {author.text('family')}".strip() or author.text("name")
        for author in work.parts("author")
    )
    rows.add(
        work.text("URL") or (f"https://doi.org/{quote(doi)}" if doi else ""),
        plain(next(iter(work.texts("title")), ""), MAX_TITLE),
        description=plain(work.text("abstract")).removeprefix("Abstract "),
        published=_date(issued),
        template="paper",
        paper=Paper(
            authors=names(authors),
            journal=plain(next(iter(work.texts("container-title")), ""), MAX_TITLE),
            volume=work.line("volume"),
            number=work.line("issue"),
            pages=work.line("page"),
            publisher=work.line("publisher"),
            doi=doi,
            type=work.line("type"),
            comments=cited(work.count("is-referenced-by-count")),
        ),
    )


def _date(issued: object) -> str:
    """Return the date of `{"date-parts": [[2026, 11, 3]]}`, as far as given; it may be `[[null]]`."""
    match issued:
        case {"date-parts": [[int(year), *rest], *_]} if year in _YEARS:
            pass
        case _:
            return ""
    match rest:
        case [int(month), int(day), *_] if month in _MONTHS:
            try:
                return date(year, month, day).isoformat()
            except (ValueError, OverflowError):
                return f"{year}-{month:02d}"
        case [int(month), *_] if month in _MONTHS:
            return f"{year}-{month:02d}"
        case _:
            return str(year)


ENGINE: Final = Engine(
    name=NAME,
    title="Crossref",
    operator="Crossref, US",
    categories={Category.SCIENCE: 3},
    endpoint="https://api.crossref.org/works",
    ask=ask,
    parse=parse,
    read_refusal=read_refusal,
    weight=0.9,
    # One list a second is said to be allowed without a contact, three with one.
    gap=0.4,
    gap_without_contact=1.1,
    per_day=1_000,
    timeout=8.0,
    wants_contact=True,
    is_slow=True,
    time_ranges=ANY_AGE,
    routing=Routing(
        signals={Signal.SCHOLARLY: 3},
        within={Category.SCIENCE: {Signal.BIOMEDICAL: 1}},
    ),
    words=EngineWords(
        names="crossref",
        implied=(
            "paper papers study studies article articles journal research literature publication"
        ),
    ),
    finds=frozenset({IdentifierKind.DOI}),
    terms_url="https://www.crossref.org/documentation/retrieve-metadata/rest-api/access-and-authentication/",
    terms_checked="2026-11",
)
