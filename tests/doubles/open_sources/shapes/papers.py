"""Crossref and Europe PMC."""

from collections.abc import Sequence
from typing import Final

from searx_mcp.testing.instance.replies import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.addresses import address_of
from tests.doubles.open_sources.call import Call, json_page, page_of, text_page
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.lucene import Fields, scored_by
from tests.doubles.open_sources.matching import by_any, ranked, words

_MAX_ROWS: Final = 1_000
_SINCE: Final = "from-pub-date:"


def crossref(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/works` and `/works/{doi}`; a search returns something whatever it asks for."""
    if call.path.startswith("/works/"):
        doi = call.path.removeprefix("/works/").lower()
        for document in documents:
            if document.doi.lower() == doi:
                return json_page({"message": _work(document)})
        return text_page("Resource not found.", status=404)
    rows, start = call.number("rows", 20), call.number("offset", 0)
    if call.path != "/works" or rows > _MAX_ROWS:
        return text_page("Resource not found.", status=404 if call.path != "/works" else 400)
    since = call.text("filter").removeprefix(_SINCE)
    mine = [each for each in documents if each.stamp >= since]
    # Where no word is found, there are still works.
    found = ranked(mine, by_any(words(call.text("query.bibliographic"))))
    found = found or sorted(mine, key=lambda each: -each.points)
    chosen = call.text("select").split(",")
    items = [
        {name: value for name, value in _work(document).items() if name in chosen}
        for document in page_of(found, start=start, size=rows)
    ]
    return json_page({"message": {"total-results": len(found), "items": items}})


def _work(document: Document) -> Json:
    parts: list[int | None] = [int(part) for part in document.date[:10].split("-") if part]
    fields: dict[str, object] = {
        "DOI": document.doi,
        "title": [document.title],
        "author": [_person(name) for name in document.authors],
        # A date that is not known is a list of null.
        "issued": {"date-parts": [parts or [None]]},
        "publisher": document.container,
        "type": document.kind or "journal-article",
        "URL": address_of(document),
        "is-referenced-by-count": document.points,
    }
    if document.container:
        fields["container-title"] = [document.container]
        fields |= {"volume": "12", "issue": "3", "page": "101-117"}
    if document.text:
        fields["abstract"] = f"<jats:p>{document.text}</jats:p>"
    return fields


def _person(name: str) -> Json:
    given, _, family = name.rpartition(" ")
    if not given or "Collaboration" in name:
        return {"name": name}
    return {"given": given, "family": family}


def europepmc(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/europepmc/webservices/rest/search`; any word finds a paper, fields and dates filter."""
    if call.path != "/europepmc/webservices/rest/search":
        return text_page("Not Found", status=404)
    found = ranked(documents, scored_by(call.text("query"), _fields))
    part = found[: min(call.number("pageSize", 25), _MAX_ROWS)]
    return json_page({"resultList": {"result": [_paper(document) for document in part]}})


def _fields(document: Document) -> Fields:
    return {
        "": document.searched,
        "title": document.title,
        "doi": document.doi,
        "ext_id": document.identifier,
        "src": "MED",
        "first_pdate": document.stamp[:10],
    }


def _paper(document: Document) -> Json:
    is_open = bool(document.number % 2)
    pmcid = f"PMC{document.number}"
    fields: dict[str, object] = {
        "id": document.identifier,
        "source": "MED",
        "pmid": document.identifier,
        "doi": document.doi,
        "title": document.title,
        "authorString": document.author,
        "citedByCount": document.points,
        "firstPublicationDate": document.stamp[:10],
    }
    if is_open:
        fields["pmcid"] = pmcid
    links = [("S", "doi", f"https://doi.org/{document.doi}")]
    if is_open:
        page = f"https://europepmc.org/articles/{pmcid}"
        links = [("OA", "html", page), ("OA", "pdf", f"{page}?pdf=render")]
    return fields | {
        "abstractText": f"<h4>Results</h4>{document.text}",
        "journalInfo": {"journal": {"title": document.container}},
        "fullTextUrlList": {
            "fullTextUrl": [
                {"availabilityCode": code, "documentStyle": style, "url": url}
                for code, style, url in links
            ]
        },
    }
