"""A search as text for a model, and the selection of what is shown, which structured content shares.

Priority of the budget: the heading; direct answers, remarks and lines beside the results, a third at most; as
many results as fit with their full snippets, the last of them possibly with a part of it, and the number of omitted
ones; the details of the results' kinds; the rest of the answers and remarks; engines and licences; pages by score,
each by the passages that match the query best; for pages that do not fit, a short summary. Pages without a passage
that supports the query are only named if another page has one. A snippet that the shown text of its page repeats is
omitted, and the pages get its room.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from searx_mcp.models.response import PageContent, SearchResponse
from searx_mcp.models.spelling import counted
from searx_mcp.render import entry, surroundings
from searx_mcp.render.entry import Growth, ListedResult
from searx_mcp.render.fence import fenced
from searx_mcp.render.reading import FETCH, SMALLEST, PageToShow, ShownPage
from searx_mcp.render.tokens import UNLIMITED, estimate, line_cost, lines_within, share

_BLANK_LINES = 5
"""Line breaks between the parts of the text that are not counted with the parts."""

_TARGET = re.compile(r"\]\([^()\s]*\)")
_NO_LETTER = re.compile(r"[\W_]+")
_GAP = re.compile(r"\.\.\.|\u2026|\s[\u00b7\u2014|]\s")
"""Separators between sentences that an engine took from different places of a page."""
_LEAST_MORE = 10
"""Minimum remaining tokens that are offered to the pages once more."""
_LEAST_REPEATED = 20
"""Minimum letters of a sentence that two texts do not share by chance."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything that is shown.

    Attributes:
        left_out: number of results for which not even title and address fit.
        unshown: number of pages that were read and do not fit.
        off_topic: numbers of the results whose pages are not shown since they do not support the query.
        beside: untrusted lines beside the results.
        remarks: our remarks on the search, one line each.
        short: the response, with everything around its results shortened.
    """

    short: SearchResponse
    heading: str
    answers: tuple[str, ...]
    entries: tuple[ListedResult, ...]
    left_out: int
    readings: tuple[ShownPage, ...]
    unshown: int
    off_topic: tuple[int, ...]
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
    """Format a search as text: the results first, then the pages by score, all in fences.

    Args:
        response: the search.
        budget: maximum tokens of the text, 200 or more, as counted by `tokens.estimate`; `None` for
            no limit. Pages shrink first, then there are fewer results; titles and addresses are never cut.
        boundary: hexadecimal digits that no page can know, 8 or more; the same for all answers of
            a process, so that equal answers are equal texts.
        fetch: the published name of `web_fetch`; empty if it is not published.
        layout: from `lay_out` with the same arguments, if the caller also needs the data: it is most of the work.
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
        *left_pages(layout, fetch),
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
    """Select what is shown of a search within a number of tokens; `None` shows everything.

    Args:
        response: the search.
        budget: as for `search_text`.
        boundary: as for `search_text`.
        fetch: as for `search_text`.
        specified: whether the list has the format of the specified thin client.
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
    off_topic = () if budget is None else _off_topic(entries)
    named = line_cost(_off_topic_line(off_topic, fetch)) if off_topic else 0
    if named > left:
        off_topic, named = (), 0
    left -= named
    pages = sum(_page_of(each) is not None for each in entries) - len(off_topic)
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
    sources = [
        source
        for source in _sources(entries, boundary, left + reserve, fetch)
        if source.number not in off_topic
    ]
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
        off_topic=off_topic,
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


def left_pages(layout: Layout, fetch: str) -> list[str]:
    """Say which pages are not shown, and why; one sentence for each reason."""
    told = [unshown_line(layout.unshown, fetch)] if layout.unshown else []
    if layout.off_topic:
        told.append(_off_topic_line(layout.off_topic, fetch))
    return told


def _off_topic_line(numbers: Sequence[int], fetch: str) -> str:
    *most, last = map(str, numbers)
    which, does, them = f"page of result {last}", "does", "it"
    if most:
        which, does, them = f"pages of results {', '.join(most)} and {last}", "do", "them"
    how = f" {fetch} reads {them}." if fetch else ""
    return f"Not shown: the {which}, which {does} not fit the query.{how}"


def _off_topic(entries: list[ListedResult]) -> tuple[int, ...]:
    """Return the numbers of results whose pages do not support the query, if another page may."""
    verdicts = {each.number: page.answered for each in entries if (page := _page_of(each))}
    off_topic = tuple(number for number, answered in verdicts.items() if answered is False)
    return off_topic if len(off_topic) < len(verdicts) else ()


def _listed(bare: list[ListedResult], left: int, boundary: str) -> tuple[list[ListedResult], int]:
    """Add snippets to the results; if room is short, to the first ones rather than a few words to each."""
    listed, rest = _first(bare, left, boundary)
    if len(listed) == len(bare):
        return listed, rest
    return _first(bare, left - line_cost(left_out_line(len(bare))), boundary)


def _first(bare: list[ListedResult], left: int, boundary: str) -> tuple[list[ListedResult], int]:
    """Return as many results as fit, the last with a part of its snippet; a result too long by itself is dropped."""
    fitting: list[ListedResult] = []
    for each in bare:
        if each.cost > left:
            continue
        fitting.append(each.described(left - each.cost, boundary))
        left -= fitting[-1].cost
        if fitting[-1].description != each.described(UNLIMITED, boundary).description:
            break
    return fitting, left


def _least(said: Sequence[tuple[str, ...]], left: int, sixth: int) -> list[int]:
    """Reserve room for answers, and for remarks and lines beside the results together, before the rest."""
    answers = lines_within(said[0], min(left, sixth))[1]
    most = min(left - answers, sixth)
    remarks = lines_within(said[1], most)[1]
    return [answers, remarks, lines_within(said[2], most - remarks)[1]]


def _grown(entries: list[ListedResult], left: int, grow: Growth) -> tuple[list[ListedResult], int]:
    """Add something to all entries; entries that need more room share it evenly."""
    needs = [grow(each, UNLIMITED).cost - each.cost for each in entries]
    grants = share(needs, max(left, 0))
    left -= sum(grants)
    grown = []
    for each, grant in zip(entries, grants, strict=True):
        longer = grow(each, grant + max(left, 0))  # with what earlier entries did not use
        left += grant - (longer.cost - each.cost)
        grown.append(longer)
    return grown, left


def _page_of(each: ListedResult) -> PageContent | None:
    content = each.result.content
    return content if content is not None and content.markdown else None


def _sources(entries: list[ListedResult], boundary: str, left: int, fetch: str) -> list[PageToShow]:
    """Return all pages that were read, best score first."""
    most = max(left, 0) + sum(line_cost(each.description) for each in entries)
    by_score = sorted(entries, key=lambda each: -each.result.score)
    return [
        PageToShow(each.number, each.result.url, content, boundary, most, fetch)
        for each in by_score
        if (content := _page_of(each)) is not None
    ]


def _with_pages(
    entries: list[ListedResult], sources: list[PageToShow], left: int
) -> tuple[list[ListedResult], list[ShownPage], int]:
    """Return the pages that are shown, and the entries without snippets that these repeat."""
    readings, rest = _filled(sources, left)
    spared = _without_repeated(entries, readings)
    freed = sum(each.cost for each in entries) - sum(each.cost for each in spared)
    if freed:
        more, rest_of_more = _filled(sources, left + freed)
        # With more room, another passage may be the last one, and the repeated text may be missing.
        if _without_repeated(entries, more) == spared:
            return spared, more, rest_of_more
    return spared, readings, rest + freed


def _without_repeated(entries: list[ListedResult], readings: list[ShownPage]) -> list[ListedResult]:
    """Remove the snippets of entries that the shown text of their pages repeats."""
    said = {reading.number: _letters(reading.markdown) for reading in readings}
    return [
        replace(each, description="")
        if _is_repeated(each.result.description, said.get(each.number, ""))
        else each
        for each in entries
    ]


def _filled(sources: list[PageToShow], left: int) -> tuple[list[ShownPage], int]:
    """Return as many of the first pages as fit with a meaningful part each, and the remaining tokens.

    All get the same room, as far as they need it, since the page that answers is often not the first; what one
    does not use goes to the next, and the rest to the best ones.
    """
    room = max(left, 0)
    least = list(accumulate(min(source.cost, SMALLEST) for source in sources))
    # A single one may be shorter.
    shown = sources[: max(sum(spent <= room for spent in least), 1)]
    grants = share([source.cost for source in shown], room)
    spare = room - sum(grants)
    readings: list[ShownPage | None] = [None] * len(shown)
    for is_second in (False, True):
        for place, source in enumerate(shown):
            if is_second and (spare < _LEAST_MORE or source.cost <= grants[place]):
                continue
            limit = grants[place] + spare
            readings[place], grants[place] = source.within(limit)
            spare = limit - grants[place]
    return [reading for reading in readings if reading], left - sum(grants)


def _summed_up(
    entries: list[ListedResult], unshown: list[PageToShow], left: int
) -> list[ListedResult]:
    """Add summaries of the pages that are not shown to their entries, the best first."""
    summed_up = {each.number: each for each in entries}
    for source in unshown:
        each = summed_up[source.number]
        longer = each.summed_up(source.gist, left, source.boundary)
        summed_up[source.number] = longer
        left -= longer.cost - each.cost
    return list(summed_up.values())


def _letters(text: str) -> str:
    """Return the letters and digits of Markdown or plain text, without link targets."""
    return _NO_LETTER.sub("", _TARGET.sub("", text)).casefold()


def _is_repeated(snippet: str, said: str) -> bool:
    """Return whether a text contains all sentences of a snippet that are long enough to tell."""
    sentences = [_letters(sentence) for sentence in _GAP.split(snippet[: entry.SNIPPET_CHARS])]
    telling = [sentence for sentence in sentences if len(sentence) >= _LEAST_REPEATED]
    return bool(said and telling) and all(sentence in said for sentence in telling)
