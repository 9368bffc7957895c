"""Write the two lists of settings a person reads from the settings themselves.

python scripts/write_config.py          write config/searx-mcp.toml and docs/configuration.md
python scripts/write_config.py --check  change nothing; exit 1 if a file is not up to date
"""

import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from searx_mcp.settings.sources import SettingRow, effective
from searx_mcp.settings.values import Settings

ROOT = Path(__file__).resolve().parents[1]
BEGIN = "<!-- settings: begin, written by scripts/write_config.py -->"
END = "<!-- settings: end -->"

TOML_HEAD = """\
# Every setting of searx-mcp with its default. All are commented out, so a copy of this file
# changes nothing: take away the "# " in front of a line and change its value.
# Written by scripts/write_config.py; docs/configuration.md explains where settings come from.
"""
TOML_TAIL = """
# Search arguments by name of profile; `profile` above or `--profile` chooses one.
# [profiles.news]
# category = "news"
# time_range = "week"
"""


def toml() -> str:
    """The configuration file."""
    lines = [TOML_HEAD]
    for table, rows in _tables():
        lines += [f"\n[{table}]"] if table else []
        for row in rows:
            lines += [f"# {row.description}", f"# {_key(row)} = {json.dumps(row.default)}"]
    return "\n".join(lines) + "\n" + TOML_TAIL


def markdown() -> str:
    """The tables of the documentation."""
    lines = [BEGIN, ""]
    for table, rows in _tables():
        lines += [f"### `[{table}]`" if table else "### Above all tables", ""]
        lines += ["| Key | Default | Allowed | Meaning |", "| --- | --- | --- | --- |"]
        for row in rows:
            cells = (f"`{_key(row)}`", f"`{json.dumps(row.default)}`", row.allowed, row.description)
            escaped = (cell.replace("<", "&lt;").replace("|", "&#124;") for cell in cells)
            lines.append(f"| {' | '.join(escaped)} |")
        lines.append("")
    return "\n".join([*lines, END])


def expected(root: Path) -> Mapping[Path, str]:
    """What the files under a root should hold."""
    page = root / "docs" / "configuration.md"
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{page}: the lines {BEGIN} and {END} are missing")
    return {
        root / "config" / "searx-mcp.toml": toml(),
        page: f"{before}{markdown()}{after}",
    }


def main(arguments: Sequence[str], *, root: Path = ROOT) -> int:
    """Write the files, or say which are not up to date."""
    stale = [
        (path, text)
        for path, text in expected(root).items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        if "--check" in arguments:
            print(f"{path} is not up to date: run python scripts/write_config.py")
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
    return int("--check" in arguments and bool(stale))


def _tables() -> Iterator[tuple[str, Iterator[SettingRow]]]:
    rows = effective(Settings(), {})
    return itertools.groupby(rows, key=lambda row: row.key.rpartition(".")[0])


def _key(row: SettingRow) -> str:
    return row.key.rpartition(".")[2]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
