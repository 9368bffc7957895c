"""Pages of our own with their content, and how good our text of them must at least be.

`manifest.json` in `tests/floors` names them; `scripts/pin_floors.py` writes its floors.
"""

import hashlib
import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.extracting.headings import Reach, heading_lines, reach, share_of_all
from benchmarks.extracting.paragraphs import cut_paragraphs
from benchmarks.extracting.plain import plain_text
from benchmarks.extracting.scores import word_score
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert
from searx_mcp.content.document import Document
from searx_mcp.errors import ContentError

FOLDER: Final = Path(__file__).resolve().parent.parent.parent / "tests" / "floors"

_CONFIG: Final = ContentConfig()


@dataclass(frozen=True, slots=True)
class FloorPage:
    """One page of the manifest.

    Attributes:
        file: its path in the folder.
        gold: the path of its content, as text.
        sha256: of the page.
        gold_sha256: of its content.
        kind: a value of `PageKind`.
        language: two letters.
        url: the address it is read as.
        source: who wrote it, and where it comes from.
        licence: SPDX expression.
        title: to be found exactly.
        author: likewise; empty if it is not asked for.
        published: the day, likewise.
        present: snippets that must be in the text.
        absent: snippets of the page that must not.
        floor: the least F1 of its words.
        known: what is not met, in the words of `Examined.failures`.
        reason: why the floor is below one half; else empty.
    """

    file: str
    gold: str
    sha256: str
    gold_sha256: str
    kind: str
    language: str
    url: str
    source: str
    licence: str
    title: str
    author: str
    published: str
    present: tuple[str, ...]
    absent: tuple[str, ...]
    floor: float
    known: tuple[str, ...]
    reason: str = ""

    @property
    def name(self) -> str:
        """The name of its file, without folder and suffix."""
        return Path(self.file).stem


@dataclass(frozen=True, slots=True)
class Floors:
    """The manifest.

    Attributes:
        pages: all pages.
        kinds: the least mean F1 of the pages of each kind.
        languages: likewise, of each language.
    """

    pages: tuple[FloorPage, ...]
    kinds: dict[str, float]
    languages: dict[str, float]


@dataclass(frozen=True, slots=True)
class Examined:
    """What became of a page.

    Attributes:
        page: the page.
        f1: of the words of our text.
        failures: what is not as the manifest says, one sentence each.
        reach: what became of the headings of its content.
    """

    page: FloorPage
    f1: float
    failures: tuple[str, ...]
    reach: Reach


def load_floors(folder: Path = FOLDER) -> Floors:
    """Read the manifest of a folder."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    pages: list[FloorPage] = []
    for page in manifest["pages"]:
        facts: dict[str, Any] = {**page}
        facts |= {name: tuple(facts[name]) for name in ("present", "absent", "known")}
        pages.append(FloorPage(**facts))
    return Floors(tuple(pages), manifest["kinds"], manifest["languages"])


def digest(file: Path) -> str:
    """Give the SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def examine(page: FloorPage, folder: Path = FOLDER) -> Examined:
    """Read a page as the package does, and hold the result against the manifest."""
    body, gold = (folder / page.file).read_bytes(), (folder / page.gold).read_text("utf-8")
    try:
        found = convert(
            body,
            media_type="text/html",
            charset=None,
            url=page.url,
            config=_CONFIG,
        )
    except ContentError as error:
        return Examined(page, 0.0, (f"failed: {error.message}",), reach(body, gold, "", ()))
    text = plain_text(found.markdown)
    reached = reach(body, gold, text, heading_lines(found.markdown))
    failures = [f"lost heading: {heading}" for heading in (*reached.lost, *reached.gone)]
    failures += [f"cut: {paragraph}" for paragraph in cut_paragraphs(body, text)]
    failures += [*_snippets(page, text), *_metadata(page, found)]
    return Examined(page, word_score(gold, text).f1, tuple(failures), reached)


def means(examined: Iterable[Examined], group: Callable[[FloorPage], str]) -> dict[str, float]:
    """Give the mean F1 of each group of pages, in the order of their names."""
    scores: dict[str, list[float]] = {}
    for each in examined:
        scores.setdefault(group(each.page), []).append(each.f1)
    return {name: statistics.fmean(values) for name, values in sorted(scores.items())}


def headings_kept(examined: Iterable[Examined]) -> float:
    """Give the share of the headings of all pages that stand."""
    return share_of_all([each.reach for each in examined])


def by_kind(page: FloorPage) -> str:
    """Group pages by what they are."""
    return page.kind


def by_language(page: FloorPage) -> str:
    """Group pages by their language."""
    return page.language


def _snippets(page: FloorPage, text: str) -> list[str]:
    shown = " ".join(text.split())
    missing = [f"missing: {each}" for each in page.present if each not in shown]
    return missing + [f"not removed: {each}" for each in page.absent if each in shown]


def _metadata(page: FloorPage, found: Document) -> list[str]:
    facts: Sequence[tuple[str, str, str]] = (
        ("title", page.title, found.title),
        ("author", page.author, found.author),
        ("published", page.published, found.published[:10]),
        ("language", page.language, found.language.partition("-")[0].lower()),
        ("kind", page.kind, found.kind or ""),
    )
    return [f"wrong {name}" for name, wanted, got in facts if wanted and wanted != got]
