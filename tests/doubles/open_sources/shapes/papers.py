"""Crossref and Europe PMC."""

from collections.abc import Sequence
from typing import Final

from searx_mcp.testing.instance.payload import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.addresses import address_of
from tests.doubles.open_sources.call import Call, json_page, page_of, text_page
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.lucene import Fields, QuerySyntaxError, scored_by
from tests.doubles.open_sources.matching import by_any, ranked, words

_MAX_ROWS: Final = 1_000
_CURSOR: Final = "AoIIP"
"""What the cursors of the double begin with; they are opaque in the service too."""
_MATCHED_BY: Final = ("query.bibliographic", "query", "query.title", "query.author")
_DATE_FILTERS: Final = {
    "from-pub-date": True,
    "from-online-pub-date": True,
    "from-created-date": True,
    "until-pub-date": False,
    "until-created-date": False,
}
_POOL: Final = {
    "x-rate-limit-limit": "5",
    "x-rate-limit-interval": "1s",
    "x-api-pool": "public",
}


def crossref(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/works` and `/works/{doi}`; a search returns something whatever it asks for."""
    if call.path.startswith("/works/"):
        doi = call.path.removeprefix("/works/").lower()
        for document in documents:
            if document.doi.lower() == doi:
                return json_page(_envelope("work", _work(document)), headers=_POOL)
        return text_page("Resource not found.", status=404)
    rows, start = call.number("rows", 20), call.number("offset", 0)
    if call.path != "/works" or rows > _MAX_ROWS:
        return text_page("Resource not found.", status=404 if call.path != "/works" else 400)
    asked = words(" ".join(call.text(name) for name in _MATCHED_BY))
    mine = [each for each in documents if _passes(each, call.text("filter"))]
    found = ranked(mine, by_any(asked)) if asked else mine
    # Where no word is found, there are still works.
    found = found or sorted(mine, key=lambda each: -each.points)
    chosen = [name for name in call.text("select").split(",") if name]
    items = []
    for document in page_of(found, start=start, size=rows):
        work = _work(document)
        items.append({name: work[name] for name in chosen if name in work} if chosen else work)
    message = {
        "facets": {},
        "total-results": len(found),
        "items": items,
        "items-per-page": rows,
        "query": {"start-index": start, "search-terms": call.text("query") or None},
    }
    return json_page(_envelope("work-list", message), headers=_POOL)


def _envelope(kind: str, message: Json) -> Json:
    return {
        "status": "ok",
        "message-type": kind,
        "message-version": "1.0.0",
        "message": message,
    }


def _passes(document: Document, filters: str) -> bool:
    for each in filters.split(","):
        name, _, value = each.partition(":")
        if name in _DATE_FILTERS and value:
            day, edge = document.stamp[:10], value[:10]
            if day < edge if _DATE_FILTERS[name] else day[: len(edge)] > edge:
                return False
        if name == "type" and value != (document.kind or "journal-article"):
            return False
        if name == "doi" and value.lower() != document.doi.lower():
            return False
    return True


def _work(document: Document) -> Json:
    parts: list[int | None] = [int(part) for part in document.date[:10].split("-") if part]
    fields: dict[str, object] = {
        "DOI": document.doi,
        "title": [document.title],
        "author": [_person(name, at) for at, name in enumerate(document.authors)],
        # A date that is not known is a list of null.
        "issued": {"date-parts": [parts or [None]]},
        "publisher": document.container,
        "type": document.kind or "journal-article",
        "URL": address_of(document),
        "is-referenced-by-count": document.points,
        "score": 10.0,
        "language": document.language,
    }
    if document.container:
        fields["container-title"] = [document.container]
        fields |= {"volume": "12", "issue": "3", "page": "101-117"}
    if document.text:
        fields["abstract"] = f"<jats:p>{document.text}</jats:p>"
    return fields


def _person(name: str, at: int) -> Json:
    sequence = "additional" if at else "first"
    given, _, family = name.rpartition(" ")
    if not given or "Collaboration" in name:
        return {"name": name, "sequence": sequence, "affiliation": []}
    return {"given": given, "family": family, "sequence": sequence, "affiliation": []}


def europepmc(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/europepmc/webservices/rest/search`; any word finds a paper, fields and dates filter."""
    if call.path != "/europepmc/webservices/rest/search":
        return text_page("Not Found", status=404)
    query, cursor = call.text("query"), call.text("cursorMark", "*")
    size = min(call.number("pageSize", 25), _MAX_ROWS)
    try:
        found = ranked(documents, scored_by(query, _fields)) if query.strip() else []
    except QuerySyntaxError as error:
        return json_page({"errCode": 400, "errMsg": f"Invalid query: {error}"}, status=400)
    start = 0 if cursor == "*" else _position(cursor)
    part = page_of(found, start=start, size=size)
    is_core = call.text("resultType", "lite") == "core"
    following = f"{_CURSOR}{start + len(part)}" if part else cursor
    return json_page(
        {
            "version": "6.9",
            "hitCount": len(found),
            "nextCursorMark": following,
            "request": {
                "queryString": query,
                "resultType": call.text("resultType", "lite"),
                "cursorMark": cursor,
                "pageSize": size,
                "sort": call.text("sort"),
                "synonym": False,
            },
            "resultList": {"result": [_paper(each, is_core=is_core) for each in part]},
        }
    )


def _position(cursor: str) -> int:
    number = cursor.removeprefix(_CURSOR)
    return int(number) if number.isdecimal() else 0


def _fields(document: Document) -> Fields:
    day = document.stamp[:10]
    return {
        "": document.searched,
        "title": document.title,
        "abstract": document.text,
        "auth": document.author,
        "journal": document.container,
        "doi": document.doi,
        "ext_id": document.identifier,
        "src": "MED",
        "lang": document.language,
        "first_pdate": day,
        "e_pdate": day,
        "pub_year": day[:4],
        "open_access": "y" if document.number % 2 else "n",
    }


def _paper(document: Document, *, is_core: bool) -> Json:
    is_open = bool(document.number % 2)
    pmcid = f"PMC{document.number}"
    fields: dict[str, object] = {
        "id": document.identifier,
        "source": "MED",
        "pmid": document.identifier,
        "doi": document.doi,
        "title": document.title,
        "authorString": document.author,
        "pubYear": document.stamp[:4],
        "isOpenAccess": "Y" if is_open else "N",
        "inEPMC": "Y" if is_open else "N",
        "citedByCount": document.points,
        "firstIndexDate": document.stamp[:10],
        "firstPublicationDate": document.stamp[:10],
    }
    if is_open:
        fields["pmcid"] = pmcid
    if not is_core:
        return fields | {"journalTitle": document.container}
    links = [("Subscription required", "S", "doi", f"https://doi.org/{document.doi}")]
    if is_open:
        page = f"https://europepmc.org/articles/{pmcid}"
        links = [
            ("Open access", "OA", "html", page),
            ("Open access", "OA", "pdf", f"{page}?pdf=render"),
        ]
    return fields | {
        "abstractText": f"<h4>Results</h4>{document.text}",
        "language": {"en": "eng", "es": "spa"}.get(document.language, "und"),
        "journalInfo": {
            "yearOfPublication": document.moment.year,
            "printPublicationDate": document.stamp[:10],
            "journal": {"title": document.container, "medlineAbbreviation": document.container},
        },
        "fullTextUrlList": {
            "fullTextUrl": [
                {
                    "availability": availability,
                    "availabilityCode": code,
                    "documentStyle": style,
                    "site": "Europe_PMC" if is_open else "DOI",
                    "url": url,
                }
                for availability, code, style, url in links
            ]
        },
    }
