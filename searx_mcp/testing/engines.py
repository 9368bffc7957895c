"""Engines of a fake instance."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FakeEngine:
    """An engine inside a fake instance, as its `/config` lists it.

    Attributes:
        name: as a search asks for it.
        categories: those it belongs to.
        enabled: whether it is asked for searches in its categories.
        time_range: whether it can search a time range.
        paging: whether it has further pages.
        timeout: seconds for which the instance waits for it.
    """

    name: str
    categories: tuple[str, ...] = ("general",)
    enabled: bool = True
    time_range: bool = True
    paging: bool = True
    timeout: float = 3.0

    def takes(self, category: str, *, time_range: bool, page: int) -> bool:
        """Whether it is asked for such a search; upstream leaves out engines that cannot do it."""
        return (
            self.enabled
            and category in self.categories
            and (self.time_range or not time_range)
            and (self.paging or page == 1)
        )
