"""Joining the list of hosts with what is known of them."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from searx_mcp.models.instance import Catalog, CatalogEntry, NetworkType, Uptime
from searx_mcp.pool.catalog import parse_catalog

LISTED_AT = datetime(2026, 8, 5, tzinfo=UTC)
INSTANCES = Path(__file__).resolve().parents[2] / "instances.json"
FULL_ROW = {
    "network_type": "normal",
    "http": {"status_code": 200, "grade": "A"},
    "tls": {"grade": "E, ?"},
    "uptime": {"uptimeDay": 100, "uptimeWeek": 99.5, "uptimeMonth": 98, "uptimeYear": 97},
    "timing": {"search": {"success_percentage": 80.0, "all": {"median": 0.6, "mean": 0.7}}},
}


@pytest.fixture
def script(load_script: Callable[[str], ModuleType]) -> ModuleType:
    return load_script("build_instances")


def built(script: ModuleType, hosts: dict[str, Any], rows: object) -> Catalog:
    figures = {"metadata": {"timestamp": 1_741_158_042}, "instances": rows}
    catalog = script.build_catalog(hosts, figures, listed_at=LISTED_AT)
    assert isinstance(catalog, Catalog)
    return catalog


def test_a_host_gets_its_figures(script: ModuleType) -> None:
    catalog = built(script, {"https://a.example": {}}, {"https://a.example/": FULL_ROW})

    assert catalog.instances == (
        CatalogEntry(
            url="https://a.example/",
            tls_grade="E, ?",
            http_grade="A",
            uptime=Uptime(day=100, week=99.5, month=98, year=97),
            search_success=80,
            search_latency=0.6,
        ),
    )
    assert catalog.source == (
        "hosts: searxng/searx-instances 2026-08-05; figures: searx.space 2025-03-05"
    )
    assert catalog.measured_at == datetime(2025, 3, 5, 7, 0, 42, tzinfo=UTC)


def test_a_host_is_matched_by_its_origin_and_keeps_its_listed_path(script: ModuleType) -> None:
    catalog = built(script, {"https://a.example/searx": {}}, {"https://a.example/": FULL_ROW})

    assert [(entry.url, entry.http_grade) for entry in catalog.instances] == [
        ("https://a.example/searx/", "A")
    ]


def test_instances_come_by_address_with_aliases_in_tor_last(script: ModuleType) -> None:
    hosts = {
        "https://b.example": {"additional_urls": {"http://zzz.onion": "Hidden Service"}},
        "https://a.example": {"additional_urls": {"https://c.example": "same IP"}},
    }

    assert [(entry.url, entry.network_type) for entry in built(script, hosts, {}).instances] == [
        ("https://a.example/", NetworkType.NORMAL),
        ("https://b.example/", NetworkType.NORMAL),
        ("https://c.example/", NetworkType.NORMAL),
        ("http://zzz.onion/", NetworkType.TOR),
    ]


def test_a_single_sample_stands_in_for_the_median(script: ModuleType) -> None:
    row = {"timing": {"search": {"all": {"value": 1.5}}}}

    (entry,) = built(script, {"https://a.example": {}}, {"https://a.example/": row}).instances

    assert entry.search_latency == 1.5


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({}, id="empty"),
        pytest.param(None, id="null"),
        pytest.param([], id="a-list"),
        pytest.param({"http": None, "tls": None, "uptime": None, "timing": None}, id="nulls"),
        pytest.param({"timing": {"search": {}}}, id="nothing-ran"),
        pytest.param({"timing": {"search": {"all": {"median": None}}}}, id="null-median"),
        pytest.param({"timing": {"search": {"all": {"median": float("nan")}}}}, id="nan"),
        pytest.param({"timing": {"search": {"success_percentage": 101}}}, id="over-100"),
        pytest.param({"uptime": {"uptimeDay": -1, "uptimeWeek": True}}, id="odd-uptime"),
        pytest.param({"http": {"grade": 7}, "tls": {"grade": ""}}, id="odd-grades"),
    ],
)
def test_an_absent_or_odd_figure_is_unknown(script: ModuleType, row: object) -> None:
    catalog = built(script, {"https://a.example": {}}, {"https://a.example/": row})

    assert catalog.instances == (CatalogEntry(url="https://a.example/"),)


@pytest.mark.parametrize(
    "rows", [None, [], {"nonsense": {}, "https://[::1": {}}, {"https://b.example/": FULL_ROW}]
)
def test_without_figures_the_hosts_remain(script: ModuleType, rows: object) -> None:
    catalog = script.build_catalog(
        {"https://a.example": None}, {"instances": rows}, listed_at=LISTED_AT
    )

    assert catalog.instances == (CatalogEntry(url="https://a.example/"),)
    assert catalog.measured_at is None
    assert catalog.source.endswith("searx.space date unknown")


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    hosts, figures = tmp_path / "hosts.yml", tmp_path / "figures.json"
    hosts.write_text("https://a.example: {}\nhttps://b.example: {}\n")
    figures.write_text(json.dumps({"instances": {"https://b.example/": FULL_ROW}}))
    out = tmp_path / "instances.json"
    return [
        f"--hosts={hosts}",
        f"--figures={figures}",
        f"--out={out}",
        "--listed-at=2026-08-05",
    ]


def test_the_written_file_has_an_instance_a_line_and_reads_back(
    script: ModuleType, arguments: list[str], tmp_path: Path
) -> None:
    assert script.main(arguments) == 0

    text = (tmp_path / "instances.json").read_text()
    assert '\n  {"url": "https://a.example/"},\n' in text
    assert [entry.http_grade for entry in parse_catalog(text).instances] == [None, "A"]


def test_a_check_tells_a_current_file_from_another_and_writes_nothing(
    script: ModuleType, arguments: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "instances.json"
    assert script.main([*arguments, "--check"]) == 1
    assert not out.exists()

    script.main(arguments)
    assert script.main([*arguments, "--check"]) == 0

    out.write_text(out.read_text() + "\n")
    assert script.main([*arguments, "--check"]) == 1


def test_the_bundled_list_holds_the_hosts_and_aliases_it_says() -> None:
    catalog = parse_catalog(INSTANCES.read_text(encoding="utf-8"))

    kinds = [entry.network_type for entry in catalog.instances]
    assert kinds.count(NetworkType.NORMAL) == 84
    assert kinds.count(NetworkType.TOR) == 10
    assert len({entry.url for entry in catalog.instances}) == 94


def test_the_bundled_list_is_what_its_sources_give(script: ModuleType, tmp_path: Path) -> None:
    """Runs over the captured sources where they are at hand."""
    for folder in map(Path, filter(None, [os.environ.get("SEARX_MCP_CAPTURES")])):
        hosts = f"--hosts={folder / 'searx-instances.2026-08-05.yml'}"
        common = [hosts, "--listed-at=2026-08-05"]
        bundled = [f"--figures={folder / 'searx-space-instances.json'}", f"--out={INSTANCES}"]
        assert script.main([*common, *bundled, "--check"]) == 0

        for figures in folder.glob("searx-space-instances*.json"):
            out = tmp_path / figures.name
            assert script.main([*common, f"--figures={figures}", f"--out={out}"]) == 0
            assert len(parse_catalog(out.read_text()).instances) == 94
