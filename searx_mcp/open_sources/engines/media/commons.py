"""Wikimedia Commons: images, videos, sounds and documents, each with its licence."""

import re
from collections.abc import Mapping
from typing import Final

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.fields import Fields
from searx_mcp.content.measures import length, size
from searx_mcp.models.base import Frozen
from searx_mcp.models.request import Category
from searx_mcp.models.templates import File, Image, Media, Video
from searx_mcp.open_sources.engines import mediawiki
from searx_mcp.open_sources.interface import Ask, Engine, OpenQuery, Parsed, fitting
from searx_mcp.open_sources.rows import MAX_NAME, Rows, licensed, plain

NAME: Final = "commons"
PER_PAGE: Final = 10

_IMAGE: Final = "bitmap|drawing"
_OTHER: Final = "multimedia|office|archive|3d"
AIMS: Final = frozenset({_IMAGE, "video", "audio", _OTHER})
_BY_CATEGORY: Final = {
    Category.VIDEOS: "video",
    Category.MUSIC: "audio",
    Category.FILES: _OTHER,
}
_SYNTAX = re.compile(r"[:|~*?\\]")
"""Signs that make a keyword or a pattern of a word (Help:CirrusSearch)."""
_LANGUAGE = re.compile(r"[a-z]{2,3}")


def ask(query: OpenQuery) -> Ask | None:
    """Search the files of one kind, described in the query's language as far as they are."""
    aim = f"filetype:{_aim(query)} "
    words = fitting(_SYNTAX.sub(" ", query.text).split(), mediawiki.MAX_QUERY - len(aim))
    if not words:
        return None
    language = query.language.partition("-")[0]
    is_known = _LANGUAGE.fullmatch(language) and language != "all"
    return Ask(
        {
            "gsrsearch": f"{aim}{words}",
            "gsrlimit": str(PER_PAGE),
            "gsroffset": str(PER_PAGE * (query.page - 1)),
            "iiextmetadatalanguage": language if is_known else "en",
        }
    )


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Read the files, each with its licence."""
    answer = mediawiki.read(body, ENGINE.title)
    rows = Rows(NAME, query)
    for page in mediawiki.found(answer):
        _add(rows, page, _aim(query))
    return rows.parsed(has_next=bool(answer.part("continue")))


def _aim(query: OpenQuery) -> str:
    return query.aim if query.aim in AIMS else _BY_CATEGORY.get(query.category, _IMAGE)


def _add(rows: Rows, page: Fields, aim: str) -> None:
    info = next(iter(page.parts("imageinfo")), Fields({}))
    about = info.part("extmetadata")
    name = page.line("title").removeprefix("File:")
    title = name.rpartition(".")[0] or name
    author = plain(about.part("Artist").text("value"), MAX_NAME)
    licence = {
        "author": author,
        "licence": about.part("LicenseShortName").line("value"),
        "licence_url": about.part("LicenseUrl").text("value"),
    }
    template, fields = _template(info, aim, name)
    rows.add(
        info.text("descriptionurl"),
        title,
        description=plain(about.part("ImageDescription").text("value")),
        published=info.text("timestamp"),
        thumbnail=info.text("thumburl"),
        author=author,
        attribution=licensed(title, licence),
        template=template,
        **fields,
    )


def _template(info: Fields, aim: str, name: str) -> tuple[str, Mapping[str, Frozen]]:
    """The row type, and its field; the same as of rows of an instance."""
    url = absolute_web("", info.text("url"))
    seconds = info.number("duration")
    mime, bytes_ = info.line("mime", MAX_NAME), size(info.count("size"))
    if not url:
        return "default", {}
    match aim:
        case "video":
            playing = Video(length=length(seconds), seconds=seconds, embed_url=url)
            return "videos", {"video": playing}
        case "audio":
            sound = Media(length=length(seconds), seconds=seconds, audio_url=url)
            return "default", {"media": sound}
        case "bitmap|drawing":
            width, height = info.count("width"), info.count("height")
            resolution = f"{width} x {height}" if width and height else ""
            return "images", {
                "image": Image(url=url, resolution=resolution, format=mime, size=bytes_)
            }
        case _:
            return "file", {"file": File(filename=name, size=bytes_, mimetype=mime, embed_url=url)}


ENGINE: Final = Engine(
    name=NAME,
    title="Wikimedia Commons",
    operator="Wikimedia Foundation, US",
    categories=frozenset({Category.IMAGES, Category.VIDEOS, Category.MUSIC, Category.FILES}),
    endpoint="https://commons.wikimedia.org/w/api.php",
    parameters={
        **mediawiki.PARAMETERS,
        "gsrnamespace": "6",
        "prop": "imageinfo",
        "iiprop": "url|size|mime|timestamp|user|extmetadata",
        "iiurlwidth": "320",
        "iiextmetadatafilter": "LicenseShortName|LicenseUrl|Artist|ImageDescription",
    },
    ask=ask,
    parse=parse,
    demands_all=True,
    gap=0.5,
    gap_without_contact=8.0,
    burst=3,
    per_day=2_000,
    concurrency=3,
    timeout=5.0,
    bucket=mediawiki.BUCKET,
    wants_contact=True,
    licence="Files of Wikimedia Commons have the licences that stand with them.",
    hosts=("wikimedia.org",),
    terms_url=mediawiki.TERMS,
    terms_checked="2026-11",
    also=("wikicommons.images", "wikicommons.videos", "wikicommons.audio", "wikicommons.files"),
)
