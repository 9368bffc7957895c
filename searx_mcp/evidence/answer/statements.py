"""The statements of a page, sentence by sentence, and whether they support a sentence of a report.

A sentence is supported if one sentence of the page, with the headings above, contains all of it: figures with their
units, names, words and negations, in order, and with nothing between them that could change what they refer to. The
check infers nothing: paraphrases are not checked, and the result says so.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple

from searx_mcp.content.words import (
    CONTRASTS,
    EXCEPTIONS,
    FUNCTION_WORDS,
    NEGATION_PARTS,
    NEGATIONS,
    folded,
    stems,
)
from searx_mcp.evidence.answer.citations import PageSentence, sentences_of
from searx_mcp.evidence.checked import QuoteVerdict

_POSTINGS: Final = 200
"""Maximum statements per word that are counted."""
_LONGEST_CLAIM: Final = 600
"""Maximum code points of a sentence that is compared."""
_LIKELY: Final = 4
"""Number of statements that a sentence is compared with."""
_ENDINGS: Final = 20
"""Maximum positions in a statement at which a match of the sentence may end."""
MOST_SHOWN: Final = 3
"""Maximum words, or differences, that are named."""
_SHOWN_CHARS: Final = 120
"""Maximum code points that are shown of a text of the page."""
_HALF: Final = 0.5
_LEAST: Final = 2
"""Minimum words, names and figures of a meaningful sentence."""
_STEM: Final = 6
_ALIKE_FROM: Final = 3
"""First letters that all forms of a word share; most pairs differ in them."""
_LEAST_NAME: Final = 4
_ENDING: Final = 2
"""Maximum letters of a name's inflection."""

