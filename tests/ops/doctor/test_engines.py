"""Engines that an instance lists."""

import json

import pytest

from searx_mcp.ops.doctor.engines import ListedEngine, listed_engines


def test_engines_are_listed_with_their_categories():
    listed = {
        "engines": [
            {"name": "a", "categories": ["general", 1, "web"], "enabled": True},
            {"name": "b", "categories": "general", "enabled": False},
            {"name": "c"},
            {"categories": ["general"]},
            1,
        ]
    }
    assert listed_engines(json.dumps(listed)) == (
        ListedEngine("a", enabled=True, categories=("general", "web")),
        ListedEngine("b", enabled=False, categories=()),
        ListedEngine("c", enabled=True, categories=()),
    )
    assert listed_engines('{"engines": 1}') == ()


@pytest.mark.parametrize("text", ["[]", "<html>", "[" * 100_000], ids=["list", "page", "deep"])
def test_another_document_lists_none(text):
    assert listed_engines(text) == ()
