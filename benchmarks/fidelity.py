"""How faithful the Markdown of a page is: code, formulas, tables, footnotes, callouts.

    python -m benchmarks.fidelity [PATH] [--peer-python PYTHON] [--missing NAME] [--json] [--quick]

PATH is a checkout of kepano/defuddle on GitHub, which is no part of this repository: pages in
`tests/fixtures` with the Markdown that its project expects in `tests/expected`. Beside ours, every
converter is scored that this Python has, or the one named by `--peer-python`. Without PATH, and with
`--quick`, our own few cases are counted. `docs/decisions/benchmarks.md` says what it shows.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from benchmarks.fidelity_scoring.cases import CASES
from benchmarks.fidelity_scoring.converters import OURS, others, ours, written
from benchmarks.fidelity_scoring.fixtures import fixtures
from benchmarks.fidelity_scoring.scores import KINDS, Score, missing, score
from benchmarks.measure import Ratio, Table, report

_ROOT: Final = Path(__file__).resolve().parent.parent
_DEADLINE: Final = 900.0
"""Seconds for the converters of another Python; 208 pages take them two minutes."""

_NAMES: Final = {
    "code": "code blocks", "code_with_language": "with language", "math": "formulas",
    "rows": "rows of tables", "references": "footnote references", "callouts": "callouts",
}  # fmt: skip


def main() -> None:
    """Measure and report."""
    options = _options()
    if options.quick or options.path is None:
        report([*_counted()], as_json=options.json)
    try:
        pages = fixtures(options.path)
    except ValueError as error:
        sys.exit(str(error))
    given = {page.name: (page.url, page.html) for page in pages}
    expected = {page.name: page.expected for page in pages}
    own = written(ours, given)
    if options.missing:
        _show_missing(expected, own, options.missing)
    texts, notes = _by_others(given, options.peer_python)
    scores = {name: score(expected, each) for name, each in {OURS: own, **texts}.items()}
    report(_accepted(scores), as_json=options.json, tables=[_table(scores, len(pages), notes)])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "path", type=Path, nargs="?", metavar="PATH", help="a checkout of kepano/defuddle"
    )
    parser.add_argument("--peer-python", help="a Python with other converters installed")
    parser.add_argument("--missing", help="list what is not found on pages with this in their name")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quick", action="store_true", help="count our own cases only")
    return parser.parse_args()


def _counted() -> list[Ratio]:
    """Everything in our own cases is found."""
    given = {name: ("https://example.org/page", html) for name, (html, _) in CASES.items()}
    found = score({name: text for name, (_, text) in CASES.items()}, written(ours, given))
    return [
        Ratio(_NAMES[kind], found.found[kind], found.expected[kind], at_least=True)
        for kind in KINDS
    ]


def _by_others(
    given: Mapping[str, tuple[str, str]], python: str | None
) -> tuple[dict[str, dict[str, str]], tuple[str, ...]]:
    found, absent = others()
    texts = {} if python else {name: written(each, given) for name, each in found.items()}
    if python:
        done = subprocess.run(  # noqa: S603 - a module of this package
            [python, "-m", "benchmarks.fidelity_scoring.converters"],
            cwd=_ROOT, input=json.dumps(given), capture_output=True, text=True, timeout=_DEADLINE,
            check=False,
        )  # fmt: skip
        if done.returncode:
            sys.exit(f"the converters of {python} failed:\n{done.stderr[-2_000:]}")
        texts = json.loads(done.stdout)
        absent = {name: "" for name in (*found, *absent) if name not in texts}
    return texts, tuple(f"{name}: not measured, it is not installed" for name in absent)


def _table(scores: Mapping[str, Score], pages: int, notes: tuple[str, ...]) -> Table:
    own = scores[OURS]
    expected = own.expected
    rows: list[tuple[str | float, ...]] = [
        (name, round(each.f1, 3), *(each.found[kind] for kind in KINDS))
        for name, each in scores.items()
    ]
    rows.append(("expected", "", *(expected[kind] for kind in KINDS)))
    met = (("met" if own.found[kind] >= expected[kind] else "missed") for kind in KINDS)
    rows.append(("our goal, all of it", "", *met))
    return Table(
        f"{pages} pages: what is written as expected",
        ("converter", "F1 of words", *(_NAMES[kind] for kind in KINDS)),
        tuple(rows),
        notes,
    )


def _accepted(scores: Mapping[str, Score]) -> list[Ratio]:
    """We find more of everything than any other; words are for `benchmarks.extraction`."""
    own, rest = scores[OURS], [each for name, each in scores.items() if name != OURS]
    return [
        Ratio(
            f"{_NAMES[kind]}: more than the best other",
            own.found[kind] - max((each.found[kind] for each in rest), default=0),
            1,
            at_least=True,
        )
        for kind in KINDS
    ]


def _show_missing(expected: Mapping[str, str], own: Mapping[str, str], part: str) -> None:
    for name, text in expected.items():
        if part in name or part == "all":
            for kind, lost in missing(text, own[name]).items():
                for each in lost:
                    print(f"{name}: {kind}: {each[:160]!r}", file=sys.stderr)


if __name__ == "__main__":
    main()
