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
    """

    verdict: Verdict
    format: Format
    elapsed: float
    status_code: int | None = None
    page: ResultPage | None = None
    retry_after: float | None = None
    detail: str = ""
