"""A search as the text a model reads, and what of it is shown: text and structured content share that.

The order in which room is given out: the heading; of direct answers, remarks and what stands beside the
results a third at most; as many results as there is room for with their whole snippets, the last of them
perhaps with a part of it, and how many are left out; what results have for being of their kind; the rest of
the answers and remarks; engines and licences; pages by score, each by the passages that fit the query best;
of pages for which no room is left, what they say in short. A snippet that the shown text of its page repeats is left
out, and its room goes to the pages.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from searx_mcp.models.response import PageContent, SearchResponse
from searx_mcp.models.spelling import counted
from searx_mcp.render import entry, surroundings
from searx_mcp.render.entry import Entry, Growth
from searx_mcp.render.excerpts import FETCH
from searx_mcp.render.fence import fenced
from searx_mcp.render.reading import SMALLEST, Reading, Source
from searx_mcp.render.tokens import UNLIMITED, estimate, line_cost, lines_within, share

_BLANK_LINES = 5
"""Line breaks between the parts of the text that are not counted with the parts."""

_TARGET = re.compile(r"\]\([^()\s]*\)")
_NO_LETTER = re.compile(r"[\W_]+")
_GAP = re.compile(r"\.\.\.|\u2026|\s[\u00b7\u2014|]\s")
"""What stands between the sentences that an engine took from different places of a page."""
_LEAST_MORE = 10
"""Tokens left over that are worth to be offered to the pages once more."""
_LEAST_REPEATED = 20
"""Letters of a sentence that two texts do not share by chance."""


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
    readings: tuple[Reading, ...]
    unshown: int
    beside: tuple[str, ...]
    remarks: tuple[str, ...]


def search_text(
    response: SearchResponse,
    *,
    budget: int | None,
    boundary: str,
    fetch: str = FETCH,
    layout: Layout | None = None,
) -> str:
    """Write a search as text: the results first, then the pages by score, all in fences.

    Args:
        response: the search.
        budget: tokens the text may have, 200 or more, as `tokens.estimate` counts them; `None` for
            no limit. Pages shrink first, then there are fewer results; a title or an address is never cut.
        boundary: hexadecimal digits that no page can know, 8 or more; the same for all answers of
            a process, so that equal answers are equal texts.
        fetch: the published name of `web_fetch`; empty if it is not published.
        layout: what `lay_out` made of the same, if the caller needs the data too: it is most of the work.
    """
    layout = layout or lay_out(response, budget=budget, boundary=boundary, fetch=fetch)
    found = "\n\n".join(
        "\n".join(lines)
        for lines in (layout.answers, [each.block for each in layout.entries], layout.beside)
        if lines
    )
    parts = [
        layout.heading,
        fenced(found, boundary=boundary) if found else "",
        left_out_line(layout.left_out) if layout.left_out else "",
        *(page.block(boundary) for page in layout.readings),
        unshown_line(layout.unshown, fetch) if layout.unshown else "",
        "\n".join(layout.remarks),
    ]
    return "\n\n".join(part for part in parts if part)


def lay_out(
    response: SearchResponse,
    *,
    budget: int | None,
    boundary: str,
    fetch: str = FETCH,
    specified: bool = False,
) -> Layout:
    """Decide what is shown of a search within a number of tokens; `None` shows everything.

    Args:
        response: the search.
        budget: as for `search_text`.
        boundary: likewise.
        fetch: likewise.
        specified: whether the list has the form of the specified thin client.
    """
    room = UNLIMITED if budget is None else budget
    short = surroundings.shortened(response, boundary)
    bare = [
        entry.bare(result, number, boundary, specified=specified)
        for number, result in enumerate(response.results, start=1)
    ]
    longest = surroundings.heading(short, room, shown=len(bare) - 1, specified=specified)
    left = room - estimate(longest) - line_cost(fenced("", boundary=boundary)) - _BLANK_LINES
    said = [
        tuple(surroundings.direct_answers(short)),
        tuple(surroundings.remarks(short)),
        tuple(surroundings.beside(short, boundary)),
    ]
    smallest = min((each.cost for each in bare), default=0)
    least = _least(said, left - smallest, room // 6)
    entries, left = _listed(bare, left - sum(least), boundary)
    pages = sum(_page_of(each) is not None for each in entries)
    reserve = line_cost(unshown_line(pages, fetch)) if pages else 0
    reserve = reserve if reserve <= left else 0
    left -= reserve
    numbers = {each.result.url: each.number for each in reversed(entries)}
    entries, left = _grown(entries, left, lambda each, most: each.detailed(most, boundary, numbers))
    around = []
    for lines, granted in zip(said, least, strict=True):
        taken, spent = lines_within(lines, granted + max(left, 0))
        left -= spent - granted
        around.append(taken)
    entries, left = _grown(entries, left, lambda each, most: each.credited(most, boundary))
    sources = _sources(entries, boundary, left + reserve, fetch)
    told, readings, rest = _with_pages(entries, sources, left + reserve)
    if len(readings) < len(sources):
        told, readings, rest = _with_pages(entries, sources, left)
    shown = {reading.number for reading in readings}
    unshown = [source for source in sources if source.number not in shown]
    entries = _summed_up(told, unshown, rest)
    answers, remarks, beside = around
    return Layout(
        short=short,
        heading=surroundings.heading(short, room, shown=len(entries), specified=specified),
        answers=answers,
        entries=tuple(entries),
        left_out=len(bare) - len(entries),
        readings=tuple(readings),
        unshown=len(unshown) if reserve else 0,
        beside=beside,
        remarks=remarks,
    )


def left_out_line(count: int) -> str:
    """Say that results are missing from the list, and how to get them."""
    told = counted(count, "more result")
    return f"{told} left out for lack of room: ask again with a larger max_tokens."


def unshown_line(count: int, fetch: str) -> str:
    """Say that pages were read but are not shown, and how to get them if `web_fetch` is published."""
    told, them = counted(count, "more page"), "it" if count == 1 else "them"
    return f"{told} left out for lack of room{f': {fetch} reads {them}' if fetch else ''}."


def _listed(bare: list[Entry], left: int, boundary: str) -> tuple[list[Entry], int]:
    """The results with their snippets; where room is short, the first of them and not a few words of each."""
    listed, rest = _first(bare, left, boundary)
    if len(listed) == len(bare):
        return listed, rest
    return _first(bare, left - line_cost(left_out_line(len(bare))), boundary)


def _first(bare: list[Entry], left: int, boundary: str) -> tuple[list[Entry], int]:
    """As many results as fit, the last of them with a part of its snippet; one too long by itself is left out."""
    fitting: list[Entry] = []
    for each in bare:
        if each.cost > left:
            continue
        fitting.append(each.described(left - each.cost, boundary))
        left -= fitting[-1].cost
        if fitting[-1].description != each.described(UNLIMITED, boundary).description:
            break
    return fitting, left


def _least(said: Sequence[tuple[str, ...]], left: int, sixth: int) -> list[int]:
    """Grant room to answers, and to remarks and what stands beside the results together, before the rest."""
    answers = lines_within(said[0], min(left, sixth))[1]
    most = min(left - answers, sixth)
    remarks = lines_within(said[1], most)[1]
    return [answers, remarks, lines_within(said[2], most - remarks)[1]]


def _grown(entries: list[Entry], left: int, grow: Growth) -> tuple[list[Entry], int]:
    """Add something to all entries; what is short of room is shared evenly."""
    needs = [grow(each, UNLIMITED).cost - each.cost for each in entries]
    grants = share(needs, max(left, 0))
    left -= sum(grants)
    grown = []
    for each, grant in zip(entries, grants, strict=True):
        longer = grow(each, grant + max(left, 0))  # with what the ones before did not use
        left += grant - (longer.cost - each.cost)
        grown.append(longer)
    return grown, left


def _page_of(each: Entry) -> PageContent | None:
    content = each.result.content
    return content if content is not None and content.markdown else None


def _sources(entries: list[Entry], boundary: str, left: int, fetch: str) -> list[Source]:
    """All pages that were read, best score first."""
    most = max(left, 0) + sum(line_cost(each.description) for each in entries)
    by_score = sorted(entries, key=lambda each: -each.result.score)
    return [
        Source(each.number, each.result.url, content, boundary, most, fetch)
        for each in by_score
        if (content := _page_of(each)) is not None
    ]


def _with_pages(
    entries: list[Entry], sources: list[Source], left: int
) -> tuple[list[Entry], list[Reading], int]:
    """The pages that are shown, and the entries without snippets that these repeat."""
    readings, rest = _filled(sources, left)
    spared = _without_repeated(entries, readings)
    freed = sum(each.cost for each in entries) - sum(each.cost for each in spared)
    if freed:
        more, rest_of_more = _filled(sources, left + freed)
        # With more room another passage may be the last one, and what was repeated not be there.
        if _without_repeated(entries, more) == spared:
            return spared, more, rest_of_more
    return spared, readings, rest + freed


def _without_repeated(entries: list[Entry], readings: list[Reading]) -> list[Entry]:
    """The entries without the snippets that the text shown of their pages repeats."""
    said = {reading.number: _letters(reading.markdown) for reading in readings}
    return [
        replace(each, description="")
        if _is_repeated(each.result.description, said.get(each.number, ""))
        else each
        for each in entries
    ]


def _filled(sources: list[Source], left: int) -> tuple[list[Reading], int]:
    """As many of the first pages as can be shown with a sensible part of each, and what is left.

    All get the same room as far as they need it, since the page that answers is often not the first; what one
    does not use goes to the next, and what is left then to the best ones.
    """
    room = max(left, 0)
    least = list(accumulate(min(source.cost, SMALLEST) for source in sources))
    # One alone may be shorter.
    shown = sources[: max(sum(spent <= room for spent in least), 1)]
    grants = share([source.cost for source in shown], room)
    spare = room - sum(grants)
    readings: list[Reading | None] = [None] * len(shown)
    for is_second in (False, True):
        for place, source in enumerate(shown):
            if is_second and (spare < _LEAST_MORE or source.cost <= grants[place]):
                continue
            limit = grants[place] + spare
            readings[place], grants[place] = source.within(limit)
            spare = limit - grants[place]
    return [reading for reading in readings if reading], left - sum(grants)


def _summed_up(entries: list[Entry], unshown: list[Source], left: int) -> list[Entry]:
    """The entries with what the pages say that are not shown, those of the best ones first."""
    summed_up = {each.number: each for each in entries}
    for source in unshown:
        each = summed_up[source.number]
        longer = each.summed_up(source.gist, left, source.boundary)
        summed_up[source.number] = longer
        left -= longer.cost - each.cost
    return list(summed_up.values())


def _letters(text: str) -> str:
    """The letters and digits of Markdown or of plain text, without the targets of links."""
    return _NO_LETTER.sub("", _TARGET.sub("", text)).casefold()


def _is_repeated(snippet: str, said: str) -> bool:
    """Tell whether all sentences of a snippet that are long enough to tell are in a text."""
    sentences = [_letters(sentence) for sentence in _GAP.split(snippet[: entry.SNIPPET_CHARS])]
    telling = [sentence for sentence in sentences if len(sentence) >= _LEAST_REPEATED]
    return bool(said and telling) and all(sentence in said for sentence in telling)
