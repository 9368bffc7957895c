"""A question taken apart: what kind it is, and which questions are in it. By rules, so always the same."""

# ruff: noqa: RUF001 - words of languages in other scripts are meant as they are

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.words import FUNCTION_WORDS, folded, terms
from searx_mcp.models.corpus_request import Intent

MOST_PARTS: Final = 5
"""Questions in one; what stands behind them stays with the last."""

_LANGUAGES: Final = (
    (
        r"and(?: also)?|&",
        r"how|what|when|where|which|who|whom|whose|why|is|are|does|do|did|can|could|should|will|was|were",
    ),
    (r"und(?: auch)?", r"wie|was|wann|wo|welche[rsn]?|wer|warum|kann|darf|muss|ist"),
    (r"et(?: aussi)?", r"comment|quand|quel(?:le)?s?|pourquoi|combien|où|qui|est-ce"),
    (r"y|e", r"c[oó]mo|cu[aá]ndo|d[oó]nde|cu[aá]l(?:es)?|qu[eé]|qui[eé]n(?:es)?|cu[aá]nt[oa]s?"),
    (r"e", r"come|quando|dove|quali?|chi|quant[oaie]|perch[eé]|cosa|qual|quais|quem|onde|como"),
    (r"en", r"hoe|wat|wanneer|waar|welke?|wie|waarom"),
    (r"и", r"как|како[вйе]а?|когда|где|кто|что|почему|сколько|каков[аы]?"),
    (r"i", r"jak|kiedy|gdzie|kto|co|ile|dlaczego|jak[aie]"),
)
"""Words for "and", and words that ask, of some languages."""
_ASKING = re.compile(rf"\b(?:{'|'.join(asks for _, asks in _LANGUAGES)})\b", re.IGNORECASE)
_ALONE: Final = r"(?!(?:which|whom|whose|qui|quale)\b)"
"""Words that begin a relative clause behind a comma, which asks nothing."""
_BETWEEN = re.compile(
    r"(?<=[?\uff1f\u061f\u3002])\s*|;\s+|"
    + "|".join(
        rf"\s*,?\s+(?:{ands})\s+(?=(?:{asks})\b)|,\s+(?={_ALONE}(?:{asks})\b)"
        for ands, asks in _LANGUAGES
    ),
    re.IGNORECASE,
)
"""Where one question ends and another begins: behind a mark, or before a word that asks, behind "and" or a
comma."""
_QUESTION_MARKS: Final = ("?", "\uff1f", "\u061f")
_LISTED = re.compile(r"(?:^|\s)\(?(?:[1-9]|[a-e])[.)]\s+")
_PRONOUN = re.compile(
    r"\b(?:it|its|they|their|them|this|these|that|those|he|she|his|her|er|sie|es|ihr|ihre|il|elle|ils|elles"
    r"|son|sa|ses|leur|leurs|su|sus|suo|sua|lo|seu|zijn|его|её|ее|их|он|она|jego|jej|ich|hij|zij|ze|haar)\b|它|他|她|그것|その",
    re.IGNORECASE,
)
_DEGREE = re.compile(r"\b(?:how|wie)\s+\w+", re.IGNORECASE)
"""How long, how tall: no part of what a question is about."""
_ENGLISH = re.compile(rf"(?:{_LANGUAGES[0][1]})\b", re.IGNORECASE)
_FEW: Final = 2
_FEW_UNCASED: Final = 3
"""Terms of a question that is taken to go on about what the one before is about: where languages do without
pronouns, and in scripts without capitals, which show no names. One in English."""

