"""A question taken apart: what kind it is, and which questions are in it. By rules, so always the same."""

import re
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.words import FUNCTION_WORDS, folded, terms, tokens
from searx_mcp.models.corpus_request import Intent

MOST_PARTS: Final = 5
"""Questions in one; what stands behind them stays with the last."""

_ASKS: Final = (
    r"(?:how|what|when|where|which|who|whom|whose|why|is|are|does|do|did|can|could|should|will|was|were"
    r"|wie|was|wann|wo|welche[rsn]?|wer|warum|comment|quand|quel(?:le)?s?|pourquoi|combien|como|cuando"
    r"|donde|cual(?:es)?|por que|cuant[oa]s?)"
)
_AND: Final = r"(?:and|und|et|y|e)(?:\s+(?:also|auch|aussi))?"
_BETWEEN = re.compile(
    rf"(?<=[?\uff1f\u061f;\u3002])\s*|\s*[,;]?\s+{_AND}\s+(?={_ASKS}\b)|\s*[,;]\s+(?={_ASKS}\b)",
    re.IGNORECASE,
)
"""Where one question ends and another begins: behind a mark, or before a word that asks, behind "and" or a
comma."""
_LISTED = re.compile(r"(?:^|\s)\(?(?:[1-9]|[a-e])[.)]\s+")
_PRONOUN = re.compile(
    r"\b(?:it|its|they|their|them|this|these|that|those|he|she|his|her|er|sie|es|ihr|ihre|il|elle|ils|elles"
    r"|son|sa|ses|leur|leurs|su|sus)\b",
    re.IGNORECASE,
)

_THING: Final = r"(?P<{}>[^?,;]{{1,120}}?)"
_ABOUT: Final = (
    r"(?:\s+(?:in terms of|with regard to|regarding|with respect to|in|for|on|when it comes to|handle|handles"
    r"|bei|hinsichtlich|pour|en|para)\s+(?P<about>[^?]{1,200}))?"
)
_COMPARED: Final = tuple(
    re.compile(
        form.format(one=_THING.format("one"), other=_THING.format("other"), about=_ABOUT),
        re.IGNORECASE,
    )
    for form in (
        (
            r"\b(?:compare|vergleiche|comparer?|compara)\s+(?:how\s+)?{one}\s+(?:and|with|to|und|mit|et|avec|y|con)"
            r"\s+{other}{about}[?.]?$"
        ),
        (
            r"\b(?:difference|differences|unterschiede?|diff[eé]rences?|diferencias?)\s+(?:between|zwischen|entre)"
            r"\s+{one}\s+(?:and|und|et|y)\s+{other}{about}[?.]?$"
        ),
        (
            r"^(?:(?:which|what|welche[rs]?|quel(?:le)?|cu[aá]l)\b[^?:]{{0,60}}[:,]\s*)?{one}\s+"
            r"(?:vs\.?|versus|compared (?:to|with)|im vergleich zu)\s+{other}{about}[?.]?$"
        ),
        (
            r"^(?:which|what|welche[rs]?)\b(?P<asked>[^?:,]{{1,100}})[:,]\s*{one}\s+(?:or|oder|ou|o)\s+"
            r"{other}{about}[?.]?$"
        ),
    )
)
"""Questions about two things: the words for either are put with what is asked of both."""

