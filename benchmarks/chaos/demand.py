"""Who searches when: sessions over a month, and what came of their searches."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.chaos.clients import Answer, Client
from benchmarks.chaos.hosts import SPEED, FastClock

_AT_ONCE: Final = 8
_REPEATED: Final = 0.1
"""Share of the searches that repeat one of the last five."""
_TOPICS: Final = ("asyncio cancellation", "sliding windows", "tide tables", "bread without yeast")


@dataclass(frozen=True, slots=True)
class Session:
    """A time of searching.

    Attributes:
        day: of the month on which it begins, from 0.
        seconds: how long searches arrive, on the fast clock.
        rate: searches in ten minutes.
    """

    day: float
    seconds: float
    rate: float

    @property
    def searches(self) -> int:
        """How many there are."""
        return round(self.rate * self.seconds / 600)


@dataclass(frozen=True, slots=True)
class Searched:
    """One search.

    Attributes:
        seconds: real time from when it was wanted to its end, waiting for a free place included.
        answer: what came of it, or `None`.
    """

    seconds: float
    answer: Answer | None


async def search_through(
    sessions: Sequence[Session], client: Client, clock: FastClock, rng: random.Random
) -> list[Searched]:
    """Let every session's searches arrive at random times, at most eight of them at once."""
    done: list[Searched] = []
    places = asyncio.Semaphore(_AT_ONCE)
    texts: list[str] = []

    async def search(text: str, wanted_at: float) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.sleep(wanted_at - loop.time())
        async with places:
            answer = await client.search(text)
        done.append(Searched(loop.time() - wanted_at, answer))

    for session in sessions:
        clock.skip_to(session.day)
        began = asyncio.get_running_loop().time()
        offsets = sorted(rng.uniform(0, session.seconds) for _ in range(session.searches))
        async with asyncio.TaskGroup() as group:
            for offset in offsets:
                texts.append(_text(texts, rng))
                group.create_task(search(texts[-1], began + offset / SPEED))
    return done


def _text(before: Sequence[str], rng: random.Random) -> str:
    if before and rng.random() < _REPEATED:
        return rng.sample(before[-5:], 1)[0]
    return f"{rng.sample(_TOPICS, 1)[0]} {len(before)}"
