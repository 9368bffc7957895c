"""Evidence as data: as much of it as fits as JSON, for a model that is shown nothing else."""

from typing import Any, Final

from searx_mcp.evidence.render.text import (
    QUOTES_SHARE,
    SOURCES_SHARE,
    STATS_SHARE,
    cited_url,
    fitting,
    is_short,
)
from searx_mcp.evidence.values import EvidenceResponse
from searx_mcp.render.structured import (
    beginning,
    cost,
    costs_until,
    fence_texts,
    marked,
    rows_within,
    without_absent,
)

_SPARING_SHARE: Final = 0.25
"""Share of a budget that figures and sources may take as JSON before their optional fields are dropped."""
_RESPONSE_FIELDS: Final = frozenset({"query", "answered", "sources", "evidence", "citations"})
_PART_FIELDS: Final = frozenset({"query", "answered"})
_ROW_FIELDS: Final = frozenset({"title", "text"})
_NO_STEPS: Final = "Further steps did not fit."
_FIGURES: Final = ("documents_searched", "documents_matched", "iterations", "stop_reason")
_DISPENSABLE: Final = frozenset({"stats", "sub_queries", "parts"})
_LISTS: Final = ("sources", "evidence", "images", "steps", "citations")


def evidence_data(
    response: EvidenceResponse, *, budget: int | None = None, boundary: str = ""
) -> dict[str, Any]:
    """Convert evidence to its public form.

    Args:
        response: the evidence.
        budget: tokens of the JSON; evidence, citations, steps and images are kept as far as they fit, in this order
            of priority, the first of each first, and `notes` say what is missing of evidence and steps. In a small
            budget, passages are those of `evidence_text`, possibly truncated. `None` keeps everything.
        boundary: of the fences around the texts of evidence; `notice` then explains them to a model. Without one,
            texts are for a program.
    """
    total = len(response.evidence)
    if is_short(budget):  # one or two whole chunks would fill it
        shown = fitting(response, budget=budget, boundary=boundary).evidence
        response = response.model_copy(update={"evidence": tuple(shown)})
    elif budget is not None:  # what cannot fit is dropped before any other step
        most = len(costs_until((each.text for each in response.evidence), budget))
        response = response.model_copy(update={"evidence": response.evidence[:most]})
    data = _data(response)
    if budget is not None:
        data["evidence"] = [_without(row, "id") for row in data["evidence"]]
    if boundary:
        for row, quote in zip(data["citations"], response.citations, strict=True):
            row["fragment_url"] = cited_url(quote, boundary)
        data = {**marked({**data, "evidence": []}, boundary), "evidence": data["evidence"]}
        data["evidence"] = fence_texts(data["evidence"], boundary)
    return data if budget is None else _within(data, budget, boundary, total)


def _data(response: EvidenceResponse) -> dict[str, Any]:
    data = without_absent(response.model_dump(mode="json"), _RESPONSE_FIELDS)
    for name in _LISTS:
        if name in data:
            data[name] = [without_absent(row, _ROW_FIELDS) for row in data[name]]
    if not response.evidence:
        data["sources"] = []
    data["parts"] = [without_absent(row, _PART_FIELDS) for row in data.get("parts", ())]
    for row in data["evidence"]:
        if "id" not in row:
            del row["span"]  # of a snippet, which is in no page
    for row in data["sources"]:
        row.setdefault("is_read", False)
        if row["is_read"]:
            del row["is_read"]
    timing = {name: ms for name, ms in response.stats.timing if ms}
    data["stats"] = {**without_absent(data["stats"]), "timing": timing}
    return data


def _within(data: dict[str, Any], budget: int, boundary: str, total: int) -> dict[str, Any]:
    if cost({**data, "evidence": [], "steps": [], "citations": []}) > _SPARING_SHARE * budget:
        data = _spared(data)
    lists: dict[str, Any] = {name: data[name] for name in _LISTS if name in data}
    bare = {name: [] if name in lists else value for name, value in data.items()}
    for name in ("sub_queries", "parts", "stats", "notes"):
        if cost(bare) > STATS_SHARE * budget:
            data, bare = _less(data, name), _less(bare, name)
    room = budget - cost(bare) - cost([_showing(total, total), _NO_STEPS])
    sources = lists["sources"] = rows_within(lists["sources"], round(SOURCES_SHARE * room))
    room -= sum(map(cost, sources))
    quotes = round(QUOTES_SHARE * room)
    reserved = sum(map(cost, rows_within(lists["citations"], quotes)))
    evidence = rows_within(lists["evidence"], room - reserved)
    if not evidence:
        evidence = beginning(lists["evidence"][:1], room - reserved, boundary)
    if lists["evidence"] and not evidence and "stats" in data:
        return _within(_barest(data), budget, boundary, total)
    room -= sum(map(cost, evidence))
    numbers = {row["source"] for row in evidence}
    notes = list(data.get("notes", ()))
    if len(evidence) < total:
        notes.append(_showing(len(evidence), total))
    lists["evidence"] = evidence
    for name in ("citations", "steps", "images"):
        rows = [row for row in lists.get(name, ()) if row.get("source", 0) in {0, *numbers}]
        lists[name] = rows_within(rows, room)
        room -= sum(map(cost, lists[name]))
        if name == "steps" and len(lists[name]) < len(rows):
            notes.append(_NO_STEPS)
    always = {**data, **({"notes": notes} if notes else {})}
    return {name: lists.get(name, value) for name, value in always.items()}


def _showing(number: int, total: int) -> str:
    return f"Showing {number} of {total} chunks; the others did not fit."


def _spared(data: dict[str, Any]) -> dict[str, Any]:
    """Drop hashes, times of retrieval, most figures, and a sub-query that equals the question."""
    stats = data.get("stats", {})
    figures = {name: stats[name] for name in _FIGURES if name in stats}
    rows = [_without(_without(row, "content_hash"), "retrieved_at") for row in data["sources"]]
    spared = {**data, "sources": rows, **({"stats": figures} if figures else {})}
    same = data.get("sub_queries") == [data["query"]]
    return _without(spared, "sub_queries") if same else spared


def _barest(data: dict[str, Any]) -> dict[str, Any]:
    """Keep only the best passage with its source, notes, and the reason to stop as one of them."""
    best = data["evidence"][0]["source"]
    sources = [row for row in data["sources"] if row["number"] == best]
    reason = data["stats"].get("stop_reason")
    notes = [*data.get("notes", ()), *([f"Stop reason: {reason}"] if reason else ())]
    bare = {name: data[name] for name in data if name not in _DISPENSABLE}
    return {**bare, "sources": sources, **({"notes": notes} if notes else {})}


def _less(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Drop a field; of the figures, keep the reason to stop."""
    reason = data.get(name, {}).get("stop_reason") if name == "stats" else None
    return {**data, name: {"stop_reason": reason}} if reason else _without(data, name)


def _without(data: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key != name}
