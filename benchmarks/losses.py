"""What of the main element of a page is not in its Markdown, and which rule took it.

    python -m benchmarks.losses FOLDER [--main SELECTOR] [--json]
    python -m benchmarks.losses --quick [--pin]

FOLDER holds pages of any kind. Each of their tables, fences, headings, lists and sentences is listed that is gone, or
that is there as something else, and the words of menus that are not. Pages are read by eye with it. Their main
element is looked for by the names that generators give it, or by SELECTOR. With `--quick` our own pages in
the shape of generators are counted; `benchmarks/losing/known.json` says what is lost on them, which can only become
less: `--pin` writes it down. `docs/decisions/pages-to-markdown.md` says what it has shown.
"""

import argparse
import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from benchmarks.extracting.plain import plain_text
from benchmarks.losing.page import (
    FENCE,
    HEADING,
    KINDS,
    SENTENCE,
    TABLE,
    letters_of,
    read_source,
    words_of,
)
from benchmarks.losing.written import GONE, missing, read_markdown
from benchmarks.measure import Ratio, Table, report
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert
from searx_mcp.content.decode import decode
from searx_mcp.content.page import read_page
from searx_mcp.content.tree import Removals
from searx_mcp.errors import ContentError

_ROOT: Final = Path(__file__).resolve().parent.parent
_GENERATORS: Final = _ROOT / "tests" / "content" / "generators"
_KNOWN: Final = _ROOT / "benchmarks" / "losing" / "known.json"
_CHROME: Final = "words of chrome"

_UNKNOWN: Final = "unknown"
_SENTENCES_KEPT: Final = 0.995
_CHROME_SHARE: Final = 0.01
_SHOWN: Final = 160


@dataclass(frozen=True, slots=True)
class Loss:
    """A part of a page that is not in its Markdown as what it is."""

    kind: str
    verdict: str
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Compared:
    """A page beside its Markdown.

    Attributes:
        name: of its file.
        parts: how many there are of each kind.
        losses: in the order of kinds.
        words: how many the Markdown has.
        chrome: those that only stand in the page's chrome, with how often.
    """

    name: str
    parts: Counter[str]
    losses: tuple[Loss, ...]
    words: int
    chrome: Counter[str]

    def counts(self) -> dict[str, int]:
        """What is lost of each kind, and the words of chrome; without zeros."""
        found = Counter(loss.kind for loss in self.losses)
        return {**{kind: found[kind] for kind in KINDS if found[kind]}, **_chrome(self)}


def main() -> None:
    """Compare and report."""
    options = _options()
    if options.quick or options.folder is None:
        _check(options)
    files = sorted(
        file for suffix in ("html", "htm", "xhtml") for file in options.folder.rglob(f"*.{suffix}")
    )
    compared = [
        compare(file.read_bytes(), name=str(file.relative_to(options.folder)), main=options.main)
        for file in files
    ]
    _list(compared, sys.stderr if options.json else sys.stdout)
    report(_goals(compared), as_json=options.json, tables=[_kinds(compared), _rules(compared)])


def compare(body: bytes, *, name: str, main: str = "") -> Compared:
    """Compare a page with its Markdown.

    Args:
        body: the page.
        name: of its file.
        main: a selector of its main element; looked for if not given.
    """
    html, url = decode(body, charset=None)[0], f"https://docs.example/{name}"
    source = read_source(html, main=main)
    markdown = _markdown(body, url)
    removed = _removed(html, url)
    written = read_markdown(markdown)
    words = words_of(plain_text(markdown))
    losses = []
    for part in source.parts:
        verdict, letters = missing(part, written)
        if verdict:
            losses.append(Loss(part.kind, verdict, _rule(letters, removed), part.text))
    added = words - source.words
    chrome = Counter(
        {
            word: min(count, source.chrome[word])
            for word, count in added.items()
            if source.chrome[word]
        }
    )
    losses.sort(key=lambda loss: KINDS.index(loss.kind))
    return Compared(
        name, Counter(part.kind for part in source.parts), tuple(losses), words.total(), chrome
    )


def fixtures() -> Iterator[Compared]:
    """The pages in the shape of generators of documentation, compared."""
    checks = tomllib.loads((_GENERATORS / "generators.toml").read_text("utf-8"))
    for name, check in checks.items():
        body = (_GENERATORS / "pages" / f"{name}.html").read_bytes()
        yield compare(body, name=f"{name}.html", main=check["main"])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help="with pages of HTML")
    parser.add_argument("--main", default="", help="a selector of the main element of each page")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quick", action="store_true", help="count the pages of this repository")
    parser.add_argument("--pin", action="store_true", help="write down what is lost on these now")
    return parser.parse_args()


