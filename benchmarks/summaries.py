"""How much of what readers ask stands in a summary, beside the first sentences of the page.

    python -m benchmarks.summaries [--json] [--quick]

The questions under `benchmarks/summaries_data` were written before any summary was made. A summary
covers a question if it holds the words that answer it. Who chooses constants by these figures looks at
every other text only; the rest is held out. Exits with 1 if a summary covers less than the beginning of the page
does, or if making one takes too long.
"""

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from benchmarks.measure import Ratio, Table, command_line, interleaved, report
from searx_mcp.content.sentences import read
from searx_mcp.content.summary import digest, summarize

DATA: Final = Path(__file__).parent / "summaries_data"
MAX_CHARS: Final = 500
_PAGE: Final = 10_000
"""Characters of the page that is timed."""
_LONGEST: Final = 8.0
"""Times that summary and key points of it may take what `re.findall(r"\\w+")` does, which tells how fast
the machine is at the moment: 6.3 times when it was measured, 2.4 ms beside 0.38 ms on a busy core."""


@dataclass(frozen=True, slots=True)
class Text:
    """One text with what is asked of it.

    Attributes:
        name: its file.
        markdown: the text.
        asked: pairs of a question and the words that answer it.
        main: words of which a summary without a question needs one.
        is_held_out: whether nothing is to be chosen by it.
    """

    name: str
    markdown: str
    asked: tuple[tuple[str, str], ...]
    main: tuple[str, ...]
    is_held_out: bool

    @property
    def title(self) -> str:
        """The first heading."""
        return self.markdown.partition("\n")[0].lstrip("# ")


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of the questions a way of summarising covers.

    Attributes:
        way: its name.
        covered: questions covered.
        asked: questions in all.
        held_out: the share covered of those that nothing is chosen by.
        later: the share covered of those whose answer is not at the beginning.
        chars: mean length of its summaries.
    """

    way: str
    covered: int
    asked: int
    held_out: float
    later: float
    chars: float

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.covered / self.asked


def texts() -> tuple[Text, ...]:
    """The texts, in the order of the file of questions."""
    listed = tomllib.loads((DATA / "questions.toml").read_text(encoding="utf-8"))["text"]
    return tuple(
        Text(
            name=entry["file"],
            markdown=(DATA / entry["file"]).read_text(encoding="utf-8"),
            asked=tuple((each["query"], each["find"]) for each in entry["ask"]),
            main=tuple(entry["main"]),
            is_held_out=bool(number % 2),
        )
        for number, entry in enumerate(listed)
    )


def lead(text: str, *, sentences: int | None) -> str:
    """The first sentences of a page that fit, at most so many; the same sentences as summaries take."""
    chosen: list[str] = []
    left = MAX_CHARS
    prose = (each.text for each in read(text, most=400).sentences if not each.is_row)
    for sentence in islice(prose, sentences):
        if len(sentence) > left:
            break
        chosen.append(sentence)
        left -= len(sentence) + 1
    return " ".join(chosen)


def about_query(read_texts: Sequence[Text]) -> tuple[Coverage, ...]:
    """The ways of summarising a page for a question."""
    ways: dict[str, Callable[[Text, str], str]] = {
        "summary for the question": lambda text, query: summarize(
            text.markdown, query=query, title=text.title, max_chars=MAX_CHARS
        ),
        "key points for the question": lambda text, query: "\n".join(
            digest(text.markdown, query=query, title=text.title, max_chars=MAX_CHARS).key_points
        ),
        "first three sentences": lambda text, _: lead(text.markdown, sentences=3),
        "first sentences that fit": lambda text, _: lead(text.markdown, sentences=None),
    }
    cases = [(text, query, (find,)) for text in read_texts for query, find in text.asked]
    return tuple(_coverage(name, way, cases) for name, way in ways.items())


def about_nothing(read_texts: Sequence[Text]) -> tuple[Coverage, ...]:
    """The ways of summarising a page where nothing was asked."""
    ways: dict[str, Callable[[Text, str], str]] = {
        "summary": lambda text, _: summarize(text.markdown, title=text.title, max_chars=MAX_CHARS),
        "key points": lambda text, _: "\n".join(
            digest(text.markdown, title=text.title, max_chars=MAX_CHARS).key_points
        ),
        "first three sentences": lambda text, _: lead(text.markdown, sentences=3),
    }
    cases = [(text, "", text.main) for text in read_texts]
    return tuple(_coverage(name, way, cases) for name, way in ways.items())


def _coverage(
    name: str, way: Callable[[Text, str], str], cases: Sequence[tuple[Text, str, tuple[str, ...]]]
) -> Coverage:
    made = [(text, find, way(text, query)) for text, query, find in cases]
    hits = [any(words in summary for words in find) for _, find, summary in made]
    held_out = [hit for hit, (text, _, _) in zip(hits, made, strict=True) if text.is_held_out]
    later = [
        hit
        for hit, (text, find, _) in zip(hits, made, strict=True)
        if not any(words in lead(text.markdown, sentences=3) for words in find)
    ]
    return Coverage(
        way=name,
        covered=sum(hits),
        asked=len(hits),
        held_out=sum(held_out) / max(1, len(held_out)),
        later=sum(later) / max(1, len(later)),
        chars=sum(len(summary) for _, _, summary in made) / len(made),
    )


def main() -> None:
    """Measure and report."""
    options = command_line(
        "How much of what readers ask stands in a summary, beside the first sentences."
    )
    read_texts = texts()
    asked, unasked = about_query(read_texts), about_nothing(read_texts)
    columns = ("way", "covered", "of", "share", "held out", "answer not in lead", "characters")
    tables = [
        Table(title, columns, tuple(map(_row, rows)))
        for title, rows in (("With a question", asked), ("Without one", unasked))
    ]
    by_way = {each.way: each.share for each in asked}
    lead_share = max(by_way["first three sentences"], by_way["first sentences that fit"])
    main_share = unasked[-1].share
    ratios = [
        Ratio("summary / lead, with a question", asked[0].share, lead_share, at_least=True),
        Ratio("key points / lead, with a question", asked[1].share, lead_share, at_least=True),
        Ratio("summary / lead, without", unasked[0].share, main_share, at_least=True),
    ]
    if not options.quick:
        ratios.append(_time(read_texts))
    report(ratios, as_json=options.json, tables=tables)


def _row(coverage: Coverage) -> tuple[str | float, ...]:
    return (
        coverage.way,
        coverage.covered,
        coverage.asked,
        coverage.share,
        coverage.held_out,
        coverage.later,
        coverage.chars,
    )


def _time(read_texts: Sequence[Text]) -> Ratio:
    english = [text for text in read_texts if text.name.startswith("en-")]
    page = "\n\n".join(text.markdown for text in english)[:_PAGE]
    query, title = english[0].asked[0][0], english[0].title
    took = interleaved(
        {
            "digest": lambda: digest(page, query=query, title=title, max_chars=MAX_CHARS),
            "words": lambda: re.findall(r"\w+", page.lower()),
        },
        rounds=25,
        calls=5,
    )
    name = f"digest of 10 kB ({took['digest'] * 1_000:.2f} ms) / its words"
    return Ratio(name, took["digest"] / took["words"], _LONGEST, at_least=False)


if __name__ == "__main__":
    main()
