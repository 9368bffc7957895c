"""How long the steps of a call took."""

import asyncio

from searx_mcp.models.evidence import Timing


class Stopwatch:
    """Adds up the time of each step, from one mark to the next, on the event loop's clock."""

    def __init__(self) -> None:
        """Start now."""
        self._started = self._last = asyncio.get_running_loop().time()
        self._spent: dict[str, float] = {}

    def mark(self, step: str, *, reranking: float = 0.0) -> None:
        """Count the time since the last mark for a step.

        Args:
            step: a field of `Timing`.
            reranking: milliseconds of it that count as reranking instead.
        """
        now = asyncio.get_running_loop().time()
        spent = (now - self._last) * 1_000 - reranking
        self._last = now
        for name, more in ((step, spent), ("reranking", reranking)):
            self._spent[name] = self._spent.get(name, 0.0) + more

    def timing(self) -> Timing:
        """Milliseconds of each step, and of all since the start."""
        total = (asyncio.get_running_loop().time() - self._started) * 1_000
        steps = {step: round(spent, 1) for step, spent in self._spent.items()}
        return Timing(total=round(total, 1), **steps)
