"""Answers in SearXNG's JSON, under the names that its templates have for the fields of a row."""

from datetime import datetime
from typing import Any
from urllib.parse import urlparse

from searx_mcp.models.hits import TEMPLATE_FIELDS, Answer, Media, Video
from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.render.searxng_fields import TEMPLATES, infobox_fields, kind_fields


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
        "infoboxes": [infobox_fields(each, each.engine) for each in response.infoboxes],
        "suggestions": [*response.suggestions],
        "unresponsive_engines": [
            [each.engine, each.reason] for each in response.unresponsive_engines
        ],
    }
    return answer | ({"attribution": [*response.attribution]} if response.attribution else {})


def _row(result: SearchResult, place: int) -> dict[str, Any]:
    published, pubdate = _times(result)
    row: dict[str, Any] = {
        "template": "default.html",
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
            row["template"] = f"{TEMPLATES[name]}.html"
            row |= _played(values) if name in {"video", "media"} else kind_fields(name, values)
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


def _played(played: Video | Media) -> dict[str, Any]:
    fields = {
        "length": played.length if played.seconds is None else played.seconds,
        "iframe_src": played.embed_url or "",
    }
    if isinstance(played, Video):
        return fields | {"views": played.views}
    return fields | {"audio_src": played.audio_url or ""}
