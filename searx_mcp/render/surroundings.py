"""Lines around the results of a search: heading, direct answers, remarks."""

from collections import Counter
from collections.abc import Iterable, Iterator

from searx_mcp.models.hits import Answer, Fact, Infobox
from searx_mcp.models.response import FetchStats, SearchResponse
from searx_mcp.models.spelling import counted
from searx_mcp.render.fence import one_line, one_url
from searx_mcp.render.tokens import clip

NO_RESULTS = "No search results found."
ADVICE = "Leave out time_range and domain filters if you set them; else try fewer or more general words or another spelling."
_ANSWERS, _ANSWER_TOKENS = 2, 60
_DETAILS, _DETAIL_TOKENS = 8, 20
_INFOBOX_TOKENS = 60
_ATTRIBUTES, _ATTRIBUTE_TOKENS = 4, 15
_LISTED, _LISTED_TOKENS = 5, 15
_REASONS, _REASON_TOKENS, _NAMES = 3, 10, 5
_NOTES, _NOTE_TOKENS = 8, 60
_LICENCES, _LICENCE_TOKENS = 6, 30


def shortened(response: SearchResponse, boundary: str) -> SearchResponse:
    """Return the search with everything around its results shortened and neutralised."""

    def line(text: str, max_tokens: int) -> str:
        return one_line(text, boundary, max_tokens=max_tokens)

    return response.model_copy(
        update={
            "answers": tuple(
                _short_answer(answer, boundary) for answer in response.answers[:_ANSWERS]
            ),
            "infoboxes": tuple(_short_box(box, boundary) for box in response.infoboxes[:1]),
            "corrections": tuple(line(c, _LISTED_TOKENS) for c in response.corrections[:_LISTED]),
            "suggestions": tuple(line(s, _LISTED_TOKENS) for s in response.suggestions[:_LISTED]),
            "attribution": tuple(
                line(said, _LICENCE_TOKENS) for said in response.attribution[:_LICENCES]
            ),
            "notes": tuple(line(note, _NOTE_TOKENS) for note in response.notes[:_NOTES]),
            "quoted_notes": tuple(
                line(note, _NOTE_TOKENS) for note in response.quoted_notes[:_NOTES]
            ),
        }
    )


def _short_answer(answer: Answer, boundary: str) -> Answer:
    return Answer(
        text=one_line(answer.text, boundary, max_tokens=_ANSWER_TOKENS),
        url=answer.url,
        details=_short_facts(answer.details[:_DETAILS], boundary, _DETAIL_TOKENS),
    )


def _short_box(box: Infobox, boundary: str) -> Infobox:
    return Infobox(
        title=one_line(box.title, boundary, max_tokens=_ATTRIBUTE_TOKENS),
        content=one_line(box.content, boundary, max_tokens=_INFOBOX_TOKENS),
        attributes=_short_facts(box.attributes[:_ATTRIBUTES], boundary, _ATTRIBUTE_TOKENS),
        engine=one_line(box.engine, boundary, max_tokens=_ATTRIBUTE_TOKENS),
    )


def _short_facts(facts: Iterable[Fact], boundary: str, value_tokens: int) -> tuple[Fact, ...]:
    return tuple(
        Fact(
            label=one_line(fact.label, boundary, max_tokens=_ATTRIBUTE_TOKENS),
            value=one_line(fact.value, boundary, max_tokens=value_tokens),
        )
        for fact in facts
    )


