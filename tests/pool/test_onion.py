"""Tor services in the lists: kept when there is a way to them, left out without."""

import json
import os
from pathlib import Path

import pytest

from searx_mcp.models.instance import Catalog, CatalogEntry, NetworkType
from searx_mcp.pool.catalog import gate
from searx_mcp.pool.searxspace import DropReason, parse_searxspace

ONION = f"http://{'a' * 56}.onion/"
ROW = {"http": {"status_code": 200}, "version": "2026.8.1", "network_type": "tor"}


def catalog_of(*rows: tuple[str, NetworkType]) -> Catalog:
    entries = tuple(CatalogEntry(url=url, network_type=kind) for url, kind in rows)
    return Catalog.model_validate({"listed_at": "2026-08-05T00:00:00Z", "instances": entries})


TOR, NORMAL = NetworkType.TOR, NetworkType.NORMAL
LISTED = catalog_of(
    ("https://a.example.org", NORMAL),
    (ONION, TOR),
    (ONION.replace("http:", "https:").replace("aa", "bb"), TOR),
    (f"{ONION}?q", TOR),
    ("http://b.example.org", TOR),  # a type that the name belies
    ("https://c.example.org", TOR),
    (ONION.replace("aaa", "ccc"), NORMAL),
    ("http://d.i2p", TOR),
    ("http://e.i2p", NORMAL),
    ("https://e.i2p", NORMAL),
)


def test_tor_services_are_kept_where_there_is_a_way_to_them() -> None:
    kept = [entry.url for entry in gate(LISTED, min_grade="B", onion=True)]
    secure = ONION.replace("http:", "https:").replace("aa", "bb")
    assert kept == ["https://a.example.org/", ONION, secure]


def test_tor_services_are_left_out_otherwise() -> None:
    kept = [entry.url for entry in gate(LISTED, min_grade="B")]
    assert kept == ["https://a.example.org/"]


def test_tor_services_pass_the_other_rules_too() -> None:
    host = ONION.split("/")[2]
    assert len(gate(LISTED, min_grade="B", onion=True, blocked=[host])) == 2
    assert len(gate(LISTED, min_grade="A", onion=True)) == 0


def test_rows_of_tor_services_are_kept_when_asked_for() -> None:
    rows = {
        ONION: ROW,
        ONION.replace("a", "b"): {**ROW, "network_type": None},
        ONION.replace("a", "c"): {**ROW, "network_type": "i2p"},
        ONION.replace("a", "d"): {**ROW, "error": "down"},
        "http://e.example.org/": ROW,
        "http://f.i2p/": {**ROW, "network_type": "normal"},
    }
    text = json.dumps({"instances": rows})
    listing = parse_searxspace(text, onion=True)
    assert [entry.url for entry in listing.entries] == [ONION, ONION.replace("a", "b")]
    assert {entry.network_type for entry in listing.entries} == {TOR}
    assert listing.dropped == {DropReason.HIDDEN: 3, DropReason.ERROR: 1}
    assert parse_searxspace(text).entries == ()


@pytest.fixture
def lists() -> list[str]:
    """The recorded lists in the folder SEARX_MCP_CAPTURES; none without it."""
    folder = os.environ.get("SEARX_MCP_CAPTURES")
    paths = sorted(Path(folder).glob("searx-space-instances*.json")) if folder else []
    return [path.read_text("utf-8") for path in paths]


def test_nothing_else_of_the_recorded_lists_is_kept(lists: list[str]) -> None:
    for text in lists:
        with_tor, without = parse_searxspace(text, onion=True), parse_searxspace(text)
        added = set(with_tor.entries) - set(without.entries)
        assert all(".onion" in entry.url for entry in added)
        assert [e for e in with_tor.entries if e not in added] == list(without.entries)
