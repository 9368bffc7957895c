"""Openverse, the Internet Archive and Sepia Search, the index of PeerTube servers."""

from collections.abc import Sequence
from typing import Final

from searx_mcp.testing.instance.replies import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.addresses import address_of, uuid_of
from tests.doubles.open_sources.call import Call, json_page, page_of, text_page
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.lucene import Fields, scored_by
from tests.doubles.open_sources.matching import by_any, by_leading, ranked, words

_OPENVERSE_SIZE: Final = 20
"""Results of a page to those without a token, by the documentation of throttling; more is a 401."""
_OPENVERSE_DEPTH: Final = 240
_SEPIA_MAX: Final = 100


def openverse(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/v1/images/` and `/v1/audio/`; any word finds a work."""
    is_audio = call.path == "/v1/audio/"
    if not is_audio and call.path != "/v1/images/":
        return json_page({"detail": "Not found."}, status=404)
    size, number = call.number("page_size", _OPENVERSE_SIZE), max(call.number("page", 1), 1)
    if size > _OPENVERSE_SIZE:
        detail = "page_size may not exceed 20 for anonymous requests"
        return json_page({"detail": detail}, status=401)
    if size * number > _OPENVERSE_DEPTH:
        return json_page({"detail": "Invalid page."}, status=400)
    mine = [document for document in documents if (document.kind == "audio") == is_audio]
    found = ranked(mine, by_any(words(call.text("q"))))[:_OPENVERSE_DEPTH]
    part = page_of(found, start=(number - 1) * size, size=size)
    return json_page(
        {
            "result_count": len(found),
            "page_count": -(-len(found) // size) if size else 0,
            "results": [_work(document) for document in part],
        }
    )


def _work(document: Document) -> Json:
    kind = "audio" if document.kind == "audio" else "images"
    uuid = uuid_of(document.number)
    own = f"https://api.openverse.org/v1/{kind}/{uuid}"
    ending = "mp3" if kind == "audio" else "jpg"
    name, _, version = document.licence.rpartition(" ")
    code = name.removeprefix("CC ").lower()
    fields: dict[str, object] = {
        "id": uuid,
        "title": document.title,
        "foreign_landing_url": address_of(document),
        "url": f"https://files.photos.example/{document.slug}.{ending}",
        "creator": document.author,
        "license": code,
        "license_version": version,
        "license_url": f"https://creativecommons.org/licenses/{code}/{version}/",
        "source": "flickr",
        "category": document.kind,
        "filesize": 245_000,
        "filetype": ending,
        "tags": [{"name": tag} for tag in document.tags],
        "attribution": f'"{document.title}" by {document.author} is licensed under {document.licence}.',
        "mature": False,
        "thumbnail": f"{own}/thumb/",
    }
    if kind == "audio":
        # In milliseconds.
        return fields | {"duration": document.seconds * 1_000}
    return fields | {"width": document.width, "height": document.height}


def internetarchive(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/advancedsearch.php` in Lucene's language: any word, unless AND stands between them."""
    if call.path != "/advancedsearch.php":
        return text_page("Not Found", status=404)
    query = call.text("q")
    found = ranked(documents, scored_by(query, _fields))
    rows, number = call.number("rows", 50), max(call.number("page", 1), 1)
    start = (number - 1) * rows
    wanted = call.text("fl[]").split(",")
    docs = []
    for document in page_of(found, start=start, size=rows):
        item = _item(document)
        docs.append({name: item[name] for name in wanted if item.get(name)})
    return json_page({"response": {"numFound": len(found), "start": start, "docs": docs}})


def _fields(document: Document) -> Fields:
    return {
        "": document.searched,
        "title": document.title,
        "mediatype": document.kind,
        "publicdate": document.stamp,
    }


def _item(document: Document) -> Json:
    # A field that was filled in twice is a list; every second item of the double is so.
    is_list = bool(document.number % 2)
    return {
        "identifier": document.slug,
        "title": document.title,
        "description": [document.text, "Digitised."] if is_list else document.text,
        "creator": [document.author] if is_list else document.author,
        "date": document.stamp if document.date else "",
        "mediatype": document.kind,
        "downloads": document.points,
        "item_size": 1_000 * document.number,
        "licenseurl": "https://creativecommons.org/publicdomain/mark/1.0/",
    }


def sepiasearch(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/api/v1/search/videos`: words are given up from the end until something is found."""
    if call.path != "/api/v1/search/videos":
        return json_page({"error": "Not Found", "status": 404}, status=404)
    size, start = call.number("count", 15), call.number("start", 0)
    if size > _SEPIA_MAX:
        return json_page({"error": "Should have a number count", "status": 400}, status=400)
    languages = set(call.parameters.get("languageOneOf[]", ()))
    since = call.text("startDate")
    mine = [
        document
        for document in documents
        if (not languages or document.language in languages) and document.stamp >= since
    ]
    found = ranked(mine, by_leading(words(call.text("search"))))
    part = page_of(found, start=start, size=size)
    return json_page({"total": len(found), "data": [_video(document) for document in part]})


def _video(document: Document) -> Json:
    host = f"https://{document.container}"
    uuid = uuid_of(document.number)
    moment = document.moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return {
        "publishedAt": moment,
        "licence": {"id": 1, "label": "Attribution"},
        "name": document.title,
        "description": document.text or None,
        "duration": document.seconds,
        "thumbnailUrl": f"{host}/lazy-static/thumbnails/{uuid}.jpg",
        "previewUrl": f"{host}/lazy-static/previews/{uuid}.jpg",
        "embedUrl": f"{host}/videos/embed/{uuid}",
        "url": address_of(document),
        "views": document.points,
        "account": {"name": document.slug, "displayName": document.author},
    }
