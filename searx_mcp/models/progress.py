"""Reports how far a call is."""

from typing import Protocol


class Progress(Protocol):
    """Receives what a call is doing; must return at once and must not raise."""

    def __call__(self, message: str, /) -> None:
        """Take one short sentence for a person; it never contains the query."""
        ...
