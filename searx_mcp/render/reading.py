"""One page among the results: what is shown of it, and how."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from searx_mcp.models.response import PageContent
from searx_mcp.render.calls import next_call
from searx_mcp.render.fence import fenced, one_line
from searx_mcp.render.look_alikes import neutralise
from searx_mcp.render.tokens import close, estimate, fit, lines_within

SMALLEST = 250
"""Tokens with which a further page is begun: about 100 of them are the fence and its lines."""

SUMMARY_TOKENS = 60
"""What the summary of a cut page may cost."""

POINTS_TOKENS = 75
"""What the key points of a cut page may cost together."""

_POINT_TOKENS = 36
_PATH_TOKENS = 40
_PIECE_CHARS = 1_200
_LEAST_TEXT = 20
"""Tokens of a passage's beginning that say something."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is shown of one page.

    Attributes:
        number: the result's number in the list.
        markdown: what is shown, neutralised.
        length: code points of the page's whole Markdown.
        cursor: reads on in the page; empty if that cannot be done.
        next_offset: where to read on, or `None` if nothing is left of what was read.
        has_gaps: whether the text is parts of the page, and not its beginning.
        is_incomplete: whether the page itself was cut at a size limit when it was read.
        about: what the page is; may be empty.
    """

    number: int
    url: str
    markdown: str
    length: int
    cursor: str = ""
    next_offset: int | None = None
    has_gaps: bool = False
    is_incomplete: bool = False
    about: str = ""

    @property
    def was_cut(self) -> bool:
        """Whether there is more of the page here than is shown."""
        return self.next_offset is not None

    @property
    def is_partial(self) -> bool:
        """Whether the page is longer than what is shown of it."""
        return self.was_cut or self.is_incomplete

    def block(self, boundary: str) -> str:
        """The page in its fence, with a line before it and, if there is more, one after it."""
        fence = fenced(self.markdown, boundary=boundary, url=self.url)
        about = f" ({self.about})" if self.about else ""
        title = f"Page of result {self.number}{about}:"
        return "\n".join(filter(None, (title, fence, self._read_on())))

    def cost(self, boundary: str, *, limit: int) -> int:
        """What its block costs with the blank line before it, or `limit` + 1 if more than that."""
        return estimate(f"\n\n{self.block(boundary)}", limit=limit)

    def _read_on(self) -> str:
        shown = f"Cut: {self.next_offset} of {self.length} characters."
        if self.has_gaps:
            shown = f"Parts of {self.length} characters, those that fit the query best."
        if self.was_cut and self.cursor:
            call = next_call(cursor=self.cursor, offset=self.next_offset or 0)
            return f"{shown} To read on:\n{call}"
        if self.was_cut:
            return f"{shown} To read on, call web_fetch with the url of result {self.number}."
        if self.is_incomplete:
            return (
                "The page is longer than the size limit. To read on, call web_fetch with the url"
                f" of result {self.number} and a larger max_content_length."
            )
        return ""


class _Part(NamedTuple):
    """A part of a page, as `Passage`."""

    start: int
    end: int
    path: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """A page that was read, of which all or some is to be shown.

    Attributes:
        number: the result's number in the list.
        url: of the result.
        content: with its passages, best first.
        boundary: of the fences.
        most: tokens that nobody will ask more than.
    """

    number: int
    url: str
    content: PageContent
    boundary: str
    most: int

    @cached_property
    def whole(self) -> Reading:
        """All that was read of the page."""
        length = self.content.total_chars or len(self.content.markdown)
        return Reading(
            number=self.number,
            url=self.url,
            markdown=neutralise(self.content.markdown, self.boundary),
            length=length,
            cursor=self.content.cursor,
            next_offset=_offset(len(self.content.markdown), length),
            is_incomplete=self.content.truncated,
            about=self.content.kind or "",
        )

    @property
    def gist(self) -> str:
        """What it says, where no more can be shown."""
        first, _ = next(self._parts)
        return self.content.summary or self.whole.markdown[first.start : first.end]

    @cached_property
    def cost(self) -> int:
        """What all of it costs, or more than `most` if more than that."""
        return self.whole.cost(self.boundary, limit=self.most)

    def within(self, room: int) -> Reading | None:
        """The page if it fits into so many tokens, else the parts of most worth that do, if any."""
        if self.cost <= room:
            return self.whole
        frame = replace(self.whole, markdown="", next_offset=self.whole.length, has_gaps=True)
        chosen = self._chosen(room - frame.cost(self.boundary, limit=room))
        if not chosen:
            return None
        parts = _joined(chosen, self.whole.markdown)
        best = next(part for part in parts if part.start <= chosen[0].start < part.end)
        return replace(
            frame,
            markdown="\n\n".join(self._shown(part) for part in parts),
            next_offset=_offset(best.end, self.whole.length) or 0,
            has_gaps=len(parts) > 1 or bool(best.start),
        )

    def _chosen(self, room: int) -> list[_Part]:
        """The parts that fit, best first; the last one may be cut."""
        chosen: list[_Part] = []
        for part, price in self._parts:
            if price > room:
                empty = part._replace(end=part.start)
                left = room - estimate(f"\n\n{self._shown(empty)}")
                text = self.whole.markdown[part.start : part.end]
                size = fit(text, left)[1] if left >= _LEAST_TEXT else 0
                if size:
                    chosen.append(part._replace(end=part.start + size))
                break
            chosen.append(part)
            room -= price
        return chosen

    @property
    def _parts(self) -> Iterator[tuple[_Part, int]]:
        """The passages, best first, then what lies between them in the order of the page; and prices."""
        for place, part in enumerate(self._by_worth):
            if place == len(self._prices):
                self._prices.append(estimate(f"\n\n{self._shown(part)}", limit=self.most))
            yield part, self._prices[place]

    @cached_property
    def _prices(self) -> list[int]:
        return []

    @cached_property
    def _by_worth(self) -> tuple[_Part, ...]:
        text = self.whole.markdown
        named = (_Part(each.start, each.end, each.path) for each in self.content.passages)
        passages = [part for each in named if (part := _trimmed(each, text))]
        between, start = [], 0
        for passage in (*sorted(passages, key=_start), _Part(len(text), len(text))):
            while gap := _trimmed(_Part(start, passage.start), text):
                end = _piece_end(text, gap)
                between.append(gap._replace(end=end))
                start = end
            start = max(start, passage.end)
        return (*passages, *between)

    def _shown(self, part: _Part) -> str:
        """A part of the page; one that is not its beginning, below where it comes from."""
        text = close(self.whole.markdown[part.start : part.end])
        if not part.start:
            return text
        above = part.path[:-1] if text.startswith("#") else part.path
        path = one_line(" > ".join(above), self.boundary, max_tokens=_PATH_TOKENS)
        where = f"{path}, " if path else ""
        return f"\u2026 [{where}from character {part.start}]\n{text}"


def _start(part: _Part) -> int:
    return part.start


def _trimmed(part: _Part, text: str) -> _Part | None:
    """A part without the blanks around it, if anything is left."""
    start, end = max(part.start, 0), min(part.end, len(text))
    words = text[start:end]
    start += len(words) - len(words.lstrip())
    end = start + len(words.strip())
    return _Part(start, end, part.path) if start < end else None


def _piece_end(text: str, part: _Part) -> int:
    """Where the first piece of a part ends that is about as long as a passage."""
    stop = part.start + _PIECE_CHARS
    if stop >= part.end:
        return part.end
    ends = (text.rfind(mark, part.start + 1, stop) for mark in ("\n\n", "\n", " "))
    return next((end for end in ends if end > 0), stop)


def _joined(parts: Sequence[_Part], text: str) -> list[_Part]:
    """The parts in the order of the page, those that follow on each other as one."""
    joined: list[_Part] = []
    for part in sorted(parts, key=_start):
        if joined and not text[joined[-1].end : part.start].strip():
            end = max(joined[-1].end, part.end)
            joined[-1] = joined[-1]._replace(end=end)
        else:
            joined.append(part)
    return joined


def _offset(end: int, length: int) -> int | None:
    return end if end < length else None


def points_beside(
    summary: str, points: Sequence[str], boundary: str, *, room: int
) -> tuple[str, ...]:
    """The first key points that are not in a summary that is shown, in so many tokens."""
    lines = (one_line(point, boundary, max_tokens=_POINT_TOKENS) for point in points)
    return lines_within((f"- {line}" for line in lines if line and line not in summary), room)[0]


def introduced(text: str, summary: str, points: Sequence[str]) -> str:
    """A text that was cut, below what stands for the whole of it."""
    parts = [f"Summary: {summary}"] if summary else []
    if points:
        parts.append("\n".join(("Key points:", *points)))
    return "\n\n".join((*parts, text))
