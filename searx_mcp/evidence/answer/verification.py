"""Checks whether stored pages contain the quotes, statements and links of a report.

A quote must be in a page letter by letter, after `citations.normalised`. If it has an ellipsis, its parts must be in one
sentence, in order, and the omission must contain no negation. A sentence with a link is compared with the sentences
of that page, by `statements`.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from searx_mcp.content.sentences import sentence_ends
from searx_mcp.content.words import CONTRASTS, DENIALS, EXCEPTIONS, NEGATIONS, folded
from searx_mcp.evidence.answer.citations import normalised
from searx_mcp.evidence.answer.report import (
    SPACELESS,
    ClaimInReport,
    QuoteInReport,
    Report,
    address_key,
    read_report,
)
from searx_mcp.evidence.answer.statements import (
    MOST_SHOWN,
    Comparison,
    Statements,
    negation_in,
    shortened,
)
from searx_mcp.evidence.checked import CheckedQuote, QuoteVerdict, VerifyReport

_MOST_FOUND: Final = 3
_ALIKE: Final = 0.6
"""Minimum share of equal words for a quote to be an altered one of the page."""
_LONGEST_QUOTE: Final = 120
"""Maximum words of a quote that is searched with differences."""
_TRIES: Final = 50
"""Maximum positions of a page that are checked for a part of a quote, if the part begins or ends inside a word there."""
_LEFT_OUT: Final = 1_000
"""Maximum code points that an ellipsis replaces."""
_AROUND: Final = 40
"""Code points before and after a quote that can negate it."""
_WORDS_AROUND: Final = 3
_INNER: Final = frozenset(".,'-")
"""Signs inside figures and inside words."""
_BOUND: Final = frozenset("<>≤≥~≈±$€£¥")
"""Signs before figures, also with a space between them."""
_STOPS: Final = ".!?;:,()"
_AROUND_WORDS: Final = f"{_STOPS}\"'"
_ENDS: Final = frozenset(".!?")
_ENDED: Final = (".", "…")
_SIGNS: Final = frozenset("-+^")
_BEHIND_FIGURE: Final = frozenset("#^%‰")


def check_report(
    report: Report | str,
    pages: Mapping[str, str],
    *,
    among: Mapping[QuoteInReport, Sequence[str]] | None = None,
) -> VerifyReport:
    """Check each quote, sentence and link of a report against stored pages.

    Args:
        report: or its text, which `read_report` parses.
        pages: the Markdown of stored pages by address: those that the report links and those that may contain
            its quotes. A page may have several addresses. Linear in their length for each quote.
        among: addresses of the pages that may contain a quote, best first; all unless given.

    Raises:
        InvalidArgumentError: see `read_report`.
    """
    if isinstance(report, str):
        report = read_report(report)
    kept = _Pages(pages)
    return VerifyReport(
        quotes=tuple(
            kept.check(quote, pages if among is None else among.get(quote, ()))
            for quote in report.quotes
        ),
        links=tuple(
            CheckedQuote(
                url=url,
                line=line,
                verdict=QuoteVerdict.SUPPORTED if kept.has(url) else QuoteVerdict.MISSING,
            )
            for url, line in report.links
        ),
        sentences=tuple(filter(None, map(kept.check_claim, report.claims))),
    )


class _Pages:
    """Stored pages, prepared for comparison."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._pages = pages
        self._by_key: dict[str, str] = {}
        for url in pages:
            self._by_key.setdefault(address_key(url), url)
        self._plain: dict[str, str] = {}
        self._stated: dict[str, Statements] = {}

    def has(self, url: str) -> bool:
        return address_key(url) in self._by_key

    def check(self, quote: QuoteInReport, among: Iterable[str]) -> CheckedQuote:
        ascribed = self._named(quote.urls)
        own, difference = self._first(quote, ascribed)
        found = [own] if own else [url for url in among if self._quoted(url, quote) == ""]
        verdict = QuoteVerdict.MISSING
        if found:
            is_right = bool(own) or not quote.urls
            verdict = QuoteVerdict.SUPPORTED if is_right else QuoteVerdict.MISATTRIBUTED
            difference = ""
        else:
            candidates = ascribed or tuple(among)[:_MOST_FOUND]
            difference = difference or next(
                filter(None, (_nearest(self._statements(url), quote) for url in candidates)), ""
            )
            if difference:
                verdict = QuoteVerdict.ALTERED
        url = own or next(iter(quote.urls), "")
        if url.startswith("["):
            url, difference = "", "; ".join(filter(None, (f"{url} is not defined", difference)))
        return CheckedQuote(
            text=quote.text,
            url=url,
            line=quote.line,
            verdict=verdict,
            found_in=tuple(found[:_MOST_FOUND]),
            difference=difference,
        )

    def check_claim(self, claim: ClaimInReport) -> CheckedQuote | None:
        """Check a sentence; `None` if it says nothing besides its quotes."""
        findings = [
            (url, self._statements(url).check(claim.text, is_rest=claim.is_rest))
            for url in self._named(claim.urls)
        ]
        if claim.is_rest and not any(found for _, found in findings):
            return None
        unread = "", Comparison(QuoteVerdict.NOT_CHECKED, "the page is not kept")
        known = [(url, found) for url, found in findings if found]
        order = list(QuoteVerdict)
        url, finding = min(known, key=lambda each: order.index(each[1].verdict), default=unread)
        is_supported = finding.verdict is QuoteVerdict.SUPPORTED
        return CheckedQuote(
            text=claim.text,
            url=url or claim.urls[0],
            line=claim.line,
            verdict=finding.verdict,
            found_in=(url,) if is_supported else (),
            difference=finding.difference,
        )

    def _named(self, urls: Sequence[str]) -> tuple[str, ...]:
        return tuple(self._by_key[key] for key in map(address_key, urls) if key in self._by_key)

    def _first(self, quote: QuoteInReport, urls: Sequence[str]) -> tuple[str, str]:
        """Return the first page that contains a quote, else how the last one alters it."""
        difference = ""
        for url in urls:
            found = self._quoted(url, quote)
            if found == "":
                return url, ""
            difference = found or difference
        return "", difference

    def _statements(self, url: str) -> Statements:
        if url not in self._stated:
            self._stated[url] = Statements(self._pages.get(url, ""))
        return self._stated[url]

    def _quoted(self, url: str, quote: QuoteInReport) -> str | None:
        """Explain how a page with the words of a quote negates it; empty if it does not, `None` if it lacks the words."""
        if url not in self._plain:
            self._plain[url] = normalised(self._pages.get(url, ""))
        text = self._plain[url]
        difference: str | None = None
        for start, end in _places(text, quote.parts[0], 0, len(text)):
            found = _joined(text, quote, start, end)
            if found == "":
                return ""
            difference = found or difference
        return difference


