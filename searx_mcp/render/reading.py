"""One page in the results: which part of it is shown, how, and the call that reads on."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from typing import Final

from searx_mcp.models.page import PageKind, Passage
from searx_mcp.models.response import PageContent
from searx_mcp.render.fence import fenced, neutralise, one_line
from searx_mcp.render.tokens import clip_words, closing, estimate, fit

FETCH: Final = "web_fetch"
"""Default name of the tool that reads on."""

_SKIPPED: Final = "\n\n\u2026\n\n"
"""Marks omitted text of the page."""

_TITLE_TOKENS: Final = 25

_SHORTEST: Final = 200
"""Minimum characters of a passage for showing a part of it: two sentences."""


_REST: Final = 0.05
"""Share of the room that may stay empty: below it, no further passage is tried."""
_MISFITS: Final = 24
"""Passages that do not fit before the search ends: a page may have thousands."""


def choose(
    passages: Sequence[Passage],
    room: int,
    *,
    size: Callable[[str], int],
    cut: Callable[[str, int], str],
) -> list[Passage]:
    """Select passages while they fit; of the first that are too long, select the beginnings.

    Args:
        passages: in order of preference; they do not overlap.
        room: maximum size of `excerpts` of the selected ones.
        size: returns the size of a text, which never exceeds the sum of the sizes of its parts.
        cut: returns the beginning of a text up to a size.

    Returns:
        Passages in the order in which they were selected.
    """
    taken: list[Passage] = []
    starts: dict[int, int] = {}
    ends: set[int] = set()
    left = room
    misfits = 0
    for passage in passages:
        if left < room * _REST or misfits == _MISFITS:
            break
        frame = 0 if passage.offset in ends else size(_frame(passage))
        needed = frame + size(passage.text + _end(passage))
        shown = passage
        if needed - starts.get(passage.end, 0) > left:
            text = cut(passage.text, max(0, left - frame)).rstrip()
            if not text or (taken and len(text) < _SHORTEST):
                misfits += 1
                continue
            shown = passage.model_copy(update={"text": text})
            needed = frame + size(text + _end(shown))
        left += starts.pop(shown.end, 0) - needed
        if frame:
            starts[shown.offset] = frame
        ends.add(shown.end)
        taken.append(shown)
    return taken


def excerpts(passages: Sequence[Passage], boundary: str = "") -> str:
    """Join passages into one Markdown text.

    Args:
        passages: in any order.
        boundary: of the fence for the text; the passages themselves are not neutralised here.

    Returns:
        The passages in page order. A passage that does not directly follow the one before starts, after a `…`,
        with a line that has its headings and its character offset.
    """
    return _SKIPPED.join(_runs(sorted(passages, key=lambda passage: passage.offset), boundary))


def gap(passages: Sequence[Passage], start: int = 0) -> int:
    """Return the first code point from `start` on that is in none of the passages."""
    for passage in sorted(passages, key=lambda passage: passage.offset):
        if passage.offset > start:
            break
        start = max(start, passage.end)
    return start


def _runs(passages: Sequence[Passage], boundary: str) -> Iterator[str]:
    """Yield contiguous passages joined, each run with its label."""
    at = 0
    while at < len(passages):
        first = passages[at]
        texts = [first.text]
        at += 1
        while at < len(passages) and passages[at].offset == passages[at - 1].end:
            texts.append(passages[at].text)
            at += 1
        text = first.head + "".join(texts).lstrip("\n").rstrip()
        yield _label(first, boundary) + text + closing(text)


def _end(passage: Passage) -> str:
    """Return what closes a code block in which a passage ends."""
    return closing(passage.head + passage.text)


def _frame(passage: Passage) -> str:
    """Return the text around a passage that is not contiguous with another."""
    return _SKIPPED + _label(passage) + passage.head


def _label(passage: Passage, boundary: str = "") -> str:
    """Return a passage's location; nothing for the beginning of the page."""
    if not passage.offset:
        return ""
    # Do not repeat headings with which the passage begins.
    lines = filter(None, passage.text.split("\n"))
    own = sum(1 for _ in takewhile(lambda line: line.startswith("#"), lines))
    path = passage.path[: max(0, len(passage.path) - own)]
    titles = " > ".join(one_line(title, boundary, max_tokens=_TITLE_TOKENS) for title in path)
    return f"[{titles}{', ' if titles else ''}from character {passage.offset}]\n\n"


def next_call(fetch: str, **arguments: str | int) -> str:
    """Format a call with its arguments as JSON.

    Args:
        fetch: the published name of `web_fetch`.
        arguments: of the call.
    """
    return f"{fetch} {json.dumps(arguments, ensure_ascii=False)}"


NEXT: Final = (
    "Next: ask in other words, read another page, or search the web. Do not answer from memory."
)
_TERM_TOKENS: Final = 40


def refusal(
    support: float,
    missing: Sequence[str],
    boundary: str,
    *,
    told: str,
    section: str = "",
) -> str:
    """Say that a question is not answered, how good the best match is, and what is missing.

    Args:
        support: of the best passage, 0 to 1.
        missing: words of the question that were not found.
        boundary: of the fence; with one, the sentence contains no untrusted heading.
        told: which pages do not answer which question.
        section: the heading above the best passage.
    """
    where = f" (§ {section})" if section and not boundary else ""
    words = dict.fromkeys(missing)
    named = ", ".join(f'"{one_line(word, boundary, max_tokens=_TERM_TOKENS)}"' for word in words)
    lacking = f"; not found: {named}" if named else ""
    return f"{told}. Best match {support:.2f}{where}{lacking}."


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
