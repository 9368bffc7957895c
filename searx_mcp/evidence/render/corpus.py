"""Formats the results of `read_page`, `corpus_status` and `ingest` for a model."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Final

from searx_mcp.evidence.render.lines import title_line
from searx_mcp.evidence.values import (
    PROTECTED,
    Chunk,
    CorpusPage,
    CorpusStatus,
    IngestedPage,
    IngestResponse,
    QuestionChunks,
    ReadResponse,
)
from searx_mcp.models.spelling import counted
from searx_mcp.render.fence import block, fenced, one_line, one_url, strangers
from searx_mcp.render.reading import NEXT, refusal
from searx_mcp.render.structured import (
    beginning,
    cost,
    costs_until,
    fence_texts,
    marked,
    rows_within,
    without_absent,
)
from searx_mcp.render.tokens import UNLIMITED, estimate, fit, line_cost, lines_within, share

_TITLE_TOKENS: Final = 40
_PATH_TOKENS: Final = 60
_QUESTION_TOKENS: Final = 60
_VALUE_TOKENS: Final = 80
_NOTE_TOKENS: Final = 80
_LEAST_TEXT: Final = 60
"""Minimum tokens for showing the beginning of a passage."""
_QUERY_FIELDS: Final = frozenset({"query", "answered"})
_MORE_TOKENS: Final = 25
"""Tokens reserved for the line that says what is missing, and for blank lines."""


def read_text(response: ReadResponse, *, budget: int | None, boundary: str) -> str:
    """Format the passages of a page that answer, question by question.

    Args:
        response: the answers.
        budget: tokens, shared by the questions; `None` for no limit.
        boundary: of the fence.
    """
    shown = fitted(response, budget=budget, boundary=boundary)
    lines, after = _frame(response, boundary)
    for each, here in zip(response.queries, shown.queries, strict=True):
        question = _asked(each, response, boundary)
        lines += ["", question] if question else []
        for chunk in here.results:
            lines += ["", _passage(chunk, boundary)]
        if not each.results:
            lines += ["", "(no passage)"]
        elif left_out := len(each.results) - len(here.results):
            lines += [
                "",
                f"({counted(left_out, 'more passage')} did not fit: ask again with a larger max_tokens)",
            ]
    told = fenced("\n".join(lines), boundary=boundary, url=response.url)
    return "\n".join((*refusals(response, boundary), told, *after))


def refusals(response: ReadResponse, boundary: str = "") -> list[str]:
    """Say which questions the page does not answer, and what to do then; one line each.

    Args:
        response: the answers.
        boundary: as for `read_text`; without one, the heading of the best match is named.
    """
    if response.note == PROTECTED:
        return []
    told = []
    for each in response.queries:
        if not each.answered:
            asked = (
                f'"{one_line(each.query, boundary, max_tokens=_QUESTION_TOKENS)}"'
                if len(response.queries) > 1
                else "the question"
            )
            path = each.results[0].section_path if each.results else ()
            told.append(
                refusal(
                    each.support,
                    each.missing_terms,
                    boundary,
                    told=f"This page does not answer {asked}",
                    section=path[-1] if path else "",
                )
            )
    return [*told, NEXT] if told else []


def fitted(response: ReadResponse, *, budget: int | None, boundary: str = "") -> ReadResponse:
    """Keep the passages of a page that fit, the first of each question first; that one is truncated if necessary.

    Args:
        response: the answers.
        budget: tokens of `read_text`, shared by the questions; `None` keeps everything.
        boundary: as for `read_text`.
    """
    if budget is None:
        return response
    response = _trimmed(response, budget)
    lines, after = _frame(response, boundary)
    asked = [_asked(each, response, boundary) for each in response.queries]
    frame = (
        *refusals(response, boundary),
        fenced("\n".join(lines), boundary=boundary, url=response.url),
        *after,
        *asked,
    )
    room = budget - sum(map(line_cost, frame)) - len(asked) * _MORE_TOKENS
    needs = [sum(_cost(chunk, boundary) for chunk in each.results) for each in response.queries]
    queries = [
        each.model_copy(update={"results": _within(each.results, left, boundary)})
        for each, left in zip(response.queries, share(needs, max(0, room)), strict=True)
    ]
    return response.model_copy(update={"queries": tuple(queries)})


def _trimmed(response: ReadResponse, budget: int) -> ReadResponse:
    """Drop what cannot fit before any other step: twenty questions may have fifty passages each."""
    costs = [
        costs_until((chunk.text for chunk in each.results), budget) for each in response.queries
    ]
    queries = []
    for each, spent, left in zip(
        response.queries, costs, share([sum(known) for known in costs], budget), strict=True
    ):
        most = bisect_left([*accumulate(spent)], left) + 1
        queries.append(each.model_copy(update={"results": each.results[:most]}))
    return response.model_copy(update={"queries": tuple(queries)})


def _within(chunks: Sequence[Chunk], room: int, boundary: str) -> tuple[Chunk, ...]:
    """Return the first chunks that fit together, or the beginning of the first."""
    kept: list[Chunk] = []
    for chunk in chunks:
        cost = _cost(chunk, boundary)
        if cost > room:
            head = _cost(chunk.model_copy(update={"text": ""}), boundary)
            if not kept and room - head > _LEAST_TEXT:
                text, _ = fit(strangers(chunk.text, boundary), room - head)
                kept.append(chunk.model_copy(update={"text": text}))
            break
        kept.append(chunk)
        room -= cost
    return tuple(kept)


def _cost(chunk: Chunk, boundary: str) -> int:
    return estimate(_passage(chunk, boundary)) + 2


def _frame(response: ReadResponse, boundary: str) -> tuple[list[str], list[str]]:
    """Return the text before the passages, in the fence, and the text after it."""
    title = one_line(response.title, boundary, max_tokens=_TITLE_TOKENS)
    lines = [f"# {title or 'Untitled'}", one_url(response.url), *_about(response, boundary)]
    if quoted := one_line(response.quoted_note, boundary, max_tokens=_NOTE_TOKENS):
        lines.append(f"Note: {quoted}")
    note = one_line(response.note, boundary, max_tokens=_NOTE_TOKENS)
    return lines, [f"Note: {note}"] if note else []


def _about(response: ReadResponse, boundary: str) -> Iterator[str]:
    if response.last_crawled:
        yield f"Last crawled: {response.last_crawled}"
    for name, value in response.metadata or ():
        if value:
            yield f"{name}: {one_line(str(value), boundary, max_tokens=_VALUE_TOKENS)}"


def _asked(each: QuestionChunks, response: ReadResponse, boundary: str) -> str:
    """Return the heading for the passages of one of several questions."""
    if len(response.queries) == 1:
        return ""
    return f'## "{one_line(each.query, boundary, max_tokens=_QUESTION_TOKENS)}"'


def _passage(chunk: Chunk, boundary: str) -> str:
    path = " > ".join(chunk.section_path)
    section = f" § {one_line(path, boundary, max_tokens=_PATH_TOKENS)}" if path else ""
    low = ", confidence: low" if chunk.low_confidence else ""
    text = strangers(chunk.table_head + chunk.text.strip("\n"), boundary)
    return f"(relevance: {chunk.score:.2f}{low}){section}\n{text}"


def read_data(
    response: ReadResponse, *, budget: int | None = None, boundary: str = ""
) -> dict[str, Any]:
    """Convert the response of `read_page` to its public form, in the specification's spelling.

    Args:
        response: the answers.
        budget: tokens of the JSON, shared by the questions; `leftOut` counts the passages of a question that do not
            fit. `None` keeps everything.
        boundary: of the fences around the passages; `notice` then explains them to a model.
            Without one, texts are for a program.
    """
    counts = [len(each.results) for each in response.queries]
    if budget is not None:
        response = _trimmed(response, budget)
    data = without_absent(response.model_dump(mode="json"), frozenset({"url", "lastCrawled"}))
    if "metadata" in data:
        data["metadata"] = without_absent(data["metadata"])
    found = [[without_absent(row) for row in each.pop("results")] for each in data["queries"]]
    data["queries"] = [without_absent(each, _QUERY_FIELDS) for each in data["queries"]]
    if boundary:
        data = marked(data, boundary)
        found = [fence_texts(rows, boundary) for rows in found]
    shown = found
    if budget is not None:
        bare = [{**each, "results": [], "leftOut": 0} for each in data["queries"]]
        room = max(0, budget - cost({**data, "queries": bare}))
        rooms = share([sum(map(cost, rows)) for rows in found], room)
        shown = [
            rows_within(rows, left) or beginning(rows, left, boundary)
            for rows, left in zip(found, rooms, strict=True)
        ]
    for each, count, here in zip(data["queries"], counts, shown, strict=True):
        each["results"] = here
        if len(here) < count:
            each["leftOut"] = count - len(here)
    return data


def status_text(status: CorpusStatus, *, budget: int | None, boundary: str) -> str:
    """Format what the corpus contains, in the specification's form.

    Args:
        status: of the corpus.
        budget: tokens; `None` for no limit.
        boundary: of the fence around titles and addresses.
    """
    if status.source_url and not status.documents:
        told = f"{one_url(status.source_url)} is not indexed: read it first."
        return block("CORPUS STATUS", [told])
    head = [
        f"Documents indexed: {status.documents:,}",
        f"Total chunks: {status.chunks:,}",
        f"Total tokens: {status.tokens:,}",
    ]
    if status.embedding:
        head.append(f"Vectors: {status.embedded:,} of {status.embedding}")
    told = block("CORPUS STATUS", head)
    pages = ["\n".join(_page_lines(page, boundary)) for page in status.urls]
    room = UNLIMITED if budget is None else budget
    room -= estimate(f"{told}\n\nIndexed URLs:\n{fenced('', boundary=boundary)}") + _MORE_TOKENS
    shown, listed = _fenced_list(pages, room, boundary)
    return f"{told}\n\nIndexed URLs:\n{listed}" if shown else told


def _fenced_list(lines: Sequence[str], room: int, boundary: str) -> tuple[int, str]:
    """Return how many lines fit, and these in a fence, with the number of the others."""
    shown, _ = lines_within(lines, room)
    left_out = len(lines) - len(shown)
    more = [f"... and {left_out:,} more"] if left_out else []
    return len(shown), fenced("\n".join((*shown, *more)), boundary=boundary)


def _page_lines(page: CorpusPage, boundary: str) -> Iterator[str]:
    fetched = page.fetched_at[:16].replace("T", " ")
    yield f"- {title_line(page.title, boundary) or 'Untitled'} — {one_url(page.url)}"
    yield f"  ({counted(page.chunks, 'chunk')}, {page.tokens:,} tokens, fetched {fetched} UTC)"


def status_data(
    status: CorpusStatus, *, budget: int | None = None, boundary: str = ""
) -> dict[str, Any]:
    """Convert the status of the corpus to its public form.

    Args:
        status: of the corpus.
        budget: tokens of the JSON, which limits the list of pages; `None` lists all.
        boundary: as for `read_data`.
    """
    data = without_absent(status.model_dump(mode="json"))
    if status.source_url and not status.documents:
        data["note"] = "not indexed: read it first"
    return _listed(data, "urls", budget, boundary)


def ingest_text(response: IngestResponse, *, budget: int | None = None, boundary: str) -> str:
    """Format the outcome of each page.

    Args:
        response: one entry for each page.
        budget: tokens; `None` for no limit.
        boundary: of the fence.
    """
    lines = [_ingested_line(page, boundary) for page in response.pages]
    room = UNLIMITED if budget is None else budget
    room -= estimate(fenced("", boundary=boundary)) + _MORE_TOKENS
    return _fenced_list(lines, room, boundary)[1]


def _ingested_line(page: IngestedPage, boundary: str) -> str:
    note = one_line(page.note, boundary, max_tokens=_NOTE_TOKENS)
    if page.error:
        error = one_line(page.error, boundary, max_tokens=_NOTE_TOKENS)
        return f"- {one_url(page.url)}: failed, {page.error_type}: {error}"
    if not page.chunks:
        return f"- {one_url(page.url)}: nothing kept. {note}".rstrip()
    new = f", {page.new_chunks:,} of them new" if page.is_changed else ", unchanged"
    title = title_line(page.title, boundary) or "Untitled"
    return (
        f"- {title} — {one_url(page.url)}: {counted(page.chunks, 'chunk')}{new},"
        f" {page.tokens:,} tokens. {note}".rstrip()
    )


def ingest_data(
    response: IngestResponse, *, budget: int | None = None, boundary: str = ""
) -> dict[str, Any]:
    """Convert the outcome of each page to its public form; arguments as for `status_data`."""
    rows = [without_absent(page.model_dump(mode="json")) for page in response.pages]
    return _listed({"pages": rows}, "pages", budget, boundary)


def _listed(data: dict[str, Any], name: str, budget: int | None, boundary: str) -> dict[str, Any]:
    """Neutralise the data, and keep of a list what fits."""
    data = marked(data, boundary)
    rows = data.get(name, [])
    if budget is None or not rows:
        return data
    kept = rows_within(rows, budget - cost({**data, name: []}) - _MORE_TOKENS)
    left_out = {f"{name}_left_out": len(rows) - len(kept)} if len(kept) < len(rows) else {}
    return {**data, name: kept, **left_out}