_TOKEN = re.compile(
    r"(?P<sign>[<>≤≥~≈±]\s?|(?<![\w)])[-+])?(?P<coin>[$€£¥]\s?)?"
    r"(?<!\w)(?P<number>\d{1,3}(?: \d{3})++(?!\d)|\d++(?:[.,:]\d++)*+)(?P<power>\^-?\d++)?"
    r"(?=\s?(?P<unit>[%‰€$£]|°[CF]?|[^\W\d_]++(?:/[^\W\d_]++)?(?!\w)|))"
    r"|(?P<word>\w++(?:[.'/&-]\w++)*+(?:\+\+|[#%])?)|(?P<stop>[,;:()—–])"  # noqa: RUF001 - the dash is intended
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_CODE = re.compile(r".[^\W\d_]*[A-Z\d_]|.*[#_+]")
_SUFFIX = re.compile(r"'s$|(?<=[^\Ws])s$")
_WORD = re.compile(r"[^\W_]++(?:'[^\W_]++)?")
_WORDISH = re.compile(r"[^\W_]+")


_WEIGHTY_WORDS: Final = """
all only more most over up under before after should will would some any same out off
"""
_WEIGHTY: Final = frozenset(_WEIGHTY_WORDS.split())
"""Function words that change the meaning of a statement."""
_REPORTING_WORDS: Final = """
according documentation docs manual page says said states writes reports explains source also
however moreover see laut zufolge selon segun secondo
"""
_REPORTING: Final = frozenset(_REPORTING_WORDS.split())
"""Words with which a report attributes statements."""
_LIMITING_WORDS: Final = """
only almost nearly most least some few fewer less up partly nur fast meist hochstens mindestens
seulement presque
"""
_LIMITING: Final = frozenset(_LIMITING_WORDS.split())
"""Words that limit a statement, and must not be omitted."""


class _Kind(Enum):
    FIGURE = auto()
    NAME = auto()
    WORD = auto()
    EMPTY = auto()
    NEGATION = auto()
    STOP = auto()


class _Token(NamedTuple):
    """A word, a figure or a punctuation mark; `stem` is empty for figures, and `unit` for all others."""

    kind: _Kind
    shown: str
    exact: str
    stem: str = ""
    unit: str = ""
    is_first: bool = False


class Comparison(NamedTuple):
    """The result of comparing a sentence: a verdict, and the difference."""

    verdict: QuoteVerdict
    difference: str = ""


class Statements:
    """The statements of one page."""

    def __init__(self, markdown: str) -> None:
        """Divide a page into statements; linear in its length.

        Args:
            markdown: of the page.
        """
        self._all = list(sentences_of(markdown))
        self._places: dict[str, list[int]] = {}
        for number, each in enumerate(self._all):
            for key in dict.fromkeys(_keys(f"{each.above} {each.text}")):
                places = self._places.setdefault(key, [])
                if len(places) < _POSTINGS:
                    places.append(number)

    def check(self, claim: str, *, is_rest: bool = False) -> Comparison | None:
        """Check whether the page supports a sentence.

        Args:
            claim: the sentence, normalised.
            is_rest: whether a quote was removed from it: then only its figures and names are compared.

        Returns:
            `None` if nothing is left besides the quote.
        """
        if len(claim) > _LONGEST_CLAIM:
            return Comparison(QuoteVerdict.NOT_CHECKED, "it is too long")
        said = _tokens(claim)
        if is_rest:
            return self._check_rest([each for each in said if each.kind in _FACTS])
        telling = [each for each in said if each.kind in _TELLING]
        if len({each.exact for each in telling}) * 2 < len(telling):
            return Comparison(QuoteVerdict.NOT_CHECKED, "it repeats itself")
        if len(telling) < _LEAST:
            return Comparison(QuoteVerdict.NOT_CHECKED, "it has nothing to compare")
        best: tuple[tuple[int, int], list[_Token], str, PageSentence] | None = None
        for number in self._likely(claim):
            statement = self._all[number]
            there = _tokens(statement.text)
            above = _tokens(statement.above)
            lost = [each for each in telling if not _stands(each, there, above)]
            wrong = "" if lost else _misread(said, telling, there)
            if not lost and not wrong:
                return Comparison(QuoteVerdict.SUPPORTED)
            rank = (len(lost), not wrong.startswith(_DENIED))
            if best is None or rank < best[0]:
                best = rank, lost, wrong, statement
        return self._lacking(telling, best)

    def _check_rest(self, facts: Sequence[_Token]) -> Comparison | None:
        if not facts:
            return None
        for number in self._likely(" ".join(each.shown for each in facts)):
            there, above = _tokens(self._all[number].text), _tokens(self._all[number].above)
            if all(_stands(each, there, above) for each in facts):
                return Comparison(QuoteVerdict.SUPPORTED)
        return Comparison(QuoteVerdict.NOT_CHECKED, f"not found together: {_listed(facts)}")

    def _lacking(
        self,
        telling: Sequence[_Token],
        best: tuple[tuple[int, int], list[_Token], str, PageSentence] | None,
    ) -> Comparison:
        """Explain why a sentence is not supported."""
        facts = [each for each in telling if each.kind is not _Kind.WORD]
        if best is None:
            return Comparison(
                QuoteVerdict.MISSING if facts else QuoteVerdict.NOT_CHECKED,
                "the page has none of its words",
            )
        _, lost, wrong, statement = best
        if wrong:
            is_denied = wrong.startswith(_DENIED)
            return Comparison(
                QuoteVerdict.ALTERED if is_denied else QuoteVerdict.NOT_CHECKED, wrong
            )
        lost_facts = [each for each in lost if each.kind is not _Kind.WORD and not each.is_first]
        nowhere = [each for each in lost_facts if not self._has(each, statement)]
        if nowhere and len(lost) <= len(telling) * _HALF:
            return Comparison(
                QuoteVerdict.ALTERED,
                f"not there: {_listed(nowhere)}; page: “{shortened(statement.text)}”",
            )
        if nowhere and len(nowhere) == len(facts):
            return Comparison(QuoteVerdict.MISSING, f"not there: {_listed(nowhere)}")
        return Comparison(QuoteVerdict.NOT_CHECKED, f"not found together: {_listed(lost)}")

    def _has(self, fact: _Token, near: PageSentence) -> bool:
        """Return whether a page contains a figure or a name; a figure with a unit in the best statement counts only there."""
        if fact.kind is _Kind.FIGURE and any(
            each.exact == fact.exact and each.unit for each in _tokens(near.text)
        ):
            return False
        return any(
            _same(fact, each) or (fact.kind is _Kind.FIGURE and fact.exact == each.exact)
            for key in _keys(fact.shown)[:1]
            for number in self._places.get(key, ())
            for each in _tokens(self._all[number].text)
        )

    def passages(self, text: str) -> Iterator[str]:
        """Yield the statements that share most words with a text, each alone and with the one after it."""
        for number in self._likely(text):
            texts = [each.text for each in self._all[number : number + 2]]
            yield texts[0]
            yield " ".join(texts)

    def _likely(self, text: str) -> list[int]:
        """Return the statements that share most words with a text; function words weigh less."""
        counted: Counter[int] = Counter()
        for key in dict.fromkeys(_keys(text)):
            places = self._places.get(key, ())
            weight = 1 if key in FUNCTION_WORDS else 4
            for number in places:
                counted[number] += weight
        return [number for number, _ in counted.most_common(_LIKELY)]


_FACTS: Final = (_Kind.FIGURE, _Kind.NAME)
_TELLING: Final = (*_FACTS, _Kind.WORD)
_DENIED: Final = "negation: "


def negation_in(text: str, words: Collection[str] = NEGATIONS) -> str:
    """Return the first word of a text that reverses its meaning; empty if there is none.

    Args:
        text: normalised.
        words: that reverse a meaning.
    """
    for found in _WORD.finditer(text):
        if folded(found[0]) in words or _is_negation(found[0]):
            return found[0]
    return next((part for part in NEGATION_PARTS if part in text), "")


def _is_negation(word: str) -> bool:
    bare = folded(word)
    return bare in NEGATIONS or bare.endswith("n't") or bare.startswith("n'")


def _keys(text: str) -> list[str]:
    """Return the index keys of a text."""
    return [key[:_STEM] for key in _WORDISH.findall(folded(text))]


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    for each in _TOKEN.finditer(text):
        is_first = not found
        if number := each["number"]:
            found.append(_figure(each, number))
        elif word := each["word"]:
            found.append(_word(word, is_first=is_first))
        else:
            found.append(_Token(_Kind.STOP, each[0], each[0]))
    return found


def _figure(each: re.Match[str], number: str) -> _Token:
    plain = number.replace(" ", "")
    if _THOUSANDS.fullmatch(plain):
        plain = plain.replace(",", "")
    signs = "".join((each["sign"] or "", each["coin"] or "")).replace(" ", "")
    unit = folded(each["unit"] or "")
    if unit in FUNCTION_WORDS or unit in NEGATIONS:
        unit = ""
    exact = f"{signs}{plain}{each['power'] or ''}"
    shown = f"{each[0]} {each['unit']}" if unit else each[0]
    return _Token(_Kind.FIGURE, shown, exact, unit=unit)


def _word(word: str, *, is_first: bool) -> _Token:
    bare = folded(word)
    if _is_negation(word):
        return _Token(_Kind.NEGATION, word, bare)
    is_empty = bare in FUNCTION_WORDS and bare not in _WEIGHTY
    if is_empty or bare in _REPORTING or not any(map(str.isalnum, word)):
        return _Token(_Kind.EMPTY, word, bare)
    is_code = _CODE.match(word) is not None and not (is_first and word.istitle())
    exact = word if is_code else _SUFFIX.sub("", bare)
    stem = bare if bare.endswith("less") else (stems([bare]) or [bare])[0]
    is_name = is_code or (word[:1].isupper() and not is_first)
    return _Token(
        _Kind.NAME if is_name else _Kind.WORD, word, exact, stem, is_first=is_first and not is_code
    )


def _same(one: _Token, other: _Token) -> bool:
    """Return whether two tokens mean the same."""
    if one.exact[:_ALIKE_FROM] != other.exact[:_ALIKE_FROM]:
        return False
    if _Kind.FIGURE in {one.kind, other.kind}:
        return (
            one.kind is other.kind and one.exact == other.exact and _is_unit(one.unit, other.unit)
        )
    if one.kind not in _TELLING or other.kind not in _TELLING:
        return False
    if one.exact == other.exact:
        return True
    if _Kind.NAME in {one.kind, other.kind} or one.is_first or other.is_first:
        return _is_inflected(one.exact, other.exact)
    return one.stem == other.stem


def _is_inflected(one: str, other: str) -> bool:
    """Return whether two forms of a name differ only in their ending."""
    short, long = sorted((one, other), key=len)
    if len(short) < _LEAST_NAME or _CODE.match(one) or _CODE.match(other):
        return False
    if long.startswith(short):
        return len(long) - len(short) <= _ENDING
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return not one.isascii() and same >= _LEAST_NAME and len(long) - same <= _ENDING


def _is_unit(said: str, there: str) -> bool:
    """Return whether a figure of a page has the unit of the sentence, if that has one."""
    if not said or said == there:
        return True
    if not there:
        return False
    percent = [unit == "%" or unit.startswith(("perc", "proz", "proc")) for unit in (said, there)]
    if any(percent):
        return all(percent)
    return stems([said]) == stems([there])


def _stands(each: _Token, there: Sequence[_Token], above: Sequence[_Token]) -> bool:
    """Return whether a page contains a token, in a sentence or, except for figures, above it."""
    around = there if each.kind is _Kind.FIGURE else (*there, *above)
    return any(_same(each, other) for other in around)


def _misread(said: Sequence[_Token], telling: Sequence[_Token], there: Sequence[_Token]) -> str:
    """Explain why a statement with all words of a sentence does not support it; empty if it does."""
    own = [each for each in said if each.kind is _Kind.NEGATION]
    if own and not any(each.kind is _Kind.NEGATION for each in there):
        return f"{_DENIED}the sentence has {_listed(own)}"
    wanted = [each for each in telling if any(_same(each, other) for other in there)]
    if not wanted:
        return "it stands in headings only"
    ends = [at for at, each in enumerate(there) if _same(wanted[-1], each)][-_ENDINGS:]
    reasons: list[str] = []
    for end in reversed(ends):
        start = _start(wanted, there, end)
        if start is None:
            continue
        others = _others(telling, there[start:end])
        reason = (
            f"the page says something of {_listed(others)} there"
            if others
            else _denied(said, there, start, end)
        )
        if not reason:
            return ""
        reasons.append(reason)
    if not _others(telling, there) and _is_in_order(wanted, there):
        reason = _denied(said, there, 0, len(there) - 1)
        if not reason:
            return ""
        reasons.append(reason)
    denied = [each for each in reasons if each.startswith(_DENIED)]
    return next(iter((*denied, *reasons)), "the page has its words in another order")


def _start(wanted: Sequence[_Token], there: Sequence[_Token], end: int) -> int | None:
    """Return where a match of the words in order starts that ends at `end`; `None` if there is none."""
    at = end
    for each in reversed(wanted[:-1]):
        at -= 1
        while at >= 0 and not _same(each, there[at]):
            at -= 1
        if at < 0:
            return None
    return at


def _others(telling: Sequence[_Token], there: Sequence[_Token]) -> list[_Token]:
    """Return figures and names of a page that a sentence does not have."""
    return [
        each
        for each in there
        if each.kind in _FACTS and not any(_same(one, each) for one in telling)
    ]


def _is_in_order(wanted: Sequence[_Token], there: Sequence[_Token]) -> bool:
    """Return whether figures and names, each separately, are in the same order in both."""
    facts = [each for each in wanted if each.kind is not _Kind.WORD]
    for kind in _FACTS:
        at = 0
        for each in (one for one in facts if one.kind is kind):
            while at < len(there) and not _same(each, there[at]):
                at += 1
            if at == len(there):
                return False
            at += 1
    return bool(facts)


def _denied(said: Sequence[_Token], there: Sequence[_Token], start: int, end: int) -> str:
    """Describe what a clause of the page has, or lacks, that reverses or limits the sentence; empty if nothing."""
    while start > 0 and not _is_stop(there[start - 1]):
        start -= 1
    while end + 1 < len(there) and not _is_stop(there[end + 1]):
        end += 1
    clause = there[start : end + 1]
    own = [each for each in said if each.kind is _Kind.NEGATION]
    its = [each for each in clause if each.kind is _Kind.NEGATION]
    its += [each for each in there[end + 1 :] if each.exact in EXCEPTIONS]
    if len(own) != len(its):
        more = own if len(own) > len(its) else its
        where = "sentence" if more is own else "page"
        return f"{_DENIED}the {where} has {_listed(more)}"
    known = {each.exact for each in said}
    limits = [each for each in clause if each.exact in _LIMITING and each.exact not in known]
    return f"the page has {_listed(limits)}" if limits else ""


def _is_stop(token: _Token) -> bool:
    return token.kind is _Kind.STOP or token.exact in CONTRASTS


def _listed(tokens: Sequence[_Token]) -> str:
    return ", ".join(f"“{each}”" for each in dict.fromkeys(t.shown for t in tokens[:MOST_SHOWN]))


def shortened(text: str) -> str:
    """Cut a text of the page to what is shown of it."""
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 1].rstrip()}…"
