"""Escapes words for services with Lucene's query parser, so that none of them is syntax."""

import re
from collections.abc import Iterable
from typing import Final

_OPERATORS: Final = frozenset({"AND", "OR", "NOT", "TO"})
_NOT_ESCAPABLE = re.compile(r'[<>="\s]+')
"""Range operators, which a backslash does not escape (Elasticsearch, query string syntax), and quotes."""
_SPECIAL = re.compile(r"[+\-&|!(){}\[\]^~*?:\\/]")
"""The other operators of Lucene's classic query parser."""


def terms(keywords: Iterable[str]) -> list[str]:
    """Return each keyword as literal text: escaped, or quoted if it is a phrase.

    Args:
        keywords: words, and phrases without quotes; one without letters and digits is left out.
    """
    return [term for term in map(_term, keywords) if term]


def _term(keyword: str) -> str:
    text = _NOT_ESCAPABLE.sub(" ", keyword).strip()
    if not any(map(str.isalnum, text)):
        return ""
    if " " in text or text in _OPERATORS:
        doubled = text.replace("\\", "\\\\")
        return f'"{doubled}"'
    return _SPECIAL.sub(_escaped, text)


def _escaped(sign: re.Match[str]) -> str:
    return f"\\{sign[0]}"
