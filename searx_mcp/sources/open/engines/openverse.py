"""Openverse: images and sounds under open licences, from museums, Flickr, Jamendo and others."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.values import Fields, length, size
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import Image, Media
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    FORBIDDEN,
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    RefusedError,
    Routing,
    Scope,
    fitting,
)
from searx_mcp.sources.open.question import Signal
from searx_mcp.sources.open.rows import MAX_NAME, Rows, json_object, licensed

NAME: Final = "openverse"
AIMS: Final = frozenset({"images", "audio"})
PER_PAGE: Final = 20

_MAX_QUERY: Final = 200
"""Maximum characters of a query (Openverse API, `q`)."""
_MAX_RESULTS: Final = 240
"""Maximum results without a key (Openverse API, `page`)."""
_TAGS_SHOWN: Final = 20
_FORMS: Final = {Signal.IMAGE: "images", Signal.SOUND: "audio", Signal.MUSIC: "audio"}


def aim(scope: Scope) -> str:
    """Choose the medium for a question without a category."""
    return scope.form(_FORMS)


def ask(query: OpenQuery) -> Ask | None:
    """Search images; or sounds, if music is wanted or they are the aim."""
    words = fitting(query.text.split(), _MAX_QUERY)
    if not words or query.page * PER_PAGE > _MAX_RESULTS:
        return None
    parameters = {
        "q": words,
        "page": str(query.page),
        "page_size": str(PER_PAGE),
        "mature": "false" if query.safe_search else "true",
    }
    return Ask(parameters, path=(_aim(query), ""))


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Read `results`."""
    answer = json_object(body, key="results")
    rows = Rows(NAME, query)
    for result in answer.parts("results"):
        _add(rows, result, is_sound=_aim(query) == "audio")
    has_more = (answer.count("page_count") or 0) > query.page
    return rows.parsed(has_next=has_more and (query.page + 1) * PER_PAGE <= _MAX_RESULTS)


def read_refusal(status: int, headers: Mapping[str, str], body: bytes) -> RefusedError | None:
    """Parse 403, with which its protection refuses networks: most data centres, and proxies."""
    del headers, body
    if status != HTTPStatus.FORBIDDEN:
        return None
    detail = "Openverse refused your network (HTTP 403): it blocks most data centres and proxies."
    return RefusedError(Verdict.REFUSED, detail, pause=FORBIDDEN)


def _aim(query: OpenQuery) -> str:
    if query.aim in AIMS:
        return query.aim
    return "audio" if query.category is Category.MUSIC else "images"


def _add(rows: Rows, result: Fields, *, is_sound: bool) -> None:
    title, author = result.line("title"), result.line("creator", MAX_NAME)
    url = absolute_web("", result.text("url"))
    milliseconds = result.number("duration")
    seconds = milliseconds / 1_000 if milliseconds else None
    width, height = result.count("width"), result.count("height")
    image = Image(
        url=url,
        resolution=f"{width} x {height}" if width and height else "",
        format=result.line("filetype", MAX_NAME),
        source=result.line("source", MAX_NAME),
        size=size(result.count("filesize")),
    )
    rows.add(
        result.text("foreign_landing_url"),
        title,
        description=", ".join(tag.line("name") for tag in result.parts("tags")[:_TAGS_SHOWN]),
        thumbnail=result.text("thumbnail"),
        author=author,
        attribution=result.line("attribution", 500) or _licence(title, author, result),
        template="default" if is_sound else "images",
        image=image if url and not is_sound else None,
        media=(
            Media(length=length(seconds), seconds=seconds, audio_url=url or None)
            if is_sound
            else None
        ),
    )


def _licence(title: str, author: str, result: Fields) -> str:
    name = f"{result.line('license').upper()} {result.line('license_version')}".strip()
    return licensed(
        title, {"author": author, "licence": name, "licence_url": result.text("license_url")}
    )


ENGINE: Final = Engine(
    name=NAME,
    title="Openverse",
    operator="WordPress Foundation, US",
    categories={Category.IMAGES: 3, Category.MUSIC: 2},
    endpoint="https://api.openverse.org/v1",
    ask=ask,
    parse=parse,
    aim=aim,
    read_refusal=read_refusal,
    demands_all=True,
    # It allows 20 requests a minute and 200 a day per address.
    gap=3.1,
    per_day=180,
    timeout=6.0,
    licence="Each image or sound from Openverse has the licence shown with it.",
    filters_safely=True,
    routing=Routing(
        signals={Signal.IMAGE: 4, Signal.SOUND: 4},
        within={Category.MUSIC: {Signal.SOUND: 4}},
        homes={Category.MUSIC: frozenset({Signal.SOUND})},
    ),
    words=EngineWords(
        names="openverse",
        implied="photo photos picture pictures image images sound sounds stock free cc",
    ),
    terms_url="https://docs.openverse.org/api/reference/authentication_and_throttling.html",
    terms_checked="2026-11",
)
