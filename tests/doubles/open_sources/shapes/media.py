"""Openverse, the Internet Archive and Sepia Search, the index of PeerTube servers."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from searx_mcp.testing.instance.payload import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.addresses import address_of, uuid_of
from tests.doubles.open_sources.call import Call, json_page, page_of, text_page
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.lucene import Fields, QuerySyntaxError, scored_by
from tests.doubles.open_sources.matching import by_any, by_leading, ranked, words

_OPENVERSE_SIZE: Final = 20
"""Results of a page to those without a token, by the documentation of throttling; more is a 401."""
_OPENVERSE_DEPTH: Final = 240
_NON_COMMERCIAL: Final = "-NC"
_SEPIA_MAX: Final = 100
_ANONYMOUS: Final = {
    "x-ratelimit-limit-anon_burst": "20/min",
    "x-ratelimit-available-anon_burst": "19",
    "x-ratelimit-limit-anon_sustained": "200/day",
    "x-ratelimit-available-anon_sustained": "199",
}


def openverse(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/v1/images/` and `/v1/audio/`; any word finds a work."""
    is_audio = call.path == "/v1/audio/"
    if not is_audio and call.path != "/v1/images/":
        return json_page({"detail": "Not found."}, status=404)
    size, number = call.number("page_size", _OPENVERSE_SIZE), max(call.number("page", 1), 1)
    if size > _OPENVERSE_SIZE:
        detail = "page_size may not exceed 20 for anonymous requests"
        return json_page({"detail": detail}, status=401, headers=_ANONYMOUS)
    if size * number > _OPENVERSE_DEPTH:
        return json_page({"detail": "Invalid page."}, status=400, headers=_ANONYMOUS)
    mine = [
        document
        for document in documents
        if (document.kind == "audio") == is_audio
        and (call.text("license_type") != "commercial" or _NON_COMMERCIAL not in document.licence)
    ]
    found = ranked(mine, by_any(words(call.text("q"))))[:_OPENVERSE_DEPTH]
    part = page_of(found, start=(number - 1) * size, size=size)
    return json_page(
        {
            "result_count": len(found),
            "page_count": -(-len(found) // size) if size else 0,
            "page_size": size,
            "page": number,
            "results": [_work(document) for document in part],
        },
        headers=_ANONYMOUS,
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
        "indexed_on": document.stamp,
        "foreign_landing_url": address_of(document),
        "url": f"https://files.photos.example/{document.slug}.{ending}",
        "creator": document.author,
        "creator_url": "https://photos.example/people/1",
        "license": code,
        "license_version": version,
        "license_url": f"https://creativecommons.org/licenses/{code}/{version}/",
        "provider": "flickr",
        "source": "flickr",
        "category": document.kind,
        "filesize": 245_000,
        "filetype": ending,
        "tags": [{"name": tag, "accuracy": None} for tag in document.tags],
        "attribution": f'"{document.title}" by {document.author} is licensed under {document.licence}.',
        "fields_matched": ["title"],
        "mature": False,
        "thumbnail": f"{own}/thumb/",
        "detail_url": f"{own}/",
        "related_url": f"{own}/related/",
        "unstable__sensitivity": [],
    }
    if kind == "audio":
        # In milliseconds.
        return fields | {"duration": document.seconds * 1_000, "genres": [], "bit_rate": 128_000}
    return fields | {"width": document.width, "height": document.height}


def internetarchive(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/advancedsearch.php` in Lucene's language: any word, unless AND stands between them."""
    if call.path != "/advancedsearch.php":
        return text_page("Not Found", status=404)
    query = call.text("q")
    try:
        found = ranked(documents, scored_by(query, _fields)) if query.strip() else []
    except QuerySyntaxError as error:
        # The service answers a query it cannot read with a page and 200.
        return FakePage(f"<!DOCTYPE html><title>Error</title><p>{error}</p>")
    rows, number = call.number("rows", 50), max(call.number("page", 1), 1)
    start = (number - 1) * rows
    # Repeated, or one list with commas.
    wanted = ",".join(call.parameters.get("fl[]", ("identifier",))).split(",")
    docs = []
    for document in page_of(found, start=start, size=rows):
        item = _item(document)
        docs.append({name: item[name] for name in wanted if item.get(name)})
    parameters = {"query": query, "rows": str(rows), "start": start, "wt": "json"}
    return json_page(
        {
            "responseHeader": {"status": 0, "QTime": 12, "params": parameters},
            "response": {"numFound": len(found), "start": start, "docs": docs},
        }
    )


def _fields(document: Document) -> Fields:
    return {
        "": document.searched,
        "title": document.title,
        "description": document.text,
        "creator": document.author,
        "mediatype": document.kind,
        "identifier": document.slug,
        "date": document.stamp,
        "publicdate": document.stamp,
        "year": document.stamp[:4],
        "language": document.language,
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
        "publicdate": document.stamp,
        "mediatype": document.kind,
        "downloads": document.points,
        "item_size": 1_000 * document.number,
        "licenseurl": "https://creativecommons.org/publicdomain/mark/1.0/",
        "language": document.language,
    }


def sepiasearch(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/api/v1/search/videos`: words are given up from the end until something is found."""
    if call.path != "/api/v1/search/videos":
        return json_page({"error": "Not Found", "status": 404}, status=404)
    size, start = call.number("count", 15), call.number("start", 0)
    if size > _SEPIA_MAX:
        return json_page({"error": "Should have a number count", "status": 400}, status=400)
    languages = set(call.parameters.get("languageOneOf[]", ()))
    since = _time(call.text("startDate"))
    mine = [
        document
        for document in documents
        if (not languages or document.language in languages)
        and (since is None or document.moment >= since)
    ]
    found = ranked(mine, by_leading(words(call.text("search"))))
    part = page_of(found, start=start, size=size)
    return json_page({"total": len(found), "data": [_video(document) for document in part]})


def _time(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _video(document: Document) -> Json:
    host = f"https://{document.container}"
    uuid = uuid_of(document.number)
    moment = document.moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    account = {
        "id": document.number,
        "name": document.slug,
        "displayName": document.author,
        "url": f"{host}/accounts/{document.slug}",
        "host": document.container,
        "avatars": [],
    }
    return {
        "id": document.number,
        "uuid": uuid,
        "score": 1.0,
        "createdAt": moment,
        "updatedAt": moment,
        "publishedAt": moment,
        "originallyPublishedAt": None,
        "category": {"id": 15, "label": "Science & Technology"},
        "licence": {"id": 1, "label": "Attribution"},
        "language": {"id": document.language, "label": document.language},
        "privacy": {"id": 1, "label": "Public"},
        "name": document.title,
        "description": document.text or None,
        "duration": document.seconds,
        "tags": list(document.tags),
        "thumbnailPath": f"/lazy-static/thumbnails/{uuid}.jpg",
        "thumbnailUrl": f"{host}/lazy-static/thumbnails/{uuid}.jpg",
        "previewUrl": f"{host}/lazy-static/previews/{uuid}.jpg",
        "embedPath": f"/videos/embed/{uuid}",
        "embedUrl": f"{host}/videos/embed/{uuid}",
        "url": address_of(document),
        "views": document.points,
        "likes": document.points // 50,
        "dislikes": 0,
        "nsfw": False,
        "account": account,
        "channel": {**account, "url": f"{host}/video-channels/{document.slug}"},
    }