def _nearest(page: Statements, quote: QuoteInReport) -> str:
    """Describe how the most similar passage of a page differs from a quote; empty if none is similar."""
    text = " ".join(quote.parts)
    wanted = text.split()
    bare = _bare(wanted)
    if len(wanted) > _LONGEST_QUOTE or len(set(bare)) * 2 < len(bare):
        return ""  # repetitive text takes too long to compare
    best, found = _ALIKE, ""
    for passage in page.passages(text):
        there = passage.split()[:_LONGEST_QUOTE]
        matcher = SequenceMatcher(None, _bare(there), bare, autojunk=False)
        share = sum(block.size for block in matcher.get_matching_blocks()) / len(wanted)
        if share > best:
            best = share
            found = _differences(matcher, there, wanted) or f"page: “{shortened(passage)}”"
    return found


def _bare(words: Sequence[str]) -> list[str]:
    return [folded(word).strip(_AROUND_WORDS) for word in words]


def _differences(matcher: SequenceMatcher[str], there: Sequence[str], wanted: Sequence[str]) -> str:
    """Return the first differences, except before and after the quote."""
    codes = matcher.get_opcodes()
    while codes and codes[0][0] == "delete":
        codes = codes[1:]
    while codes and codes[-1][0] == "delete":
        codes = codes[:-1]
    changes = [
        f"“{' '.join(wanted[low:high]) or '…'}”, page: “{shortened(' '.join(there[start:end])) or 'nothing'}”"
        for kind, start, end, low, high in codes
        if kind != "equal"
    ]
    return "; ".join(changes[:MOST_SHOWN])


