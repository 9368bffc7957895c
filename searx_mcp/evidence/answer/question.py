"""Analyses a question: its kind, and the questions in it. By rules, so it is deterministic."""

# ruff: noqa: RUF001 - words of languages in other scripts are intended

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile
from typing import Final

from searx_mcp.content.words import FUNCTION_WORDS, folded, terms
from searx_mcp.evidence.requests import Intent

MOST_PARTS: Final = 5
"""Maximum questions in one; the rest stays with the last."""

_MARKS: Final = "?\uff1f\u061f"
_ASKING: Final = r"(?:how|what|when|where|which|who|whom|whose|why|is|are|does|do|did|can|could|should|will|was|were)\b"
_BETWEEN = re.compile(
    rf"(?<=[{_MARKS}])\s*|;\s+|,?\s+and\s+(?={_ASKING})|,\s+(?!(?:which|whom|whose)\b)(?={_ASKING})",
    re.IGNORECASE,
)
"""Where one question ends and another begins: after a punctuation mark, or before a question word, after "and" or a
comma that starts no relative clause."""
_PREPOSITIONS: Final = "of|in|for|from|with|on|by|at"
_ASKS = re.compile(rf"(?:(?:{_PREPOSITIONS}|to|under)\s+)?{_ASKING}", re.IGNORECASE)
_AND_IN = re.compile(
    rf",?\s+and\s+(?=(?:{_PREPOSITIONS}|to|under)\s+(?:what|which|whom|whose)\b)", re.IGNORECASE
)
"""Where another question may begin, as in "and in which country"."""
_RELATIVE = re.compile(rf"\s(?:{_PREPOSITIONS}|to|under)\s+(?:which|whom|whose)\b", re.IGNORECASE)
_LISTED = re.compile(r"(?:^|\s)\(?(?:[1-9]|[a-e])[.)]\s+")
_PRONOUN = re.compile(
    r"\b(?:it|its|they|their|them|this|these|that|those|he|she|his|her)\b", re.IGNORECASE
)
_ADDED = re.compile(r" \([^()]+\)$")
"""The subject that a part took from another one."""
_DEGREE = re.compile(r"\bhow\s+\w+", re.IGNORECASE)
"""How long, how tall: not part of the subject of a question."""
_FEW: Final = 2
_FEW_UNCASED: Final = 3
"""Maximum terms of a question that is assumed to continue the subject of the one before: in languages that drop
pronouns, and in scripts without capitals, which show no names. One in English."""

_AGAIN = re.compile(rf",?\s+(?:and|or)\s+({_PREPOSITIONS})\s+(?!{_ASKING})", re.IGNORECASE)
"""A preposition again, as in "the capital of Austria and of Hungary"; before a question word, it asks something else."""
_OPENING = re.compile(
    r"(?:\bthe\s+)?\bdifferences?\s+between\s+|\bbetween\s+|^compare\s+", re.IGNORECASE
)
_VERSUS: Final = frozenset({"vs", "vs.", "versus"})
_WITH: Final = frozenset({"and", "with", "to"})
_AND: Final = frozenset({"and", "or"})
_ARTICLES: Final = frozenset({"a", "an", "the"})
_MOST_SIDES: Final = 4
_TWO: Final = 2
_SPACED = re.compile(r"\s+(?=[,:;!?])")

