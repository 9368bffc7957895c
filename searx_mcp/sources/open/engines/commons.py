"""Wikimedia Commons: images, videos, sounds and documents, each with its licence."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import SplitResult

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.values import Fields, length, size
from searx_mcp.models.base import Frozen
from searx_mcp.models.hits import File, Image, Media, Video
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    Routing,
    Scope,
)
from searx_mcp.sources.open.engines import mediawiki
from searx_mcp.sources.open.question import Signal
from searx_mcp.sources.open.rows import MAX_NAME, Rows, licensed, plain

_IMAGE: Final = "bitmap|drawing"
_OTHER: Final = "multimedia|office|archive|3d"
AIMS: Final = frozenset({_IMAGE, "video", "audio", _OTHER})
_BY_CATEGORY: Final = {
    Category.VIDEOS: "video",
    Category.MUSIC: "audio",
    Category.FILES: _OTHER,
}
_UPLOAD = re.compile(r"/wikipedia/commons/(?:thumb/)?[0-9a-f]/[0-9a-f]{2}/([^/]{1,500})(?:/[^/]*)?")
_SYNTAX = re.compile(r"[:|~*?\\]")
"""Characters that turn a word into a keyword or a pattern (Help:CirrusSearch)."""
_FORMS: Final = {
    Signal.IMAGE: _IMAGE,
    Signal.VIDEO: "video",
    Signal.SOUND: "audio",
    Signal.MUSIC: "audio",
}


def aim(scope: Scope) -> str:
    """Choose the medium for a question without a category."""
    return scope.form(_FORMS)


def ask(query: OpenQuery) -> Ask | None:
    """Search the files of one kind, with descriptions in the query's language where available."""
    text = _SYNTAX.sub(" ", query.text)
    parameters = mediawiki.searched(query, text, keyword=f"filetype:{_aim(query)} ")
    if parameters is None:
        return None
    return Ask({**parameters, "iiextmetadatalanguage": mediawiki.language(query) or "en"})


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse the files, each with its licence."""
    aim = _aim(query)
    return mediawiki.parsed(body, query, ENGINE, lambda rows, page: _add(rows, page, aim))


def identify(host: str, parts: SplitResult) -> str:
    """Return the file or page at an address."""
    if host == "upload.wikimedia.org":
        upload = _UPLOAD.fullmatch(parts.path)
        return f"commons:{mediawiki.title(f'File:{upload[1]}')}" if upload else ""
    is_ours = host.replace(".m.", ".") == "commons.wikimedia.org"
    title = mediawiki.title_at(parts) if is_ours else ""
    return f"commons:{title}" if title else ""


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
    """Return the row type and its field; the same as in rows of an instance."""
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


ENGINE: Final[Engine] = mediawiki.wiki(
    name="commons",
    title="Wikimedia Commons",
    categories={Category.IMAGES: 2.8, Category.VIDEOS: 2, Category.MUSIC: 1.8, Category.FILES: 2},
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
    aim=aim,
    identify=identify,
    timeout=5.0,
    licence="Each Wikimedia Commons file has the licence shown with it.",
    hosts=("wikimedia.org",),
    also=("wikicommons.images", "wikicommons.videos", "wikicommons.audio", "wikicommons.files"),
    routing=Routing(
        signals={Signal.IMAGE: 3.8, Signal.VIDEO: 2.5, Signal.SOUND: 3.5},
        within={
            Category.MUSIC: {Signal.SOUND: 3},
            Category.FILES: {Signal.IMAGE: 3},
        },
        homes={Category.MUSIC: frozenset({Signal.SOUND})},
        further={"wikimedia": 2},
    ),
    words=EngineWords(
        names="wikimedia_commons wikimedia",
        frames="wikimedia_commons",
        implied="photo photos picture pictures image images video videos file svg",
    ),
)
