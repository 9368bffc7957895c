"""How services compare a question with what they have: by all of its words, by any, or by the first ones."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from tests.doubles.open_sources.documents import Document

Score = Callable[[Document], float]
"""How well a document answers; 0 leaves it out."""

_CJK: Final = "\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_HIRAGANA: Final = "\u3040-\u309f"
_WORD = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}{_HIRAGANA}]+")
_IS_CJK = re.compile(f"[{_CJK}]")
_SHORTEST_PLURAL: Final = 4
_FIRST: Final = 0.2
"""What a title gains that begins as the question does; a share is below a half."""


def words(text: str) -> list[str]:
    """The words of a text as an index has them, in order.

    Returns:
        Lower case without accents and without a plural s; Han and katakana as pairs of letters.
    """
    plain = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    # Marks of kana are separate letters now; NFC puts them back.
    found: list[str] = []
    for run in _WORD.findall(unicodedata.normalize("NFC", plain)):
        if _IS_CJK.match(run):
            found += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
        else:
            found.append(_singular(run))
    return found


def by_all(asked: Collection[str]) -> Score:
    """Documents that have all words, those first that have more of them in the title."""

    def score(document: Document) -> float:
        if not asked or not set(asked) <= set(words(document.searched)):
            return 0.0
        return 1.0 + _in_title(asked, document)

    return score


def by_any(asked: Collection[str]) -> Score:
    """Documents that have one of the words or more, those with most of them first."""

    def score(document: Document) -> float:
        share = len(set(asked) & set(words(document.searched)))
        return share + _in_title(asked, document) if share else 0.0

    return score


def by_leading(asked: Sequence[str]) -> Score:
    """Documents by how many words of the question they have before the first one they lack."""

    def score(document: Document) -> float:
        present = set(words(document.searched))
        count = next((at for at, word in enumerate(asked) if word not in present), len(asked))
        return count + _in_title(asked, document) if count else 0.0

    return score


def ranked(documents: Iterable[Document], score: Score) -> list[Document]:
    """The documents that are found at all, best first; of equals the one with more points."""
    scored = [(score(document), document) for document in documents]
    kept = [pair for pair in scored if pair[0] > 0]
    kept.sort(key=lambda pair: (-pair[0], -pair[1].points, pair[1].id))
    return [document for _, document in kept]


def _in_title(asked: Collection[str], document: Document) -> float:
    """Below 1, so that it only orders documents of equal count."""
    title = words(document.title)
    share = len(set(title) & set(asked)) / (len(set(asked)) + len(title) + 1)
    return share + _FIRST * (title[:1] == list(asked)[:1])


def _singular(word: str) -> str:
    is_plural = len(word) >= _SHORTEST_PLURAL and word[-1] == "s" and word[-2] != "s"
    return word[:-1] if is_plural else word