_SIGNS: Final = (
    (
        Intent.COMPARISON,
        re.compile(
            r"\b(?:vs\.?|versus|compar\w+|differen\w+|better|worse|faster|slower|cheaper|pros and cons"
            r"|advantages?|instead of|alternatives?|unterschied\w*|vergleich\w*|besser|diff[eé]ren\w+"
            r"|meilleure?|mejor|diferencia\w*)\b|区别|比较|違い|比較",
            re.IGNORECASE,
        ),
    ),
    (
        Intent.HOW_TO,
        re.compile(
            r"\bhow (?:do|can|could|should|would) (?:i|we|you|one)\b|\bhow to\b|\b(?:steps|tutorial|instructions)\b"
            r"|^(?:set ?up|install|configure|enable|disable|fix|troubleshoot|build|deploy)\b"
            r"|\bwie (?:kann|muss|soll|richte|installiere|mache) (?:ich|man)\b|\bcomment (?:faire|puis)\b"
            r"|\bc[oó]mo (?:puedo|se|instal\w*|configur\w*)\b|如何|怎么|怎樣|方法|วิธี",
            re.IGNORECASE,
        ),
    ),
    (
        Intent.EXPLORATORY,
        re.compile(
            r"\b(?:overview|explain|describe|tell me about|background|history|introduction|summar\w+|why"
            r"|implications?|überblick|erkläre|warum|aperçu|expliqu\w+|pourquoi|explica\w*|resumen)\b"
            r"|为什么|なぜ|概要|ทำไม",
            re.IGNORECASE,
        ),
    ),
)
"""Words that show an intent, in the order in which they count; a question without one wants a fact."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question taken apart.

    Attributes:
        intent: as given, or as its words show.
        sub_queries: the questions in it, at most five; itself if there is one.
    """

    intent: Intent
    sub_queries: tuple[str, ...]


def analyse(query: str, intent: Intent | None = None) -> Analysis:
    """Take a question apart.

    Args:
        query: one line, as `arguments` cleaned it; at most 2,000 characters.
        intent: what it wants, if the caller said so.
    """
    intent = intent or _intent(query)
    parts = _questions(query)
    if len(parts) == 1:
        parts = _sides(query, is_comparison=intent is Intent.COMPARISON)
    return Analysis(intent, tuple(dict.fromkeys(parts)))


def _intent(query: str) -> Intent:
    return next((intent for intent, sign in _SIGNS if sign.search(query)), Intent.FACTUAL)


def _questions(query: str) -> list[str]:
    """The questions that stand side by side, each with the subject that its pronoun stands for."""
    listed = [part.strip() for part in _LISTED.split(query)]
    if len(listed) > 2:  # noqa: PLR2004 - words before a list of at least two
        head, *listed = listed
        parts = [f"{head.rstrip(':')}: {part}" if head else part for part in listed if part]
    else:
        parts = [part.strip(" ,;") for part in _BETWEEN.split(query)]
        parts = [part for part in parts if _asks_something(part)]
    if len(parts) > MOST_PARTS:
        parts = [*parts[: MOST_PARTS - 1], " ".join(parts[MOST_PARTS - 1 :])]
    if len(parts) <= 1:
        return [query]
    subject = _subject(parts[0])
    return [parts[0], *(_with_subject(part, subject) for part in parts[1:])]


def _asks_something(part: str) -> bool:
    return any(token not in FUNCTION_WORDS for token in tokens(part))


def _subject(question: str) -> str:
    """What a question is about: the names in it, else its words but for those that ask."""
    kept = [word for word in re.findall(r"[\w.+#/'-]+", question) if _is_telling(word)]
    names = [word for word in kept if not question.startswith(word) and word != word.lower()]
    return " ".join(names or kept)


def _is_telling(word: str) -> bool:
    return folded(word) not in FUNCTION_WORDS and not re.fullmatch(_ASKS, word, re.IGNORECASE)


def _with_subject(part: str, subject: str) -> str:
    own = set(terms(part))
    missing = [word for word in subject.split() if not own.intersection(terms(word))]
    if missing and (_PRONOUN.search(part) or len(own) == 1):
        return f"{part.rstrip('?')} ({' '.join(missing)})"
    return part


def _sides(query: str, *, is_comparison: bool) -> list[str]:
    """The two sides of a comparison, each with what is asked of both."""
    if not is_comparison:
        return [query]
    for form in _COMPARED:
        if found := form.search(query):
            about = " ".join(filter(None, (found["about"], found.groupdict().get("asked")))).strip()
            return [f"{found[side].strip()} {about}".strip() for side in ("one", "other")]
    return [query]
