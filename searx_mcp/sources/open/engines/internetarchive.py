"""Internet Archive: films, recordings, scanned books, software and pictures."""

import re
from collections.abc import Mapping
from typing import Final

from searx_mcp.content.values import Fields, size
from searx_mcp.models.base import Frozen
from searx_mcp.models.hits import File, Media, Video
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    ANY_AGE,
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    Routing,
    Scope,
    lucene_terms,
)
from searx_mcp.sources.open.question import Signal
from searx_mcp.sources.open.rows import Rows, json_object, licensed, plain

NAME: Final = "internetarchive"
AIMS: Final = frozenset({"movies", "audio", "texts", "software", "image", "data"})
PER_PAGE: Final = 10

_FILES: Final = "texts OR software OR data"
_BY_CATEGORY: Final = {
    Category.VIDEOS: "movies",
    Category.MUSIC: "audio",
    Category.IMAGES: "image",
}
_FIELDS: Final = (
    "identifier,title,description,creator,date,mediatype,downloads,item_size,licenseurl"
)
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}")
_LICENCE = re.compile(
    r"https?://creativecommons\.org/(licenses|publicdomain)/([a-z+-]{2,20})/([0-9]\.[0-9])/?.{0,20}"
)
_CREATORS_SHOWN: Final = 3
_FORMS: Final = {
    Signal.IMAGE: "image",
    Signal.VIDEO: "movies",
    Signal.SOUND: "audio",
    Signal.MUSIC: "audio",
}


def aim(scope: Scope) -> str:
    """Choose the kind of file, or the medium for a question without a category."""
    if scope.further == "books":
        return "texts"
    if scope.category is Category.FILES or Signal.FILE in scope.question.signals:
        return scope.question.mediatype
    return scope.form(_FORMS)


def ask(query: OpenQuery) -> Ask | None:
    """Search the items of one kind for all keywords."""
    words = " AND ".join(lucene_terms(query.keywords))
    if not words:
        return None
    kind = query.aim if query.aim in AIMS else _BY_CATEGORY.get(query.category, _FILES)
    asked = f"({words}) AND mediatype:({kind})"
    if query.since:
        asked = f"{asked} AND publicdate:[{query.since} TO {query.today}]"
    return Ask({"q": asked, "fl[]": _FIELDS, "rows": str(PER_PAGE), "page": str(query.page)})


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `response.docs`; each field may be a text or a list of texts."""
    response = json_object(body).part("response")
    if "docs" not in response:
        raise ValueError("the answer has no items")
    rows = Rows(NAME, query)
    items = response.parts("docs")
    for item in items:
        _add(rows, item)
    found = response.count("numFound") or 0
    return rows.parsed(has_next=bool(items) and found > PER_PAGE * query.page)


def _add(rows: Rows, item: Fields) -> None:
    identifier = item.text("identifier")
    is_known = _IDENTIFIER.fullmatch(identifier)
    title = ", ".join(item.lines("title")[:1])
    author = ", ".join(item.lines("creator")[:_CREATORS_SHOWN])
    licence_url = "".join(item.texts("licenseurl")[:1])
    template, fields = _template(item, identifier)
    rows.add(
        f"https://archive.org/details/{identifier}" if is_known else "",
        title,
        description=plain(" ".join(item.texts("description"))),
        published="".join(item.texts("date")[:1]),
        thumbnail=f"https://archive.org/services/img/{identifier}" if is_known else "",
        author=author,
        attribution=licensed(
            title,
            {"author": author, "licence": _licence(licence_url), "licence_url": licence_url},
        ),
        template=template,
        **fields,
    )


def _template(item: Fields, identifier: str) -> tuple[str, Mapping[str, Frozen]]:
    """Return the row type and its field.

    Files are never linked directly: anyone may upload them, with or without the right to.
    """
    player = f"https://archive.org/embed/{identifier}"
    match item.text("mediatype"):
        case "movies":
            views = item.count("downloads")
            return "videos", {
                "video": Video(views="" if views is None else str(views), embed_url=player)
            }
        case "audio" | "etree":
            return "default", {"media": Media(embed_url=player)}
        case "image":
            return "images", {}
        case _:
            bytes_ = size(item.count("item_size"))
            return "file", {"file": File(size=bytes_)} if bytes_ else {}


def _licence(url: str) -> str:
    """Return the name of a Creative Commons licence from its address; empty for any other."""
    found = _LICENCE.fullmatch(url)
    if not found:
        return ""
    kind, code, version = found.groups()
    if kind == "licenses":
        return f"CC {code.upper()} {version}"
    return f"CC0 {version}" if code == "zero" else f"Public Domain Mark {version}"


ENGINE: Final = Engine(
    name=NAME,
    title="Internet Archive",
    operator="Internet Archive, US",
    categories={Category.VIDEOS: 2.5, Category.MUSIC: 2.5, Category.FILES: 3, Category.IMAGES: 1},
    endpoint="https://archive.org/advancedsearch.php",
    parameters={"output": "json"},
    ask=ask,
    parse=parse,
    aim=aim,
    weight=0.9,
    gap=1.1,
    per_day=500,
    timeout=10.0,
    wants_contact=True,
    is_slow=True,
    time_ranges=ANY_AGE,
    hosts=("archive.org",),
    routing=Routing(
        signals={Signal.VIDEO: 3.6, Signal.SOUND: 3, Signal.FILE: 4},
        within={Category.MUSIC: {Signal.SOUND: 2}},
        homes={Category.IMAGES: frozenset()},
        further={"books": 1, "radio": 1},
    ),
    words=EngineWords(
        names="internet_archive archive.org",
        frames="internet_archive archive.org",
        implied=(
            "video videos film movie book books pdf ebook scan audio recording recordings "
            "public domain"
        ),
    ),
    terms_url="https://archive.org/developers/",
    terms_checked="2026-11",
)
