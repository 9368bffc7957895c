"""Whether kept pages have what a report quotes and links.

A quote is in a page letter by letter, after `citations.normalised`, or it is not; where it leaves something out, its
parts stand there in order.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from searx_mcp.answer.citations import normalised
from searx_mcp.answer.report import SPACELESS, QuoteInReport, Report, address_key, read_report
from searx_mcp.models.evidence import CheckedQuote, QuoteVerdict, VerifyReport

_MOST_FOUND: Final = 3
_TRIES: Final = 50
"""Places of a page at which a part of a quote is looked at, if it begins or ends inside a word there."""
_INNER: Final = frozenset(".,'")
"""Signs inside figures, and the one inside words."""


def check_report(
    report: Report | str,
    pages: Mapping[str, str],
    *,
    among: Mapping[QuoteInReport, Sequence[str]] | None = None,
) -> VerifyReport:
    """Say of each quote and link of a report whether kept pages have it.

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
    )


class _Pages:
    """Kept pages, as they are compared."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self._pages = pages
        self._by_key: dict[str, str] = {}
        for url in pages:
            self._by_key.setdefault(address_key(url), url)
        self._plain: dict[str, str] = {}

    def has(self, url: str) -> bool:
        return address_key(url) in self._by_key

    def check(self, quote: QuoteInReport, among: Iterable[str]) -> CheckedQuote:
        ascribed = [
            self._by_key[key] for key in map(address_key, quote.urls) if key in self._by_key
        ]
        own = next((url for url in ascribed if self._holds(url, quote.parts)), "")
        found = [own] if own else [url for url in among if self._holds(url, quote.parts)]
        verdict = QuoteVerdict.MISSING
        if found:
            is_right = bool(own) or not quote.urls
            verdict = QuoteVerdict.SUPPORTED if is_right else QuoteVerdict.MISATTRIBUTED
        return CheckedQuote(
            text=quote.text,
            url=own or next(iter(quote.urls), ""),
            line=quote.line,
            verdict=verdict,
            found_in=tuple(found[:_MOST_FOUND]),
        )

    def _holds(self, url: str, parts: Sequence[str]) -> bool:
        if url not in self._plain:
            self._plain[url] = normalised(self._pages.get(url, ""))
        position = 0
        for part in parts:
            position = _behind(self._plain[url], part, position)
            if position < 0:
                return False
        return True


def _behind(text: str, part: str, position: int) -> int:
    """The end of the first place where a part stands as words of its own; -1 if it does nowhere.

    Its first letter may be of the other case, as at the start of a sentence.
    """
    ends = []
    for form in (part, part[0].swapcase() + part[1:]):
        at = position
        for _ in range(_TRIES):
            at = text.find(form, at)
            if at < 0:
                break
            if _stands_alone(text, at, at + len(form)):
                ends.append(at + len(form))
                break
            at += 1
    return min(ends, default=-1)


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not _is_torn(text, start) and not _is_torn(text, end)


def _is_torn(text: str, at: int) -> bool:
    """Tell whether a cut would tear a word or a figure."""
    left, right = text[max(0, at - 1) : at], text[at : at + 1]
    sign = left if left in _INNER else right if right in _INNER else ""
    if sign:
        around = (
            (text[max(0, at - 2) : at - 1], right)
            if sign == left
            else (left, text[at + 1 : at + 2])
        )
        return all(map(str.isalpha if sign == "'" else str.isdigit, around))
    return left.isalnum() and right.isalnum() and max(left, right) < SPACELESS
