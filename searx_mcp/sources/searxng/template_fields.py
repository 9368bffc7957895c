"""The fields of SearXNG's result templates, under the names in upstream's JSON.

HTML rows are first parsed into the same names (`html_templates`), so that every value is cleaned, bounded and
converted in one place. Player addresses come as such, or inside the markup that older engines send.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import unescape
from itertools import islice
from typing import Any, Final

from searx_mcp.content.clean import clean
from searx_mcp.models.base import Frozen
from searx_mcp.models.hits import (
    Code,
    Fact,
    File,
    Image,
    Link,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    Video,
)
from searx_mcp.sources.searxng.fields import (
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_NAMES,
    MAX_TITLE,
    count,
    duration,
    image_address,
    line,
    magnet_address,
    names,
    number,
    size,
    text,
    web_address,
)

_MAX_MARKUP: Final = 4_000
"""Maximum characters searched; the markup of a player has under 1,000."""

_SOURCE: Final = r"\b[^>]{0,500}?\bsrc=[\"']([^\"'>]{1,2000})"
_FRAME = re.compile(r"<iframe" + _SOURCE, re.IGNORECASE)
_SOUND = re.compile(r"<audio\b[^>]{0,500}>\s{0,20}<source" + _SOURCE, re.IGNORECASE)
_MEDIA = re.compile(r"<source" + _SOURCE, re.IGNORECASE)


def frame_address(value: object, markup: object) -> str | None:
    """Return the page to show in a frame: the address, or that of the first frame in the markup."""
    return web_address(value) or _address_in(markup, _FRAME)


def sound_address(value: object, markup: object) -> str | None:
    """Return the sound to play: the address, or that of the first sound in the markup."""
    return web_address(value) or _address_in(markup, _SOUND)


def media_address(value: object) -> str | None:
    """Return the file to play or load: an address, or, until 2025-10, markup that contains it."""
    return web_address(value) or _address_in(value, _MEDIA)


def _address_in(markup: object, source: re.Pattern[str]) -> str | None:
    if not isinstance(markup, str):
        return None
    found = source.search(markup[:_MAX_MARKUP])
    return web_address(unescape(found[1])) if found else None


Fields = Mapping[str, object]

MAX_CODE_LINES: Final = 50
MAX_CODE_LINE: Final = 300
"""Maximum characters of one line of code."""
_OF_EVERY_ROW: Final = frozenset(
    {
        "engine", "engines", "template", "score", "category", "positions", "pretty_url",
        "parsed_url", "priority", "open_group", "close_group", "img_src", "thumbnail",
        "publishedDate", "pubdate", "url", "title", "content",
    }
)  # fmt: skip
"""Fields of any row. Until 2025-05, those of a table were among them; all others are its facts."""

_NOTHING: Final = ("None", "[]", "{}")
"""How a page shows a missing value."""

_PLAYABLE: Final = ("length", "iframe_src", "audio_src", "embedded")
"""A playable row without its own template has one of these."""

_LATITUDE: Final = 90.0
_LONGITUDE: Final = 180.0
_EDGES: Final = (_LATITUDE, _LATITUDE, _LONGITUDE, _LONGITUDE)


def template_fields(template: str, fields: Fields, base_url: str) -> dict[str, Any]:
    """Parse the fields that only rows of this template have.

    Args:
        template: from `row_template`.
        fields: the row under upstream's names; values of any type.
        base_url: the instance, for addresses that point into it.

    Returns:
        One of `TEMPLATE_FIELDS` with its value, or nothing if nothing is known.
    """
    if template == "images":
        image = _image(fields, base_url)
        return {"image": image} if image else {}
    if template == "keyvalue":
        facts = table(fields)
        return {"facts": facts} if facts else {}
    if template in _READERS:
        name, read = _READERS[template]
    elif any(fields.get(name) for name in _PLAYABLE):
        name, read = "media", _media
    else:
        return {}
    values = read(fields)
    # Every field is optional: a value without any of them is dropped.
    return {name: values} if values.model_dump(exclude_defaults=True) else {}


def table(fields: Fields) -> tuple[Fact, ...]:
    """Parse a table of labels and values: its own object, or the row's extra fields."""
    values = fields.get("kvmap")
    if not isinstance(values, dict):
        values = {label: fields[label] for label in fields if label not in _OF_EVERY_ROW}
    shown = ((label, _as_shown(value)) for label, value in values.items())
    return facts(islice((pair for pair in shown if pair[1] not in _NOTHING), MAX_NAMES))


