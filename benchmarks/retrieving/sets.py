"""Sets of pages and questions of which it is known what answers."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from zlib import crc32

from benchmarks import retrieval_set

_HOST: Final = "https://pages.example"
_MAX_LINE: Final = 1 << 20
"""Bytes of a line of a foreign set."""
_MAX_LINES: Final = 1_000_000
"""Of each of its files."""
_BANDS: Final = (
    (0.35, "overlap < .35"),
    (0.6, "overlap .35 to .6"),
    (float("inf"), "overlap >= .6"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A question and what answers it.

    Attributes:
        id: unique in the set.
        question: what is asked.
        right: how well a page answers, 1 or more, by its address.
        answer: words that a right chunk of such a page holds; empty: any chunk will do.
        groups: those whose figures are given apart, such as its kind.
    """

    id: str
    question: str
    right: Mapping[str, int]
    answer: str = ""
    groups: tuple[str, ...] = ()

    @property
    def is_held_out(self) -> bool:
        """Whether no constant may be chosen by it: half of all, by their names alone."""
        return _die(self.id) % 2 == 1

    @property
    def is_in_short_run(self) -> bool:
        """Whether it is asked where time is short: a sixth of all, of each half as much."""
        return _die(self.id) // 2 % 6 == 0


@dataclass(frozen=True, slots=True)
class Collection:
    """A set.

    Attributes:
        name: for tables.
        pages: Markdown by address.
        cases: in the order of its file.
        is_by_page: whether pages are told apart, and not the chunks of a page.
    """

    name: str
    pages: Mapping[str, str] = field(repr=False)
    cases: tuple[Case, ...] = field(repr=False)
    is_by_page: bool


def labelled() -> Collection:
    """The set of this repository (`benchmarks/retrieval_set`)."""
    loaded = retrieval_set.load()
    cases = tuple(
        Case(
            id=each.id,
            question=each.question,
            right={_address(each.page): 1},
            answer=each.answer,
            groups=(
                "held out" if _die(each.id) % 2 else "chosen by",
                str(each.kind),
                retrieval_set.language(each.page),
                next(name for most, name in _BANDS if loaded.overlap(each) < most),
            ),
        )
        for each in loaded.questions
    )
    pages = {_address(name): markdown for name, markdown in loaded.pages.items()}
    return Collection("labelled", pages, cases, is_by_page=False)


def beir(folder: Path) -> Collection:
    """Read a set in the format of BEIR.

    Args:
        folder: has `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`, as for Thakur et al., "BEIR", 2021.

    Returns:
        The questions of which something is known to be right.

    Raises:
        ValueError: a file is not as it should be.
        OSError: a file cannot be read.
    """
    right: dict[str, dict[str, int]] = {}
    for line in _lines(folder / "qrels" / "test.tsv"):
        question, page, grade = (*line.split("\t"), "", "", "")[:3]
        if grade.strip().isdecimal() and int(grade) > 0:
            right.setdefault(question, {})[_address(page)] = int(grade)
    pages = {
        _address(str(each["_id"])): f"# {each.get('title') or each['_id']}\n\n{each['text']}"
        for each in _objects(folder / "corpus.jsonl")
    }
    cases = tuple(
        Case(str(each["_id"]), str(each["text"]), right[str(each["_id"])])
        for each in _objects(folder / "queries.jsonl")
        if str(each["_id"]) in right
    )
    if not cases:
        raise ValueError(f"{folder} has no question that a line of qrels/test.tsv names")
    return Collection(folder.name, pages, cases, is_by_page=True)


def _die(name: str) -> int:
    return crc32(name.encode())


def _address(name: str) -> str:
    return f"{_HOST}/{name.encode().hex()}"


def _lines(file: Path) -> Iterator[str]:
    with file.open("rb") as lines:
        for number in range(1, _MAX_LINES + 1):
            line = lines.readline(_MAX_LINE)
            if not line:
                return
            if len(line) == _MAX_LINE:
                raise ValueError(f"{file}, line {number}: longer than {_MAX_LINE:,} bytes")
            yield line.decode("utf-8", "replace").rstrip("\r\n")
    raise ValueError(f"{file}: more than {_MAX_LINES:,} lines")


def _objects(file: Path) -> Iterator[Mapping[str, object]]:
    for number, line in enumerate(_lines(file), 1):
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as exc:
            raise ValueError(f"{file}, line {number}: no JSON") from exc
        if not isinstance(found, dict) or not {"_id", "text"} <= found.keys():
            raise ValueError(f"{file}, line {number}: no object with _id and text")
        yield found
