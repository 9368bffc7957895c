"""What one attempt came to, as the pool learns it."""

from dataclasses import dataclass

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.hits import ResultPage


@dataclass(frozen=True, slots=True)
class Outcome:
    """One attempt's result; expected failures are values here, never exceptions.

    Attributes:
        verdict: what it came to.
        format: the format asked for.
        elapsed: seconds from the request to the last byte or the failure.
        status_code: the HTTP status, or `None` if there was no answer.
        page: what was parsed; present when the answer could be read as a result page.
        retry_after: seconds the host asked us to wait, already clamped, or `None`.
        detail: one short sentence for a person; never the query.
        offence: why the answer counts against the instance although it may be used, a sentence for
            a person; empty if nothing does.
        ours: whether the failure is on our side of the network, and says nothing about the instance.
    """

    verdict: Verdict
    format: Format
    elapsed: float
    status_code: int | None = None
    page: ResultPage | None = None
    retry_after: float | None = None
    detail: str = ""
    offence: str = ""
    ours: bool = False

    @property
    def rows_seen(self) -> int:
        """How many rows the answer had."""
        return self.page.rows_seen if self.page else 0

    @property
    def rows_used(self) -> int:
        """How many of them could be used."""
        return len(self.page.hits) if self.page else 0

    @property
    def has_drifted(self) -> bool:
        """Whether there were rows and none could be used: the markup is not the one we know."""
        return self.rows_seen > 0 and not self.rows_used
