"""Words for services that read a query with Lucene's parser, so that nothing in them is syntax."""

import re
from collections.abc import Iterable
from typing import Final

_OPERATORS: Final = frozenset({"AND", "OR", "NOT", "TO"})
_NOT_ESCAPABLE = re.compile(r'[<>="\s]+')
"""Signs of ranges, which a backslash does not make plain (Elasticsearch, query string syntax), and quotes."""
_SPECIAL = re.compile(r"[+\-&|!(){}\[\]^~*?:\\/]")
"""The other signs of the classic query parser of Lucene."""


def terms(keywords: Iterable[str]) -> list[str]:
    """Each keyword as the parser takes it for text: escaped, or quoted if it is a phrase.

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
