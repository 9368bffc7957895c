"""Questions of developers asked of `answer`: whether the passage is shown, whether it is first, what it costs, and refusals.

The questions are data (`evidence_data/questions.toml`), their pages a folder that is served on loopback; `benchmarks.evidence`
says what they come to.
"""

import json
import mimetypes
import re
import sqlite3
import statistics
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Final

from benchmarks.measure import Ratio, Table
from searx_mcp.client.facade import SearxClient
from searx_mcp.evidence.answer.citations import normalised
from searx_mcp.evidence.render.evidence import evidence_text
from searx_mcp.render.tokens import estimate
from searx_mcp.settings.values import Settings
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb

QUESTIONS: Final = Path(__file__).with_name("evidence_data") / "questions.toml"
REPOSITORY: Final = Path(__file__).with_name("retrieval_set")
SHOWN: Final = 0.97
FEW_SHOWN: Final = 0.9
FIRST: Final = 0.75
BOTH: Final = 1.0
REFUSED: Final = 0.9
FEW_REFUSED: Final = 0.8
UNNAMED: Final = 0.93
TOKENS: Final = 1_600
"""Goals: shares of the questions, and tokens of the median answer. Those of few are floors of a short run, in which two of
eleven questions are missed: each is about the page of another that has most of its words."""
_BOUNDARY: Final = "0123456789abcdef"
_RESULTS: Final = 10
_QUICK: Final = 12
_PLAIN: Final = "direct"
"""Questions of the set in words of their page; developers seldom use others."""
_TITLE = re.compile(r"<title[^>]*>([^<]*)</title>", re.IGNORECASE)
_TAG = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.DOTALL | re.IGNORECASE)
_MARKDOWN: Final = "text/markdown; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and what answers it.

    Attributes:
        kind: `named`, `two`, `link` or `none`, as in the data.
        pages: paths in the folder, of the pages that are named.
        ask: the question.
        words: of each passage that answers, those of another one that says the same behind `||`; of `none`, what
            its page does not have.
        about: the product, which a question says where no page is named.
    """

    kind: str
    pages: tuple[str, ...]
    ask: str
    words: tuple[str, ...]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of a question.

    Attributes:
        question: that was asked.
        shown: whether each passage was shown.
        is_first: whether the first passage answers.
        is_refused: whether it was said that no page answers.
        tokens: of the text as a model gets it.
        text: that text.
    """

    question: Question
    shown: tuple[bool, ...]
    is_first: bool
    is_refused: bool
    tokens: int
    text: str


def questions(path: Path = QUESTIONS) -> tuple[Question, ...]:
    """Read the questions."""
    data = tomllib.loads(path.read_text("utf-8"))
    return tuple(
        Question(
            *(row["kind"], tuple(row["pages"]), row["ask"], tuple(row["words"])),
            about=data["products"].get(row["pages"][0].partition("/")[0], ""),
        )
        for row in data["question"]
    )


def quick_questions() -> tuple[Question, ...]:
    """Questions about pages of this repository: one of each page in English, and each of the page before it."""
    rows = (REPOSITORY / "questions.jsonl").read_text("utf-8").splitlines()
    asked: dict[str, dict[str, str]] = {}
    for row in map(json.loads, rows):
        if row["kind"] == _PLAIN and row["page"].count(".") == 1:
            asked.setdefault(row["page"], row)
    found: list[Question] = []
    for page, row in [*asked.items()][:_QUICK]:
        path = (f"pages/{page}",)
        if found:
            found.append(Question("none", found[-1].pages, row["question"], (row["answer"],)))
        found.append(Question("named", path, row["question"], (row["answer"],)))
    return tuple(found)


async def ask_all(asked: Iterable[Question], folder: Path, *, is_named: bool = True) -> list[Asked]:
    """Ask each question of a client of its own, so that nothing is kept from another.

    Args:
        asked: the questions.
        folder: with their pages.
        is_named: whether the addresses of the pages are given; otherwise a search finds pages, by their words.
    """
    asked = tuple(asked)
    paths = sorted({path for each in asked for path in each.pages})
    runs = []
    async with FakeWeb(otherwise=_served(folder)) as web:
        found = _finder(folder, paths) if not is_named else None
        for question in asked:
            urls = [web.url(f"/{path}") for path in question.pages]
            asking = question.ask if is_named else f"{question.about}: {question.ask}"
            rows = [
                FakeResult(url=web.url(f"/{path}"), title=title, description=snippet)
                for path, title, snippet in (found(asking) if found else ())
            ]
            async with FakeSearxng(results=rows, formats=("html", "json")) as instance:
                settings = Settings.model_validate(
                    {
                        "fetch": {
                            "allow_private": [web.origin, instance.origin],
                            "host_rate": 6_000,
                        },
                        "instances": {"own": [instance.base]},
                        "open_sources": {"mode": "off"},
                    }
                )
                budget = settings.server.response_token_budget
                async with SearxClient(settings) as client:
                    if is_named:
                        response = await client.answer(asking, url=urls, timeout=60)
                    else:
                        response = await client.answer(asking, timeout=60)
            text = evidence_text(response, budget=budget, boundary=_BOUNDARY)
            runs.append(_judged(question, text, is_refused=not response.answered))
    return runs


