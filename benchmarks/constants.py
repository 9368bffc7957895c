"""What the constants of the main content are worth: F1 with half and with twice of each.

python -m benchmarks.constants PATH [--modules boilerplate,find] [--sample N] [--json]

PATH is the folder of WCXB; its dev split is read. Every page is prepared once, as far as the step that
finds its content; then that step runs for every value. The text is that of the roots, so that the
figures lie a little above those of the Markdown.
"""

import argparse
import contextlib
import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from benchmarks.extracting.scores import Gold, mean_word_score
from benchmarks.extracting.sets import page_sets
from searx_mcp.content import main as package
from searx_mcp.content import page
from searx_mcp.content.decode import decode
from searx_mcp.content.main.find import Main, find_main
from searx_mcp.content.main.kinds import Hints
from searx_mcp.content.tree import Removals
from searx_mcp.models.style import Style

_FACTORS: Final = (0.5, 2.0)
_NOT_TUNED: Final = frozenset({"class_names"})
"""Modules whose numbers are bits."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A page just before its content is looked for."""

    tree: LexborHTMLParser
    hints: Hints
    gold: Gold


@dataclass(frozen=True, slots=True)
class Worth:
    """What a constant is worth.

    Attributes:
        module: without the package.
        name: of the constant.
        value: as it is.
        changes: of F1, by the factor that the value is multiplied with.
    """

    module: str
    name: str
    value: float
    changes: Mapping[float, float]


def prepare(path: Path, *, sample: int) -> list[Prepared]:
    """Read the pages of a set up to the step that finds their content."""
    prepared: list[Prepared] = []
    (pages,) = page_sets(path, split="dev")
    for annotated in pages.sample(sample).pages:
        html, _ = decode(annotated.read(), charset=None)
        found = _before_main(html, annotated.url)
        if found is not None:
            prepared.append(Prepared(*found, annotated.gold))
    return prepared


def _before_main(html: str, url: str) -> tuple[LexborHTMLParser, Hints] | None:
    """What `find_main` is given."""
    given: list[tuple[LexborHTMLParser, Hints]] = []

    def record(tree: LexborHTMLParser, hints: Hints, _: Removals) -> Main:
        with contextlib.suppress(SelectolaxError):  # a page without a body has no copy
            given.append((tree.clone(), hints))
        return Main((), kind=None)

    module = vars(page)
    original = module["find_main"]
    module["find_main"] = record
    try:
        page.read_page(html, url=url, style=Style(), max_chars=5_000_000)
    finally:
        module["find_main"] = original
    return given[0] if given else None


def score(pages: Sequence[Prepared]) -> float:
    """F1 of words, mean over the pages."""
    return mean_word_score([(one.gold, _text(one)) for one in pages]).f1


def _text(one: Prepared) -> str:
    found = find_main(one.tree.clone(), one.hints, Removals())
    return "\n".join(root.text(separator=" ") for root in found.roots)


def constants(wanted: frozenset[str]) -> Iterator[tuple[ModuleType, str, float]]:
    """The numbers that modules of the main content give names to."""
    for info in pkgutil.iter_modules(package.__path__):
        if info.name in _NOT_TUNED or (wanted and info.name not in wanted):
            continue
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        for name, value in vars(module).items():
            is_own = name.startswith("_") and name.isupper()
            if is_own and isinstance(value, int | float):
                yield module, name, value


def worth(
    pages: Sequence[Prepared], module: ModuleType, name: str, value: float, *, base: float
) -> Worth:
    """Score with other values of a constant, and put it back."""
    changes = {}
    try:
        for factor in _FACTORS:
            setattr(module, name, type(value)(value * factor))
            changes[factor] = score(pages) - base
    finally:
        setattr(module, name, value)
    return Worth(module.__name__.rpartition(".")[2], name, value, changes)


def main() -> None:
    """Print what the constants are worth."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path, metavar="PATH", help="the folder of WCXB")
    parser.add_argument("--modules", default="", help="names with commas (all)")
    parser.add_argument("--sample", type=int, default=500, help="about so many pages (500)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    arguments = parser.parse_args()
    wanted = frozenset(filter(None, arguments.modules.split(",")))
    pages = prepare(arguments.path, sample=arguments.sample)
    base = score(pages)
    found = []
    print(
        f"{len(pages)} pages, F1 {base:.4f}; changes in .0001 with half and twice of it", flush=True
    )
    for module, name, value in constants(wanted):
        one = worth(pages, module, name, value, base=base)
        found.append(one)
        shown = "  ".join(f"{change * 10_000:+7.1f}" for change in one.changes.values())
        print(f"{one.module:10} {one.name:20} {one.value:>8g}  {shown}", flush=True)
    if arguments.json:
        rows = [[one.module, one.name, one.value, dict(one.changes)] for one in found]
        print(json.dumps({"pages": len(pages), "f1": base, "constants": rows}))


if __name__ == "__main__":
    main()
