"""Photon (places), MusicBrainz (music) and GDELT (news)."""

import re
import zlib
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from searx_mcp.testing.instance.replies import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.addresses import address_of, osm_type_of, uuid_of
from tests.doubles.open_sources.call import Call, json_page, page_of, text_page
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.lucene import Fields, scored_by
from tests.doubles.open_sources.matching import by_all, ranked, words

_PHOTON_LANGUAGES: Final = ("default", "en", "de", "fr", "it")

_ENTITIES: Final = {
    "artist": "artists",
    "release-group": "release-groups",
    "recording": "recordings",
}
_MAX_MUSICBRAINZ: Final = 100

_GDELT_MAX: Final = 250
_GDELT_DEFAULT: Final = 75
_SHORTEST_WORD: Final = 3
_GDELT_OPERATOR = re.compile(r"\bsourcelang:(\S+)")
_SPAN_DAYS: Final = {"d": 1, "m": 30}
_LANGUAGES: Final = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "ru": "Russian",
    "ja": "Japanese",
    "zh": "Chinese",
}
"""GDELT's names of languages."""


def photon(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/api/`, by the beginnings of names."""
    if call.text("lang", "default") not in _PHOTON_LANGUAGES:
        supported = ", ".join(_PHOTON_LANGUAGES)
        message = f"Language is not supported. Supported are: {supported}"
        return json_page({"message": message}, status=400)
    if call.path.rstrip("/") != "/api":
        return text_page("Not found", status=404)
    if not call.text("q"):
        return json_page({"message": "missing search term 'q': /?q=berlin"}, status=400)
    asked = words(call.text("q"))
    found = ranked(documents, lambda document: _named(document, asked))
    features = [_feature(document) for document in found[: call.number("limit", 15)]]
    return json_page({"type": "FeatureCollection", "features": features})


def _named(document: Document, asked: Sequence[str]) -> float:
    """Every word begins one of the name or of the address, and one of them one of the name."""
    name = words(f"{document.title} {document.body}")
    everywhere = [*name, *words(" ".join(document.address.values()))]
    if not asked or not all(any(word.startswith(each) for word in everywhere) for each in asked):
        return 0.0
    in_name = sum(any(word.startswith(each) for word in name) for each in asked)
    # A city is meant before a street of the same name.
    return in_name and in_name / len(name) + document.kind.startswith("place/")


def _feature(document: Document) -> Json:
    key, _, value = document.kind.partition("/")
    longitude, latitude = document.longitude, document.latitude
    properties: dict[str, object] = {
        "osm_type": osm_type_of(document)[0].upper(),
        "osm_id": document.number,
        "osm_key": key,
        "osm_value": value,
        "type": "city" if key == "place" else "house",
        "name": document.title,
        **document.address,
    }
    if key in {"place", "natural"}:
        # West, north, east, south.
        properties["extent"] = [
            round(longitude - 0.1, 4),
            round(latitude + 0.1, 4),
            round(longitude + 0.1, 4),
            round(latitude - 0.1, 4),
        ]
    return {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": "Point", "coordinates": [longitude, latitude]},
    }


def musicbrainz(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/ws/2/{entity}`; any word finds an entity, and `score` tells how well."""
    entity = call.path.removeprefix("/ws/2/").rstrip("/")
    if entity not in _ENTITIES or call.text("fmt") != "json":
        return text_page("Invalid request", status=400)
    mine = [document for document in documents if document.kind == entity]
    score = scored_by(call.text("query"), _music_fields)
    found = ranked(mine, score)
    best = score(found[0]) if found else 1.0
    start = call.number("offset", 0)
    size = min(call.number("limit", 25), _MAX_MUSICBRAINZ)
    return json_page(
        {
            "count": len(found),
            "offset": start,
            _ENTITIES[entity]: [
                {**_entity(document), "score": int(100 * score(document) / best)}
                for document in page_of(found, start=start, size=size)
            ],
        }
    )


def _music_fields(document: Document) -> Fields:
    return {"": document.searched, "title": document.title}


def _entity(document: Document) -> Json:
    uuid = uuid_of(document.number)
    if document.kind == "artist":
        return {
            "id": uuid,
            "type": "Group",
            "name": document.title,
            "disambiguation": document.text,
        }
    fields: dict[str, object] = {
        "id": uuid,
        "title": document.title,
        "artist-credit": [
            {
                "name": name,
                "artist": {"id": uuid_of(zlib.crc32(name.encode())), "name": name},
            }
            for name in document.authors
        ],
        "first-release-date": document.date,
    }
    if document.text:
        fields["disambiguation"] = document.text
    if document.kind == "recording":
        # In milliseconds.
        return fields | {"length": document.seconds * 1_000, "video": None}
    return fields | {"count": 3, "primary-type": "Album", "type": "Album"}


def gdelt(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer `/api/v2/doc/doc` with a list of articles; all words have to be there."""
    if call.path != "/api/v2/doc/doc":
        return text_page("Not Found", status=404)
    query = call.text("query")
    text = _GDELT_OPERATOR.sub(" ", query)
    plain = words(text)
    if not plain:
        return text_page("Your query was too short or too long.\n")
    # Errors are plain text with 200. CJK words are short in every query.
    if any(len(word) < _SHORTEST_WORD and word.isascii() for word in _spelled(text)):
        return text_page("One or more of your keywords were too short, too long or too common.\n")
    languages = _GDELT_OPERATOR.findall(query)
    oldest = call.now - _span(call.text("timespan", "3m"))
    mine = [
        document
        for document in documents
        if oldest <= document.moment <= call.now
        and all(_LANGUAGES.get(document.language, "").lower() == each for each in languages)
    ]
    found = ranked(mine, by_all(plain))
    if call.text("sort") == "DateDesc":
        found.sort(key=lambda each: each.moment, reverse=True)
    size = min(call.number("maxrecords", _GDELT_DEFAULT), _GDELT_MAX)
    return json_page({"articles": [_article(each) for each in found[:size]]} if found else {})


def _spelled(text: str) -> list[str]:
    return [word.strip("()\"'.,:;!?") for word in text.split() if word not in {"OR", "(", ")"}]


def _span(text: str) -> timedelta:
    return timedelta(days=int(text[:-1]) * _SPAN_DAYS[text[-1]])


def _article(document: Document) -> Json:
    return {
        "url": address_of(document),
        "title": document.title,
        "seendate": document.moment.strftime("%Y%m%dT%H%M%SZ"),
        "socialimage": f"https://{document.site}/images/{document.slug}.jpg",
        "domain": document.site,
        "language": _LANGUAGES.get(document.language, "English"),
    }
