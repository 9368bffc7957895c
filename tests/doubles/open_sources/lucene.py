"""The query language of Lucene as far as engines use it: fields, phrases, ranges, AND, OR."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.matching import Score, words

Fields = Mapping[str, str]
"""The text of a document by the name of the field in lower case; "" is the text that is searched by default."""

_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<range>[\[{]\s*(?P<low>"[^"]*"|\S+?)\s+TO\s+(?P<high>"[^"]*"|\S+?)\s*[\]}])
    | (?P<open>\() | (?P<close>\))
    | (?P<operator>(?:AND|OR)(?=[\s(]|$))
    | (?P<phrase>"(?P<quoted>(?:\\.|[^"\\])*)")
    | (?P<field>[A-Za-z][A-Za-z0-9_.-]*):(?=\S)
    | (?P<word>(?:\\.|[^\s()"\[\]{}\\])+)
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)")
_NO_DIGIT = re.compile(r"\D")
_RANGE_DIGITS: Final = 14
"""Of a date down to the second."""


class QuerySyntaxError(ValueError):
    """A query that Lucene's parser refuses: parentheses or quotes without their partner."""


_Matcher = Callable[[Fields], float]


@dataclass(slots=True)
class _Clause:
    matches: _Matcher
    is_required: bool


def scored_by(query: str, fields_of: Callable[[Document], Fields]) -> Score:
    """Read a query once and return how well it fits a document.

    Words next to each other are alternatives; every one that is there adds to the score.

    Args:
        query: in the syntax of Lucene's classic parser.
        fields_of: the fields of a document. A field that is not there matches nothing.

    Raises:
        QuerySyntaxError: the query is malformed.
    """
    matches = _Parser(query).parse()
    return lambda document: matches(fields_of(document))


class _Parser:
    def __init__(self, query: str) -> None:
        self._tokens = self._tokenise(query)
        self._at = 0

    def parse(self) -> _Matcher:
        matches = self._group("")
        if self._at < len(self._tokens):
            raise QuerySyntaxError("a parenthesis is closed that was never opened")
        return matches

    @staticmethod
    def _tokenise(query: str) -> list[re.Match[str]]:
        tokens: list[re.Match[str]] = []
        at = 0
        while at < len(query):
            token = _TOKEN.match(query, at)
            if token is None:
                raise QuerySyntaxError(f"unexpected {query[at]!r} at {at}")
            if token.lastgroup != "space":
                tokens.append(token)
            at = token.end()
        return tokens

    def _group(self, field: str) -> _Matcher:
        """Read clauses up to the end or a closing parenthesis, as the classic parser does.

        AND makes the clauses on both of its sides required; what neither side of an AND touches
        stays optional.
        """
        clauses: list[_Clause] = []
        is_required = False
        while (token := self._peek()) is not None and not token["close"]:
            if token["operator"]:
                self._at += 1
                is_required = token[0] == "AND"
                if is_required and clauses:
                    clauses[-1].is_required = True
            else:
                clauses.append(_Clause(self._clause(field), is_required))
                is_required = False
        return _combined(clauses)

    def _clause(self, field: str) -> _Matcher:
        token = self._next()
        if token["field"]:
            field, token = token["field"].lower(), self._next()
        if token["open"]:
            matches = self._group(field)
            if not (self._peek() and self._next()["close"]):
                raise QuerySyntaxError("a parenthesis is not closed")
            return matches
        if token["range"]:
            return _in_range(field, token["low"], token["high"])
        if token["phrase"]:
            return _phrase(field, _ESCAPE.sub(r"\1", token["quoted"]))
        if token["word"]:
            return _phrase(field, _ESCAPE.sub(r"\1", token["word"]))
        raise QuerySyntaxError(f"unexpected {token[0]!r}")

    def _peek(self) -> re.Match[str] | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> re.Match[str]:
        token = self._peek()
        if token is None:
            raise QuerySyntaxError("the query ends too early")
        self._at += 1
        return token


def _combined(clauses: list[_Clause]) -> _Matcher:
    def matches(fields: Fields) -> float:
        scores = [clause.matches(fields) for clause in clauses]
        is_lacking = any(
            clause.is_required and not score for clause, score in zip(clauses, scores, strict=True)
        )
        return 0.0 if is_lacking else sum(scores)

    return matches


def _phrase(field: str, text: str) -> _Matcher:
    """Words in a row. One word of the query may be several to the analyser, as in `base-editing`."""
    wanted = words(text)

    def matches(fields: Fields) -> float:
        present = words(fields.get(field, ""))
        size = len(wanted)
        if not wanted or not any(
            present[at : at + size] == wanted for at in range(len(present) - size + 1)
        ):
            return 0.0
        in_title = bool(set(wanted) <= set(words(fields.get("title", ""))))
        return size + 0.25 * in_title

    return matches


def _in_range(field: str, low: str, high: str) -> _Matcher:
    """Dates compare by their digits, whatever stands between them; `*` is an open end."""
    lowest = "" if low == "*" else _digits(low).ljust(_RANGE_DIGITS, "0")
    highest = "9" * _RANGE_DIGITS if high == "*" else _digits(high).ljust(_RANGE_DIGITS, "9")

    def matches(fields: Fields) -> float:
        digits = _digits(fields.get(field, ""))
        # A range only lets through; which of those is better is for the words to say.
        return 0.001 if digits and lowest <= digits.ljust(_RANGE_DIGITS, "0") <= highest else 0.0

    return matches


def _digits(text: str) -> str:
    return _NO_DIGIT.sub("", text)[:_RANGE_DIGITS]
