"""Pages to fill a corpus with: those of the labelled set, and any number of made-up ones.

The words of a made-up page are drawn as often as they stand in the pages that lie in this folder, and rarer
ones, which follow Zipf's law on, are invented. Their order means nothing: such a text compresses less than one
that somebody wrote, and repeats its words less.
"""

import hashlib
import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from searx_mcp.content.chunks import chunk_id, pieces
from searx_mcp.content.document import Document
from searx_mcp.content.outline import headings
from searx_mcp.content.words import count
from searx_mcp.evidence.storage.store import StoredChunk, StoredPage
from searx_mcp.render.tokens import estimate

_HERE: Final = Path(__file__).parent
_SET: Final = _HERE / "retrieval_set"
_WORD: Final = re.compile(r"[^\W\d_]+")
_WORDS: Final = 60_000
"""Different words that a corpus of this size has, by Heaps' law about as many as these texts lead to expect."""
_SENTENCE: Final = 14
_PARAGRAPH: Final = 5
_SECTIONS: Final = 12
_PARAGRAPHS: Final = 3
NOW: Final = 1_700_000_000.0


def labelled_pages() -> Iterator[tuple[StoredPage, list[StoredChunk]]]:
    """The pages of the labelled set, if it is there."""
    for path in sorted(_SET.glob("pages/*.md")):
        yield in_chunks(f"https://labelled.example/{path.name}", path.read_text(encoding="utf-8"))


def labelled_questions() -> list[tuple[str, str]]:
    """The questions of the labelled set, each with the address of the page that answers, if it is there."""
    path = _SET / "questions.jsonl"
    if not path.exists():
        return []
    entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [(each["question"], f"https://labelled.example/{each['page']}") for each in entries]


class Writer:
    """Writes pages that nobody wrote."""

    def __init__(self, dice: random.Random) -> None:
        """Learn the words of the pages in this folder."""
        known: Counter[str] = Counter()
        for path in sorted((*_HERE.glob("*_data/**/*.m*d*"), *_SET.glob("pages/*.md"))):
            known.update(_WORD.findall(path.read_text(encoding="utf-8")))
        ranked = known.most_common()
        # From the middle on, where words are rare, as often as Zipf's law has it.
        rank, times = len(ranked) // 2, ranked[len(ranked) // 2][1]
        rare = [(_invented(dice), times * rank / each) for each in range(len(ranked), _WORDS)]
        self._dice = dice
        self._words = [word for word, _ in (*ranked, *rare)]
        self._weights = list(itertools.accumulate(times for _, times in (*ranked, *rare)))

    def page(self, number: int) -> tuple[StoredPage, list[StoredChunk]]:
        """Write a page of some twenty chunks."""
        lines = [f"# {self._title()}"]
        for _ in range(_SECTIONS):
            lines.append(f"## {self._title()}")
            lines += (self._paragraph() for _ in range(_PARAGRAPHS))
        return in_chunks(f"https://{number % 97}.example/page/{number}", "\n\n".join(lines))

    def question(self) -> str:
        """Ask with some words, of which half are no common ones."""
        return f"what is the {' '.join((*self._some(4), *self._dice.sample(self._words, 3)))}?"

    def _title(self) -> str:
        return " ".join(self._some(5)).capitalize()

    def _paragraph(self) -> str:
        sentences = (" ".join(self._some(_SENTENCE)).capitalize() for _ in range(_PARAGRAPH))
        return ". ".join(sentences) + "."

    def _some(self, number: int) -> list[str]:
        return self._dice.choices(self._words, cum_weights=self._weights, k=number)


def in_chunks(url: str, markdown: str) -> tuple[StoredPage, list[StoredChunk]]:
    """A page as the corpus keeps it."""
    outline = headings(markdown)
    title = outline[0].title if outline else ""
    document = Document(
        title=title, markdown=markdown, word_count=count(markdown), outline=outline, language="en"
    )
    page = StoredPage(
        url=url,
        final_url=url,
        title=title,
        etag='"0123456789abcdef"',
        last_modified="Mon, 01 Jan 2024 00:00:00 GMT",
        content_hash=hashlib.sha256(markdown.encode()).hexdigest(),
        language="en",
        extractor="1",
        tier="native",
        fetched_at=NOW,
        fresh_until=NOW,
        document=document,
    )
    chunks = []
    for piece in pieces(markdown, outline, title=title):
        text = markdown[piece.start : piece.end]
        start = len(markdown[: piece.start].encode())
        name = chunk_id(url, piece.path, text)
        end = start + len(text.encode())
        chunks.append(StoredChunk(name, text, piece.path, start, end, estimate(text)))
    return page, chunks


def _invented(dice: random.Random) -> str:
    pairs = (
        dice.choice("bcdfghklmnprstvz") + dice.choice("aeiou")
        for _ in range(dice.choice((2, 3, 3, 4, 5)))
    )
    return "".join(pairs)
