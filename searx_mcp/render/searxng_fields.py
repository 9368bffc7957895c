"""Values in the form of SearXNG's JSON: rows of one kind, and infoboxes, under upstream's names."""

from collections.abc import Mapping
from typing import Any, Final

from searx_mcp.models.base import Frozen
from searx_mcp.models.hits import Fact, Infobox, Package, Place

TEMPLATES: Final[Mapping[str, str]] = {
    "image": "images",
    "video": "videos",
    "media": "default",
    "torrent": "torrent",
    "place": "map",
    "paper": "paper",
    "package": "packages",
    "code": "code",
    "file": "file",
    "product": "products",
    "facts": "keyvalue",
}
"""The template of a row, by the field that only this kind has."""

_NAMES: Final[Mapping[str, Mapping[str, str]]] = {
    "image": {"url": "img_src", "format": "img_format", "size": "filesize"},
    "torrent": {
        "seeds": "seed",
        "leeches": "leech",
        "size": "filesize",
        "magnet": "magnetlink",
        "torrent_url": "torrentfile",
    },
    "package": {
        "name": "package_name",
        "licence": "license_name",
        "licence_url": "license_url",
        "source_url": "source_code_url",
    },
    "code": {"language": "code_language", "lines": "codelines"},
    "file": {"embed_url": "embedded"},
}
"""Names that differ from ours; the others are the same."""

_ADDRESS: Final = ("name", "road", "house_number", "locality", "postcode", "country")


def kind_fields(kind: str, details: Frozen | tuple[Fact, ...]) -> dict[str, Any]:
    """Convert the fields that only rows of one kind have, except what is played.

    Args:
        kind: a name of `TEMPLATES`, neither `video` nor `media`.
        details: value of that field.
    """
    if isinstance(details, tuple):
        return {"kvmap": {each.label: each.value for each in details}}
    if isinstance(details, Place):
        return _place(details)
    names = _NAMES.get(kind, {})
    fields = {
        names.get(name, name): value for name, value in details.model_dump(mode="json").items()
    }
    if isinstance(details, Package):
        fields["links"] = {link.title: link.url for link in details.links}
    return fields


def _place(place: Place) -> dict[str, Any]:
    return {
        "latitude": place.latitude,
        "longitude": place.longitude,
        # Nominatim's bounds are strings.
        "boundingbox": [str(edge) for edge in place.bounding_box] if place.bounding_box else None,
        "address": {name: getattr(place, name) for name in _ADDRESS},
        "osm": {"type": place.osm_type, "id": place.osm_id},
        "data": [{"label": each.label, "value": each.value, "key": ""} for each in place.facts],
        "links": [
            {"label": link.title, "url": link.url, "url_label": link.url} for link in place.links
        ],
    }


def infobox_fields(box: Infobox, engine: str) -> dict[str, Any]:
    """Convert an infobox.

    Args:
        box: the infobox.
        engine: that returned it; empty if unknown.
    """
    return {
        "infobox": box.title,
        "id": box.links[0].url if box.links else "",
        "content": box.content,
        "img_src": box.image or "",
        "urls": [{"title": each.title, "url": each.url} for each in box.links],
        "attributes": [{"label": each.label, "value": each.value} for each in box.attributes],
        "relatedTopics": [],
        "engine": engine,
        "engines": [engine] if engine else [],
        "url": None,
        "parsed_url": None,
        "template": "default.html",
        "title": "",
        "thumbnail": "",
        "priority": "",
        # An infobox has no position in a list; upstream sends an empty string.
        "positions": "",
        "score": 0,
        "category": "",
        "publishedDate": None,
    }