def _as_shown(value: object) -> object:
    """Return a value of a table as a page shows it, which is Python's notation for a list."""
    try:
        return str(value) if isinstance(value, list | dict) else value
    except RecursionError:
        return ""


def _image(fields: Fields, base_url: str) -> Image | None:
    url = image_address(fields.get("img_src"), base_url)
    if url is None:
        return None
    return Image(
        url=url,
        resolution=line(fields.get("resolution"), MAX_NAME),
        format=line(fields.get("img_format"), MAX_NAME),
        source=line(fields.get("source"), MAX_NAME),
        size=size(fields.get("filesize")),
    )


def _video(fields: Fields) -> Video:
    length, seconds = duration(fields.get("length"))
    return Video(
        length=length,
        seconds=seconds,
        views=text(fields.get("views")),
        embed_url=frame_address(fields.get("iframe_src"), fields.get("embedded")),
    )


def _media(fields: Fields) -> Media:
    length, seconds = duration(fields.get("length"))
    return Media(
        length=length,
        seconds=seconds,
        embed_url=frame_address(fields.get("iframe_src"), fields.get("embedded")),
        audio_url=sound_address(fields.get("audio_src"), fields.get("embedded")),
    )


def _torrent(fields: Fields) -> Torrent:
    return Torrent(
        seeds=count(fields.get("seed")),
        leeches=count(fields.get("leech")),
        size=size(fields.get("filesize")),
        files=count(fields.get("files")),
        magnet=magnet_address(fields.get("magnetlink")),
        torrent_url=web_address(fields.get("torrentfile")),
    )


def _place(fields: Fields) -> Place:
    address, osm = _object(fields.get("address")), _object(fields.get("osm"))
    return Place(
        latitude=_degrees(fields.get("latitude"), _LATITUDE),
        longitude=_degrees(fields.get("longitude"), _LONGITUDE),
        bounding_box=_bounding_box(fields.get("boundingbox")),
        name=text(address.get("name"), MAX_TITLE),
        road=text(address.get("road"), MAX_TITLE),
        house_number=text(address.get("house_number")),
        locality=text(address.get("locality"), MAX_TITLE),
        postcode=text(address.get("postcode")),
        country=text(address.get("country")),
        osm_type=line(osm.get("type"), MAX_NAME),
        osm_id=count(osm.get("id")),
        facts=facts(islice(_labelled(fields.get("data"), "value"), MAX_NAMES)),
        links=links(_labelled(fields.get("links"), "url")),
    )


def _paper(fields: Fields) -> Paper:
    return Paper(
        authors=names(fields.get("authors")),
        journal=line(fields.get("journal"), MAX_TITLE),
        volume=text(fields.get("volume")),
        number=text(fields.get("number")),
        pages=text(fields.get("pages")),
        editor=line(fields.get("editor"), MAX_TITLE),
        publisher=line(fields.get("publisher"), MAX_TITLE),
        doi=line(fields.get("doi"), MAX_TITLE),
        issn=names(fields.get("issn")),
        isbn=names(fields.get("isbn")),
        type=line(fields.get("type"), MAX_NAME),
        tags=names(fields.get("tags")),
        comments=line(fields.get("comments"), MAX_DESCRIPTION),
        pdf_url=web_address(fields.get("pdf_url")),
        html_url=web_address(fields.get("html_url")),
    )