_COMPARING = re.compile(
    r"\b(?:compare(?:\s+how)?|vergleiche|comparer?|compar[ae]|comparar|confronta|vergelijk|сравни(?:те|ть)?)\s+"
    r"|\b(?:differen(?:ces?|z[ae])|diff[eé]rences?|unterschiede?|diferen(?:cias?|ças?)|verschil(?:len)?"
    r"|разниц[аы]|различия)\s+(?:between|zwischen|entre|tra|fra|tussen|между)\s+",
    re.IGNORECASE,
)
_AND = re.compile(
    r"\s*,\s*(?:(?:and|und|et|y|e|en|и)\s+)?|\s+(?:and|und|et|y|e|en|и)\s+", re.IGNORECASE
)
_WITH = re.compile(r"\s+(?:with|to|mit|avec|con|com|met|с)\s+", re.IGNORECASE)
_VERSUS = re.compile(
    r"\s+(?:vs\.?|versus|compared (?:to|with)|im vergleich zu[mr]?)\s+", re.IGNORECASE
)
_OR = re.compile(r"\s+(?:or|oder|ou|или)\s+", re.IGNORECASE)
_THAN = re.compile(
    r"\s+(?:better|worse|(?:more|less) \w{2,20}|\w{2,12}er)\s+than\s+", re.IGNORECASE
)
_CHOOSING = re.compile(
    r"^(?:(?:which|what|welche[rs]?)\b(?P<about>[^:,]{1,100})[:,]|(?:should|shall|soll(?:te)?)\s+\w+\s+\w+"
    r"|(?:is|are)\b(?=.{1,200}\bthan\b))\s*",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\s+(?:in terms of|with regard to|with respect to|regarding|when it comes to|handles?|for|on|in"
    r"|hinsichtlich|bei|für|pour|para|per|voor|для|по)\s+",
    re.IGNORECASE,
)
_CJK_SIDES = re.compile(
    r"^([^和与跟と]{1,60})[和与跟と]([^和与跟と]{1,60}?)(?:之间)?(?:的|の|有什么|有何)?(?:区别|不同|差异|違い|比較)"
)
_SIDE_CHARS: Final = 120
_MOST_SIDES: Final = 4

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
"""Words that show an intent, in the order in which they count; a question without one wants a fact."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question taken apart.

    Attributes:
        intent: as given, or as its words show.
        sub_queries: the questions in it, at most five; itself if there is one. A comparison is itself and
            its sides, each with what is asked of all.
    """

    intent: Intent
    sub_queries: tuple[str, ...]


def analyse(query: str, intent: Intent | None = None) -> Analysis:
    """Take a question apart.

    Args:
        query: one line, as `arguments` cleaned it; at most 2,000 characters. Linear in its length.
        intent: what it wants, if the caller said so.
    """
    query = " ".join(query.split())
    kind = intent or _intent(query)
    parts = _questions(query)
    if len(parts) == 1 and kind is Intent.COMPARISON:
        sides = _sides(query, is_told=intent is not None)
        parts = [query, *sides[:_MOST_SIDES]] if len(sides) > 1 else parts
    return Analysis(kind, tuple(dict.fromkeys(parts)))


def _intent(query: str) -> Intent:
    return next((intent for intent, sign in _SIGNS if sign.search(query)), Intent.FACTUAL)


def _questions(query: str) -> list[str]:
    """The questions that stand side by side, each with the subject that its pronoun stands for."""
    listed = [part.strip(" ,;") for part in _LISTED.split(query)]
    if len(listed) > 2:  # noqa: PLR2004 - words before a list of at least two
        head, *listed = listed
        parts = [f"{head.rstrip(':')}: {part}" if head else part for part in listed if part]
    else:
        parts = _asking([part.strip(" ,;") for part in _BETWEEN.split(query)])
    if len(parts) > MOST_PARTS:
        parts = [*parts[: MOST_PARTS - 1], " ".join(parts[MOST_PARTS - 1 :])]
    if len(parts) <= 1:
        return [query]
    subject = _subject(parts[0])
    return [parts[0], *(_with_subject(part, subject) for part in parts[1:])]


def _asking(parts: Sequence[str]) -> list[str]:
    """Join what asks nothing to the question that it stands before, or else behind."""
    found: list[str] = []
    before = ""
    for part in filter(None, parts):
        joined = f"{before} {part}".strip()
        before = ""
        if _telling(part) and (_ASKING.search(part) or part.endswith(_QUESTION_MARKS)):
            found.append(joined)
        elif found:
            found[-1] += f" {joined}"
        else:
            before = joined
    return [*found, before] if before else found


def _subject(question: str) -> str:
    """What a question is about: the names in it, else its words but for those that ask."""
    kept = [
        word
        for word in re.findall(r"[\w.+#/'-]+", _DEGREE.sub(" ", question))
        if folded(word) not in FUNCTION_WORDS and not _ASKING.fullmatch(word)
    ]
    names = [word for word in kept if word != word.lower() and not question.startswith(word)]
    if not names and _PRONOUN.search(question):
        return ""
    return " ".join(names or kept)


def _with_subject(part: str, subject: str) -> str:
    own = set(terms(part))
    missing = [word for word in subject.split() if not own.issuperset(terms(word))]
    few = _FEW_UNCASED
    if part.lower() != part.upper():
        few = 1 if _ENGLISH.match(part) else _FEW
    if missing and (_PRONOUN.search(part) or len(own) <= few):
        return f"{part.rstrip(''.join(_QUESTION_MARKS))} ({' '.join(missing)})"
    return part


def _sides(query: str, *, is_told: bool) -> list[str]:
    """What is compared, each with what is asked of all; none if the form is none that is known.

    Args:
        query: the question.
        is_told: whether the caller said that it is a comparison.
    """
    body = query.strip(" ?.!")
    if found := _CJK_SIDES.search(body):
        return [found[1].strip(), found[2].strip()]
    about: list[str] = []
    joints: tuple[re.Pattern[str], ...]
    if start := _COMPARING.search(body):
        body, joints = body[start.end() :], (_AND, _WITH)
    elif _VERSUS.search(body):
        *others, body = sorted(body.split(":"), key=lambda text: bool(_VERSUS.search(text)))
        about, joints = others, (_VERSUS,)
    elif start := _CHOOSING.search(body):
        about, body, joints = [start["about"] or ""], body[start.end() :], (_OR, _THAN)
    elif is_told:
        joints = (_VERSUS, _OR, _AND)
    else:
        return []
    joint = next((each.search(body) for each in joints if each.search(body)), None)
    if joint is None:
        return []
    if joint.re is _THAN:
        about.append(joint[0])
    if behind := _ABOUT.search(body, joint.end()):
        about.append(body[behind.end() :])
        body = body[: behind.start()]
    sides = [side.strip() for side in joint.re.split(body)]
    return _completed(sides, _telling(" ".join(about)))


def _completed(sides: list[str], about: str) -> list[str]:
    """The sides with what is asked of all; none if one of them is nothing that can be compared."""
    if not all(_telling(side) and len(side) <= _SIDE_CHARS for side in sides):
        return []
    *before, last = sides[0].split()
    if any(folded(word) in FUNCTION_WORDS for word in before[1:]) and not _ASKING.fullmatch(last):
        sides = [side if " " in side else " ".join((*before, side)) for side in sides]
    return [f"{side} {about}".strip() for side in sides]


def _telling(text: str) -> str:
    """The words of a text that are not mere grammar."""
    return " ".join(
        word
        for word in text.split()
        if folded(word) not in FUNCTION_WORDS and not _ASKING.fullmatch(word.strip(":,"))
    )
