"""Pin how good the text of our own pages is: the floors in `tests/floors/manifest.json`.

    python scripts/pin_floors.py [--allow-lower]

Run it after a change that makes the text better, or after a page or its content was edited. Floors are
pinned just below what is reached, digests as the files are, and what is not met is written down as
known. A floor is not lowered, and nothing new becomes known, unless `--allow-lower` says so; then say
in the commit why.
"""

import argparse
import importlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path(__file__).resolve().parent.parent

_MARGIN: Final = 0.005
"""How far a page's floor lies below what it reaches; one word too much in 250 moves F1 by 0.002."""

_MEAN_MARGIN: Final = 0.003
"""Likewise of the means, which move less."""

_HALF: Final = 0.5
"""A floor below this needs a reason in the manifest."""


def main() -> None:
    """Measure, and write the manifest."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--allow-lower", action="store_true", help="floors may sink")
    may_sink = parser.parse_args().allow_lower
    # The benchmarks are no part of the package; after what is installed, so that they import that.
    sys.path.append(str(_ROOT))
    floors = importlib.import_module("benchmarks.extracting.floors")
    file = floors.FOLDER / "manifest.json"
    manifest = json.loads(file.read_text("utf-8"))
    examined = [floors.examine(page) for page in floors.load_floors().pages]
    problems: list[str] = []
    for entry, result in zip(manifest["pages"], examined, strict=True):
        problems += pin_page(entry, f1=result.f1, failures=result.failures)
        entry["sha256"] = floors.digest(floors.FOLDER / entry["file"])
        entry["gold_sha256"] = floors.digest(floors.FOLDER / entry["gold"])
    problems += pin_means(manifest["kinds"], floors.means(examined, floors.by_kind))
    problems += pin_means(manifest["languages"], floors.means(examined, floors.by_language))
    if problems and not may_sink:
        sys.exit("\n".join([*problems, "Nothing was written; --allow-lower writes it."]))
    file.write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    print("\n".join([*problems, f"{len(examined)} pages pinned."]))


def pin_page(entry: dict[str, Any], *, f1: float, failures: tuple[str, ...]) -> list[str]:
    """Pin one page of the manifest, in place.

    Args:
        entry: of the manifest.
        f1: what is reached.
        failures: what is not met.

    Returns:
        What is worse than it was pinned, one sentence each.
    """
    name = Path(entry["file"]).stem
    floor = pinned(f1, _MARGIN)
    problems = [f"{name}: new: {each}" for each in failures if each not in entry["known"]]
    if f1 < entry["floor"]:
        problems.append(f"{name}: floor {entry['floor']} sinks to {floor}")
    if floor < _HALF and not entry["reason"]:
        problems.append(f"{name}: a floor of {floor} needs a reason")
    entry["floor"] = floor
    entry["known"] = list(failures)
    return problems


def pin_means(pins: dict[str, float], reached: Mapping[str, float]) -> list[str]:
    """Pin the means of groups, in place.

    Args:
        pins: by group.
        reached: the means now.

    Returns:
        What is worse than it was pinned, one sentence each.
    """
    problems = [
        f"{name}: mean floor {pins[name]} sinks to {pinned(mean, _MEAN_MARGIN)}"
        for name, mean in reached.items()
        if mean < pins.get(name, 0.0)
    ]
    pins.clear()
    pins.update({name: pinned(mean, _MEAN_MARGIN) for name, mean in reached.items()})
    return problems


def pinned(value: float, margin: float) -> float:
    """Give the floor for what is reached: below it by a margin, three digits, never below zero."""
    return max(0.0, int((value - margin) * 1_000) / 1_000)


if __name__ == "__main__":
    main()
