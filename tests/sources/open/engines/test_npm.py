"""The search of an npm registry, and its answers."""

import json
from dataclasses import replace

import pytest

from searx_mcp.models.hits import Link, Package


@pytest.fixture
def row(engine):
    return replace(engine("npm"), endpoint="https://packages.example")


def test_a_package_has_its_version_and_its_links(ask, row, answer):
    parsed = row.parse(answer("npm.json"), ask())
    first, second = parsed.hits
    assert first.url == "https://packages.example/package/@example/red-panda"
    assert (first.title, first.description) == ("@example/red-panda", "Counts red pandas")
    assert (first.template, first.published_at) == ("packages", "2026-10-30T16:53:16+00:00")
    assert first.package == Package(
        name="@example/red-panda",
        version="2.1.0",
        maintainer="ada",
        licence="MIT",
        tags=("panda", "example"),
        popularity="1,234,567 downloads a month",
        homepage="https://pandas.example/",
        source_url="https://github.com/example/red-panda.git",
        links=(Link(title="Issues", url="https://github.com/example/red-panda/issues"),),
    )
    assert (parsed.rows_seen, parsed.has_next) == (2, True)
    # It has no page in the registry.
    assert (second.title, second.url) == ("bamboo", "https://github.com/ada/bamboo")


def test_hostile_rows_become_text_or_nothing(ask, row):
    packages = [
        "x",
        {"name": "a"},
        {"name": "b", "links": {"npm": "javascript:alert(1)"}},
        {"name": 7, "links": {"npm": "https://a.example/"}},
        {
            "name": "A\u202e\x1b[31m name",
            "links": {"npm": "https://b.example/", "bugs": "file:///x", "homepage": ["x"]},
            "license": {"type": "MIT"},
            "keywords": "one",
            "publisher": "ada",
        },
    ]
    body = json.dumps({"objects": [{"package": package} for package in packages]}).encode()
    parsed = row.parse(body, ask())
    (hit,) = parsed.hits
    assert (hit.url, hit.title) == ("https://b.example/", "A name")
    assert hit.package == Package(name="A name", tags=("one",))
    assert parsed.rows_seen == 5
