"""What a caller is told of an answer out of open collections."""

import pytest

from searx_mcp.models.request import Category
from searx_mcp.pool.attempt import InstanceQuery
from searx_mcp.search.providers.source_notes import source_notes
from searx_mcp.sources.open.config import OpenSourcesConfig
from searx_mcp.sources.open.routing.route import Route
from searx_mcp.sources.open.table import engines_of

ENGINES = engines_of(OpenSourcesConfig())
OPENVERSE, COMMONS = ENGINES["openverse"], ENGINES["commons"]


@pytest.mark.parametrize(
    ("fields", "category", "used", "expected"),
    [
        ({}, "images", [], []),
        ({"language": "en-GB"}, "images", [OPENVERSE], []),
        ({"language": "all"}, "images", [OPENVERSE], []),
        ({"language": "de-AT"}, "images", [OPENVERSE], ["Results of any language: Openverse."]),
        (
            {"time_range": "month"},
            "images",
            [OPENVERSE],
            ["Not limited to the last month, because it cannot be: Openverse."],
        ),
        ({"time_range": ""}, "images", [OPENVERSE], []),
        (
            {"safe_search": 1},
            "images",
            [OPENVERSE, COMMONS],
            ["Without a filter for explicit results: Wikimedia Commons."],
        ),
        ({"safe_search": 0}, "images", [COMMONS], []),
        ({"safe_search": 2}, "science", [COMMONS], []),
    ],
)
def test_only_filters_that_could_not_be_kept_are_told(fields, category, used, expected):
    query = InstanceQuery(**{"text": "red panda", "language": "en", "safe_search": 0, **fields})
    chosen = Route(choices=(), category=Category(category), why="for a test")
    assert source_notes(query, chosen, asked=[], used=used) == tuple(expected)
    first, *others = source_notes(query, chosen, asked=[COMMONS, OPENVERSE], used=used)
    assert first == "Open sources asked: Wikimedia Commons, Openverse (for a test)."
    assert others == expected
