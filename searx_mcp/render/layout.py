"""What of a search is shown: the one decision that text and structured content share.

The order in which room is given out: the heading; titles and addresses of all results; direct
answers, a sixth at most, remarks and what stands beside the results, likewise; engines and dates;
descriptions; pages by score.
"""

from dataclasses import dataclass, replace

from searx_mcp.models.response import SearchResponse, SearchResult
from searx_mcp.render import entry, reading, surroundings
from searx_mcp.render.fence import fenced
from searx_mcp.render.tokens import UNLIMITED, estimate, line_cost, lines_within, share

_BLANK_LINES = 8
"""Line breaks between the parts of the text."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One result in the list.

    Attributes:
        number: its place among all results, from 1.
        head: title and address, two lines.
        origin: engines, date and image; may be empty.
        description: what is shown of it; may be empty.
    """

    number: int
    result: SearchResult
    head: str
    origin: str = ""
    description: str = ""

    @property
    def block(self) -> str:
        """Its two or three lines."""
        tail = f"{self.description} {self.origin}".strip()
        return f"{self.head}\n{tail}" if tail else self.head


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything that is shown.

    Attributes:
        left_out: how many results found no room even for title and address.
        unshown: how many pages were read and found no room.
        beside: what strangers say beside the results, a line for each.
        remarks: what we say of the search, likewise.
        short: the response with everything around its results in short.
    """

    short: SearchResponse
    heading: str
    answers: tuple[str, ...]
    entries: tuple[Entry, ...]
    left_out: int
    readings: tuple[reading.Reading, ...]
    unshown: int
    beside: tuple[str, ...]
    remarks: tuple[str, ...]


def lay_out(response: SearchResponse, *, budget: int | None, boundary: str) -> Layout:
    """Decide what is shown of a search within a number of tokens; `None` shows everything."""
    room = UNLIMITED if budget is None else budget
    short = surroundings.shortened(response, boundary)
    heading = surroundings.heading(short, room)
    bare = [
        Entry(number, result, entry.head(result, number, boundary))
        for number, result in enumerate(response.results, start=1)
    ]
    left = room - estimate(heading) - line_cost(fenced("", boundary=boundary)) - _BLANK_LINES
    entries, left = _listed(bare, left)
    pages = _pages(entries, boundary)
    if pages:
        left -= line_cost(unshown_line(len(pages)))
    answers, spent = lines_within(surroundings.direct_answers(short), min(left, room // 6))
    left -= spent
    sixth = min(left, room // 6)
    remarks, spent = lines_within(surroundings.remarks(short), sixth)
    left -= spent
    beside, spent = lines_within(surroundings.beside(short, boundary), sixth - spent)
    left -= spent
    entries, left = _with_origins(entries, left, boundary)
    entries, left = _with_descriptions(entries, left, boundary, is_limited=budget is not None)
    readings = pages if budget is None else _within(pages, left, boundary)
    return Layout(
        short=short,
        heading=heading,
        answers=answers,
        entries=tuple(entries),
        left_out=len(bare) - len(entries),
        readings=tuple(readings),
        unshown=len(pages) - len(readings) if left >= 0 else 0,
        beside=beside,
        remarks=remarks,
    )


def left_out_line(count: int) -> str:
    """Say that results are missing from the list, and how to get them."""
    return f"{count} more results left out for lack of room: ask again with a larger max_tokens."


def unshown_line(count: int) -> str:
    """Say that pages were read but are not shown, and how to get them."""
    return f"{count} more pages left out for lack of room: web_fetch reads them."


def _listed(bare: list[Entry], left: int) -> tuple[list[Entry], int]:
    prices = [line_cost(candidate.head) for candidate in bare]
    if sum(prices) <= left:
        return bare, left - sum(prices)
    left -= line_cost(left_out_line(len(bare)))
    fitting = []
    for candidate, price in zip(bare, prices, strict=True):
        if price <= left:
            fitting.append(candidate)
            left -= price
    return fitting, left


def _with_origins(entries: list[Entry], left: int, boundary: str) -> tuple[list[Entry], int]:
    shown = []
    numbers = {each.result.url: each.number for each in reversed(entries)}
    for candidate in entries:
        same_as = numbers.get(candidate.result.duplicate_of)
        origin = entry.origin(candidate.result, boundary, same_as=same_as)
        price = line_cost(origin)
        allowed = left
        if candidate.result.image is None:
            allowed = min(left, entry.MAX_TOKENS - line_cost(candidate.head))
        if price > allowed:
            shown.append(candidate)
            continue
        shown.append(replace(candidate, origin=origin))
        left -= price
    return shown, left


def _with_descriptions(
    entries: list[Entry], left: int, boundary: str, *, is_limited: bool
) -> tuple[list[Entry], int]:
    rooms = []
    for candidate in entries:
        room = entry.MAX_TOKENS - line_cost(candidate.block) if is_limited else UNLIMITED
        whole = entry.description(candidate.result, max(room - 1, 0), boundary)
        rooms.append(line_cost(whole))
    grants = share(rooms, max(left, 0))
    shown = []
    for candidate, grant in zip(entries, grants, strict=True):
        text = entry.description(candidate.result, grant - 1, boundary)
        shown.append(replace(candidate, description=text))
        left -= line_cost(text)
    return shown, left


def _pages(entries: list[Entry], boundary: str) -> list[reading.Reading]:
    """All pages that were read, whole, best score first."""
    by_score = sorted(entries, key=lambda candidate: -candidate.result.score)
    return [
        reading.whole(candidate.number, candidate.result.url, content, boundary)
        for candidate in by_score
        if (content := candidate.result.content) is not None and content.markdown
    ]


def _within(pages: list[reading.Reading], left: int, boundary: str) -> list[reading.Reading]:
    """As many of the first pages as can be shown with a sensible part of each."""
    room = max(left, 0)
    needs = [page.cost(boundary, limit=room) for page in pages]
    for count in range(len(pages), 0, -1):
        grants = share(needs[:count], room)
        if all(g >= min(n, reading.SMALLEST) for g, n in zip(grants, needs[:count], strict=True)):
            shown = zip(pages[:count], grants, strict=True)
            return [page.within(grant, boundary) for page, grant in shown]
    return []
