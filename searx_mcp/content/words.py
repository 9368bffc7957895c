"""Words of any script."""

import re

_SPACELESS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Kana and Han, written without spaces: one character counts as a word."""

_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0900-\u0963\u0966-\u0e7f\u1000-\u109f\u1780-\u17d3"
    "\u200c\u200d"
)
"""Vowel signs and accents, which are no letters to `\\w`, by the blocks of their scripts."""

_WORD = re.compile(
    rf"[{_SPACELESS}]"
    rf"|[^\W_{_SPACELESS}](?:[^\W_{_SPACELESS}]|[{_MARKS}]|['\u2019_-](?=[^\W_{_SPACELESS}]))*+"
)
_LINK_TARGET = re.compile(r"(?<=\])\([^()\s]*\)")


def words(text: str) -> list[str]:
    """The words of a text, in lower case, in order.

    Args:
        text: plain text or Markdown; the addresses of links are no words.

    Returns:
        Words; a Han character or kana is one of its own.
    """
    return _WORD.findall(_LINK_TARGET.sub("", text).lower())