def _package(fields: Fields) -> Package:
    shown = fields.get("links")
    return Package(
        name=line(fields.get("package_name"), MAX_TITLE),
        version=text(fields.get("version")),
        maintainer=line(fields.get("maintainer"), MAX_TITLE),
        licence=line(fields.get("license_name"), MAX_TITLE),
        licence_url=web_address(fields.get("license_url")),
        tags=names(fields.get("tags")),
        popularity=text(fields.get("popularity")),
        homepage=web_address(fields.get("homepage")),
        source_url=web_address(fields.get("source_code_url")),
        links=links(shown.items()) if isinstance(shown, dict) else (),
    )


def _code(fields: Fields) -> Code:
    language = line(fields.get("code_language"), MAX_NAME)
    return Code(
        repository=line(fields.get("repository"), MAX_TITLE),
        filename=line(fields.get("filename"), MAX_TITLE),
        # Upstream's word for leaving the choice to the page.
        language="" if language == "<guess>" else language,
        lines=tuple(_code_lines(fields.get("codelines"))),
    )


def _file(fields: Fields) -> File:
    kind, subtype = line(fields.get("mtype"), MAX_NAME), line(fields.get("subtype"), MAX_NAME)
    return File(
        filename=line(fields.get("filename"), MAX_TITLE),
        size=size(fields.get("size")),
        time=text(fields.get("time")),
        mimetype=line(fields.get("mimetype"), MAX_NAME)
        or (f"{kind}/{subtype}" if kind and subtype else ""),
        abstract=line(fields.get("abstract"), MAX_DESCRIPTION),
        embed_url=media_address(fields.get("embedded")),
    )


def _product(fields: Fields) -> Product:
    return Product(
        price=text(fields.get("price")),
        shipping=text(fields.get("shipping")),
        source_country=line(fields.get("source_country"), MAX_NAME),
    )


_READERS: Final[Mapping[str, tuple[str, Callable[[Fields], Frozen]]]] = {
    "videos": ("video", _video),
    "torrent": ("torrent", _torrent),
    "map": ("place", _place),
    "paper": ("paper", _paper),
    "packages": ("package", _package),
    "code": ("code", _code),
    "file": ("file", _file),
    "products": ("product", _product),
}


def facts(pairs: Iterable[tuple[object, object]]) -> tuple[Fact, ...]:
    """Make facts of labels and values, up to the limit; those without either are left out."""
    shown = ((text(label), text(value, MAX_DESCRIPTION)) for label, value in pairs)
    return tuple(Fact(label=label, value=value) for label, value in shown if label and value)


def links(pairs: Iterable[tuple[object, object]]) -> tuple[Link, ...]:
    """Make links of titles and addresses, up to the limit; those without either are left out."""
    shown = ((line(title, MAX_TITLE), web_address(url)) for title, url in islice(pairs, MAX_NAMES))
    return tuple(Link(title=title, url=url) for title, url in shown if title and url)


def _labelled(values: object, key: str) -> Iterator[tuple[object, object]]:
    """Yield the labels of a list of objects, each with its value under a key."""
    items = values if isinstance(values, list) else []
    return ((item.get("label"), item.get(key)) for item in items if isinstance(item, dict))


def _code_lines(values: object) -> Iterator[tuple[int, str]]:
    for value in islice(values if isinstance(values, list) else (), MAX_CODE_LINES):
        if not isinstance(value, list | tuple) or len(value) != 2:  # noqa: PLR2004 - a pair
            continue
        place, code = count(value[0]), value[1]
        if place is not None and isinstance(code, str):
            # One line, but with its indentation; cut first, so that cleaning is bounded too.
            visible = clean(code[: 2 * MAX_CODE_LINE]).replace("\n", " ")
            yield place, visible[:MAX_CODE_LINE].rstrip()


def _degrees(value: object, limit: float) -> float | None:
    degrees = number(value)
    return degrees if degrees is not None and abs(degrees) <= limit else None


def _bounding_box(values: object) -> tuple[float, float, float, float] | None:
    if not isinstance(values, list) or len(values) != len(_EDGES):
        return None
    south, north, west, east = map(_degrees, values, _EDGES)
    if south is None or north is None or west is None or east is None:
        return None
    return south, north, west, east


def _object(value: object) -> Fields:
    return value if isinstance(value, dict) else {}
