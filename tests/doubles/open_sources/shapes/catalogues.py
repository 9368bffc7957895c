"""Photon (places), MusicBrainz (music) and GDELT (news)."""

import re
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from searx_mcp.testing.instance.payload import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.addresses import address_of, osm_type_of, uuid_of
from tests.doubles.open_sources.call import Call, json_page, page_of, text_page
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.lucene import Fields, QuerySyntaxError, scored_by
from tests.doubles.open_sources.matching import by_all, ranked, words

_PHOTON_LANGUAGES: Final = ("default", "en", "de", "fr", "it")
_NEAR: Final = 0.02
"""Degrees around a point in which the double looks for a place, about two kilometres."""

_ENTITIES: Final = {
    "artist": "artists",
    "release-group": "release-groups",
    "recording": "recordings",
}
_MAX_MUSICBRAINZ: Final = 100

_GDELT_MAX: Final = 250
_GDELT_DEFAULT: Final = 75
_SHORTEST_WORD: Final = 3
_QUOTED = re.compile(r'"([^"]*)"')
_GDELT_OPERATOR = re.compile(r"(-?)\b(sourcelang|sourcecountry|domain|domainis|theme|tone):(\S+)")
_TIMESPAN = re.compile(r"(\d+)(min|h|hours|d|days|w|weeks|m|months)?")
_SPAN_DAYS: Final = {"d": 1, "days": 1, "w": 7, "weeks": 7, "m": 30, "months": 30}
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
    """Answer `/api/`, by the beginnings of names, and `/reverse`, by a point."""
    if call.text("lang", "default") not in _PHOTON_LANGUAGES:
        supported = ", ".join(_PHOTON_LANGUAGES)
        message = f"Language is not supported. Supported are: {supported}"
        return json_page({"message": message}, status=400)
    if call.path.rstrip("/") == "/reverse":
        found = _near(call, documents)
    elif call.path.rstrip("/") != "/api":
        return text_page("Not found", status=404)
    elif not call.text("q"):
        return json_page({"message": "missing search term 'q': /?q=berlin"}, status=400)
    else:
        asked = words(call.text("q"))
        found = ranked(documents, lambda document: _named(document, asked))
    features = [_feature(document) for document in found[: call.number("limit", 15)]]
    return json_page({"type": "FeatureCollection", "features": features})


def _near(call: Call, documents: Sequence[Document]) -> list[Document]:
    try:
        latitude, longitude = float(call.text("lat")), float(call.text("lon"))
    except ValueError:
        return []

    def distance(document: Document) -> float:
        return max(abs(document.latitude - latitude), abs(document.longitude - longitude))

    return sorted((each for each in documents if distance(each) <= _NEAR), key=distance)


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
        return FakePage(
            '<?xml version="1.0"?><error><text>Invalid request</text></error>',
            "application/xml; charset=UTF-8",
            status=400,
        )
    mine = [document for document in documents if document.kind == entity]
    try:
        score = scored_by(call.text("query"), _music_fields)
    except QuerySyntaxError:
        problem = {"error": "Unable to parse search", "help": "See the documentation."}
        return json_page(problem, status=400)
    found = ranked(mine, score)
    best = score(found[0]) if found else 1.0
    start = call.number("offset", 0)
    size = min(call.number("limit", 25), _MAX_MUSICBRAINZ)
    return json_page(
        {
            "created": call.now.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "count": len(found),
            "offset": start,
            _ENTITIES[entity]: [
                {**_entity(document), "score": int(100 * score(document) / best)}
                for document in page_of(found, start=start, size=size)
            ],
        }
    )


def _music_fields(document: Document) -> Fields:
    kinds = {
        "artist": {"artist": document.title},
        "release-group": {"releasegroup": document.title, "release": document.title},
        "recording": {"recording": document.title},
    }
    by = {"artist": document.author, "artistname": document.author, "creditname": document.author}
    return {
        "": document.searched,
        "title": document.title,
        **(by if document.author else {}),
        "firstreleasedate": document.date,
        "comment": document.text,
        **kinds[document.kind],
    }


