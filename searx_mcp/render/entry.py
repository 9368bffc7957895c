"""One search result as a model sees it in the list."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from searx_mcp.models.response import SearchResult
from searx_mcp.render.details import Detail, details
from searx_mcp.render.fence import one_line, one_url
from searx_mcp.render.tokens import UNLIMITED, line_cost

SNIPPET_CHARS = 500
"""What is shown of a snippet at most; those of instances seldom have more than 300."""

_TITLE_TOKENS = 25
_ENGINE_TOKENS = 8
_ENGINES_SHOWN = 3
_ATTRIBUTION_TOKENS = 30
_SHORTEST_CUT = 8


@dataclass(frozen=True, slots=True)
class Entry:
    """One result in the list: what is shown of it so far.

    The methods that add to it take the tokens they may spend, and return it with what fits.

    Attributes:
        number: its place among all results, from 1.
        head: title and address, two lines no result goes without.
        description: may be empty.
        details: what the result has for being of its kind.
        origin: engines and licence.
        gist: what its page says, where no text of the page is shown.
    """

    number: int
    result: SearchResult
    head: str
    description: str = ""
    details: tuple[Detail, ...] = ()
    origin: tuple[str, ...] = ()
    gist: str = ""

    @property
    def block(self) -> str:
        """Its lines."""
        told = [*self.origin[:1], *(each.text for each in self.details if not each.has_line)]
        told += self.origin[1:]
        brackets = f"[{'; '.join(told)}]" if told else ""
        lines = (
            self.head,
            f"{self.description} {brackets}".strip(),
            *(each.text for each in self.details if each.has_line),
            f"Page: {self.gist}" if self.gist else "",
        )
        return "\n".join(filter(None, lines))

    @property
    def cost(self) -> int:
        """What its lines cost."""
        return line_cost(self.block)

    def described(self, room: int, boundary: str) -> Self:
        """With its snippet, cut if need be; nothing rather than the first few words of it."""
        whole = replace(self, description=_short(self.result.description, boundary))
        if whole.cost <= self.cost + room:
            return whole
        return replace(self, description=_cut(whole.description, room - 2, boundary))

    def summed_up(self, gist: str, room: int, boundary: str) -> Self:
        """With what its page says, likewise."""
        whole = replace(self, gist=_short(gist, boundary))
        if whole.cost <= self.cost + room:
            return whole
        return replace(self, gist=_cut(whole.gist, room - line_cost("Page: ") - 1, boundary))

    def detailed(self, room: int, boundary: str, numbers: Mapping[str, int]) -> Self:
        """With its details, those of most worth first; `numbers` are of results by their address."""
        same_as = numbers.get(self.result.duplicate_of)
        copy = [] if same_as is None else [Detail(f"same text as {same_as}")]
        return self._extended((*copy, *details(self.result, boundary)), room)

    def credited(self, room: int, boundary: str) -> Self:
        """With the engines that found it and the licence, or without both."""
        names = self.result.engines or ((self.result.engine,) if self.result.engine else ())
        shown = [one_line(n, boundary, max_tokens=_ENGINE_TOKENS) for n in names[:_ENGINES_SHOWN]]
        if len(names) > _ENGINES_SHOWN:
            shown.append(f"{len(names) - _ENGINES_SHOWN} more")
        licence = one_line(self.result.attribution, boundary, max_tokens=_ATTRIBUTION_TOKENS)
        full = replace(self, origin=tuple(filter(None, (", ".join(shown), licence))))
        return full if full.cost <= self.cost + room else self

    def _extended(self, told: tuple[Detail, ...], room: int) -> Self:
        limit = self.cost + room
        full = replace(self, details=told)
        if full.cost <= limit:
            return full
        shown = self
        for detail in told:
            longer = replace(shown, details=(*shown.details, detail))
            if longer.cost <= limit:
                shown = longer
        return shown


Growth = Callable[[Entry, int], Entry]
"""Adds to an entry what fits into so many tokens."""


def title(result: SearchResult, boundary: str) -> str:
    """The title in one line."""
    return one_line(result.title, boundary, max_tokens=_TITLE_TOKENS) or "Untitled"


def bare(result: SearchResult, number: int, boundary: str) -> Entry:
    """A result with its title and address alone, and why its page was not read if it was to be."""
    lines = (f"{number}. {title(result, boundary)}", one_url(result.url), unread(result, boundary))
    return Entry(number, result, "\n".join(filter(None, lines)))


def unread(result: SearchResult, boundary: str) -> str:
    """Why the page of a result was not read, or nothing."""
    if not result.error_type:
        return ""
    status = f" ({result.status_code})" if result.status_code else ""
    return f"Page not read: {one_line(result.error_type, boundary, max_tokens=20)}{status}."


def _short(text: str, boundary: str) -> str:
    short = text[:SNIPPET_CHARS]
    if len(short) < len(text):
        short = f"{short.rpartition(' ')[0] or short}…"
    return one_line(short, boundary, max_tokens=UNLIMITED)


def _cut(line: str, room: int, boundary: str) -> str:
    return one_line(line, boundary, max_tokens=room) if room >= _SHORTEST_CUT else ""
