"""Parses the rows of SearXNG's result templates into the field names of its JSON.

Papers, packages and files show labels and values. Fields are recognised by class, link or form of the value
where the theme allows it, and otherwise by the English label, since instances are asked for English; if one
ignores that, only those fields are lost.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.sources.searxng.fields import MAX_NAMES
from searx_mcp.sources.searxng.template_fields import MAX_CODE_LINES

Fields = dict[str, object]

_MAX_TEXT: Final = 100_000
"""Maximum characters of one element; the longest, a listing of code, had 6,000."""
_MAX_JSON: Final = 1_000
"""Maximum characters of a bounding box in an attribute; four numbers have under 100."""
_IMAGE_FORMATS: Final = frozenset(
    {"png", "jpg", "jpeg", "gif", "webp", "svg", "bmp", "tif", "tiff", "avif", "ico", "heic", "jxl"}
)
_HOUSE_NUMBER = re.compile(r"([0-9][0-9A-Za-z /-]{0,9}), (.+)", re.DOTALL)
_BADGES_OF_SWARM: Final = 2
SIZE = re.compile(r"[0-9][0-9.,]*\s?(?:(?:[kmgtp]i?)?b|bytes?)(?![a-z])", re.IGNORECASE)
_MIMETYPE = re.compile(r"[a-z]+/[\w.+-]+")
_ISSN = re.compile(r"[0-9]{4}-[0-9]{3}[0-9X](?:, [0-9]{4}-[0-9]{3}[0-9X])*")
_PLACE_IN_JOURNAL = re.compile(r"[^\xa0]{1,500}\xa0[^\xa0]{1,100}(?:\xa0[^\xa0]{1,100})?")
_PAGES = re.compile(r"[0-9]+\s?[-\u2013]\s?[0-9]+")


def several(
    place: LexborHTMLParser | LexborNode, selector: str, most: int = MAX_NAMES
) -> list[LexborNode]:
    """Return the first elements that match a selector, except those inside others.

    A page that nests them would otherwise be read once for each: 160 nested <div class=answer> around 3 MB of
    text took 4 s.

    Args:
        place: where to search.
        selector: of CSS.
        most: maximum number of elements.
    """
    kept: list[LexborNode] = []
    for node in place.css(selector)[:most]:
        # In document order, only the last one can contain it.
        if not kept or not _is_inside(node, kept[-1]):
            kept.append(node)
    return kept


def _is_inside(node: LexborNode, other: LexborNode) -> bool:
    around = node.parent
    while around is not None and around.mem_id != other.mem_id:
        around = around.parent
    return around is not None


def text(node: LexborNode | None) -> str:
    """Return the text of an element and its descendants; empty without an element."""
    return node.text()[:_MAX_TEXT] if node is not None else ""


def attribute(node: LexborNode | None, name: str) -> str:
    """Return the value of an attribute; empty without one, or without an element."""
    return (node.attributes.get(name) or "") if node is not None else ""


def labelled(node: LexborNode | None) -> str:
    """Return the text of a line that begins with its label in a `span`."""
    label = text(node.css_first("span")) if node is not None else ""
    return text(node).strip().removeprefix(label)


def after_colon(words: str) -> str:
    """Return the text after the label of a line; all of it without a colon."""
    label, colon, value = words.partition(":")
    return value if colon else label


def read_paper(article: LexborNode) -> Fields:
    """Parse the fields of a paper, including `publishedDate`, which is among the attributes."""
    shown = _attributes(article)
    links = {
        text(link).strip().upper(): attribute(link, "href")
        for link in several(article, "p.altlink a")
    }
    return {
        "authors": shown.get("authors") or shown.get("author"),
        "publishedDate": shown.get("publisheddate") or shown.get("published date"),
        "editor": shown.get("editor"),
        "publisher": shown.get("publisher"),
        "type": shown.get("type"),
        "tags": shown.get("tags"),
        # The only value with a link.
        "doi": shown.get("doi") or text(article.css_first("div.attributes > div a[href]")),
        "issn": shown.get("issn") or _first(shown, _ISSN),
        "isbn": shown.get("isbn"),
        "comments": text(article.css_first("p.comments")),
        "pdf_url": links.get("PDF"),
        "html_url": links.get("HTML"),
        # The only value with non-breaking spaces: they precede volume and pages.
        **_journal(shown.get("journal") or _first(shown, _PLACE_IN_JOURNAL)),
    }


def read_package(article: LexborNode) -> Fields:
    """Parse the fields of a software package."""
    shown = _attributes(article)
    fields: Fields = {
        "package_name": shown.get("package_name"),
        "version": shown.get("version"),
        "maintainer": shown.get("maintainer"),
        "tags": shown.get("tags"),
        "popularity": shown.get("popularity"),
        "license_name": shown.get("license"),
        "license_url": attribute(article.css_first(".result_license a"), "href"),
    }
    links: Fields = {}
    for link in several(article, ".result_project a"):
        name, url = text(link).strip(), attribute(link, "href")
        if name == "Project homepage":
            fields["homepage"] = url
        elif name == "Source code":
            fields["source_code_url"] = url
        else:
            links[name] = url
    return fields | {"links": links}


def read_file(article: LexborNode) -> Fields:
    """Parse the fields of a file, including the description, which has its own class until 2025-10."""
    shown = _attributes(article)
    # Until 2025-10 a table, in which labels have no colon.
    for row in several(article, "table.result-metadata tr"):
        label, value = (*several(row, "td", 2), None, None)[:2]
        shown.setdefault(text(label).strip(": \n").lower(), text(value))
    fields: Fields = {
        "author": shown.get("author"),
        "filename": shown.get("filename"),
        "size": shown.get("filesize") or _first(shown, SIZE),
        "time": shown.get("date"),
        "mimetype": shown.get("type") or _first(shown, _MIMETYPE),
        "abstract": text(article.css_first("p.abstract, p.result-abstract")),
        "embedded": attribute(article.css_first("audio source, video source"), "src")
        or attribute(article.css_first("p.altlink a[download]"), "href"),
    }
    description = article.css_first("p.result-content:not(.result-abstract)")
    return fields if description is None else fields | {"content": text(description)}


def _attributes(article: LexborNode) -> dict[str, str]:
    """Return the values of a list of attributes, by class if there is one, else by English label."""
    values: dict[str, str] = {}
    for entry in several(article, "div.attributes > div"):
        label, value = (*several(entry, "span", 2), None, None)[:2]
        name = text(label).strip(": \n").lower()
        for key in (attribute(entry, "class").removeprefix("result_").lower(), name):
            if key:
                values[key] = text(value)
    return values


def _first(shown: Mapping[str, str], form: re.Pattern[str]) -> str:
    """Return the first value of a form that no other value of such a row has."""
    return next((value for value in shown.values() if form.fullmatch(value.strip())), "")


def _journal(shown: str) -> Fields:
    """Return the journal, its volume and number with a dot between them, and the pages."""
    journal, *places = shown.strip(" \n").split("\xa0")
    fields: Fields = {"journal": journal}
    if places and (len(places) > 1 or not _PAGES.fullmatch(places[0])):
        volume, _, fields["number"] = places.pop(0).partition(".")
        fields["volume"] = volume
    if places:
        fields["pages"] = places[0]
    return fields


def read_details(article: LexborNode, template: str) -> Fields:
    """Parse the fields that the template adds to a row.

    Args:
        article: the row.
        template: from `row_template`.

    Returns:
        Upstream's names and raw texts; also `content` and `publishedDate` if the template shows them in a
        different place.
    """
    return _READERS.get(template, _media)(article)


def read_table(table: LexborNode) -> Fields:
    """Parse a key-value table that is among the rows without being an article, as until 2025-05.

    It has the row's own fields in capitals, `<b>KEY</b>: value`.
    """
    fields: Fields = {}
    for cell in several(table, "td"):
        label = text(cell.css_first("b")).strip()
        fields[label.lower()] = text(cell).strip().removeprefix(label).removeprefix(":").strip()
    return fields


def _image(article: LexborNode) -> Fields:
    picture = article.css_first("img.image_thumbnail")
    link = picture.parent if picture is not None else None
    return {
        "img_src": attribute(link, "href"),
        "resolution": text(article.css_first("span.image_resolution")),
        "img_format": _image_format(article),
        "source": labelled(article.css_first("p.result-source")),
        "filesize": labelled(article.css_first("p.result-filesize")),
        "content": text(article.css_first("p.result-content")),
    }


def _image_format(article: LexborNode) -> str:
    # Since 2026-06-13 the line links the available formats; the first is the image's own, or says so in
    # words.
    link = article.css_first("p.result-format a")
    if link is None:
        return labelled(article.css_first("p.result-format"))
    name = text(link)
    return name if name.partition(" ")[0].lower() in _IMAGE_FORMATS else ""


def _media(article: LexborNode) -> Fields:
    return {
        "length": _length(article),
        "iframe_src": _player(article),
        "audio_src": attribute(article.css_first("audio source"), "src"),
    }


def _video(article: LexborNode) -> Fields:
    return {
        "length": _length(article),
        "views": after_colon(text(article.css_first(".result_views"))),
        "iframe_src": _player(article),
    }


def _length(article: LexborNode) -> str:
    # On the thumbnail since 2025-10-12, if there is one.
    shown = text(article.css_first(".thumbnail_length"))
    return shown or after_colon(text(article.css_first(".result_length")))


def _player(article: LexborNode) -> str:
    frame = article.css_first("iframe")
    return attribute(frame, "data-src") or attribute(frame, "src")


def _torrent(article: LexborNode) -> Fields:
    fields: Fields = {
        "magnetlink": attribute(article.css_first("a.magnetlink"), "href"),
        "torrentfile": attribute(article.css_first("a.torrentfile"), "href"),
    }
    # Until 2024 the words of the badges are translated and outside of them; their order is fixed.
    for line in several(article, "p.stat"):
        badges = [text(badge).strip() for badge in several(line, "span.badge")]
        sizes = [found[0] for badge in badges if (found := SIZE.match(badge))]
        if sizes:
            fields["filesize"] = sizes[0]
        elif len(badges) == _BADGES_OF_SWARM:
            fields["seed"], fields["leech"] = badges
            continue
        for badge in badges:
            if not SIZE.match(badge):
                fields["files"] = badge
    return fields


def _place(article: LexborNode) -> Fields:
    button = article.css_first("[data-map-lat], [data-map-boundingbox]")
    data: list[Fields] = []
    links: list[Fields] = []
    for row in several(article, "table tr"):
        cell = row.css_first("td")
        if cell is None or "itemtype" in cell.attributes:
            continue
        label, link = text(row.css_first("th")), cell.css_first("a.text-info")
        if link is None:
            data.append({"label": label, "value": text(cell)})
        else:
            links.append({"label": label, "url": attribute(link, "href")})
    return {
        "latitude": attribute(button, "data-map-lat"),
        "longitude": attribute(button, "data-map-lon"),
        "boundingbox": _json(attribute(button, "data-map-boundingbox")),
        "address": _address(article),
        "data": data,
        "links": links,
    }


def _address(article: LexborNode) -> Fields:
    names = {
        "name": "name",
        "road": "streetAddress",
        "locality": "addressLocality",
        "postcode": "postalCode",
        "country": "addressCountry",
    }
    fields: Fields = {
        field: text(article.css_first(f"td [itemprop='{name}']")) for field, name in names.items()
    }
    # One text contains both; a road may have a comma, but usually does not begin with a digit.
    street = _HOUSE_NUMBER.fullmatch(str(fields["road"]).strip())
    if street:
        fields["house_number"], fields["road"] = street.groups()
    return fields


def _json(value: str) -> object:
    try:
        return json.loads(value[:_MAX_JSON])
    except (ValueError, RecursionError):
        return None


def _code(article: LexborNode) -> Fields:
    fields: Fields = {"content": _loose_text(article), "codelines": _code_lines(article)}
    # Up to three paragraphs of one class: description, repository with a link, file name.
    for place, paragraph in enumerate(several(article, "p.content", 3)):
        link, shown = paragraph.css_first("a[href]"), text(paragraph)
        words = shown.strip()
        if link is not None:
            fields["repository"] = text(link)
        elif place or words.startswith("Filename:") or _has_label(shown):
            fields["filename"] = after_colon(words)
        else:
            fields["content"] = words
    return fields


def _has_label(shown: str) -> bool:
    """Return whether a paragraph begins with a label in any language: only these begin with a line break."""
    return shown.startswith("\n") and ": " in shown


def _loose_text(article: LexborNode) -> str:
    # Until 2023 the description of code is in the row without its own element.
    parts = article.iter(include_text=True)
    return "".join(text(part) for part in parts if part.tag in {"-text", "span"})


def _code_lines(article: LexborNode) -> list[object]:
    lines: list[object] = []
    for block in several(article, ".codelines pre", MAX_CODE_LINES):
        numbers = [text(number) for number in several(block, "span.linenos", MAX_CODE_LINES)]
        shown = text(block).split("\n", MAX_CODE_LINES)
        lines += [
            [number.strip(), line.removeprefix(number)]
            for number, line in zip(numbers, shown, strict=False)
        ]
    return lines


def _product(article: LexborNode) -> Fields:
    return {
        "price": text(article.css_first(".result_price")),
        "shipping": text(article.css_first(".result_shipping")),
        "source_country": text(article.css_first(".result_source_country")),
    }


def _key_values(article: LexborNode) -> Fields:
    rows = several(article, "tr")
    pairs = ((row.css_first("th[scope='row']"), row.css_first("td")) for row in rows)
    return {
        "caption": text(article.css_first("caption")),
        "kvmap": {text(label): text(value) for label, value in pairs if label is not None},
    }


_READERS: Final[Mapping[str, Callable[[LexborNode], Fields]]] = {
    "images": _image,
    "videos": _video,
    "torrent": _torrent,
    "map": _place,
    "paper": read_paper,
    "packages": read_package,
    "code": _code,
    "file": read_file,
    "products": _product,
    "keyvalue": _key_values,
}
