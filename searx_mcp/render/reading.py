"""One page among the results: what is shown of it, and how."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from searx_mcp.models.response import PageContent
from searx_mcp.render.calls import next_call
from searx_mcp.render.fence import fenced, one_line
from searx_mcp.render.look_alikes import neutralise
from searx_mcp.render.tokens import estimate, fit, lines_within

SMALLEST = 250
"""Tokens below which a longer page is not begun: about 100 of them are the fence and its lines."""

SUMMARY_TOKENS = 60
"""What the summary of a cut page may cost."""

POINTS_TOKENS = 75
"""What the key points of a cut page may cost together."""

_POINT_TOKENS = 36


@dataclass(frozen=True, slots=True)
class Reading:
    """What is shown of one page.

    Attributes:
        number: the result's number in the list.
        markdown: what is shown, neutralised.
        end: code points of the page that are shown.
        length: code points of the page's whole Markdown.
        cursor: reads on in the page; empty if that cannot be done.
        is_incomplete: whether the page itself was cut at a size limit when it was read.
        summary: neutralised and short; shown only with a page that was cut.
        points: key points that the summary does not have, likewise.
        about: what the page is and is worth, in a few words; may be empty.
    """

    number: int
    url: str
    markdown: str
    end: int
    length: int
    cursor: str
    is_incomplete: bool
    summary: str
    points: tuple[str, ...] = ()
    about: str = ""

    @property
    def was_cut(self) -> bool:
        """Whether there is more of the page here than is shown."""
        return self.end < self.length

    @property
    def is_partial(self) -> bool:
        """Whether the page is longer than what is shown of it."""
        return self.was_cut or self.is_incomplete

    def block(self, boundary: str) -> str:
        """The page in its fence, with a line before it and, if there is more, one after it."""
        text = self.markdown
        if self.was_cut:
            text = introduced(text, self.summary, self.points)
        fence = fenced(text, boundary=boundary, url=self.url)
        about = f" ({self.about})" if self.about else ""
        title = f"Page of result {self.number}{about}:"
        return "\n".join(filter(None, (title, fence, self._read_on())))

    def cost(self, boundary: str, *, limit: int) -> int:
        """What its block costs with the blank line before it, or `limit` + 1 if more than that."""
        return estimate(f"\n\n{self.block(boundary)}", limit=limit)

    def within(self, room: int, boundary: str) -> Self:
        """The page as it is if its block fits into so many tokens, else the part that fits."""
        if self.cost(boundary, limit=room) <= room:
            return self
        frame = replace(self, markdown="", end=max(0, self.length - 1))
        if frame.cost(boundary, limit=room) > room // 2:
            frame = replace(frame, points=())
        if frame.cost(boundary, limit=room) > room // 2:
            frame = replace(frame, summary="")
        shown, end = fit(self.markdown, room - frame.cost(boundary, limit=room))
        return replace(frame, markdown=shown, end=end)

    def _read_on(self) -> str:
        if self.was_cut and self.cursor:
            call = next_call(cursor=self.cursor, offset=self.end)
            return f"Cut: {self.end} of {self.length} characters. To read on:\n{call}"
        if self.was_cut:
            return (
                f"Cut: {self.end} of {self.length} characters."
                f" To read on, call web_fetch with the url of result {self.number}."
            )
        if self.is_incomplete:
            return (
                "The page is longer than the size limit. To read on, call web_fetch with the url"
                f" of result {self.number} and a larger max_content_length."
            )
        return ""


def whole(number: int, url: str, content: PageContent, boundary: str) -> Reading:
    """Show all that was read of a page."""
    summary = one_line(content.summary, boundary, max_tokens=SUMMARY_TOKENS)
    return Reading(
        number=number,
        url=url,
        markdown=neutralise(content.markdown, boundary),
        end=len(content.markdown),
        length=content.total_chars or len(content.markdown),
        cursor=content.cursor,
        is_incomplete=content.truncated,
        summary=summary,
        points=points_beside(summary, content.key_points, boundary, room=POINTS_TOKENS),
        about=_about(content),
    )


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


def _about(content: PageContent) -> str:
    quality = "" if content.quality is None else f"quality {content.quality:.1f}"
    return ", ".join(filter(None, (content.kind or "", quality)))
