"""What a body was read as, before anybody judges the attempt."""

from dataclasses import dataclass
from enum import StrEnum

from searx_mcp.models.hits import ResultPage


class BodyKind(StrEnum):
    """What kind of thing a body is."""

    RESULTS = "results"
    """A result page, with or without results."""
    SEARCH_ERROR = "search_error"
    """SearXNG says that it could not search."""
    HOME = "home"
    """SearXNG's start page: the query was taken from the request."""
    MALFORMED = "malformed"
    """Neither readable nor plainly something else."""
    FOREIGN = "foreign"
    """A readable answer of some other program."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A body as a parser read it.

    Attributes:
        kind: what it is.
        page: the result page; present exactly for `BodyKind.RESULTS`.
        detail: what is wrong, one sentence for a person; never text of the instance.
    """

    kind: BodyKind
    page: ResultPage | None = None
    detail: str = ""
