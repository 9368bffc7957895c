"""What `read_page`, `corpus_status` and `ingest` give, as a model reads it."""

from collections.abc import Iterator
from typing import Any, Final

from searx_mcp.models.evidence import (
    Chunk,
    CorpusPage,
    CorpusStatus,
    IngestedPage,
    IngestResponse,
    ReadResponse,
)
from searx_mcp.render.evidence import their_text
from searx_mcp.render.fence import fenced, one_line, one_url
from searx_mcp.render.tokens import UNLIMITED, estimate, fit, lines_within

_TITLE_TOKENS: Final = 40
_PATH_TOKENS: Final = 60
_QUESTION_TOKENS: Final = 60
_HEAD_TOKENS: Final = 120
_LEAST_TEXT: Final = 60
"""Tokens below which the beginning of a passage is not worth showing."""


def read_text(response: ReadResponse, *, budget: int | None, boundary: str) -> str:
    """Write the passages of a page that answer, for each question in turn.

    Args:
        response: the answers.
        budget: tokens, shared evenly by the questions; `None` for no limit.
        boundary: of the fence.
    """
    shown = fitted(response, budget=budget)
    lines = [f"# {one_line(response.title, boundary, max_tokens=_TITLE_TOKENS) or 'Untitled'}"]
    lines.append(one_url(response.url))
    for before, after in zip(response.queries, shown.queries, strict=True):
        if len(response.queries) > 1:
            lines += ["", f'## "{one_line(before.query, boundary, max_tokens=_QUESTION_TOKENS)}"']
        for chunk in after.results:
            lines += ["", _chunk_head(chunk, boundary), their_text(chunk.text, boundary)]
        if not before.results:
            lines += ["", "(no passage)"]
        if left_out := len(before.results) - len(after.results):
            lines += ["", f"({left_out} more passages left out: no room)"]
    facts = [f"Fetched: {response.last_crawled}"] if response.last_crawled else []
    if response.metadata is not None:
        facts += [f"{name}: {value}" for name, value in response.metadata if value]
    if response.note:
        facts.append(f"Note: {response.note}")
    return "\n".join((fenced("\n".join(lines), boundary=boundary, url=response.url), *facts))


def fitted(response: ReadResponse, *, budget: int | None) -> ReadResponse:
    """Leave of each question's passages those that fit its share of a budget; the first is cut at need."""
    if budget is None or not response.queries:
        return response
    room = (budget - _HEAD_TOKENS) // len(response.queries)
    queries = []
    for each in response.queries:
        left = room - (_QUESTION_TOKENS if len(response.queries) > 1 else 0)
        kept: list[Chunk] = []
        for chunk in each.results:
            head = estimate(_chunk_head(chunk, "")) + 2
            cost = head + estimate(chunk.text)
            if cost > left:
                if not kept and left - head > _LEAST_TEXT:
                    text, _ = fit(chunk.text, left - head)
                    kept.append(chunk.model_copy(update={"text": text}))
                break
            kept.append(chunk)
            left -= cost
        queries.append(each.model_copy(update={"results": tuple(kept)}))
    return response.model_copy(update={"queries": tuple(queries)})


def _chunk_head(chunk: Chunk, boundary: str) -> str:
    path = " > ".join(chunk.section_path)
    section = f" § {one_line(path, boundary, max_tokens=_PATH_TOKENS)}" if path else ""
    low = ", confidence: low" if chunk.low_confidence else ""
    return f"(relevance: {chunk.score:.2f}{low}){section}"


def status_text(status: CorpusStatus, *, budget: int | None, boundary: str) -> str:
    """Write what the corpus holds, in the specification's form."""
    if status.source_url and not status.documents:
        return (
            f"[CORPUS STATUS]\n{one_url(status.source_url)} is not indexed. Call answer or read_page with"
            " this address to read it."
        )
    head = [
        "[CORPUS STATUS]",
        f"Documents indexed: {status.documents:,}",
        f"Total chunks: {status.chunks:,}",
        f"Total tokens: {status.tokens:,}",
    ]
    if status.embedding:
        head.append(f"Vectors: {status.embedded:,} of {status.embedding}")
    room = UNLIMITED if budget is None else budget - estimate("\n".join(head)) - _HEAD_TOKENS
    pages = ["\n".join(_page_lines(page, boundary)) for page in status.urls]
    shown, _ = lines_within(pages, room)
    if not shown:
        return "\n".join(head)
    left_out = len(pages) - len(shown)
    more = [f"... and {left_out} more"] if left_out else []
    listed = fenced("\n".join((*shown, *more)), boundary=boundary)
    return "\n".join((*head, "", "Indexed URLs:", listed))


def _page_lines(page: CorpusPage, boundary: str) -> Iterator[str]:
    title = one_line(page.title, boundary, max_tokens=_TITLE_TOKENS) or "Untitled"
    fetched = page.fetched_at[:16].replace("T", " ")
    yield f"- {title} — {one_url(page.url)}"
    yield f"  ({page.chunks:,} chunks, {page.tokens:,} tokens, fetched {fetched} UTC)"


def ingest_text(response: IngestResponse, *, boundary: str) -> str:
    """Write what became of each page."""
    lines = [_ingested_line(page, boundary) for page in response.pages]
    return fenced("\n".join(lines), boundary=boundary)


def _ingested_line(page: IngestedPage, boundary: str) -> str:
    if page.error:
        return f"- {one_url(page.url)}: failed, {page.error_type}: {page.error}"
    if not page.chunks:
        return f"- {one_url(page.url)}: nothing kept. {page.note}".rstrip()
    title = one_line(page.title, boundary, max_tokens=_TITLE_TOKENS) or "Untitled"
    new = f", {page.new_chunks} of them new" if page.is_changed else ", unchanged"
    note = f" {page.note}" if page.note else ""
    return (
        f"- {title} — {one_url(page.url)}: {page.chunks} chunks{new}, {page.tokens:,} tokens.{note}"
    )


def read_data(response: ReadResponse, *, budget: int | None = None) -> dict[str, Any]:
    """Give the answer of `read_page` its public form; with a budget, what `read_text` shows."""
    return fitted(response, budget=budget).model_dump(mode="json", exclude_none=True)