def _entity(document: Document) -> Json:
    uuid = uuid_of(document.number)
    if document.kind == "artist":
        return {
            "id": uuid,
            "type": "Group",
            "name": document.title,
            "sort-name": document.title,
            "life-span": {"ended": None},
            "disambiguation": document.text,
        }
    fields: dict[str, object] = {
        "id": uuid,
        "title": document.title,
        "artist-credit": [
            {
                "name": name,
                "artist": {
                    "id": uuid_of(zlib.crc32(name.encode())),
                    "name": name,
                    "sort-name": name,
                },
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
    plain = words(_QUOTED.sub(" ", text))
    if not words(text) and not _GDELT_OPERATOR.search(query):
        return text_page("Your query was too short or too long.\n")
    # Errors are plain text with 200. CJK words are short in every query.
    if any(len(word) < _SHORTEST_WORD and word.isascii() for word in _spelled(text)):
        return text_page("One or more of your keywords were too short, too long or too common.\n")
    conditions = _GDELT_OPERATOR.findall(query)
    oldest, newest = _window(call)
    mine = [
        document
        for document in documents
        if oldest <= document.moment <= newest
        and all(_holds(document, *each) for each in conditions)
        and all(_says(document, phrase) for phrase in _QUOTED.findall(text))
    ]
    found = ranked(mine, by_all(plain)) if plain else mine
    if call.text("sort") == "DateDesc":
        found.sort(key=lambda each: each.moment, reverse=True)
    elif call.text("sort") == "DateAsc":
        found.sort(key=lambda each: each.moment)
    size = min(call.number("maxrecords", _GDELT_DEFAULT), _GDELT_MAX)
    return json_page({"articles": [_article(each) for each in found[:size]]} if found else {})


def _spelled(text: str) -> list[str]:
    return [word.strip("()\"'.,:;!?") for word in text.split() if word not in {"OR", "(", ")"}]


def _window(call: Call) -> tuple[datetime, datetime]:
    if start := call.text("startdatetime"):
        return _moment(start), _moment(call.text("enddatetime")) if call.text(
            "enddatetime"
        ) else call.now
    span = _TIMESPAN.fullmatch(call.text("timespan", "3m").lower())
    count, unit = (int(span[1]), span[2] or "min") if span else (3, "m")
    if unit in {"h", "hours"}:
        return call.now - timedelta(hours=count), call.now
    if unit == "min":
        return call.now - timedelta(minutes=count), call.now
    return call.now - timedelta(days=count * _SPAN_DAYS[unit]), call.now


def _moment(digits: str) -> datetime:
    return datetime.strptime(digits.ljust(14, "0"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)


def _holds(document: Document, sign: str, name: str, value: str) -> bool:
    facts: Mapping[str, bool] = {
        "sourcelang": value.lower() == _LANGUAGES.get(document.language, "").lower(),
        "sourcecountry": value.lower()
        == document.address.get("country", "").lower().replace(" ", ""),
        "domain": document.site == value or document.site.endswith(f".{value}"),
        "domainis": document.site == value,
    }
    return facts.get(name, True) != bool(sign)


def _says(document: Document, phrase: str) -> bool:
    return f" {' '.join(words(phrase))} " in f" {' '.join(words(document.searched))} "


def _article(document: Document) -> Json:
    return {
        "url": address_of(document),
        "url_mobile": "",
        "title": document.title,
        "seendate": document.moment.strftime("%Y%m%dT%H%M%SZ"),
        "socialimage": f"https://{document.site}/images/{document.slug}.jpg",
        "domain": document.site,
        "language": _LANGUAGES.get(document.language, "English"),
        "sourcecountry": document.address.get("country", ""),
    }
