"""A fetched page as the text a model reads."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import islice

from searx_mcp.models.page import Heading, Page
from searx_mcp.models.request import MAX_CONTENT_LENGTH
from searx_mcp.render.calls import next_call
from searx_mcp.render.fence import fenced, one_line, one_url
from searx_mcp.render.look_alikes import neutralise
from searx_mcp.render.reading import POINTS_TOKENS, SUMMARY_TOKENS, introduced, points_beside
from searx_mcp.render.tokens import UNLIMITED, clip, estimate, fit, lines_within

_TITLE_TOKENS = 40
_TYPE_TOKENS = 15
_HOP_TOKENS = 60
_NOTE_TOKENS = 60
_HEADING_TOKENS = 20
_PATH_TOKENS = 60
_HEADINGS = 60
_HOPS = 10
_NOTES = 6
_DATE_LENGTH = len("2026-01-02T03:04")
_AGE_SHOWN = 60
"""Seconds below which a page counts as fetched just now."""
_UNITS = ((86_400, "days"), (3_600, "hours"), (60, "minutes"))


@dataclass(frozen=True, slots=True)
class Part:
    """What is shown of a page.

    Attributes:
        head: the lines before the fence, which are ours.
        about: what the page says of itself, and where it is; a line for each, neutralised.
        summary: neutralised and short; empty unless the page was cut.
        points: key points that the summary does not have, a line for each; likewise.
        outline: the first headings of the page; empty unless the page was cut.
        markdown: neutralised.
        more: what is missing and, as its last line, the call that gets it; empty when everything is
            shown.
        next_offset: where that call reads on, or `None`.
        was_cut: whether there is more of the page here than is shown.
    """

    head: str
    about: tuple[str, ...]
    summary: str
    points: tuple[str, ...]
    outline: tuple[Heading, ...]
    markdown: str
    more: str
    next_offset: int | None
    was_cut: bool


def page_text(page: Page, *, budget: int | None, boundary: str) -> str:
    """Write a page as text: what it is, then its Markdown in a fence.

    Args:
        page: the page.
        budget: tokens the text may have, 300 or more, as `tokens.estimate` counts them; `None` for
            no limit. A page that does not fit is shown as its headings and its beginning.
        boundary: hexadecimal digits that no page can know, 8 or more; the same for all answers of
            a process, so that equal answers are equal texts.
    """
    return _write(part(page, budget=budget, boundary=boundary), page, boundary)


def part(page: Page, *, budget: int | None, boundary: str) -> Part:
    """Decide what is shown of a page within a number of tokens; `None` shows everything."""
    room = UNLIMITED if budget is None else budget
    length = len(page.markdown_content)
    markdown = neutralise(page.markdown_content, boundary)
    about, _ = lines_within(_about(page, boundary), room // 8)
    whole = Part(
        head=_head(page, room, boundary, is_truncated=page.truncated),
        about=about,
        summary="",
        points=(),
        outline=(),
        markdown=markdown,
        more=_more(page, length),
        next_offset=page.next_offset,
        was_cut=False,
    )
    if budget is None or estimate(_write(whole, page, boundary), limit=room) <= room:
        return whole
    frame = Part(
        head=_head(page, room, boundary, is_truncated=True),
        about=about,
        summary="",
        points=(),
        outline=(),
        markdown="",
        more=_more(page, max(0, length - 1)),
        next_offset=None,
        was_cut=True,
    )
    left = room - estimate(_write(frame, page, boundary))
    is_beginning = not page.offset and not page.section
    if is_beginning:
        summary = one_line(page.summary, boundary, max_tokens=min(SUMMARY_TOKENS, left // 4))
        room_of_points = min(POINTS_TOKENS, left // 8)
        frame = replace(
            frame,
            summary=summary,
            points=points_beside(summary, page.key_points, boundary, room=room_of_points),
            outline=_outline(page, left // 4, boundary),
        )
    shown, end = fit(markdown, room - estimate(_write(frame, page, boundary)))
    return replace(
        frame,
        markdown=shown,
        more=_more(page, end),
        next_offset=_next_offset(page, end),
    )


def _write(shown: Part, page: Page, boundary: str) -> str:
    text = shown.markdown
    if shown.outline:
        headings = "\n".join(_heading(heading, boundary) for heading in shown.outline)
        text = f"Headings, and at which character each begins:\n{headings}\n\nText:\n\n{text}"
    text = introduced(text, shown.summary, shown.points)
    if shown.about:
        text = "\n".join((*shown.about, "", text))
    fence = fenced(text, boundary=boundary, url=page.final_url)
    return "\n".join(filter(None, (shown.head, fence, shown.more)))


def _head(page: Page, room: int, boundary: str, *, is_truncated: bool) -> str:
    url, was_cut = clip(one_url(page.url), room // 8)
    media_type = one_line(page.content_type, boundary, max_tokens=_TYPE_TOKENS)
    first = (
        f"CONTENT from {url}{'…' if was_cut else ''}"
        f" ({media_type}, {_total(page)} chars){' [TRUNCATED]' if is_truncated else ''}:"
    )
    lines, _ = lines_within(_remarks(page, boundary), room // 8)
    return "\n".join((first, *lines))


def _remarks(page: Page, boundary: str) -> Iterator[str]:
    if page.age_seconds >= _AGE_SHOWN:
        yield f"Fetched: {_in_words(page.age_seconds)} ago"
    if page.hidden_chars_removed:
        yield f"Invisible characters removed: {page.hidden_chars_removed}"
    for note in page.notes[:_NOTES]:
        yield f"Note: {one_line(note, boundary, max_tokens=_NOTE_TOKENS)}"


def _about(page: Page, boundary: str) -> Iterator[str]:
    if page.title:
        yield f"Title: {one_line(page.title, boundary, max_tokens=_TITLE_TOKENS)}"
    if page.section:
        path = one_line(" > ".join(page.section), boundary, max_tokens=_PATH_TOKENS)
        yield f"Section: {path}"
    if dates := _dates(page, boundary):
        yield dates
    if page.final_url != page.url:
        yield f"Final URL: {one_url(page.final_url)}"
    if page.redirect_target:
        yield f"Redirect target: {one_url(page.redirect_target)}"
    was_sent_on = HTTPStatus.MULTIPLE_CHOICES <= page.status_code < HTTPStatus.BAD_REQUEST
    if page.redirect_count or was_sent_on:
        yield f"Redirects: {page.redirect_count}"
        for hop in page.redirect_chain[:_HOPS]:
            yield one_line(hop, boundary, max_tokens=_HOP_TOKENS)


def _dates(page: Page, boundary: str) -> str:
    parts = []
    if page.published:
        parts.append(f"Published: {_date(page.published, boundary)}")
    if page.modified and page.modified != page.published:
        parts.append(f"Changed: {_date(page.modified, boundary)}")
    if page.author:
        parts.append(f"By: {one_line(page.author, boundary, max_tokens=_HEADING_TOKENS)}")
    return " | ".join(parts)


def _date(text: str, boundary: str) -> str:
    return one_line(text[:_DATE_LENGTH], boundary, max_tokens=_TYPE_TOKENS)


def _outline(page: Page, room: int, boundary: str) -> tuple[Heading, ...]:
    """As many of the first headings as there is room for; one alone is no outline."""
    headings = page.outline[:_HEADINGS]
    lines, _ = lines_within((_heading(heading, boundary) for heading in headings), room)
    count = len(lines)
    return tuple(islice(headings, count)) if count > 1 else ()


def _heading(heading: Heading, boundary: str) -> str:
    title = one_line(heading.title, boundary, max_tokens=_HEADING_TOKENS)
    return f"{'#' * heading.level} {title} ({heading.offset})"


def _total(page: Page) -> int:
    return max(page.total_chars, len(page.markdown_content))


def _next_offset(page: Page, shown: int) -> int | None:
    """Where to read on behind so many characters of what the page holds here."""
    if page.next_offset == 0:  # the parts are not in the page's order
        return 0
    return page.offset + shown if shown < len(page.markdown_content) else page.next_offset


def _more(page: Page, shown: int) -> str:
    offset = _next_offset(page, shown)
    if offset is not None and page.cursor:
        where = f"Shown: characters {page.offset} to {page.offset + shown} of {_total(page)}."
        if page.next_offset == 0:
            where = f"Shown: parts of {_total(page)} characters, the closest first."
        return f"{where} To read on:\n{next_call(cursor=page.cursor, offset=offset)}"
    if offset is not None:
        return (
            f"Shown: {shown} of {_total(page)} characters. For what is missing, fetch a page"
            " linked above that is closer to your question."
        )
    if page.truncated:
        call = next_call(url=one_url(page.url), max_content_length=MAX_CONTENT_LENGTH)
        return f"The page was cut while it was fetched. To get more of it:\n{call}"
    return ""


def _in_words(seconds: int) -> str:
    for size, unit in _UNITS:
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"