_SIGNS: Final = (
    (
        Intent.COMPARISON,
        re.compile(
            r"\b(?:vs\.?|versus|compar\w+|differen\w+|better|worse|faster|slower|cheaper|pros and cons"
            r"|advantages?|instead of|alternatives?|unterschied\w*|vergleich\w*|besser|diff[eé]ren\w+"
            r"|meilleure?|mejor|diferen[cç]i?a\w*|melhor|meglio|confront\w+|verschil\w*|beter|разниц\w+"
            r"|отлич\w+|сравн\w+|лучше|różni\w+|porówn\w+|lepsz\w+)\b"
            r"|^(?:should|shall) (?:i|we)\b.{1,200}\bor\b|区别|比较|差异|違い|比較|차이|الفرق|แตกต่าง",
            re.IGNORECASE,
        ),
    ),
    (
        Intent.HOW_TO,
        re.compile(
            r"\bhow (?:do|can|could|should|would) (?:i|we|you|one)\b|\bhow to\b|\b(?:steps|tutorial|instructions)\b"
            r"|^(?:set ?up|install|configure|enable|disable|fix|troubleshoot|build|deploy)\b"
            r"|\bwie (?:kann|muss|soll|\w{2,20}e) (?:ich|man)\b|\bcomment (?:faire|puis|\w{2,20}(?:er|ir|re))\b"
            r"|\bc[oó]mo (?:puedo|se|\w{2,20}[aei]r)\b|\bcome (?:posso|si|\w{2,20}[aei]re)\b|\bhoe (?:kan|moet) ik\b"
            r"|\bкак \w{2,20}т[ьи](?:ся)?\b|\bjak \w{2,20}ć\b|如何|怎么|怎樣|方法|하는 방법|어떻게|วิธี|كيف",
            re.IGNORECASE,
        ),
    ),
    (
        Intent.EXPLORATORY,
        re.compile(
            r"\b(?:overview|explain|describe|tell me about|background|history|introduction|summar\w+|why"
            r"|implications?|überblick|erkläre|warum|aperçu|expliqu\w+|pourquoi|explica\w*|resumen|por qu[eé]"
            r"|perch[eé]|spiega\w*|waarom|почему|объясни\w*|dlaczego)\b|\bhow do(?:es)?\b.{1,200}\bwork\b"
            r"|为什么|なぜ|概要|왜|ทำไม|لماذا",
            re.IGNORECASE,
        ),
    ),
)
"""Words that show an intent, by priority; a question without one wants a fact."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of a question.

    Attributes:
        intent: as given, or as its words show.
        sub_queries: the questions in it, at most five; the question itself if there is only one. If it has sides or
            a list: the question, and each of these with the rest of it.
        has_sides: whether the sub-queries are sides or a list.
    """

    intent: Intent
    sub_queries: tuple[str, ...]
    has_sides: bool = False


def analyse(query: str, intent: Intent | None = None) -> Analysis:
    """Analyse a question.

    Args:
        query: one line, as cleaned by `arguments`; at most 2,000 characters. Linear in its length.
        intent: if the caller gave one.
    """
    query = " ".join(query.split())
    parts = _questions(query)
    sides: list[str] = []
    if len(parts) == 1:
        sides = _sides(query, _AND if intent is Intent.COMPARISON else frozenset()) or _ends(query)
        parts = [query, *sides[:_MOST_SIDES]]
    return Analysis(intent or _intent(query), tuple(dict.fromkeys(parts)), bool(sides))


def _intent(query: str) -> Intent:
    return next((intent for intent, sign in _SIGNS if sign.search(query)), Intent.FACTUAL)


def _questions(query: str) -> list[str]:
    """Split coordinated questions, each with the subject that its pronoun refers to."""
    listed = [part.strip(" ,;") for part in _LISTED.split(query)]
    if len(listed) > 2:  # noqa: PLR2004 - words before a list of at least two
        head, *listed = listed
        parts = [f"{head.rstrip(':')}: {part}" if head else part for part in listed if part]
    else:
        clauses = [clause for part in _BETWEEN.split(query) for clause in _clauses(part)]
        parts = _asking([clause.strip(" ,;") for clause in clauses])
    if len(parts) > MOST_PARTS:
        parts = [*parts[: MOST_PARTS - 1], " ".join(parts[MOST_PARTS - 1 :])]
    if len(parts) <= 1:
        return [query]
    return [parts[0], *(_with_subject(part, parts[0]) for part in parts[1:])]


def _clauses(part: str) -> Iterator[str]:
    """Split a question before "and in which", unless that goes on with a relative clause or asks nothing by itself."""
    start = 0
    joints = [joint.span() for joint in _AND_IN.finditer(part)]
    for (end, begin), (until, _) in pairwise([*joints, (len(part), 0)]):
        if not _RELATIVE.search(part[start:end]) and len(set(terms(part[begin:until]))) >= _TWO:
            yield part[start:end]
            start = begin
    yield part[start:]


def _asking(parts: Sequence[str]) -> list[str]:
    """Join parts that ask nothing to the question after them, else to the one before."""
    found: list[str] = []
    before = ""
    for part in filter(None, parts):
        joined = f"{before} {part}".strip()
        before = ""
        if _is_telling(part) and (_ASKS.search(part) or part[-1] in _MARKS):
            found.append(joined)
        elif found:
            found[-1] += f" {joined}"
        else:
            before = joined
    return [*found, before] if before else found


def _subject(question: str, *, is_named: bool) -> str:
    """Return the subject of a question: its names, else its words without question words.

    Args:
        question: the first question.
        is_named: whether the next one has a name of its own, in whose place the names are.
    """
    kept = [
        word
        for word in re.findall(r"[\w.+#/'-]+", _DEGREE.sub(" ", question))
        if folded(word) not in FUNCTION_WORDS
    ]
    names = [word for word in kept if word != word.lower() and not question.startswith(word)]
    if is_named and names:
        return " ".join(word for word in kept if word not in names)
    if not names and _PRONOUN.search(question):
        return ""
    return " ".join(names or kept)


