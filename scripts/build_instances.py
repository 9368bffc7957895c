"""Write `instances.json` from the list of hosts and the figures the ecosystem publishes.

Hosts come from `searxinstances/instances.yml` of the searxng/searx-instances repository, kept by
hand; figures from searx.space's `instances.json`, measured by its checker. Only the URL is
required of either: a figure that is absent or odd is left out, which means unknown.

    python scripts/build_instances.py --hosts instances.yml --listed-at 2026-08-05 \
        --figures searx-space.json
"""

import argparse
import json
import math
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import yaml
from yarl import URL

from searx_mcp.models.instance import Catalog, CatalogEntry, NetworkType, Uptime

OUT: Final = Path(__file__).resolve().parent.parent / "instances.json"


def build_catalog(
    hosts: Mapping[str, Any], figures: Mapping[str, Any], *, listed_at: datetime
) -> Catalog:
    """Join the hosts with what is known of them.

    Args:
        hosts: the parsed YAML: a base URL to its notes, whose `additional_urls` are aliases.
        figures: the parsed JSON of searx.space.
        listed_at: the date of the list of hosts.
    """
    rows = _rows_by_origin(figures)
    entries = (_entry(url, rows.get(url.origin(), {})) for url in _addresses(hosts))
    seconds = _number(figures, "metadata", "timestamp")
    measured_at = datetime.fromtimestamp(seconds, UTC) if seconds is not None else None
    measured = f"{measured_at:%Y-%m-%d}" if measured_at else "date unknown"
    return Catalog(
        source=f"hosts: searxng/searx-instances {listed_at:%Y-%m-%d}; "
        f"figures: searx.space {measured}",
        listed_at=listed_at,
        measured_at=measured_at,
        instances=tuple(sorted(entries, key=lambda entry: (entry.network_type, entry.url))),
    )


def _addresses(hosts: Mapping[str, Any]) -> Iterator[URL]:
    for text, notes in hosts.items():
        yield _base_url(text)
        aliases = _value(notes, "additional_urls")
        if isinstance(aliases, dict):
            yield from map(_base_url, aliases)


def _base_url(text: str) -> URL:
    url = URL(text)
    return url.with_path(url.raw_path.rstrip("/") + "/", encoded=True)


def _rows_by_origin(figures: Mapping[str, Any]) -> dict[URL, Any]:
    rows: dict[URL, Any] = {}
    listed = _value(figures, "instances")
    for text, row in listed.items() if isinstance(listed, dict) else ():
        try:
            rows.setdefault(URL(text).origin(), row)
        except ValueError:
            continue
    return rows


def _entry(url: URL, row: object) -> CatalogEntry:
    hidden = (url.host or "").endswith(".onion")
    median = _number(row, "timing", "search", "all", "median")
    single = _number(row, "timing", "search", "all", "value")
    return CatalogEntry(
        url=str(url),
        network_type=NetworkType.TOR if hidden else NetworkType.NORMAL,
        tls_grade=_text(row, "tls", "grade"),
        http_grade=_text(row, "http", "grade"),
        uptime=Uptime(
            day=_percent(row, "uptime", "uptimeDay"),
            week=_percent(row, "uptime", "uptimeWeek"),
            month=_percent(row, "uptime", "uptimeMonth"),
            year=_percent(row, "uptime", "uptimeYear"),
        ),
        search_success=_percent(row, "timing", "search", "success_percentage"),
        search_latency=median if median is not None else single,
    )


def _value(data: object, *path: str) -> object:
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    return data


def _text(data: object, *path: str) -> str | None:
    value = _value(data, *path)
    return value if isinstance(value, str) and value else None


def _number(data: object, *path: str) -> float | None:
    value = _value(data, *path)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _percent(data: object, *path: str) -> float | None:
    value = _number(data, *path)
    return value if value is not None and value <= 100 else None  # noqa: PLR2004 - a percentage


def format_catalog(catalog: Catalog) -> str:
    """Give the file's text: one instance per line, so that a change reads well as a diff."""
    data = catalog.model_dump(mode="json", exclude_defaults=True)
    head = {"schema_version": catalog.schema_version} | data
    instances = head.pop("instances", [])
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    rows = ",\n".join(f"  {json.dumps(row)}" for row in instances)
    return "\n".join(["{", *lines, ' "instances": [', rows, " ]", "}", ""])


def main(arguments: list[str] | None = None) -> int:
    """Write or check the file; returns the exit code."""
    parser = argparse.ArgumentParser(description="Build the bundled list of public instances.")
    parser.add_argument("--hosts", type=Path, required=True, help="instances.yml")
    parser.add_argument("--listed-at", type=datetime.fromisoformat, required=True, help="its date")
    parser.add_argument("--figures", type=Path, required=True, help="searx.space instances.json")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 on a change")
    options = parser.parse_args(arguments)
    catalog = build_catalog(
        yaml.safe_load(options.hosts.read_text(encoding="utf-8")),
        json.loads(options.figures.read_text(encoding="utf-8")),
        listed_at=options.listed_at.replace(tzinfo=UTC),
    )
    text = format_catalog(catalog)
    if options.check:
        is_current = options.out.is_file() and options.out.read_text(encoding="utf-8") == text
        print(f"{options.out.name}: {'current' if is_current else 'not current'}")
        return 0 if is_current else 1
    options.out.write_text(text, encoding="utf-8")
    print(f"{options.out.name}: {len(catalog.instances)} instances")
    return 0


if __name__ == "__main__":
    sys.exit(main())
