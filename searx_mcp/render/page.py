"""A fetched page as text for a model."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from http import HTTPStatus

from searx_mcp.models.fetch_request import MAX_CONTENT_LENGTH
from searx_mcp.models.page import CUT_BY_SIZE, INCOMPLETE, Heading, Page, type_shown
from searx_mcp.models.spelling import in_words
from searx_mcp.render.fence import fenced, neutralise, one_line, one_url
from searx_mcp.render.reading import FETCH, NEXT, choose, excerpts, gap, next_call, refusal
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
_DATE_TOKENS = 24
"""Tokens of a date: `2026-01-02T03:04+05:30` takes 20."""

_SECONDS = re.compile(r"(?<=T[0-9]{2}:[0-9]{2}):[0-9]{2}(?:[.,][0-9]+)?")
_AGE_SHOWN = 60
"""Seconds below which a page counts as fetched just now."""


@dataclass(frozen=True, slots=True)
class ShownPart:
    """The shown part of a page.

    Attributes:
        head: our lines before the fence.
        about: the page's metadata and address; one line each, neutralised.
        outline: the first headings of the page; empty unless the page is shown from its beginning
            and truncated.
        markdown: neutralised.
        more: what is missing and, as its last line, the call that returns it; empty if everything is
            shown.
        next_offset: where that call continues, or `None`.
        was_cut: whether the page here is longer than what is shown.
    """

    head: str
    about: tuple[str, ...]
    outline: tuple[Heading, ...]
    markdown: str
    more: str
    next_offset: int | None
    was_cut: bool


def page_text(page: Page, *, budget: int | None, boundary: str, fetch: str = FETCH) -> str:
    """Format a page as text: its metadata, then its Markdown in a fence.

    Args:
        page: the page.
        budget: maximum tokens of the text, 300 or more, as counted by `tokens.estimate`; `None` for
            no limit. A page that does not fit is shown as its headings and its beginning, or as the
            passages that match the prompt.
        boundary: hexadecimal digits that no page can know, 8 or more; the same for all answers of
            a process, so that equal answers are equal texts.
        fetch: the published name of `web_fetch`.
    """
    return _write(part(page, budget=budget, boundary=boundary, fetch=fetch), page, boundary)


def part(page: Page, *, budget: int | None, boundary: str, fetch: str = FETCH) -> ShownPart:
    """Select what is shown of a page within a number of tokens; `None` shows everything."""
    room = UNLIMITED if budget is None else budget
    markdown = neutralise(page.markdown_content, boundary)
    about, _ = lines_within(_about(page, boundary), room // 8)
    is_in_parts = bool(page.passages) and page.next_offset is not None
    whole = ShownPart(
        head=_head(page, room, boundary, is_truncated=page.truncated),
        about=about,
        outline=(),
        markdown=markdown,
        more=_more(page, page.next_offset, fetch, is_in_parts=is_in_parts),
        next_offset=page.next_offset,
        was_cut=False,
    )
    is_beginning = not page.offset and not page.section
    cost = estimate(_write(whole, page, boundary), limit=room)
    if budget is None or cost <= room:
        if page.answered is False and is_beginning and not page.passages and page.next_offset:
            whole = replace(whole, outline=_outline(page, (room - cost) // 4, boundary))
        return whole
    frame = ShownPart(
        head=_head(page, room, boundary, is_truncated=True),
        about=about,
        outline=(),
        markdown="",
        # Reserve room for the longest possible line.
        more=max(
            _more(page, _total(page), fetch, is_in_parts=bool(page.passages)),
            whole.more,
            key=estimate,
        ),
        next_offset=None,
        was_cut=True,
    )
    if is_beginning and not page.passages:  # passages have labels with their headings
        left = room - estimate(_write(frame, page, boundary))
        frame = replace(frame, outline=_outline(page, left // 4, boundary))
    left = room - estimate(_write(frame, page, boundary))
    if page.passages:
        passages = choose(
            page.passages, left, size=estimate, cut=lambda text, room: clip(text, room)[0]
        )
        shown, _ = fit(neutralise(excerpts(passages, boundary), boundary), left)
        following: int | None = gap(passages, page.offset)
    else:
        shown, end = fit(markdown, left)
        following = page.offset + end if end < len(markdown) else page.next_offset
    return replace(
        frame,
        markdown=shown,
        more=_more(page, following, fetch, is_in_parts=bool(page.passages)),
        next_offset=following,
    )


def _write(shown: ShownPart, page: Page, boundary: str) -> str:
    return "\n".join(filter(None, (shown.head, body(shown, page, boundary), shown.more)))


def body(shown: ShownPart, page: Page, boundary: str) -> str:
    """Format a page's content in a fence: its metadata, its headings if it was truncated, and its Markdown."""
    text = shown.markdown.rstrip("\n")
    if shown.outline:
        headings = "\n".join(_heading(heading, boundary) for heading in shown.outline)
        text = f"Headings, with the character at which each begins:\n{headings}\n\nText:\n\n{text}"
    if shown.about:
        text = "\n".join((*shown.about, "", text))
    return fenced(text, boundary=boundary, url=page.final_url)


