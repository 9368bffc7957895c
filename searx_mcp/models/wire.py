"""Responses between two processes of this project: every field, and the passages, which no other form has."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from searx_mcp.models.base import Frozen
from searx_mcp.models.page import Page, Passage
from searx_mcp.models.response import PageContent, SearchBatch, SearchResponse

ResponseT = TypeVar("ResponseT", bound=Frozen)

_PASSAGES: Final = "passages"


def dumped(response: Frozen) -> dict[str, Any]:
    """Serialise a response with everything a front shows; of a passage, its position instead of its text."""
    data = response.model_dump(mode="json")
    match response:
        case Page():
            _add_passages(data, response.markdown_content, response.offset, response.passages)
        case SearchResponse():
            _add_to_results(data, response)
        case SearchBatch():
            for row, each in zip(data["queries"], response.queries, strict=True):
                if each.result is not None:
                    _add_to_results(row["result"], each.result)
        case _:
            pass
    return data


def loaded(kind: type[ResponseT], data: Mapping[str, Any]) -> ResponseT:
    """Parse a result of `dumped`, perhaps from a newer version, whose additional fields are ignored.

    Raises:
        ValueError: it is not such a response.
    """
    return kind.model_validate(_restored(dict(data)), extra="ignore")


def _add_to_results(data: dict[str, Any], response: SearchResponse) -> None:
    for row, result in zip(data["results"], response.results, strict=True):
        content: PageContent | None = result.content
        if content is not None:
            _add_passages(row["content"], content.markdown, 0, content.passages)


def _add_passages(
    data: dict[str, Any], markdown: str, offset: int, passages: tuple[Passage, ...]
) -> None:
    if passages:
        data[_PASSAGES] = [_written(each, markdown, offset) for each in passages]


def _written(passage: Passage, markdown: str, offset: int) -> dict[str, Any]:
    begin = passage.offset - offset
    stands_there = begin >= 0 and markdown.startswith(passage.text, begin)
    where = {"length": len(passage.text)} if stands_there else {"text": passage.text}
    return {**passage.model_dump(mode="json", exclude={"text"}), **where}


def _restored(value: Any) -> Any:  # noqa: ANN401 - any JSON
    match value:
        case list():
            return [_restored(item) for item in value]
        case dict():
            markdown = value.get("markdown_content", value.get("markdown"))
            begin = value.get("offset", 0)
            found = {name: _restored(item) for name, item in value.items()}
            if isinstance(markdown, str) and isinstance(begin, int) and found.get(_PASSAGES):
                found[_PASSAGES] = [_read(each, markdown, begin) for each in found[_PASSAGES]]
            return found
        case _:
            return value


def _read(row: Any, markdown: str, offset: int) -> Any:  # noqa: ANN401 - as above
    if not isinstance(row, dict) or "text" in row:
        return row
    begin, length = row.get("offset"), row.pop("length", None)
    if not isinstance(begin, int) or not isinstance(length, int):
        return row
    start = max(0, begin - offset)
    return {**row, "text": markdown[start : start + length]}
