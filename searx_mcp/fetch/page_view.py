"""The part of a captured page that a call shows."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from searx_mcp.content.clean import clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.document import Document
from searx_mcp.content.outline import cut, find, near, path, section_span
from searx_mcp.content.passages import passages, words_of
from searx_mcp.content.summary import Digest, digest
from searx_mcp.content.support import support
from searx_mcp.content.values import only_date
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page, Passage
from searx_mcp.render.reading import choose, excerpts, gap
from searx_mcp.storage.pages import WholePage

_SHOWN_NAMES: Final = 5
_GLIMPSE: Final = 1_600
"""Code points of a page that does not answer its prompt: as many as a passage of `read_page`. A single passage
of 600 lost 5 more of the 193 answers of `benchmarks/passages_data`, where a refusal was wrong."""


def build_page_view(
    reading: WholePage,
    request: FetchRequest,
    *,
    elapsed: float,
    age: float,
    default_chars: int,
    content: ContentConfig,
    query: str,
) -> Page:
    """Build the page of a call: names come from the capture, the rest from the call.

    Args:
        reading: the whole page; if the capture has no cursor, the rest cannot be read later.
        request: chooses the part.
        elapsed: seconds of the call so far.
        age: seconds since it was fetched or found unchanged.
        default_chars: code points if the call names no number.
        content: whether to write a summary, and how long.
        query: what the summary should answer.

    Raises:
        InvalidArgumentError: `offset` lies beyond the end, or no heading matches `section`.
    """
    capture = reading.kept.capture
    document = capture.page.document
    most = (request.limit if request.cursor else None) or request.max_chars or default_chars
    part = _part(document, request, most)
    short = Digest("", ())
    if content.summarize and not request.for_model:
        short = digest(
            document.markdown,
            query=" ".join(filter(None, (query, request.prompt))),
            title=document.title,
            description=document.description,
            max_chars=content.max_summary_length,
        )
    same = {name: value for name, value in (*capture.page, *document) if name in Page.model_fields}
    of_call = {
        "url": request.url or capture.url,
        "published": only_date(document.published),
        "modified": only_date(document.modified),
        "response_time_ms": round(elapsed * 1_000),
        "summary": short.summary,
        "key_points": short.key_points,
        "truncated": document.truncated or part["next_offset"] is not None,
        "cursor": reading.kept.cursor,
        "total_chars": len(document.markdown),
        "fetched_at": datetime.fromtimestamp(capture.fetched_at, UTC).isoformat(timespec="seconds"),
        "from_cache": not reading.is_new,
        "age_seconds": int(age),
        "provenance": reading.provenance,
        "notes": (*reading.notes, *document.notes),
        **part,
    }
    return Page.model_validate(same | of_call)


def _part(document: Document, request: FetchRequest, most: int) -> Mapping[str, object]:
    """Return the fields of a page that show the requested part of at most so many code points."""
    markdown, outline = document.markdown, document.outline
    begin, end = request.offset, len(markdown)
    names: tuple[str, ...] = ()
    if request.section:
        index = _section(document, request.section)
        start, end = section_span(outline, index, end)
        begin, names = (begin if start < begin < end else start), path(outline, index)
    elif begin and begin >= end:
        raise InvalidArgumentError(
            "offset", f"{begin} is past the end; the page has {end} characters"
        )
    found: list[Passage] = []
    verdict: dict[str, object] = {}
    if request.prompt and not request.offset:
        found = passages(
            markdown, outline, request.prompt, title=document.title, begin=begin, end=end
        )
        told = support(
            request.prompt,
            [words_of(each.text, (document.title, *each.path)) for each in found]
            or [words_of(markdown[begin:end], (document.title, *names))],
        )
        verdict = {
            "answered": told.answered,
            "support": round(told.score, 4),
            "missing_terms": told.missing,
        }
    is_refused = verdict.get("answered") is False
    if is_refused:
        most = min(most, _GLIMPSE)
    if found and end - begin > most:
        found = choose(found, most, size=len, cut=lambda text, room: text[: cut(text, 0, room)])
        shown, stop = excerpts(found), gap(found, begin)
    else:
        stop = min(cut(markdown, begin, most), end)
        shown = markdown[begin:stop]
    return {
        "markdown_content": shown,
        "offset": begin,
        "next_offset": stop if stop < end else None,
        "section": names,
        "passages": tuple(found),
        **verdict,
    }


def _section(document: Document, name: str) -> int:
    """Return the index of a section's heading."""
    outline = document.outline
    index = find(outline, name)
    if index is not None:
        return index
    names = near(outline, name) or [heading.title for heading in outline]
    known = "; ".join(clean_line(name, 80) for name in names[:_SHOWN_NAMES])
    if not known:
        raise InvalidArgumentError("section", "the page has no headings; leave it out")
    raise InvalidArgumentError(
        "section", "no heading matches; the closest ones follow", quoted=known
    )
