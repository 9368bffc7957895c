"""A fetched page as the text a model reads."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from searx_mcp.models.page import Page
from searx_mcp.models.request import MAX_CONTENT_LENGTH
from searx_mcp.render.fence import fenced, neutralise, one_line, one_url
from searx_mcp.render.reading import SUMMARY_TOKENS
from searx_mcp.render.tokens import UNLIMITED, clip, estimate, fit, lines_within

_TITLE_TOKENS = 40
_TYPE_TOKENS = 15
_HOP_TOKENS = 60
_NOTE_TOKENS = 60
_HEADING_TOKENS = 20
_HEADINGS = 60
_HOPS = 10
_NOTES = 6

_CODE_BLOCK = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6}[ \t]+\S.*$", re.MULTILINE)

_MAY_GET_MORE = (
    "The page was cut while it was read. To get more, call web_fetch with a larger"
    f" max_content_length (at most {MAX_CONTENT_LENGTH}) or a longer timeout."
)


@dataclass(frozen=True, slots=True)
class Part:
    """What is shown of a page.

    Attributes:
        head: the lines before the fence.
        summary: neutralised and short; empty unless the page was cut.
        outline: the first headings of the page, a line each; empty unless the page was cut.
        markdown: neutralised.
        more: how to get more; empty when everything is shown.
        was_cut: whether there is more of the page here than is shown.
    """

    head: str
    summary: str
    outline: tuple[str, ...]
    markdown: str
    more: str
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
    markdown = neutralise(page.markdown_content, boundary)
    whole = Part(
        head=_head(page, room, boundary, is_truncated=page.truncated),
        summary="",
        outline=(),
        markdown=markdown,
        more=_MAY_GET_MORE if page.truncated else "",
        was_cut=False,
    )
    if budget is None or estimate(_write(whole, page, boundary), limit=room) <= room:
        return whole
    length = len(page.markdown_content)
    frame = Part(
        head=_head(page, room, boundary, is_truncated=True),
        summary="",
        outline=(),
        markdown="",
        more=_more(length, length),
        was_cut=True,
    )
    left = room - estimate(_write(frame, page, boundary))
    frame = replace(
        frame,
        summary=one_line(page.summary, boundary, max_tokens=min(SUMMARY_TOKENS, left // 4)),
        outline=_outline(markdown, left // 4, boundary),
    )
    shown, _ = fit(markdown, room - estimate(_write(frame, page, boundary)))
    return replace(frame, markdown=shown, more=_more(len(shown), length))


def _write(shown: Part, page: Page, boundary: str) -> str:
    text = shown.markdown
    if shown.outline:
        headings = "\n".join(shown.outline)
        text = f"First headings of the page:\n{headings}\n\nBeginning of the page:\n\n{text}"
    if shown.summary:
        text = f"Summary: {shown.summary}\n\n{text}"
    fence = fenced(text, url=page.final_url, boundary=boundary)
    return "\n".join(filter(None, (shown.head, fence, shown.more)))


def _head(page: Page, room: int, boundary: str, *, is_truncated: bool) -> str:
    url, was_cut = clip(one_url(page.url), room // 8)
    media_type = one_line(page.content_type, boundary, max_tokens=_TYPE_TOKENS)
    first = (
        f"CONTENT from {url}{'…' if was_cut else ''}"
        f" ({media_type}, {len(page.markdown_content)} chars)"
        f"{' [TRUNCATED]' if is_truncated else ''}:"
    )
    lines, _ = lines_within(_about(page, boundary), room // 6)
    return "\n".join((first, *lines))


def _about(page: Page, boundary: str) -> Iterator[str]:
    if page.title:
        yield f"Title: {one_line(page.title, boundary, max_tokens=_TITLE_TOKENS)}"
    if page.final_url != page.url:
        yield f"Final URL: {one_url(page.final_url)}"
    if page.redirect_count:
        yield f"Redirects: {page.redirect_count}"
        for hop in page.redirect_chain[:_HOPS]:
            yield one_line(hop, boundary, max_tokens=_HOP_TOKENS)
    if page.hidden_chars_removed:
        yield f"Invisible characters removed: {page.hidden_chars_removed}"
    for note in page.notes[:_NOTES]:
        yield f"Note: {one_line(note, boundary, max_tokens=_NOTE_TOKENS)}"


def _outline(markdown: str, room: int, boundary: str) -> tuple[str, ...]:
    """The first headings outside code blocks; one alone is no outline."""
    found = _HEADING.finditer(_CODE_BLOCK.sub("", markdown))
    headings = (one_line(match[0], boundary, max_tokens=_HEADING_TOKENS) for match in found)
    lines, _ = lines_within(islice(headings, _HEADINGS), room)
    return lines if len(lines) > 1 else ()


def _more(shown: int, length: int) -> str:
    return (
        f"Shown: {shown} of {length} characters. For what is missing, fetch a page linked above that"
        " is closer to your question, or look for the passage with web_search."
    )
