"""The public JSON forms of answers: MCP structured content, REST and `--json`.

Field names are those of the specification, and its fields are always present. Any other
field is omitted if it is `None`, false or empty.
"""

import json
from typing import Any

from searx_mcp.models.hits import TEMPLATE_FIELDS
from searx_mcp.models.page import Page, type_shown
from searx_mcp.models.response import FetchStats, PageContent, SearchResponse, SearchResult
from searx_mcp.render import entry
from searx_mcp.render.entry import fields_of
from searx_mcp.render.fence import fenced, one_line
from searx_mcp.render.page import part
from searx_mcp.render.reading import FETCH, ShownPage
from searx_mcp.render.search import Layout, lay_out, left_out_line, left_pages
from searx_mcp.render.structured import marked, without_absent
from searx_mcp.render.surroundings import ADVICE
from searx_mcp.render.tokens import estimate

_RESPONSE_FIELDS = frozenset(
    {
        "query", "category", "language", "results_count", "search_time_ms", "instance_used",
        "results", "total_results", "engines_used", "fetch_content",
    }
)  # fmt: skip
_RESULT_FIELDS = frozenset({"title", "url", "description", "score", "engine"})
_ANSWER_FIELDS = frozenset({"text", "url"})
_CONTENT_FIELDS = frozenset({"markdown", "word_count", "fetch_time_ms", "summary"})

_STATS_FIELDS = frozenset({"attempted", "successful", "failed", "total_time_ms"})

_PAGE_FIELDS = frozenset(
    {
        "url", "final_url", "title", "content_type", "content_length", "status_code",
        "response_time_ms", "markdown_content", "word_count", "headers", "redirect_count",
        "redirect_chain", "total_chars",
    }
)  # fmt: skip
_SPARED = {"engines": (), "category": "", "thumbnail": None, "error_details": ""}
_UNRESPONSIVE_SHOWN = 10
_LISTS_SHARE = 10
"""Lists get at least this fraction (one tenth) of a page's budget if its text would take everything. Chosen: some
ten images or links at the default budget."""

_READ_ON = (
    "Content marked truncated is cut off: to continue, call {fetch} with its cursor and its"
    " next_offset as offset."
)


def response_data(
    response: SearchResponse,
    *,
    budget: int | None = None,
    boundary: str = "",
    fetch: str = FETCH,
    layout: Layout | None = None,
) -> dict[str, Any]:
    """Convert a search to its public form.

    Args:
        response: the search.
        budget: tokens, with which texts are truncated and results and pages left out exactly as
            `search_text` does with the same budget and boundary; incomplete pages have
            `truncated`, `notes` say what is missing, `results_shown` how many results are
            here if not all, and `attempts` and each result's `engines`, `category` and `thumbnail`
            are omitted. `None` returns everything.
        boundary: as for `search_text`; with one, pages are in fences, and `notice` explains them to a
            model. Without one, texts are for a program.
        fetch: as for `search_text`.
        layout: as for `search_text`.
    """
    if budget is None:
        return _response(response)
    layout = layout or lay_out(response, budget=budget, boundary=boundary, fetch=fetch)
    notes = list(layout.short.notes)
    if not response.results and not response.total_results and response.page is None:
        notes.append(ADVICE)
    if layout.left_out:
        notes.append(left_out_line(layout.left_out))
    notes += left_pages(layout, fetch)
    if fetch and any(page.was_cut for page in layout.readings):
        notes.append(_READ_ON.format(fetch=fetch))
    fitted = layout.short.model_copy(
        update={
            "results": _fitted_results(layout, boundary),
            "unresponsive_engines": response.unresponsive_engines[:_UNRESPONSIVE_SHOWN],
            "notes": tuple(notes),
            "attempts": (),
        }
    )
    data = _response(fitted)
    for result in data["results"]:
        for name in TEMPLATE_FIELDS:
            if isinstance(template := result.get(name), dict):
                result[name] = without_absent(template, frozenset())
    if layout.left_out:
        data["results_shown"] = len(layout.entries)
    return marked(data, boundary)