def _with_subject(part: str, first: str) -> str:
    own = set(terms(part))
    refers = _PRONOUN.search(part) is not None
    is_named = not refers and _ASKS.match(part) is not None and part[1:] != part[1:].lower()
    missing = [
        word
        for word in _subject(first, is_named=is_named).split()
        if not own.issuperset(terms(word))
    ]
    few = _FEW_UNCASED
    if part.lower() != part.upper():
        few = 1 if _ASKS.match(part) else _FEW
    if missing and (refers or len(own) <= few):
        return f"{part.rstrip(_MARKS)} ({' '.join(missing)})"
    return part


def without_subject(part: str) -> str:
    """Return what a part of a question asks itself, without the subject that it took from another part."""
    return _ADDED.sub("", part)


def _sides(query: str, joints: frozenset[str]) -> list[str]:
    """Return what is compared or listed, each with the rest of the question; nothing if there is no comparison.

    Forms are "X vs Y", "between X and Y", "compare X with Y" and "A, B and C". A side ends at function words. It has as
    many words as the one next to it, or all that are capitalised: "session storage in Redis".

    Args:
        query: the question.
        joints: more words that separate two sides.
    """
    opening = _OPENING.search(query)
    head, body = (query[: opening.start()], query[opening.end() :]) if opening else ("", query)
    words = [*_words(body)]
    if not _VERSUS.isdisjoint(map(folded, words)):
        joints = _VERSUS
    elif opening:
        joints = _WITH
    sides = _chain(words, joints)
    if not sides:
        return []
    (start, stop), *_ = sides
    if not opening:
        size = _size(words[start:stop][::-1], sides[1])
        sides[0] = (start, _) = stop - size, stop
    last, _ = sides[-1]
    end = last + _size(words[last : sides[-1][1]], sides[-2])
    sides[-1] = last, end
    before = [*head.split(), *words[:start]]
    while before and before[-1] in _ARTICLES:
        before.pop()
    return [
        _SPACED.sub("", " ".join((*before, *words[first:behind], *words[end:])))
        for first, behind in sides
    ]


def _ends(query: str) -> list[str]:
    """Return the question with each of its ends, which begin with the same preposition; nothing if it has one end."""
    again = _AGAIN.search(query)
    if again is None:
        return []
    preposition = f" {again[1]} "
    before, *others = query[: again.start()].split(f",{preposition}")
    head, _, first = before.rpartition(preposition)
    ends = [first, *others, query[again.end() :]]
    if not head or _PRONOUN.search(ends[-1]) or not all(map(_is_telling, ends)):
        return []
    return [f"{head}{preposition}{end}" for end in ends]


def _chain(words: Sequence[str], joints: frozenset[str]) -> list[tuple[int, int]]:
    """Return the spans of the first joined sides: joined by one of the given words, or a list of at least three."""
    runs = [
        (places[0], places[-1] + 1)
        for is_telling, group in groupby(range(len(words)), lambda place: _is_telling(words[place]))
        if is_telling and (places := [*group])
    ]
    joining = joints if joints is _VERSUS else joints | _AND | {","}
    chain: list[tuple[int, int]] = []
    is_joined = is_ended = False
    for run in (*runs, None):
        between = words[chain[-1][1] : run[0]] if chain and run else ()
        links = frozenset(map(folded, between)) - _ARTICLES
        if chain and not (links and links <= joining):
            if is_joined or (is_ended and len(chain) > _TWO):
                return chain
            chain, links, is_joined = [], frozenset(), False
        is_joined = is_joined or not links.isdisjoint(joints)
        is_ended = "and" in links
        chain += [run] if run else []
    return []


def _size(side: Sequence[str], other: tuple[int, int]) -> int:
    """Return how many words belong to a side, counted from the joint; capitalised words are a name."""
    named = sum(1 for _ in takewhile(lambda word: word != word.lower(), side))
    return max(named, min(len(side), other[1] - other[0]))


def _words(text: str) -> Iterator[str]:
    """Yield the words of a text, and each punctuation mark after them."""
    for word in text.split():
        bare = word.rstrip(",:;!?")
        yield from filter(None, (bare, word[len(bare) :][:1]))


def _is_telling(text: str) -> bool:
    """Return whether a text has more than function words."""
    return any(folded(word) not in FUNCTION_WORDS | _VERSUS for word in re.findall(r"\w+", text))
