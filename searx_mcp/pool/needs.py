"""What a search needs of an instance."""

from dataclasses import dataclass

from searx_mcp.models.request import TimeRange


@dataclass(frozen=True, slots=True)
class Needs:
    """What the engines of an instance must be able to do.

    Attributes:
        category: SearXNG's name of it.
        time_range: the age of results asked for.
        page: the 1-based number of the result page.
        engines: engines asked for by name, one of which suffices; then the category is open.
    """

    category: str = "general"
    time_range: TimeRange = TimeRange.ANY
    page: int = 1
    engines: tuple[str, ...] = ()
