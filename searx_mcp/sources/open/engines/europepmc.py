"""Europe PMC: life science publications, from PubMed and preprint servers."""

import re
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from searx_mcp.content.values import Fields
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import Paper
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    ANY_AGE,
    LUCENE_OPERATORS,
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    RefusedError,
    Routing,
)
from searx_mcp.sources.open.question import Identifier, IdentifierKind, Signal
from searx_mcp.sources.open.rows import MAX_TITLE, Rows, address, cited, json_object, names, plain

NAME: Final = "europepmc"
PER_PAGE: Final = 10

_PIECE = re.compile(r'"([^"]*)"|[^\s"]+')
_WORD = re.compile(r"\w+(?:[-.'\u2019]\w+)*")
"""Words without operators of the query language, which is Lucene's."""
_SOURCE = re.compile(r"[A-Z]{2,4}")
_FREE: Final = frozenset({"OA", "F"})
"""Codes of freely readable full texts: open access, and free."""


def ask(query: OpenQuery) -> Ask | None:
    """Search the publications, or look up the one that the question names.

    Further pages need a cursor from the previous answer, so only the first page is used.
    """
    asked = _named(query.identifier) or _words(query.text)
    if not asked or query.page > 1:
        return None
    if query.since and query.identifier is None:
        asked = f"({asked}) AND FIRST_PDATE:[{query.since} TO {query.today}]"
    return Ask({"query": asked, "pageSize": str(PER_PAGE), "cursorMark": "*"})


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `resultList.result`."""
    answer = json_object(body)
    if "errMsg" in answer or "errCode" in answer:
        if (answer.count("errCode") or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise RefusedError(Verdict.SERVER_ERROR, "Europe PMC failed.")
        raise RefusedError(Verdict.REFUSED, "Europe PMC could not parse the query.", ours=True)
    if "resultList" not in answer:
        raise ValueError("the answer has no results")
    rows = Rows(NAME, query)
    for result in answer.part("resultList").parts("result"):
        _add(rows, result)
    return rows.parsed()


def _named(identifier: Identifier | None) -> str:
    match identifier:
        case Identifier(IdentifierKind.DOI, value):
            return 'DOI:"{}"'.format(value.replace("\\", "").replace('"', ""))
        case Identifier(IdentifierKind.PMID, value) if value.isascii() and value.isdigit():
            return f"EXT_ID:{value} AND SRC:MED"
        case _:
            return ""


def _words(text: str) -> str:
    """Return the words of a text, and its quoted phrases."""
    pieces = []
    for piece in _PIECE.finditer(text):
        words = _WORD.findall(piece[0])
        if piece[1] and len(words) > 1:
            pieces.append('"{}"'.format(" ".join(words)))
        else:
            pieces.extend(word.lower() if word in LUCENE_OPERATORS else word for word in words)
    return " ".join(pieces)


def _add(rows: Rows, result: Fields) -> None:
    source, number = result.text("source"), result.text("id")
    known = _SOURCE.fullmatch(source) and number
    journal = result.part("journalInfo")
    texts = {
        text.text("documentStyle"): text.text("url")
        for text in reversed(result.part("fullTextUrlList").parts("fullTextUrl"))
        if text.text("availabilityCode") in _FREE
    }
    rows.add(
        f"https://europepmc.org/article/{source}/{quote(number, safe='')}" if known else "",
        plain(result.text("title"), MAX_TITLE).removesuffix("."),
        description=plain(result.text("abstractText")),
        published=result.day("firstPublicationDate"),
        template="paper",
        paper=Paper(
            authors=names(result.text("authorString").removesuffix(".").split(", ")),
            journal=journal.part("journal").line("title"),
            volume=journal.line("volume"),
            number=journal.line("issue"),
            pages=result.line("pageInfo"),
            publisher=result.part("bookOrReportDetails").line("publisher"),
            doi=result.line("doi"),
            issn=names([journal.part("journal").text("issn")]),
            type=next(iter(result.part("pubTypeList").lines("pubType")), ""),
            tags=names(result.part("keywordList").texts("keyword")),
            comments=cited(result.count("citedByCount")),
            pdf_url=address(texts.get("pdf", "")),
            html_url=address(texts.get("html", "")),
        ),
    )


ENGINE: Final = Engine(
    name=NAME,
    title="Europe PMC",
    operator="EMBL-EBI, UK",
    categories={Category.SCIENCE: 2.5},
    endpoint="https://www.ebi.ac.uk/europepmc/webservices/rest/search",
    parameters={"format": "json", "resultType": "core"},
    ask=ask,
    parse=parse,
    demands_all=True,
    # Ten requests a second are said to be allowed per address.
    gap=0.3,
    per_day=2_000,
    timeout=6.0,
    time_ranges=ANY_AGE,
    pages=False,
    routing=Routing(
        signals={Signal.SCHOLARLY: 1.5, Signal.BIOMEDICAL: 3},
        pairs={
            frozenset({Signal.SCHOLARLY, Signal.FORMAL}): -1.5,
            frozenset({Signal.SCHOLARLY, Signal.BIOMEDICAL}): 2,
        },
        within={Category.SCIENCE: {Signal.BIOMEDICAL: 5}},
        homes={Category.SCIENCE: frozenset({Signal.BIOMEDICAL})},
    ),
    words=EngineWords(
        names="pubmed europe_pmc europepmc pmc biorxiv medrxiv",
        frames="pubmed on_pubmed",
        implied="paper papers study studies article articles journal research pubmed literature",
    ),
    finds=frozenset({IdentifierKind.DOI, IdentifierKind.PMID}),
    terms_url="https://europepmc.org/RestfulWebService",
    terms_checked="2026-11",
)
