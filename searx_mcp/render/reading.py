"""One page in the results: which part of it is shown, and how."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from searx_mcp.models.page import PageKind, Passage
from searx_mcp.models.response import PageContent
from searx_mcp.render.excerpts import FETCH, choose, excerpts, gap, next_call
from searx_mcp.render.fence import fenced, neutralise
from searx_mcp.render.tokens import clip_words, estimate, fit

SMALLEST = 250
"""Minimum tokens for showing another page: about 100 of them are the fence and its lines."""

_NEAR_THE_TOP = 4
"""If the page's beginning is among this many best passages, it is moved to second place, since it says what the page
is. In 60 searches over ten pages of documentation, half of them for a late passage and half for the first lines, 21
and 30 of these were shown; 20 and 29 without this rule, 17 and 30 if the beginning is always second."""

_SPARE = 8
"""Maximum tokens of one more line between passages."""

_TOLD_KINDS = {
    PageKind.FORUM: "forum",
    PageKind.LISTING: "list",
    PageKind.COLLECTION: "list",
}
"""Kinds of pages that suggest what to do: consider the author, or follow a link."""

_LEAST_TEXT = 20
"""Minimum tokens for the beginning of a passage to be meaningful."""

_LAST_HEADING = re.compile(r"\n\s*#{1,6}(?: [^\n]*)?\Z")


@dataclass(frozen=True, slots=True)
class ShownPage:
    """The shown part of a page in the results.

    Attributes:
        number: the result's number in the list.
        markdown: what is shown, neutralised.
        length: code points of the page's full Markdown.
        cursor: continues in the page; empty if that is not possible.
        next_offset: where to continue, or `None` if nothing that was read is left.
        has_gaps: whether the text consists of parts of the page instead of its beginning.
        is_incomplete: whether the page itself was cut when it was read, by a limit of size or time.
        about: kind of the page, if it is read differently from an article; may be empty.
        fetch: the published name of `web_fetch`; empty if it is not published.
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
    fetch: str = FETCH

    @property
    def was_cut(self) -> bool:
        """Whether the page here is longer than what is shown."""
        return self.next_offset is not None

    @property
    def is_partial(self) -> bool:
        """Whether the page is longer than what is shown of it."""
        return self.was_cut or self.is_incomplete

    def block(self, boundary: str) -> str:
        """Return the page in its fence, with a line before it and, if there is more, one after it."""
        fence = fenced(self.markdown, boundary=boundary, url=self.url)
        about = f" ({self.about})" if self.about else ""
        title = f"Page of result {self.number}{about}:"
        return "\n".join(filter(None, (title, fence, self._read_on())))

    def cost(self, boundary: str, *, limit: int) -> int:
        """Return the tokens of its block with the blank line before it, or `limit` + 1 if it exceeds that."""
        return estimate(f"\n\n{self.block(boundary)}", limit=limit)

    def _read_on(self) -> str:
        shown = f"Cut off at character {self.next_offset} of {self.length}."
        if self.has_gaps:
            shown = f"The parts that fit the query best, of {self.length} characters."
        if self.was_cut and not self.fetch:
            return shown
        if self.was_cut and self.cursor:
            call = next_call(self.fetch, cursor=self.cursor, offset=self.next_offset or 0)
            return f"{shown} To read on:\n{call}"
        if self.was_cut:
            return f"{shown} To read on, call {self.fetch} with the url of result {self.number}."
        if self.is_incomplete:
            shown = "Only the beginning of the page was read."
            how = f"with the url of result {self.number} and a larger max_content_length"
            return f"{shown} To read on, call {self.fetch} {how}." if self.fetch else shown
        return ""