def _markdown(body: bytes, url: str) -> str:
    try:
        return convert(
            body, media_type="text/html", charset=None, url=url, config=ContentConfig()
        ).markdown
    except ContentError:
        return ""


def _removed(html: str, url: str) -> list[tuple[str, str]]:
    """What is taken out of a page, each rule with letters."""
    removals, config = Removals(keeps_texts=True), ContentConfig()
    read_page(html, url=url, style=config.style, max_chars=config.max_page_chars, removals=removals)
    return [(str(rule), letters_of(text)) for rule, text in removals.texts]


def _rule(letters: str, removed: Sequence[tuple[str, str]]) -> str:
    return next((rule for rule, text in removed if letters in text), _UNKNOWN)


def _check(options: argparse.Namespace) -> None:
    """Hold the pages of this repository against what is known of them; it ends the process."""
    compared = list(fixtures())
    counts = {page.name: page.counts() for page in compared if page.counts()}
    known = json.loads(_KNOWN.read_text("utf-8")) if _KNOWN.exists() else {}
    more = [*_beyond(counts, known)]
    fewer = [*_beyond(known, counts)]
    if options.pin:
        _KNOWN.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    by_name = {page.name: page for page in compared}
    _list([by_name[name] for name in dict.fromkeys(name for name, _ in more)], sys.stderr)
    for name, kind in fewer:
        print(
            f"{name}: fewer losses of the kind {kind!r} than pinned; --pin writes that down",
            file=sys.stderr,
        )
    report(
        [
            Ratio("losses beyond those that are known", len(more), 0, at_least=False),
            Ratio("known losses that are none any more", len(fewer), 0, at_least=False),
        ],
        as_json=options.json,
        tables=[_kinds(compared)],
    )


def _beyond(
    counts: Mapping[str, Mapping[str, int]], known: Mapping[str, Mapping[str, int]]
) -> Iterator[tuple[str, str]]:
    for name, found in counts.items():
        for kind, count in found.items():
            if count > known.get(name, {}).get(kind, 0):
                yield name, kind


def _chrome(page: Compared) -> dict[str, int]:
    return {_CHROME: page.chrome.total()} if page.chrome else {}


def _list(compared: Iterable[Compared], out: TextIO) -> None:
    for page in compared:
        for loss in page.losses:
            print(
                f"{page.name}: {loss.kind} {loss.verdict} ({loss.rule}): {loss.text[:_SHOWN]!r}",
                file=out,
            )
        if page.chrome:
            words = " ".join(word for word, _ in page.chrome.most_common(20))
            print(
                f"{page.name}: {page.chrome.total()} of {page.words} words are chrome: {words}",
                file=out,
            )


def _kinds(compared: Sequence[Compared]) -> Table:
    parts = sum((page.parts for page in compared), Counter[str]())
    losses = Counter((loss.kind, loss.verdict == GONE) for page in compared for loss in page.losses)
    return Table(
        f"{len(compared)} pages: parts of their main elements",
        ("kind", "all", "gone", "as text"),
        tuple((kind, parts[kind], losses[kind, True], losses[kind, False]) for kind in KINDS),
        (f"{_share_of_chrome(compared):.2%} of the words are chrome.",),
    )


def _rules(compared: Sequence[Compared]) -> Table:
    rules = Counter((loss.rule, loss.kind) for page in compared for loss in page.losses)
    names = sorted({rule for rule, _ in rules})
    return Table(
        "which rule took them",
        ("rule", *KINDS),
        tuple((name, *(rules[name, kind] for kind in KINDS)) for name in names),
    )


def _goals(compared: Sequence[Compared]) -> list[Ratio]:
    parts = sum((page.parts for page in compared), Counter[str]())
    losses = Counter(loss.kind for page in compared for loss in page.losses)
    kept = 1 - losses[SENTENCE] / parts[SENTENCE] if parts[SENTENCE] else 1.0
    return [
        *(
            Ratio(f"lost of the kind {kind!r}", losses[kind], 0, at_least=False)
            for kind in (HEADING, TABLE, FENCE)
        ),
        Ratio("sentences kept", kept, _SENTENCES_KEPT, at_least=True),
        Ratio(
            "share of words from chrome", _share_of_chrome(compared), _CHROME_SHARE, at_least=False
        ),
    ]


def _share_of_chrome(compared: Sequence[Compared]) -> float:
    words = sum(page.words for page in compared)
    return sum(page.chrome.total() for page in compared) / words if words else 0.0


if __name__ == "__main__":
    main()