def _head(page: Page, room: int, boundary: str, *, is_truncated: bool) -> str:
    url, was_cut = clip(one_url(page.url), room // 8)
    media_type = type_shown(page.content_type) or "unknown type"
    first = (
        f"CONTENT from {url}{'…' if was_cut else ''}"
        f" ({media_type}, {_total(page)} chars){' [TRUNCATED]' if is_truncated else ''}:"
    )
    lines, _ = lines_within(_remarks(page, boundary), room // 8)
    return "\n".join((*refusals(page, boundary), first, *lines))


def refusals(page: Page, boundary: str = "") -> list[str]:
    """Say that a page does not answer its prompt, and what to do then; empty if it does.

    Args:
        page: the page.
        boundary: as for `page_text`; without one, the heading of the best match is named.
    """
    if page.answered is not False:
        return []
    path = page.passages[0].path if page.passages else ()
    section = path[-1] if path else ""
    told = refusal(
        page.support or 0.0,
        page.missing_terms,
        boundary,
        told="This page does not answer the question",
        section=section,
    )
    return [told, NEXT]


def _remarks(page: Page, boundary: str) -> Iterator[str]:
    if page.age_seconds >= _AGE_SHOWN:
        yield f"Fetched: {in_words(page.age_seconds)} ago"
    if page.hidden_chars_removed:
        yield f"Invisible characters removed: {page.hidden_chars_removed}"
    for note in page.notes[:_NOTES]:
        yield f"Note: {one_line(note, boundary, max_tokens=_NOTE_TOKENS)}"


def _about(page: Page, boundary: str) -> Iterator[str]:
    for note in page.quoted_notes[:_NOTES]:
        yield f"Note: {one_line(note, boundary, max_tokens=_NOTE_TOKENS)}"
    if page.title:
        yield f"Title: {one_line(page.title, boundary, max_tokens=_TITLE_TOKENS)}"
    if page.content_type and type_shown(page.content_type) != page.content_type:
        yield f"Type: {one_line(page.content_type, boundary, max_tokens=_TYPE_TOKENS)}"
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
    """Return a date to the minute, with its zone: without it the time may be half a day off."""
    return one_line(_SECONDS.sub("", text, count=1), boundary, max_tokens=_DATE_TOKENS)


def _outline(page: Page, room: int, boundary: str) -> tuple[Heading, ...]:
    """Return as many of the first headings as fit; a single one is not an outline."""
    headings = page.outline[:_HEADINGS]
    lines, _ = lines_within((_heading(heading, boundary) for heading in headings), room)
    return headings[: len(lines)] if len(lines) > 1 else ()


def _heading(heading: Heading, boundary: str) -> str:
    title = one_line(heading.title, boundary, max_tokens=_HEADING_TOKENS)
    return f"{'#' * heading.level} {title} ({heading.offset})"


def _total(page: Page) -> int:
    return max(page.total_chars, len(page.markdown_content))


def _more(page: Page, following: int | None, fetch: str, *, is_in_parts: bool) -> str:
    """Say what is missing after the shown part, and return the call that reads on at an offset."""
    if following is not None:
        where = f"characters {page.offset} to {following} of {_total(page)}"
        if is_in_parts:
            where = (
                f"the parts that fit the prompt best, of {_total(page)} characters, in page order"
            )
        if page.cursor:
            call = next_call(fetch, cursor=page.cursor, offset=following)
            return f"Shown: {where}. To read on:\n{call}"
        return (
            f"Shown: {where}. For the rest, fetch a page linked above that is closer to your"
            " question."
        )
    if not page.truncated:
        return ""
    told = "Only the beginning of the page was fetched."
    if page.content_length >= MAX_CONTENT_LENGTH or page.content_type == "application/pdf":
        return told  # no argument gets more; a note says which pages of a PDF are left
    is_short = any(note.startswith(INCOMPLETE) and CUT_BY_SIZE not in note for note in page.notes)
    how = {"force_refresh": True} if is_short else {"max_content_length": MAX_CONTENT_LENGTH}
    return f"{told} To get more of it:\n{next_call(fetch, url=one_url(page.url), **how)}"