def _joined(text: str, quote: QuoteInReport, start: int, end: int) -> str | None:
    """Explain how a page negates a quote whose first part is at a position; see `_Pages._quoted`."""
    skipped = ""
    for part in quote.parts[1:]:
        within = text[end : end + _LEFT_OUT + len(part)]
        stop = end + min(next(sentence_ends(within), len(within)), len(within.partition(";")[0]))
        place = next(iter(_places(text, part, end, stop)), None)
        if place is None:
            return None
        skipped = skipped or negation_in(text[end : place[0]], NEGATIONS | CONTRASTS)
        end = place[1]
    if skipped:
        return f"leaves out “{skipped}”"
    before = " ".join(_clause(text[max(0, start - _AROUND) : start]).split()[-_WORDS_AROUND:])
    denied = negation_in(before, DENIALS)
    if denied and not negation_in(quote.before, DENIALS):
        return f"the page has “{denied}” before it"
    if not quote.text.endswith(_ENDED) and text[end : end + 1] not in _ENDS:
        for word in text[end : end + _AROUND].split()[:2]:
            if word.strip(_STOPS).lower() in EXCEPTIONS:
                return f"the page goes on with “{word.strip(_STOPS)}”"
    return ""


def _clause(text: str) -> str:
    """Return the last clause of a text."""
    for at in range(len(text) - 1, -1, -1):
        if text[at] in _STOPS and text[at + 1 : at + 2].isspace():
            return text[at + 1 :]
    return text


def _places(text: str, part: str, low: int, high: int) -> Iterable[tuple[int, int]]:
    """Yield the spans of whole-word matches of a part that begin before `high`.

    Its first letter may have the other case, as at the start of a sentence.
    """
    for form in dict.fromkeys((part, part[0].swapcase() + part[1:])):
        at = low
        for _ in range(_TRIES):
            at = text.find(form, at, high + len(form))
            if at < 0:
                break
            if not (_is_torn(text, at) or _is_torn(text, at + len(form))):
                yield at, at + len(form)
            at += 1


def _is_torn(text: str, at: int) -> bool:
    """Return whether a cut would split a word or a figure, or separate it from its sign."""
    left, right = text[max(0, at - 1) : at], text[at : at + 1]
    if not (left and right):
        return False
    if _is_signed(text, at) or (left.isalnum() and right in _BEHIND_FIGURE | _BOUND):
        return True
    if "_" in {left, right}:
        return left.isalnum() or right.isalnum() or left == right
    sign = left if left in _INNER else right if right in _INNER else ""
    if not sign:
        return left.isalnum() and right.isalnum() and max(left, right) < SPACELESS
    around = (
        (text[max(0, at - 2) : at - 1], right) if sign == left else (left, text[at + 1 : at + 2])
    )
    can_be = {"-": str.isalnum, "'": str.isalpha}.get(sign, str.isdigit)
    return all(map(can_be, around))


def _is_signed(text: str, at: int) -> bool:
    """Return whether a figure follows a cut, and its sign precedes it."""
    before = text[max(0, at - 2) : at]
    return text[at].isdecimal() and (
        before[-1] in _BOUND | _SIGNS or (before[-1] == " " and before[0] in _BOUND)
    )
