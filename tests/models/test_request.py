"""Requests, and their fields as keyword arguments."""

from collections.abc import Sequence
from types import NoneType
from typing import get_args, get_origin, get_type_hints

import pytest

from searx_mcp import FetchRequest, SearchRequest, SearxClient
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.argument import arguments_of
from searx_mcp.models.fetch_request import FetchArguments
from searx_mcp.models.request import SearchArguments


def test_type_checkers_know_every_argument_and_its_type():
    for request, keywords, positional in (
        (SearchRequest, SearchArguments, "query"),
        (FetchRequest, FetchArguments, "url"),
    ):
        hints = get_type_hints(keywords)
        declared = arguments_of(request)
        assert hints.keys() - {"by_person"} == declared.keys() - {positional, "queries"}
        for name in hints.keys() & declared.keys():
            kinds = {*get_args(hints[name])} or {hints[name]}
            field = declared[name].field.annotation
            if get_origin(field) is tuple:
                assert kinds == {Sequence[str], NoneType}
            else:
                assert kinds >= ({*get_args(field)} or {field})


async def test_a_type_checker_finds_what_is_refused_at_run_time(settings_for):
    async with SearxClient(settings_for()) as client:
        with pytest.raises(InvalidArgumentError):
            await client.search("x", results_count="many")  # type: ignore[arg-type] # the point of this test
        with pytest.raises(InvalidArgumentError):
            await client.search("x", colour="green")  # type: ignore[call-arg] # likewise
        with pytest.raises(InvalidArgumentError):
            await client.fetch("https://example.org/", max_chars="all")  # type: ignore[arg-type] # likewise
