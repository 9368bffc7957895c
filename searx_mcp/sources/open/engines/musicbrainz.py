"""MusicBrainz: artists, albums and recordings; metadata, not the music."""

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Final

from searx_mcp.content.values import Fields, length
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import Media
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    RefusedError,
    Routing,
    Scope,
    lucene_terms,
)
from searx_mcp.sources.open.question import Signal
from searx_mcp.sources.open.rows import MAX_NAME, Rows, json_object

NAME: Final = "musicbrainz"
AIMS: Final = frozenset({"artist", "release-group", "recording"})
PER_PAGE: Final = 10

_DEFAULT: Final = "release-group"
_ZONE: Final = "x-ratelimit-zone"
_MIN_SCORE: Final = 60
"""Minimum score of 100, which the best row has; lower ones share a word with the query at best."""
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TAGS_SHOWN: Final = 5
_CREDITS_SHOWN: Final = 10


def aim(scope: Scope) -> str:
    """Choose what the question says it is looking for."""
    return scope.question.music


def ask(query: OpenQuery) -> Ask | None:
    """Search one kind of thing; albums by default."""
    words = " ".join(lucene_terms(query.keywords))
    if not words:
        return None
    aim = query.aim if query.aim in AIMS else _DEFAULT
    offset = str(PER_PAGE * (query.page - 1))
    return Ask({"query": words, "limit": str(PER_PAGE), "offset": offset}, path=(aim,))


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse the list in the answer, whose name says what was searched."""
    answer = json_object(body)
    entity = next((entity for entity in sorted(AIMS) if f"{entity}s" in answer), "")
    if not entity:
        raise ValueError("the answer has no list")
    rows = Rows(NAME, query)
    items = answer.parts(f"{entity}s")
    for item in items:
        score = item.count("score")
        if score is not None and score < _MIN_SCORE:
            rows.skip()
        else:
            _add(rows, item, entity)
    total = answer.count("count") or 0
    return rows.parsed(has_next=bool(items) and total > PER_PAGE * query.page)


def read_refusal(status: int, headers: Mapping[str, str], body: bytes) -> RefusedError | None:
    """Parse 503; a header says whether all clients together exceeded the limit, or we did."""
    del body
    zone = next((value for name, value in headers.items() if name.lower() == _ZONE), "")
    if status != HTTPStatus.SERVICE_UNAVAILABLE or zone != "global":
        return None
    return RefusedError(Verdict.SERVER_ERROR, "MusicBrainz is under load (HTTP 503).", again=True)


def _add(rows: Rows, item: Fields, entity: str) -> None:
    number = item.text("id")
    credit = "".join(
        f"{artist.line('name', MAX_NAME)}{artist.text('joinphrase')[:MAX_NAME]}"
        for artist in item.parts("artist-credit")[:_CREDITS_SHOWN]
    )
    milliseconds = item.number("length") if entity == "recording" else None
    seconds = milliseconds / 1_000 if milliseconds else None
    about = _ABOUT[entity](item, credit)
    tags = (tag.line("name", MAX_NAME) for tag in item.parts("tags")[:_TAGS_SHOWN])
    rows.add(
        f"https://musicbrainz.org/{entity}/{number}" if _ID.fullmatch(number) else "",
        item.line("name") or item.line("title"),
        description=", ".join(filter(None, [*about, item.line("disambiguation"), *tags])),
        published=item.text("first-release-date"),
        author=credit,
        media=Media(length=length(seconds), seconds=seconds) if seconds else None,
    )


def _album(item: Fields, credit: str) -> Iterator[str]:
    kind = item.line("primary-type", MAX_NAME) or item.line("type", MAX_NAME) or "Release"
    yield f"{kind} by {credit}" if credit else kind
    yield from item.lines("secondary-types", MAX_NAME)


def _recording(item: Fields, credit: str) -> Iterator[str]:
    yield f"Recording by {credit}" if credit else "Recording"
    for release in item.parts("releases")[:1]:
        if title := release.line("title"):
            yield f"on {title}"


def _artist(item: Fields, credit: str) -> Iterator[str]:
    del credit
    life = item.part("life-span")
    yield item.line("type", MAX_NAME) or "Artist"
    yield item.part("area").line("name", MAX_NAME)
    if begin := life.line("begin", MAX_NAME):
        end = life.line("end", MAX_NAME)
        yield f"{begin} to {end}" if end else f"since {begin}"


_ABOUT: Final = {"artist": _artist, "release-group": _album, "recording": _recording}


ENGINE: Final = Engine(
    name=NAME,
    title="MusicBrainz",
    operator="MetaBrainz Foundation, US",
    categories={Category.MUSIC: 4},
    endpoint="https://musicbrainz.org/ws/2",
    parameters={"fmt": "json"},
    ask=ask,
    parse=parse,
    aim=aim,
    read_refusal=read_refusal,
    # It allows one request a second per address.
    gap=1.1,
    # So that another request can follow one that was refused because of other clients' load.
    patience=1.5,
    per_day=1_000,
    timeout=5.0,
    wants_contact=True,
    hosts=("musicbrainz.org",),
    routing=Routing(signals={Signal.MUSIC: 4}, further={"lyrics": 1}),
    words=EngineWords(
        names="musicbrainz",
        frames="musicbrainz",
        implied=(
            "song songs album albums band artist singer music lyrics discography track single"
        ),
    ),
    terms_url="https://musicbrainz.org/doc/MusicBrainz_API/Rate_Limiting",
    terms_checked="2026-11",
)
