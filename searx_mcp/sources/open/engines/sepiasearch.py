"""Sepia Search: videos of the PeerTube servers that Framasoft indexes."""

import re
from typing import Final

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.values import Fields, length
from searx_mcp.models.hits import Video
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    ANY_AGE,
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    Routing,
)
from searx_mcp.sources.open.question import Signal
from searx_mcp.sources.open.rows import MAX_NAME, Rows, json_object, licensed, plain

NAME: Final = "sepiasearch"
PER_PAGE: Final = 10

_LANGUAGE = re.compile(r"[a-z]{2}")


def ask(query: OpenQuery) -> Ask | None:
    """Search videos in the query's language, if it has one."""
    words = query.words()
    if not words:
        return None
    parameters = {
        "search": words,
        "start": str(PER_PAGE * (query.page - 1)),
        "count": str(PER_PAGE),
        "nsfw": "false" if query.safe_search else "both",
    }
    if _LANGUAGE.fullmatch(query.spoken):
        parameters |= {"languageOneOf[]": query.spoken, "boostLanguages[]": query.spoken}
    if query.since:
        parameters["startDate"] = query.since.isoformat()
    return Ask(parameters)


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `data`."""
    answer = json_object(body)
    if "data" not in answer:
        raise ValueError("the answer has no videos")
    rows = Rows(NAME, query)
    videos = answer.parts("data")
    for video in videos:
        _add(rows, video)
    total = answer.count("total") or 0
    return rows.parsed(has_next=bool(videos) and total > PER_PAGE * query.page)


def _add(rows: Rows, video: Fields) -> None:
    title = video.line("name")
    author = video.part("account").line("displayName", MAX_NAME)
    licence = video.part("licence")
    seconds, views = video.number("duration"), video.count("views")
    rows.add(
        video.text("url"),
        title,
        description=plain(video.text("description")),
        published=video.text("publishedAt"),
        thumbnail=video.text("thumbnailUrl") or video.text("previewUrl"),
        author=author,
        # A video without a licence has one without a number, named `Unknown`.
        attribution=(
            licensed(title, {"author": author, "licence": licence.line("label")})
            if licence.count("id") is not None
            else ""
        ),
        template="videos",
        video=Video(
            length=length(seconds),
            seconds=seconds or None,
            views="" if views is None else str(views),
            embed_url=absolute_web("", video.text("embedUrl")) or None,
        ),
    )


ENGINE: Final = Engine(
    name=NAME,
    title="Sepia Search",
    operator="Framasoft, FR",
    categories={Category.VIDEOS: 3},
    endpoint="https://sepiasearch.org/api/v1/search/videos",
    parameters={"sort": "-match"},
    ask=ask,
    parse=parse,
    weight=0.8,
    gap=1.0,
    per_day=500,
    timeout=6.0,
    time_ranges=ANY_AGE,
    filters_safely=True,
    filters_language=True,
    routing=Routing(signals={Signal.VIDEO: 4}),
    words=EngineWords(
        names="peertube sepia_search",
        frames="peertube",
        implied="video videos peertube watch",
    ),
    terms_url="https://docs.joinpeertube.org/api-rest-reference.html",
    terms_checked="2026-11",
)