def heading(short: SearchResponse, budget: int, *, shown: int, specified: bool = False) -> str:
    """Return the first line as specified, and the age of a shortened response that is stale.

    A query that would fill a quarter of the budget is shortened. If fewer results are shown than were requested
    and found, or more were found, the line says so. With `specified` it has the format of the specified thin client,
    and a separate line says that.
    """
    if short.results:
        query, was_cut = clip(" ".join(short.query.splitlines()), budget // 4)
        words = f"{query}…" if was_cut else query
        first = f"Found {counted(short.results_count, 'search result')} for query '{words}'"
        more = ""
        if short.total_results > short.results_count:
            more += f"; there are {short.total_results} in all"
        if short.next_offset is not None:
            more += f" (continue at offset {short.next_offset})"
        if shown < short.results_count:
            more += f"; {shown} are shown here"
        lines = [f"{first}{more}:"]
        if specified:
            lines = [f"SEARCH RESULTS ({short.results_count} found):"]
            lines += [f"These are {short.results_count}{more}."] if more else []
    else:
        # On a later page, the list just ends: the note says so.
        lines = [NO_RESULTS, ADVICE] if short.page is None else [NO_RESULTS]
    if short.stale:
        lines.extend(f"Note: {note}" for note in short.notes[:1])
    return "\n".join(lines)


def direct_answers(short: SearchResponse) -> Iterator[str]:
    """Yield the answers and the infobox of a shortened response, one line each."""
    for answer in short.answers:
        source = f" ({one_url(answer.url)})" if answer.url else ""
        yield f"Answer: {answer.text}{source}"
        if answer.details:
            yield f"Details: {'; '.join(f'{fact.label}: {fact.value}' for fact in answer.details)}"
    for box in short.infoboxes:
        facts = "; ".join(f"{fact.label}: {fact.value}" for fact in box.attributes)
        yield f"Infobox: {' | '.join(part for part in (box.title, box.content, facts) if part)}"


def remarks(short: SearchResponse) -> Iterator[str]:
    """Yield remarks on a shortened response: its notes, and how many pages could not be read."""
    for note in short.notes[1:] if short.stale else short.notes:  # the heading has the first
        yield f"Note: {note}"
    stats = short.content_fetch_stats
    if stats is not None and stats.failed:
        read = f"Pages read: {stats.successful} of {stats.attempted}."
        yield f"{read} {_dropped(stats)}".rstrip()


def beside(short: SearchResponse, boundary: str) -> Iterator[str]:
    """Yield untrusted text beside the results: notes, licences, corrections, suggestions, failed engines."""
    for note in short.quoted_notes:
        yield f"Note: {note}"
    if short.attribution:
        yield f"Licences: {' '.join(short.attribution)}"
    if short.corrections:
        yield f"Did you mean: {'; '.join(short.corrections)}"
    if short.suggestions:
        yield f"Related searches: {'; '.join(short.suggestions)}"
    if short.unresponsive_engines:
        yield _unresponsive(short, boundary)


def _dropped(stats: FetchStats) -> str:
    """Count the pages that were read and dropped, by reason, and the results dropped with them."""
    if not stats.dropped:
        return ""
    reasons = Counter(page.reason.value for page in stats.dropped).most_common()
    counts = ", ".join(f"{count} {reason}" for reason, count in reasons)
    gone = sum(page.result_dropped for page in stats.dropped)
    return f"Left out: {counts}{f' ({gone} with the result)' if gone else ''}."


def _unresponsive(response: SearchResponse, boundary: str) -> str:
    """Name the engines that did not answer, by their reason; the most common reasons first."""
    by_reason: dict[str, list[str]] = {}
    for each in response.unresponsive_engines:
        reason = one_line(each.reason, boundary, max_tokens=_REASON_TOKENS) or "no reason given"
        name = one_line(each.engine, boundary, max_tokens=_REASON_TOKENS)
        by_reason.setdefault(reason, []).append(name)
    shown = sorted(by_reason.items(), key=lambda item: -len(item[1]))[:_REASONS]
    parts = [
        f"{', '.join(names[:_NAMES])}{' …' if len(names) > _NAMES else ''} ({reason})"
        for reason, names in shown
    ]
    if rest := len(response.unresponsive_engines) - sum(len(names) for _, names in shown):
        parts.append(f"and {rest} more")
    return f"Engines that did not answer: {', '.join(parts)}."
