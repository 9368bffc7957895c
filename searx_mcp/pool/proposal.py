"""One attempt: the instance, the request and the outcome."""

from dataclasses import dataclass

from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import ResultPage
from searx_mcp.models.request import TimeRange


@dataclass(frozen=True, slots=True)
class InstanceQuery:
    """A query to one instance.

    Attributes:
        text: the query, already neutralised.
        category: SearXNG's name of the category.
        engines: SearXNG's names of the engines to ask instead of the category's; an instance needs only
            one of them.
        language: `all`, `auto`, two letters, or a region such as `en-US`.
        safe_search: 0 off, 1 moderate, 2 strict; always sent, since defaults differ.
        time_range: the age of the results.
        page: the 1-based number of the result page.
    """

    text: str
    category: str = "general"
    engines: tuple[str, ...] = ()
    language: str = "en"
    safe_search: int = 1
    time_range: TimeRange = TimeRange.ANY
    page: int = 1


@dataclass(frozen=True, slots=True)
class Proposal:
    """The instance to ask next, and how.

    Attributes:
        url: its base URL.
        own: whether it is an own instance.
        format: the format to ask for.
        is_unlimited: whether it is known to count no requests, so that it may be hedged.
        is_trial: whether this is a trial after a cooldown.
        is_doubted: whether it is own and its last request failed.
        is_proven: whether it has ever answered a search.
        robots_known: whether its robots.txt was read recently.
        engines: the engines to name; empty if the instance or the caller chooses.
    """

    url: str
    own: bool
    format: Format
    is_unlimited: bool
    is_trial: bool
    is_doubted: bool
    is_proven: bool
    robots_known: bool
    engines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one attempt; expected failures are values here, never exceptions.

    Whoever reads an answer sets what it says; whoever sent the request adds format, time and status.

    Attributes:
        verdict: of the attempt.
        format: the requested format.
        elapsed: seconds from the request to the last byte or the failure.
        status_code: the HTTP status, or `None` if there was no answer.
        page: the parsed answer; present if it could be parsed as a result page.
        retry_after: seconds the host asked us to wait, already clamped, or `None`.
        detail: one short sentence for a person; never the query.
        trust_violation: why the answer counts against the instance although it may be used, a sentence for a
            person; empty if it does not.
        ours: whether the failure is ours, on our side of the network or in what we sent, and says nothing
            about the instance.
    """

    verdict: Verdict
    format: Format = Format.HTML
    elapsed: float = 0.0
    status_code: int | None = None
    page: ResultPage | None = None
    retry_after: float | None = None
    detail: str = ""
    trust_violation: str = ""
    ours: bool = False

    def attempt(self, url: str, *, source: str = "") -> Attempt:
        """Return the attempt for reports and errors.

        Args:
            url: of the instance, or the address of the open source.
            source: name of the open source; empty for an instance.
        """
        page = self.page or ResultPage()
        return Attempt(
            instance=url,
            verdict=self.verdict,
            format=self.format,
            status_code=self.status_code,
            elapsed_ms=round(self.elapsed * 1_000),
            detail=self.trust_violation or self.detail,
            rows_seen=page.rows_seen,
            rows_used=len(page.hits),
            source=source,
        )

    def is_about_format(self, *, own: bool) -> bool:
        """Return whether it refuses only JSON, so that the same instance may still serve pages.

        SearXNG's limiter counts JSON requests separately. An own instance is asked for pages then; a public
        one that limits us is left alone.
        """
        if self.verdict is Verdict.JSON_OFF:
            return True
        return own and self.verdict is Verdict.RATE_LIMITED and self.format is Format.JSON

    @property
    def answer(self) -> ResultPage | None:
        """The page that can end a search; `None` unless it can."""
        return (self.page or ResultPage()) if self.verdict.ends_search else None

    @property
    def has_drifted(self) -> bool:
        """Whether there were rows and none could be used: the markup has changed."""
        return self.page is not None and self.page.rows_seen > 0 and not self.page.hits
