"""Annotated sets of pages as they lie in their folders; nothing of them is part of this repository."""

import gzip
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.extracting.floors import load_floors
from benchmarks.extracting.scores import (
    Gold,
    Scorer,
    mean_word_score,
    shingle_score,
    snippet_score,
)

SPLITS: Final = ("dev", "test")


@dataclass(frozen=True, slots=True)
class AnnotatedPage:
    """A page and what people marked on it.

    Attributes:
        name: of its file, without suffixes.
        url: where it was found; may be empty.
        group: what the set says it is, such as `forum`.
        gold: what belongs to its content.
        read: gives its bytes.
        is_known: whether the split on which rules are made has the same bytes.
    """

    name: str
    url: str
    group: str
    gold: Gold
    read: Callable[[], bytes]
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class PageSet:
    """Pages that are scored together.

    Attributes:
        name: `wcxb-dev`, `wcxb-test`, `article-extraction`, `trafilatura`, or `floors` for our own.
        pages: at least one.
        score: the official way.
    """

    name: str
    pages: tuple[AnnotatedPage, ...]
    score: Scorer

    def sample(self, count: int) -> "PageSet":
        """Give about `count` pages, evenly spread over the set; all of them if there are no more."""
        step = max(1, len(self.pages) // count)
        return PageSet(self.name, self.pages[::step], self.score)


def page_sets(path: Path, *, split: str = "all") -> list[PageSet]:
    """Recognise the layout of a folder.

    Args:
        path: the folder of one set.
        split: `dev`, `test` or `all`, for the set that has two.

    Raises:
        ValueError: it is none of the known layouts.
    """
    if (path / "metadata.json").is_file() and (path / "dev").is_dir():
        return [_wcxb(path, name) for name in SPLITS if split in {name, "all"}]
    if (path / "ground-truth.json").is_file():
        return [_article_extraction(path)]
    if (path / "tests" / "evaldata.json").is_file():
        return [_trafilatura(path / "tests")]
    if (path / "manifest.json").is_file():
        return [_floors(path)]
    raise ValueError(
        f"{path} is no set of a known layout: it has neither metadata.json with dev/ and test/"
        " (WCXB), nor ground-truth.json (article-extraction-benchmark), nor tests/evaldata.json"
        " (trafilatura)"
    )


def _wcxb(path: Path, split: str) -> PageSet:
    of_dev = (path / "dev" / "html").glob("*.gz") if split != "dev" else ()
    known = frozenset(map(_digest, of_dev))
    return PageSet(f"wcxb-{split}", tuple(_wcxb_pages(path / split, known)), mean_word_score)


def _wcxb_pages(folder: Path, known: frozenset[str]) -> Iterator[AnnotatedPage]:
    for file in sorted((folder / "ground-truth").glob("*.json")):
        page = _load(file)
        gold = page["ground_truth"]
        if isinstance(gold, dict):
            html = folder / "html" / f"{file.stem}.html.gz"
            yield AnnotatedPage(
                file.stem,
                page.get("url") or "",
                _kind(page),
                Gold(
                    gold.get("main_content") or "",
                    tuple(gold.get("with") or ()),
                    tuple(gold.get("without") or ()),
                ),
                _zipped(html),
                is_known=bool(known) and _digest(html) in known,
            )


def _kind(page: Mapping[str, Any]) -> str:
    found = (page.get("_internal") or {}).get("page_type", {})
    kind = found.get("primary", "article") if isinstance(found, dict) else str(found)
    return "collection" if kind == "category" else kind


def _article_extraction(path: Path) -> PageSet:
    pages = (
        AnnotatedPage(
            name,
            page.get("url") or "",
            "article",
            Gold(page.get("articleBody") or ""),
            _zipped(path / "html" / f"{name}.html.gz"),
        )
        for name, page in _load(path / "ground-truth.json").items()
    )
    return PageSet("article-extraction", tuple(pages), shingle_score)


def _trafilatura(folder: Path) -> PageSet:
    pages = (
        AnnotatedPage(
            Path(page["file"]).stem,
            url,
            "page",
            Gold(present=tuple(page["with"]), absent=tuple(page["without"])),
            _first(folder / "cache" / page["file"], folder / "eval" / page["file"]),
        )
        for url, page in _load(folder / "evaldata.json").items()
    )
    return PageSet("trafilatura", tuple(pages), snippet_score)


def _floors(path: Path) -> PageSet:
    pages = (
        AnnotatedPage(
            page.name,
            page.url,
            page.kind,
            Gold((path / page.gold).read_text("utf-8"), page.present, page.absent),
            (path / page.file).read_bytes,
        )
        for page in load_floors(path).pages
    )
    return PageSet("floors", tuple(pages), mean_word_score)


def _load(file: Path) -> Any:  # noqa: ANN401 - of any shape
    return json.loads(file.read_text("utf-8"))


def _digest(file: Path) -> str:
    return hashlib.sha256(gzip.decompress(file.read_bytes())).hexdigest()


def _zipped(file: Path) -> Callable[[], bytes]:
    return lambda: gzip.decompress(file.read_bytes())


def _first(*files: Path) -> Callable[[], bytes]:
    return next(file for file in files if file.is_file()).read_bytes
