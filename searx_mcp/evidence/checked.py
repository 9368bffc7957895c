"""A report checked against the corpus."""

from enum import StrEnum

from searx_mcp.models.base import Frozen


class QuoteVerdict(StrEnum):
    """The outcome of checking a quote, a sentence or a link."""

    SUPPORTED = "supported"
    """The cited page contains it; the page of a link is kept."""
    MISATTRIBUTED = "misattributed"
    """Another kept page contains it."""
    ALTERED = "altered"
    """The cited page says it in part: a word, figure, name or negation differs."""
    MISSING = "missing"
    """No kept page contains it; the page of a link is not kept."""
    NOT_CHECKED = "not checked"
    """It could not be compared, neither confirmed nor denied."""


class CheckedQuote(Frozen):
    """A quote, sentence or link in a report, and whether the corpus has it.

    Attributes:
        text: the quote or sentence on one line; empty for a link.
        url: the cited page, or the link; may be empty.
        line: line in the report, from 1.
        verdict: the outcome of the check.
        found_in: pages that contain it, at most three.
        difference: what differs from the page, or why it was not checked or has no page; empty if supported.
    """

    text: str = ""
    url: str = ""
    line: int
    verdict: QuoteVerdict
    found_in: tuple[str, ...] = ()
    difference: str = ""


class VerifyReport(Frozen):
    """A report checked against the corpus.

    Attributes:
        quotes: of the report, in order.
        links: each address once.
        sentences: with a link, and rows of tables with one, as far as they say more than their quotes.
    """

    quotes: tuple[CheckedQuote, ...] = ()
    links: tuple[CheckedQuote, ...] = ()
    sentences: tuple[CheckedQuote, ...] = ()