def figures(
    named: Sequence[Asked], unnamed: Sequence[Asked] = (), *, is_quick: bool = False
) -> tuple[list[Ratio], tuple[Table, ...]]:
    """Give what answers came to, beside the goals.

    Args:
        named: with the addresses of their pages.
        unnamed: without.
        is_quick: whether the questions are few, of which one more or less is a tenth.
    """
    kinds = {
        kind: [each for each in named if each.question.kind == kind]
        for kind in ("named", "two", "link", "none")
    }
    one, none = kinds["named"], kinds["none"]
    targets = [
        Ratio("named page: passage shown", _share(all(each.shown) for each in one), FEW_SHOWN if is_quick else SHOWN, at_least=True),
        Ratio("named page: tokens of the median", _median(one), TOKENS, at_least=False),
        Ratio("unanswerable: refused", _share(each.is_refused for each in none), FEW_REFUSED if is_quick else REFUSED, at_least=True),
    ]  # fmt: skip
    if not is_quick:
        first = _share(each.is_first for each in one)
        targets.append(Ratio("named page: passage first", first, FIRST, at_least=True))
    if two := kinds["two"]:
        shown = _share(all(each.shown) for each in two)
        targets.append(Ratio("two named pages: both shown", shown, BOTH, at_least=True))
    if unnamed:
        shown = _share(all(each.shown) for each in unnamed)
        targets.append(Ratio("without an address: shown", shown, UNNAMED, at_least=True))
    rows = [
        (
            kind,
            len(runs),
            round(_share(all(each.shown) for each in runs), 3),
            round(_share(each.is_first for each in runs), 3),
            round(_share(each.is_refused for each in runs), 3),
            _median(runs),
        )
        for kind, runs in (*kinds.items(), ("named, without an address", list(unnamed)))
        if runs
    ]
    missed = [
        f"{each.question.kind}: {each.question.ask} ({each.tokens} tokens)"
        for each in (*named, *unnamed)
        if (each.is_refused != (each.question.kind == "none"))
        or (each.question.kind != "none" and not all(each.shown))
    ]
    columns = ("kind", "questions", "shown", "first", "refused", "tokens (median)")
    return targets, (Table("Questions of developers", columns, tuple(rows), tuple(missed)),)


def _judged(question: Question, text: str, *, is_refused: bool) -> Asked:
    evidence = text.partition("[EVIDENCE]")[2].partition("\n[STATS]")[0]
    plain = normalised(evidence)
    first = normalised("\n".join(_first_passage(evidence)))
    wanted = [[*map(normalised, words.split("||"))] for words in question.words]
    return Asked(
        question,
        tuple(any(words in plain for words in either) for either in wanted),
        any(words in first for either in wanted for words in either),
        is_refused,
        estimate(text),
        text,
    )


def _first_passage(evidence: str) -> Iterator[str]:
    heads = 0
    for line in evidence.split("\n"):
        heads += line.startswith("Source [")
        if heads == 1:
            yield line


def _served(folder: Path) -> Callable[..., FakePage]:
    root = folder.resolve()

    def page(request: object) -> FakePage:
        path = (root / str(getattr(request, "path", "")).lstrip("/")).resolve()
        if root not in path.parents or not path.is_file():
            return FakePage("", status=404)
        kind = mimetypes.guess_type(path.name)[0] or ""
        known = _MARKDOWN if path.suffix == ".md" else kind
        return FakePage(path.read_bytes(), content_type=known)

    return page


def _finder(folder: Path, paths: Sequence[str]) -> Callable[[str], list[tuple[str, str, str]]]:
    """A search engine over some pages: their words, by SQLite's BM25; gives paths, titles and snippets."""
    index = sqlite3.connect(":memory:")
    index.execute(
        "CREATE VIRTUAL TABLE page USING fts5(path UNINDEXED, title, text, tokenize='porter')"
    )
    for path in paths:
        body = (folder / path).read_text("utf-8", "replace")
        titles = _TITLE.findall(body)
        title = unescape(titles[0]) if titles else path
        text = unescape(_TAG.sub(" ", body))
        index.execute("INSERT INTO page VALUES (?, ?, ?)", (path, " ".join(title.split()), text))

    def found(question: str) -> list[tuple[str, str, str]]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        sql = (
            "SELECT path, title, snippet(page, 2, '', '', '…', 30) FROM page WHERE page MATCH ?"
            " ORDER BY bm25(page, 0, 5, 1) LIMIT ?"
        )
        return [*index.execute(sql, (words, _RESULTS))]

    return found


def _share(values: Iterable[bool]) -> float:
    known = [*values]
    return sum(known) / len(known) if known else 0.0


def _median(runs: Sequence[Asked]) -> float:
    return statistics.median(each.tokens for each in runs) if runs else 0.0