def page_data(
    page: Page, *, budget: int | None = None, boundary: str = "", fetch: str = FETCH
) -> dict[str, Any]:
    """Convert a page to its public form.

    Args:
        page: the page.
        budget: tokens, with which the Markdown is truncated exactly as `page_text` does with the
            same budget and boundary; then `truncated` is set, `outline` has the headings shown
            there, `next_offset` says where `cursor` continues, and the last of `notes` how. `summary`
            and `key_points` are omitted; `images`, `links` and `code_blocks` share the rest, at least
            a tenth of the budget, the first of each first. `None` returns everything.
        boundary: as for `page_text`, and as for `response_data`.
        fetch: as for `page_text`.
    """
    if budget is None:
        return _page(page)
    shown = part(page, budget=budget, boundary=boundary, fetch=fetch)
    notes = (*page.notes, shown.more) if shown.more else page.notes
    fitted = page.model_copy(
        update={
            "content_type": type_shown(page.content_type),
            "markdown_content": _page_text(shown.markdown, boundary),
            "summary": "",
            "key_points": (),
            "truncated": shown.was_cut or page.truncated,
            "next_offset": shown.next_offset,
            "outline": shown.outline,
            "images": (),
            "links": (),
            "code_blocks": (),
            "removed": {},
            "notes": notes,
        }
    )
    data = _page(fitted)
    left = budget - estimate(json.dumps(data, ensure_ascii=False), limit=budget)
    lists = _lists_within(page, max(left, budget // _LISTS_SHARE))
    return marked({**data, **lists}, boundary)


def _lists_within(page: Page, room: int) -> dict[str, Any]:
    """Return the images, links and code blocks of a page, as many of each as fit; requested ones first."""
    found: dict[str, Any] = {}
    names = ("images", "code_blocks", "links")
    for number, name in enumerate(names):
        share = room // (len(names) - number)
        rows = []
        for item in getattr(page, name):
            whole = item.model_dump(mode="json", exclude={"context"})  # the text has it
            row = without_absent(whole, frozenset({"url", "offset", "length"}))
            cost = estimate(json.dumps(row, ensure_ascii=False))
            if cost > share:
                break
            rows.append(row)
            share, room = share - cost, room - cost
        if rows:
            found[name] = rows
    return found


def _page(page: Page) -> dict[str, Any]:
    always = _PAGE_FIELDS if page.answered is None else _PAGE_FIELDS | {"answered"}
    return without_absent(page.model_dump(mode="json"), always)


def _page_text(markdown: str, boundary: str) -> str:
    return fenced(markdown, boundary=boundary) if boundary and markdown else markdown


def _fitted_results(layout: Layout, boundary: str) -> tuple[SearchResult, ...]:
    pages = {page.number: page for page in layout.readings}
    fitted = []
    for item in layout.entries:
        update: dict[str, Any] = {
            "title": entry.title(item.result, boundary),
            "description": item.description,
            "attribution": one_line(item.result.attribution, boundary, max_tokens=100),
            "score": round(item.result.score, 3),
            **_SPARED,
            **fields_of(item.result, item.details),
        }
        content = item.result.content
        if content and content.markdown:
            update["content"] = _fitted_content(
                content, pages.get(item.number), item.gist, boundary
            )
        fitted.append(item.result.model_copy(update=update))
    return tuple(fitted)


def _fitted_content(
    content: PageContent, page: ShownPage | None, gist: str, boundary: str
) -> PageContent | None:
    """Show a page: its text, or a short summary of it, or nothing."""
    if page is None and not gist:
        return None
    return content.model_copy(
        update={
            "markdown": _page_text(page.markdown, boundary) if page else "",
            "summary": gist,
            "key_points": (),
            "quality": None if content.quality is None else round(content.quality, 2),
            "truncated": page is None or page.is_partial,
            "next_offset": page.next_offset if page else 0,
            "answered": None,
        }
    )


def _response(response: SearchResponse) -> dict[str, Any]:
    data = without_absent(response.model_dump(mode="json"), _RESPONSE_FIELDS)
    if not response.cached:
        del data["age_seconds"]
    data["results"] = [_result(result) for result in data["results"]]
    if "answers" in data:
        data["answers"] = [without_absent(answer, _ANSWER_FIELDS) for answer in data["answers"]]
    if response.fetch_content:
        stats = response.content_fetch_stats or FetchStats()
        figures = without_absent(stats.model_dump(mode="json"), _STATS_FIELDS)
        if not stats.duplicates:
            del figures["duplicates"]
        data["content_fetch_stats"] = figures
    return data


def _result(result: dict[str, Any]) -> dict[str, Any]:
    data = without_absent(result, _RESULT_FIELDS)
    if "content" in data:
        data["content"] = without_absent(data["content"], _CONTENT_FIELDS)
    return data