@dataclass(frozen=True)
class PageToShow:
    """A page that was read, to be shown whole or in part.

    Attributes:
        number: the result's number in the list.
        url: of the result.
        content: with its passages, best first.
        boundary: of the fences.
        most: maximum tokens of the block.
        fetch: as of a `ShownPage`.
    """

    number: int
    url: str
    content: PageContent
    boundary: str
    most: int
    fetch: str = FETCH

    @cached_property
    def whole(self) -> ShownPage:
        """Everything that was read of the page."""
        read = len(self.content.markdown)
        length = self.content.total_chars or read
        return ShownPage(
            number=self.number,
            url=self.url,
            markdown=neutralise(self.content.markdown, self.boundary),
            length=length,
            cursor=self.content.cursor,
            next_offset=read if read < length else None,
            is_incomplete=self.content.truncated,
            about=_TOLD_KINDS.get(self.content.kind, "") if self.content.kind else "",
            fetch=self.fetch,
        )

    @cached_property
    def cost(self) -> int:
        """The tokens of all of it, or more than `most` if it exceeds that."""
        return self.whole.cost(self.boundary, limit=self.most)

    @property
    def gist(self) -> str:
        """A summary of its text, for when no more can be shown."""
        return self.content.summary or self._parts[0].text

    def within(self, room: int) -> tuple[ShownPage | None, int]:
        """Return the page if it fits into `room` tokens, else the passages that do, if any; and the cost."""
        if self.cost <= room:
            return self.whole, self.cost
        frame = replace(self.whole, markdown="", next_offset=self.whole.length, has_gaps=True)
        left = room - frame.cost(self.boundary, limit=room)
        if left < _LEAST_TEXT:
            return None, 0
        found = self._excerpt(frame, left)
        cost = found.cost(self.boundary, limit=room)
        extra = max(room - cost - _SPARE, 0)
        # Retry with what the first cut and a shorter last line left over, or with a part of it.
        for part in (extra, extra // 2, extra // 4):
            longer = self._excerpt(frame, left + part) if part else found
            price = longer.cost(self.boundary, limit=room)
            if cost < price <= room:
                return longer, price
        return found, cost

    def _excerpt(self, frame: ShownPage, room: int) -> ShownPage:
        """Return the best passages that fit into `room` tokens, in page order."""
        chosen = choose(self._parts, room, size=estimate, cut=_beginning)
        chosen += self._continued(chosen, room - estimate(excerpts(chosen, self.boundary)) - _SPARE)
        text, _ = fit(neutralise(excerpts(chosen, self.boundary), self.boundary), room)
        following = gap(chosen)
        has_gaps = any(passage.offset > following for passage in chosen)
        return replace(frame, markdown=text, next_offset=following, has_gaps=has_gaps)

    def _continued(self, chosen: Sequence[Passage], room: int) -> list[Passage]:
        """Add the beginning of one more passage: preferably of one that needs no line of its own."""
        taken, ends = {each.offset for each in chosen}, {each.end for each in chosen}
        left = [each for each in self._parts if each.offset not in taken]
        for passage in sorted(left, key=lambda each: each.offset not in ends)[:1]:
            if passage.offset not in ends:
                label = excerpts([passage.model_copy(update={"text": ""})], self.boundary)
                room -= estimate(label) + _SPARE
            if text := _beginning(passage.text, max(room, 0)):
                return [passage.model_copy(update={"text": text})]
        return []

    @cached_property
    def _parts(self) -> tuple[Passage, ...]:
        """The passages, best first; if the page's beginning is among the first ones, it is second."""
        ranked = self.content.passages
        if not ranked:
            return (Passage(path=(), offset=0, text=self.content.markdown),)
        if any(passage.offset == 0 for passage in ranked[1:_NEAR_THE_TOP]):
            return (ranked[0], *sorted(ranked[1:], key=lambda passage: passage.offset > 0))
        return ranked


def _beginning(text: str, room: int) -> str:
    """Return the beginning of a text, without a heading at its end that the cut left without text."""
    short, was_cut = clip_words(text, room)
    return _LAST_HEADING.sub("", short) if was_cut else short
