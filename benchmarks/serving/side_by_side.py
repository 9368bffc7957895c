"""Two servers that get the same calls on the same instances, one call of each in turn."""

import json
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Final, TextIO

from mcp.types import Tool

from benchmarks.serving.peer import Answered, Kind, Peer, PeerError, Use, open_peer, use_of
from benchmarks.serving.site import MARKER, Site
from benchmarks.serving.trouble import Instances

_ROWS: Final = 3
"""Results, at least, that a search must have; every instance in order has 20."""


@dataclass(frozen=True, slots=True)
class Command:
    """How a server is started, with placeholders for what it is given.

    Attributes:
        name: for a table.
        words: the program and its arguments.
        environ: variables.
        uses: how its tools are called, if that is known.
        names: of tools; those that are missing are guessed.
        separator: between the addresses of `{instances}`.
    """

    name: str
    words: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)
    uses: Mapping[Kind, Use] | None = None
    names: Mapping[Kind, str | None] = field(default_factory=dict)
    separator: str = ";"

    def filled(self, text: str, instances: Instances, site: Site) -> str:
        """A word or a value with the addresses in it."""
        for name, value in (
            ("{instances}", self.separator.join(instances.urls)),
            ("{instance}", instances.one),
            ("{site}", site.origin),
        ):
            text = text.replace(name, value)
        return text


@dataclass(slots=True)
class Run:
    """What became of the calls of one server in one world.

    Attributes:
        listed: its tools, as they are listed.
        first: seconds of the first call of each kind, which loads what is needed.
        answers: of each kind, those after the first.
        good: of each kind, how many had what they were made for.
        found: results of each search.
    """

    listed: list[dict[str, Any]] = field(default_factory=list)
    first: dict[Kind, float] = field(default_factory=dict)
    answers: dict[Kind, list[Answered]] = field(default_factory=lambda: {kind: [] for kind in Kind})
    good: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(Kind, 0))
    found: list[int] = field(default_factory=list)

    def add(self, kind: Kind, answer: Answered, site: Site) -> None:
        """Take in what came of a call."""
        said = f"{answer.text}\n{json.dumps(answer.data or '')}"
        if kind is Kind.SEARCH:
            rows = {*re.findall(rf"{re.escape(site.origin)}/hedges/\d+", said)}
            self.found.append(len(rows))
            has_it = len(rows) >= _ROWS
        else:
            has_it = MARKER in said
        self.answers[kind].append(answer)
        self.good[kind] += has_it and not answer.is_error

    def bad(self, kind: Kind) -> int:
        """How many calls had not what they were made for."""
        return len(self.answers[kind]) - self.good[kind]

    def median(self, kind: Kind) -> float:
        """The middle of the seconds that calls took."""
        return statistics.median(answer.seconds for answer in self.answers[kind])

    def percentile(self, kind: Kind, share: float) -> float:
        """The seconds within which a share of the calls ended."""
        seconds = sorted(answer.seconds for answer in self.answers[kind])
        return seconds[math.ceil(share * len(seconds)) - 1]


async def run_both(
    commands: Sequence[Command],
    instances: Instances,
    site: Site,
    *,
    kinds: Sequence[Kind],
    calls: int,
    errors: TextIO,
) -> dict[str, Run]:
    """Start the servers, call each once, let the faults begin, and call.

    Args:
        commands: of the servers.
        instances: that they are given.
        site: what is to be found and read.
        kinds: of calls.
        calls: of each kind; the first ones, before the faults, come on top.
        errors: a file for what the servers write to standard error.

    Raises:
        PeerError: one of them does not start, or has no tool to call.
    """
    runs: dict[str, Run] = {}
    async with AsyncExitStack() as stack:
        turns: list[tuple[Run, Peer, dict[Kind, Use]]] = []
        for command in commands:
            words = [command.filled(word, instances, site) for word in command.words]
            environ = {
                name: command.filled(value, instances, site)
                for name, value in command.environ.items()
            }
            peer = await stack.enter_async_context(open_peer(words, environ, errors))
            run = runs[command.name] = Run([_json(tool) for tool in peer.tools])
            uses = _uses(command, peer)
            for kind, use in uses.items():
                run.first[kind] = (await peer.call(use, _asked(kind, site))).seconds
            turns.append((run, peer, uses))
        instances.break_down()
        for number in range(calls):
            for kind in kinds:
                # Who begins changes, so that nobody has the other's busy moment each time.
                for run, peer, uses in turns[:: 1 if number % 2 else -1]:
                    if kind in uses:
                        run.add(kind, await peer.call(uses[kind], _asked(kind, site, number)), site)
    return runs


def _uses(command: Command, peer: Peer) -> dict[Kind, Use]:
    if command.uses is not None:
        return {**command.uses}
    found = {kind: use_of(kind, peer.tools, command.names.get(kind)) for kind in Kind}
    uses = {kind: use for kind, use in found.items() if use}
    if not uses:
        raise PeerError("No tool searches or reads: name one with --search-tool or --fetch-tool.")
    return uses


def _asked(kind: Kind, site: Site, number: int | None = None) -> str:
    """What a call is made for: a query or a page that no other call has, or the first of its kind."""
    if kind is Kind.SEARCH:
        return "hedges" if number is None else f"hedges of plot {number}"
    return site.article if number is None else site.rows[number].url


def _json(tool: Tool) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(tool.model_dump_json(by_alias=True, exclude_unset=True))
    return said
