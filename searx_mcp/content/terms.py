"""What texts are compared by: words without their endings, and pairs of letters where no spaces stand.

`words` counts what a reader would call a word; terms are for matching. A question finds "prices" by
"price", "Wärmepumpe" by "warmepumpe", and in Han, kana, Thai, Lao, Khmer and Burmese, which are
written without spaces, what it asks for by two or three letters in a row.
"""

import re
import unicodedata
from typing import Final

from searx_mcp.content.function_words import FUNCTION_WORDS

_HAN: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SOUTH_EAST: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Thai, Lao, Burmese, Khmer."""
_MARKS: Final = "\u0300-\u036f\u0591-\u05bd\u0900-\u0963\u0966-\u0dff\u200c\u200d"
"""Vowel signs, which are no letters to `\\w`, by the blocks of their scripts."""

_LETTER: Final = rf"[^\W_{_HAN}{_SOUTH_EAST}]"
_WORD: Final = rf"\d++(?:[.,]\d++)*+(?!{_LETTER})|{_LETTER}(?:{_LETTER}|[{_MARKS}])*"
_SPACELESS = re.compile(f"[{_HAN}{_SOUTH_EAST}]")
_TOKEN = re.compile(rf"([{_HAN}]+)|([{_SOUTH_EAST}]+)|({_WORD})")
_PLAIN_TOKEN = re.compile(
    rf"\d++(?:[.,]\d++)*+(?![^\W_])|[^\W_][^\W_{_MARKS}]*(?:[{_MARKS}]+[^\W_]*)*"
)
_ASCII_TOKEN = re.compile(r"\d++(?:[.,]\d++)*+(?![a-z])|[a-z0-9]+")
_LINK_TARGET = re.compile(r"(?<=\])\([^()\s]*\)")
_ARABIC_LETTERS = re.compile("\u0627\u0644|\u0644\u0644")
_ARABIC_ARTICLE = re.compile(
    r"(?<!\w)(?:[\u0648\u0628\u0641\u0643]?\u0627\u0644|\u0644\u0644)(?=\w\w)"
)
"""The article is written onto its noun, and so are "and", "with", "then" and "like" before it."""

_PREFIX: Final = 6
"""Letters of a word that count: cutting words off is the stemming that needs no language. Chosen before
anything was measured; run `python -m benchmarks.summaries` after a change."""

_SHORTEST_PLURAL: Final = 4
_PAIR: Final = 2
_TRIPLE: Final = 3


def _folded_letters() -> dict[str, str]:
    letters = {
        chr(number): unicodedata.normalize("NFD", chr(number))[0]
        for number in (*range(0xE0, 0x250), *range(0x1E00, 0x1F00))
        if unicodedata.decomposition(chr(number))
    }
    pairs = ("øo", "đd", "łl", "\u0131i", "ёе", "أا", "إا", "آا", "ىي", "ةه", "یي", "کك")
    letters |= {pair[0]: pair[1] for pair in pairs} | {"ß": "ss", "æ": "ae", "œ": "oe"}
    marks = (*range(0x300, 0x370), 0x640, *range(0x64B, 0x653))
    return letters | dict.fromkeys(map(chr, marks), "")


_FOLDED: Final = _folded_letters()
"""Latin letters without their accents, Arabic without its vowel signs, and letters that are written in two
ways."""
_FOLDABLE = re.compile(f"[{''.join(_FOLDED)}]")


def tokens(text: str) -> list[str]:
    """The pieces of a text that can be compared, in order.

    Args:
        text: plain text or Markdown; the addresses of links are left out.

    Returns:
        Words in lower case without accents; pairs of Han and kana; triples of South-East Asian
        letters.
    """
    if "](" in text:
        text = _LINK_TARGET.sub("", text)
    text = folded(text)
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    if _ARABIC_LETTERS.search(text):
        text = _ARABIC_ARTICLE.sub("", text)
    if not _SPACELESS.search(text):
        return _PLAIN_TOKEN.findall(text)
    found: list[str] = []
    for token in _TOKEN.finditer(text):
        match token.lastindex:
            case 1:
                found += _grams(token[0], _PAIR)
            case 2:
                found += _grams(token[0], _TRIPLE)
            case _:
                found.append(token[0])
    return found


def folded(text: str) -> str:
    """A text in lower case, without accents."""
    text = text.lower()
    return text if text.isascii() else _FOLDABLE.sub(_fold, text)


def stems(found: list[str]) -> list[str]:
    """What tells texts apart among their tokens: no function words, and no endings."""
    return [
        token[:_PREFIX]
        if len(token) > _PREFIX
        else token[:-1]
        if len(token) >= _SHORTEST_PLURAL and token[-1] == "s" and token[-2] != "s"
        else token
        for token in found
        if token not in FUNCTION_WORDS
    ]


def terms(text: str) -> list[str]:
    """The terms of a text, in order; all of them if it has nothing but function words."""
    found = tokens(text)
    return stems(found) or found


def _fold(letter: re.Match[str]) -> str:
    return _FOLDED[letter[0]]


def _grams(run: str, size: int) -> list[str]:
    if len(run) <= size:
        return [run]
    grams = [run[at : at + size] for at in range(len(run) - size + 1)]
    # Pairs of hiragana alone are endings and particles; Han begin behind kana.
    kept = [gram for gram in grams if not ("\u3040" <= gram[0] < "\u30a0" > gram[1])]
    return kept or grams
