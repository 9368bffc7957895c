"""Answers in SearXNG's JSON, under the names that its templates have for the fields of a row."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlparse

from searx_mcp.models.hits import (
    TEMPLATE_FIELDS,
    Answer,
    Code,
    Fact,
    File,
    Image,
    Infobox,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    Video,
)
from searx_mcp.models.response import SearchResponse, SearchResult

_TEMPLATE: Final = "default.html"


def written_answer(response: SearchResponse) -> dict[str, Any]:
    """Write the answer to a search as SearXNG 2026.8 does.

    What open collections ask to be said stands in `attribution`, which SearXNG does not have.
    """
    answer = {
        "query": response.query,
        "number_of_results": response.total_results,
        "results": [_row(each, place) for place, each in enumerate(response.results, 1)],
        "answers": [_answer(each) for each in response.answers],
        "corrections": [*response.corrections],
        "infoboxes": [_infobox(each) for each in response.infoboxes],
        "suggestions": [*response.suggestions],
        "unresponsive_engines": [
            [each.engine, each.reason] for each in response.unresponsive_engines
        ],
    }
    return answer | ({"attribution": [*response.attribution]} if response.attribution else {})


def _row(result: SearchResult, place: int) -> dict[str, Any]:
    published, pubdate = _times(result)
    row: dict[str, Any] = {
        "template": _TEMPLATE,
        "title": result.title,
        "content": result.description,
        "img_src": "",
        "iframe_src": "",
        "audio_src": "",
        "thumbnail": result.thumbnail or "",
        "publishedDate": published,
        "pubdate": pubdate,
        "length": None,
        "views": "",
        "author": result.author,
        "metadata": result.attribution,
        "priority": "",
        "engines": [*result.engines],
        "open_group": False,
        "close_group": False,
        "positions": [place],
        "score": result.score,
        "category": result.category,
        "url": result.url,
        "engine": result.engine,
        "parsed_url": _parsed(result.url),
    }
    for name in TEMPLATE_FIELDS:
        if (values := getattr(result, name)) is not None:
            row["template"], write = _WRITERS[name]
            row |= write(values)
    if result.image is not None:
        row["thumbnail_src"] = result.thumbnail or ""
    return row


def _times(result: SearchResult) -> tuple[str | None, str]:
    """The time as `publishedDate`, which is always one that programs can read, and as `pubdate`."""
    try:
        at = datetime.fromisoformat(result.published_at or "")
    except ValueError:  # a year alone, or nothing
        return None, result.published_at or result.published_text
    return at.isoformat(), at.strftime("%Y-%m-%d %H:%M:%S%z")


def _parsed(url: str | None) -> list[str] | None:
    try:
        return [*urlparse(url)] if url else None
    except ValueError:
        return None


def _answer(answer: Answer) -> dict[str, Any]:
    words = "; ".join((answer.text, *(f"{each.label}: {each.value}" for each in answer.details)))
    return {
        "url": answer.url,
        "engine": "",
        "parsed_url": _parsed(answer.url),
        "template": "answer/legacy.html",
        "answer": words,
    }


def _infobox(box: Infobox) -> dict[str, Any]:
    return {
        "infobox": box.title,
        "id": box.links[0].url if box.links else "",
        "content": box.content,
        "img_src": box.image or "",
        "urls": [{"title": each.title, "url": each.url} for each in box.links],
        "attributes": [{"label": each.label, "value": each.value} for each in box.attributes],
        "relatedTopics": [],
        "engine": box.engine,
        "engines": [box.engine] if box.engine else [],
        "url": None,
        "parsed_url": None,
        "template": _TEMPLATE,
        "title": "",
        "thumbnail": "",
        "priority": "",
        "positions": "",
        "score": 0,
        "category": "",
        "publishedDate": None,
    }


def _image(image: Image) -> dict[str, Any]:
    return {
        "img_src": image.url,
        "resolution": image.resolution,
        "img_format": image.format,
        "source": image.source,
        "filesize": image.size,
    }


def _video(video: Video) -> dict[str, Any]:
    length = video.length if video.seconds is None else video.seconds
    return {"length": length, "views": video.views, "iframe_src": video.embed_url or ""}


def _media(media: Media) -> dict[str, Any]:
    return {
        "length": media.length if media.seconds is None else media.seconds,
        "iframe_src": media.embed_url or "",
        "audio_src": media.audio_url or "",
    }


def _torrent(torrent: Torrent) -> dict[str, Any]:
    return {
        "seed": torrent.seeds,
        "leech": torrent.leeches,
        "filesize": torrent.size,
        "files": torrent.files,
        "magnetlink": torrent.magnet,
        "torrentfile": torrent.torrent_url,
    }


def _place(place: Place) -> dict[str, Any]:
    named = ("name", "road", "house_number", "locality", "postcode", "country")
    return {
        "latitude": place.latitude,
        "longitude": place.longitude,
        "boundingbox": [str(each) for each in place.bounding_box] if place.bounding_box else None,
        "address": {name: getattr(place, name) for name in named},
        "osm": {"type": place.osm_type, "id": place.osm_id},
        "data": [{"label": each.label, "value": each.value, "key": ""} for each in place.facts],
        "links": [
            {"label": each.title, "url": each.url, "url_label": each.url} for each in place.links
        ],
    }


def _paper(paper: Paper) -> dict[str, Any]:
    return paper.model_dump(mode="json")


def _package(package: Package) -> dict[str, Any]:
    return {
        "package_name": package.name,
        "version": package.version,
        "maintainer": package.maintainer,
        "license_name": package.licence,
        "license_url": package.licence_url,
        "tags": [*package.tags],
        "popularity": package.popularity,
        "homepage": package.homepage,
        "source_code_url": package.source_url,
        "links": {each.title: each.url for each in package.links},
    }


def _code(code: Code) -> dict[str, Any]:
    return {
        "repository": code.repository,
        "filename": code.filename,
        "code_language": code.language,
        "codelines": [[*each] for each in code.lines],
    }


def _file(file: File) -> dict[str, Any]:
    return {
        "filename": file.filename,
        "size": file.size,
        "time": file.time,
        "mimetype": file.mimetype,
        "abstract": file.abstract,
        "embedded": file.embed_url,
    }


def _product(product: Product) -> dict[str, Any]:
    return product.model_dump(mode="json")


def _facts(facts: tuple[Fact, ...]) -> dict[str, Any]:
    return {"kvmap": {each.label: each.value for each in facts}}


_WRITERS: Final[Mapping[str, tuple[str, Callable[[Any], dict[str, Any]]]]] = {
    "image": ("images.html", _image),
    "video": ("videos.html", _video),
    "media": (_TEMPLATE, _media),
    "torrent": ("torrent.html", _torrent),
    "place": ("map.html", _place),
    "paper": ("paper.html", _paper),
    "package": ("packages.html", _package),
    "code": ("code.html", _code),
    "file": ("file.html", _file),
    "product": ("products.html", _product),
    "facts": ("keyvalue.html", _facts),
}
