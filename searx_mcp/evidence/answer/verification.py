"""Whether kept pages have what a report quotes, says and links.

A quote is in a page letter by letter, after `citations.normalised`, or it is not; where it leaves something out, its
parts stand in one sentence, in order, and nothing that denies is left out. What a sentence with a link says is compared
with the sentences of that page, as `statements` does.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from searx_mcp.content.sentences import sentence_ends
from searx_mcp.content.words import CONTRASTS, DENIALS, EXCEPTIONS, NEGATIONS
from searx_mcp.evidence.answer.citations import normalised
from searx_mcp.evidence.answer.report import (
    SPACELESS,
    ClaimInReport,
    QuoteInReport,
    Report,
    address_key,
    read_report,
)
from searx_mcp.evidence.answer.statements import Finding, Statements, negation_in
from searx_mcp.evidence.checked import CheckedQuote, QuoteVerdict, VerifyReport

_MOST_FOUND: Final = 3
_TRIES: Final = 50
"""Places of a page at which a part of a quote is looked at, if it begins or ends inside a word there."""
_LEFT_OUT: Final = 1_000
"""Code points that an ellipsis stands for at most."""
_AROUND: Final = 40
"""Code points before and behind a quote that can deny it."""
_WORDS_AROUND: Final = 3
_INNER: Final = frozenset(".,'-")
"""Signs inside figures, and those inside words."""
_BOUND: Final = frozenset("<>≤≥~≈±$€£¥")
"""Signs before figures, also with a space between."""
_STOPS: Final = ".!?;:,()"
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
    """Say of each quote, sentence and link of a report whether kept pages have it.

    Args:
        report: or its text, for `read_report`.
        pages: the Markdown of kept pages by address: those that the report names and those that may have
            its quotes. A page may be there under several addresses. Linear in their length for each quote.
        among: the addresses of the pages that may have a quote, best first; all unless given.

    Raises:
        InvalidArgumentError: as `read_report` does.
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
    """Kept pages, as they are compared."""

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
                filter(None, (self._near(url, quote) for url in candidates)), ""
            )
            if difference:
                verdict = QuoteVerdict.ALTERED
        return CheckedQuote(
            text=quote.text,
            url=own or next(iter(quote.urls), ""),
            line=quote.line,
            verdict=verdict,
            found_in=tuple(found[:_MOST_FOUND]),
            difference=difference,
        )

    def check_claim(self, claim: ClaimInReport) -> CheckedQuote | None:
        """Check a sentence; `None` if it says nothing beside its quotes."""
        findings = [
            (url, self._statements(url).check(claim.text, is_rest=claim.is_rest))
            for url in self._named(claim.urls)
        ]
        if claim.is_rest and not any(found for _, found in findings):
            return None
        unread = "", Finding(QuoteVerdict.NOT_CHECKED, "the page is not kept")
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
        """The first page that has a quote, else how the last one alters it."""
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

    def _near(self, url: str, quote: QuoteInReport) -> str:
        return self._statements(url).nearest(" ".join(quote.parts))

    def _quoted(self, url: str, quote: QuoteInReport) -> str | None:
        """Say how a page denies a quote whose words it has; empty if it does not, `None` if it has not."""
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


def _joined(text: str, quote: QuoteInReport, start: int, end: int) -> str | None:
    """The same for one place of its first part."""
    skipped = ""
    for part in quote.parts[1:]:
        within = text[end : end + _LEFT_OUT + len(part)]
        stop = end + min(next(sentence_ends(within), len(within)), *_semicolon(within))
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


def _semicolon(text: str) -> tuple[int]:
    at = text.find(";")
    return (len(text) if at < 0 else at,)


def _clause(text: str) -> str:
    """The last clause of a text."""
    for at in range(len(text) - 1, -1, -1):
        if text[at] in _STOPS and text[at + 1 : at + 2].isspace():
            return text[at + 1 :]
    return text


def _places(text: str, part: str, low: int, high: int) -> Iterable[tuple[int, int]]:
    """Where a part that begins before `high` stands as words of its own.

    Its first letter may be of the other case, as at the start of a sentence.
    """
    for form in dict.fromkeys((part, part[0].swapcase() + part[1:])):
        at = low
        for _ in range(_TRIES):
            at = text.find(form, at, high + len(form))
            if at < 0:
                break
            if _stands_alone(text, at, at + len(form)):
                yield at, at + len(form)
            at += 1


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not _is_torn(text, start) and not _is_torn(text, end)


def _is_torn(text: str, at: int) -> bool:
    """Tell whether a cut would tear a word or a figure, or take its sign from it."""
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
    """Tell whether a figure stands behind a cut, and its sign before it."""
    before = text[max(0, at - 2) : at]
    return text[at].isdecimal() and (
        before[-1] in _BOUND | _SIGNS or (before[-1] == " " and before[0] in _BOUND)
    )
