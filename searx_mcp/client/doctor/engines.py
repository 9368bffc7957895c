"""Checks of the engines inside an instance: which fail and why, which are left."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from searx_mcp.client.doctor.asking import Patient
from searx_mcp.client.doctor.course import Finding, broken, doubtful, fine, skipped
from searx_mcp.content.clean import clean_line
from searx_mcp.errors import SearxMcpError
from searx_mcp.searxng.engine_errors import FailingEngine, Trouble, failing_engines

_SHOWN: Final = 6
_PROPOSED: Final = 3
_MAX_NAME: Final = 60
_MAX_ENGINES: Final = 1_000
_PLAIN: Final = re.compile(r"[A-Za-z][\w. -]*\w")
_ELSEWHERE: Final = "Nothing here: a search goes on to the next instance when engines fail."


@dataclass(frozen=True, slots=True)
class ListedEngine:
    """An engine as `/config` lists it."""

    name: str
    enabled: bool
    categories: tuple[str, ...]


@dataclass(slots=True)
class Engines:
    """Looks at the engines of one instance.

    Attributes:
        patient: the instance.
        failing: those of `/stats/errors`.
    """

    patient: Patient
    failing: tuple[FailingEngine, ...] = ()

    async def check_errors(self) -> Finding:
        """Ask which engines fail."""
        try:
            received = await self.patient.get("stats/errors")
        except SearxMcpError as exc:
            return skipped(f"It cannot be read: {exc.message}")
        found = None
        if received.status == HTTPStatus.OK:
            found = failing_engines(received.body.decode("utf-8-sig", "replace"))
        if found is None:
            return skipped(f"The instance does not tell (status {received.status}).")
        self.failing = found
        if not found:
            return fine("No engine fails.")
        shown = [f"{each.name} ({each.reason})" for each in found[:_SHOWN]]
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        return doubtful(f"Engines that fail: {', '.join(shown)}{more}.", self._fix())

    async def check_working(self) -> Finding:
        """Count the engines that are left, from what is known by now."""
        listed = listed_engines(self.patient.config)
        if not listed:
            return skipped("Its /config does not list them.")
        failing = {each.name for each in self.failing}
        counts = Counter(
            category
            for each in listed
            for category in each.categories
            if each.enabled and each.name not in failing
        )
        general = [each for each in listed if "general" in each.categories]
        enabled = sum(each.enabled for each in general)
        if not counts["general"]:
            said = (
                f"All {enabled} engines of general fail." if enabled else "General has no engine."
            )
            return broken(said, self._replacement(general, failing))
        shown = ", ".join(f"{count} of {name}" for name, count in counts.most_common(_SHOWN))
        return fine(f"Left are {shown}.")

    def _fix(self) -> str:
        if not self.patient.is_own:
            return _ELSEWHERE
        troubles = {each.trouble for each in self.failing}
        if troubles == {Trouble.OTHER}:
            return "Update SearXNG: engines follow the changes of the sites they read."
        sentence = (
            "In the settings.yml of the instance, leave out those that refuse it, give slow ones"
            " time, and restart it."
        )
        lines = [sentence, "engines:"]
        for each in self.failing:
            if each.trouble is not Trouble.OTHER:
                remedy = "timeout: 10.0" if each.trouble is Trouble.SLOW else "disabled: true"
                lines += [f"  - name: {_yaml(each.name)}", f"    {remedy}"]
        return "\n".join(lines)

    def _replacement(self, general: Sequence[ListedEngine], failing: Iterable[str]) -> str:
        if not self.patient.is_own:
            return _ELSEWHERE
        spare = [each.name for each in general if not each.enabled and each.name not in {*failing}]
        if not spare:
            return (
                "Begin the settings.yml of the instance with the engines of SearXNG itself, and"
                " restart it.\nuse_default_settings: true"
            )
        lines = [
            "Switch others on in the settings.yml of the instance, and restart it.",
            "engines:",
        ]
        for name in spare[:_PROPOSED]:
            lines += [f"  - name: {_yaml(name)}", "    disabled: false"]
        return "\n".join(lines)


def listed_engines(text: str) -> tuple[ListedEngine, ...]:
    """Read the engines of `/config`; none if it lists none."""
    document = _json(text)
    listed = document.get("engines") if isinstance(document, dict) else None
    engines = []
    for each in listed[:_MAX_ENGINES] if isinstance(listed, list) else []:
        if isinstance(each, dict) and isinstance(each.get("name"), str):
            named = each.get("categories")
            names = named if isinstance(named, list) else []
            categories = [name for name in names if isinstance(name, str)]
            engines.append(
                ListedEngine(
                    name=clean_line(each["name"], _MAX_NAME),
                    enabled=each.get("enabled") is not False,
                    categories=tuple(clean_line(name, _MAX_NAME) for name in categories),
                )
            )
    return tuple(engines)


def _json(text: str) -> object:
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document


def _yaml(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else json.dumps(name)
