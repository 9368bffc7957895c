"""Engines inside an instance, and searches there: which fail, which are left, what the pool believes."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from searx_mcp.content.clean import clean_line
from searx_mcp.errors import SearxMcpError
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.instance import EngineReport, InstanceReport
from searx_mcp.models.request import Category
from searx_mcp.ops.doctor.checks import (
    Check,
    CheckName,
    CheckStatus,
    Finding,
    broken,
    doubtful,
    fine,
    skipped,
)
from searx_mcp.ops.doctor.instance import ExaminedInstance
from searx_mcp.pool.engine_care import LEAST, Trouble
from searx_mcp.sources.searxng.answers import FailingEngine, failing_engines
from searx_mcp.sources.searxng.request import WAY_BACK

_SHOWN: Final = 6
_PROPOSED: Final = 3
_MAX_NAME: Final = 60
_MAX_ENGINES: Final = 1_000
_PLAIN: Final = re.compile(r"[A-Za-z][\w. -]*\w")
_CATEGORIES: Final = frozenset(Category)
"""Categories that a search can name; `/config` also lists groups inside these, such as `web` and
`wikimedia`."""
_SETTABLE: Final = frozenset({Trouble.REFUSES, Trouble.SLOW})
"""Failures that the settings of an instance can fix."""
_ELSEWHERE: Final = "Nothing to do: when engines fail, a search goes on to the next instance."
_MEASURED: Final = frozenset({CheckName.HEALTHZ, CheckName.JSON})
"""Checks of everything a search needs, as far as possible without one: connection, program, limiter."""
_MINUTE: Final = 60

_SHOWN_BY_JSON: Final = frozenset(
    {
        Verdict.JSON_OFF,
        Verdict.RATE_LIMITED,
        Verdict.BLOCKED,
        Verdict.CHALLENGE,
        Verdict.REFUSED,
        Verdict.NOT_SEARXNG,
        Verdict.FOREIGN_REDIRECT,
        Verdict.TLS,
        Verdict.DNS,
        Verdict.CONNECTION,
    }
)
"""Verdicts that the check of JSON would also have found: it requests the same address."""


@dataclass(frozen=True, slots=True)
class ListedEngine:
    """An engine in the list of `/config`."""

    name: str
    enabled: bool
    categories: tuple[str, ...]
    timeout: float | None = None


@dataclass(slots=True)
class Engines:
    """Checks the engines of one instance.

    Attributes:
        instance: the instance.
        failing: those in `/stats/errors`.
    """

    instance: ExaminedInstance
    failing: tuple[FailingEngine, ...] = ()

    async def check_errors(self) -> Finding:
        """Ask which engines fail."""
        try:
            received = await self.instance.get("stats/errors")
        except SearxMcpError as exc:
            return skipped(f"It cannot be read: {exc.message}")
        found = None
        if received.status == HTTPStatus.OK:
            found = failing_engines(received.body.decode("utf-8-sig", "replace"))
        if found is None:
            return skipped(f"The instance does not say (status {received.status}).")
        self.failing = found
        if not found:
            return fine("No engines are failing.")
        named = [f"{each.name} ({each.reason})" for each in found]
        return doubtful(f"Failing engines: {shortened(named)}.", self._fix())

    async def check_working(self) -> Finding:
        """Count the engines that are left, according to the checks so far."""
        listed = listed_engines(self.instance.config)
        if not listed:
            return skipped("Its /config does not list them.")
        failing = {each.name for each in self.failing}
        enabled = [each for each in listed if each.enabled]
        left = Counter(
            category
            for each in enabled
            for category in each.categories
            if category in _CATEGORIES and each.name not in failing
        )
        bare = {name for each in enabled for name in each.categories} & _CATEGORIES - {*left}
        general = [each for each in listed if "general" in each.categories]
        count = sum(each.enabled for each in general)
        if not left["general"]:
            said = (
                f"All {count} general engines fail." if count else "There are no general engines."
            )
            return broken(said, self._replacement(general, failing))
        shown = ", ".join(f"{name} {count}" for name, count in left.most_common())
        none = f"; none for {', '.join(sorted(bare))}" if bare else ""
        return fine(f"Working engines: {shown}{none}.")

    def _fix(self) -> str:
        if not self.instance.is_own:
            return _ELSEWHERE
        troubles = {each.trouble for each in self.failing}
        if troubles.isdisjoint(_SETTABLE):
            if Trouble.UNREACHED in troubles:
                return "Check the instance's network: its name server, firewall and proxy."
            return "Update SearXNG: engines must keep up with changes to the sites they read."
        sentence = (
            "In the instance's settings.yml, remove engines that refuse"
            " it and give slow ones more time; then restart it."
        )
        lines = [sentence, "engines:"]
        timeouts = {each.name: each.timeout for each in listed_engines(self.instance.config)}
        for each in self.failing:
            if each.trouble in _SETTABLE:
                remedy = self._remedy(each, timeouts.get(each.name))
                lines += [f"  - name: {_yaml(each.name)}", f"    {remedy}"]
        return "\n".join(lines)

    def _remedy(self, engine: FailingEngine, timeout: float | None) -> str:
        """Return the setting that helps: more time only as far as a search waits for it."""
        most = math.floor(10 * (self.instance.time_limit - WAY_BACK)) / 10
        if engine.trouble is Trouble.SLOW and timeout is not None and timeout < most:
            return f"timeout: {most}"
        return "disabled: true"

    def _replacement(self, general: Sequence[ListedEngine], failing: Iterable[str]) -> str:
        if not self.instance.is_own:
            return _ELSEWHERE
        spare = [each.name for each in general if not each.enabled and each.name not in {*failing}]
        if not spare:
            return (
                "Start the instance's settings.yml with SearXNG's own"
                " engines and restart it.\nuse_default_settings: true"
            )
        lines = [
            "Turn on others in the instance's settings.yml and restart it.",
            "engines:",
        ]
        for name in spare[:_PROPOSED]:
            lines += [f"  - name: {_yaml(name)}", "    disabled: false"]
        return "\n".join(lines)


def is_well(checks: Sequence[Check]) -> bool:
    """Return whether the instance was found to accept searches."""
    done = {check.name for check in checks if check.status is CheckStatus.OK}
    return done >= _MEASURED


def check_belief(row: InstanceReport, checks: Sequence[Check]) -> Finding:
    """Compare what the pool believes with the checks.

    Args:
        row: what the pool knows of the instance.
        checks: of the instance.
    """
    well = is_well(checks)
    if row.retry_after > 0:
        waits = f"In cooldown for {_wait(row.retry_after)}: {row.reason}"
        if well:
            return fine(f"{waits} All checks pass now, so searches use it again.")
        return broken(
            waits, "Fix the failed check above; when all checks pass, the doctor ends the cooldown."
        )
    return _last_search(row, row.last_verdict, well=well)


def check_searches(engines: Sequence[EngineReport]) -> Finding:
    """Report which engines return results, and which rest and why.

    Args:
        engines: those with most results first.
    """
    bringing = [each for each in engines if each.results]
    resting = [each for each in engines if each.retry_after]
    results = shortened([f"{each.name} {each.results}" for each in bringing])
    said = [f"Results come from {results or 'no engine yet'}."]
    if resting:
        named = [f"{each.name} ({each.reason})" for each in resting]
        said.append(f"In cooldown: {shortened(named)}.")
    if any(each.spared for each in engines):
        said.append("Searches use the others.")
    well = [each for each in bringing if not each.retry_after]
    if resting and len(well) < LEAST:
        return doubtful(
            " ".join(said),
            f"Turn on more engines: searches can only avoid failing ones if at least {LEAST} work.",
        )
    return fine(" ".join(said))


def listed_engines(text: str) -> tuple[ListedEngine, ...]:
    """Parse the engines of `/config`; empty if it lists none."""
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    listed = document.get("engines") if isinstance(document, dict) else None
    engines = []
    for each in listed[:_MAX_ENGINES] if isinstance(listed, list) else []:
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            named, timeout = each.get("categories"), each.get("timeout")
            names = named if isinstance(named, list) else []
            categories = [name for name in names if isinstance(name, str)]
            engines.append(
                ListedEngine(
                    name=clean_line(each["name"], _MAX_NAME),
                    enabled=each.get("enabled") is not False,
                    categories=tuple(clean_line(name, _MAX_NAME) for name in categories),
                    timeout=float(timeout) if isinstance(timeout, int | float) else None,
                )
            )
    return tuple(engines)


def _last_search(row: InstanceReport, verdict: Verdict | None, *, well: bool) -> Finding:
    if verdict is None:
        return fine("Not searched yet.")
    if verdict.ends_search:
        return fine(f"It is {row.state.replace('_', ' ')}: the last search there was answered.")
    said = f"The last search there failed: {row.last_detail or verdict}"
    fix = f"Try a search there.\nsearx-mcp instances test {row.url} tea"
    if well and verdict in _SHOWN_BY_JSON:
        return fine(f"{said} All checks pass now.")
    if verdict is Verdict.OVERTAKEN:
        return doubtful("Too slow: another instance answered the last search first.", fix)
    return broken(said, fix)


def _wait(seconds: float) -> str:
    """Return whole units, rounded up."""
    if seconds <= 2 * _MINUTE:
        return f"{max(1, round(seconds))} s"
    return f"{-(-seconds // _MINUTE):.0f} min"


def shortened(names: Sequence[str]) -> str:
    """Return the first names of a list, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _yaml(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else json.dumps(name)
