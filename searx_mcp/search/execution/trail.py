"""What one search has tried so far."""

import asyncio
from dataclasses import dataclass, field

from searx_mcp.models.attempt import Attempt
from searx_mcp.models.service import Progress
from searx_mcp.pool.outcome import Outcome

TOO_LATE = 0.1
"""With less time left, in seconds, an attempt cannot come to anything."""


@dataclass(slots=True)
class Trail:
    """The way of one search through the pool.

    Attributes:
        deadline: loop time by which everything ends.
        progress: told each step.
        attempts: every request made, in order.
        asked: base URLs of the instances that were searched.
        unsearched: base URLs of those found to be down before a search was spent on them.
        side_by_side: how many of those asked were asked at once; they count as one.
        passed_over: base URLs whose budget is spent.
        overtaken: base URLs whose request is given up because its hedge has answered.
        held: failures that may be this machine's: reported once another host has been reached.
        queued_behind: how many searches kept the last request to an own instance from leaving.
        budget_retry_at: Unix seconds at which the first spent budget has room again, or `None`.
        knows_budgets: whether the spent ones have been passed over.
    """

    deadline: float
    progress: Progress | None = None
    attempts: list[Attempt] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    unsearched: set[str] = field(default_factory=set)
    side_by_side: int = 1
    passed_over: set[str] = field(default_factory=set)
    overtaken: set[str] = field(default_factory=set)
    held: list[tuple[str, Outcome]] = field(default_factory=list)
    queued_behind: int = 0
    budget_retry_at: float | None = None
    knows_budgets: bool = False

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - asyncio.get_running_loop().time()

    @property
    def is_late(self) -> bool:
        """Whether another attempt makes no sense."""
        return self.left <= TOO_LATE

    @property
    def excluded(self) -> set[str]:
        """Base URLs of those that must not be asked now."""
        return self.asked | self.unsearched | self.passed_over

    def give_up(self, url: str) -> None:
        """`url` is not searched, and not asked again for this search."""
        self.asked.discard(url)
        self.unsearched.add(url)

    def pass_over(self, url: str, free_at: float | None) -> None:
        """`url` may not be asked, by its budget until `free_at`: it counts as not asked."""
        self.asked.discard(url)
        self.passed_over.add(url)
        known = [at for at in (self.budget_retry_at, free_at) if at is not None]
        self.budget_retry_at = min(known, default=None)

    def forget_budgets(self) -> None:
        """Time has passed: whoever had nothing left may have now."""
        self.passed_over.clear()
        self.budget_retry_at = None
        self.knows_budgets = False

    def say(self, message: str) -> None:
        """Tell a step to whoever follows the search."""
        if self.progress is not None:
            self.progress(message)

    def add(self, url: str, outcome: Outcome) -> Attempt:
        """Note what a request came to."""
        attempt = outcome.attempt(url)
        self.attempts.append(attempt)
        self.say(f"{url}: {outcome.verdict.replace('_', ' ')}")
        return attempt
