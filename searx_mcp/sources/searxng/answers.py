"""Readers of instances' answers: search results, and what instances report without a search.

`Upstream` passes a `Reader` to the code that parses an answer, here or in another process. In robots.txt only
rules with our name count: rules for all robots are for crawlers, and SearXNG's own robots.txt closes its
search to them; they say nothing about a person's search.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Final
from urllib.parse import urlencode, urlsplit

from yarl import URL

from searx_mcp.content.clean import clean_line
from searx_mcp.http.body import Response
from searx_mcp.http.robots import FETCHED_BYTES, RobotsRules, decode
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.pool.config_facts import ConfigFacts, parse_config
from searx_mcp.pool.engine_care import Trouble, trouble_of
from searx_mcp.sources.searxng.classify import (
    Judgement,
    judge,
    naming_engines,
)
from searx_mcp.sources.searxng.request import neutralise
from searx_mcp.sources.searxng.trust import distrust
from searx_mcp.workers.jobs import Job, Reader

MAX_SUGGESTIONS: Final = 20
_MAX_LENGTH: Final = 200
_MAX_BODY: Final = 262_144


def suggest_url(base_url: str, text: str) -> str:
    """Return the address of the suggestions for a text; its syntax is switched off as in a search."""
    return f"{base_url.rstrip('/')}/autocompleter?{urlencode({'q': neutralise(text)})}"


def parse_suggestions(body: bytes) -> tuple[str, ...]:
    """Parse the suggestions, in either of the two forms; never raises.

    Browsers get `["text", ["suggestion", ...], [], {}]` (OpenSearch), pages `["suggestion", ...]`.

    Args:
        body: the decoded answer.

    Returns:
        At most 20 suggestions, each once, on one line of at most 200 characters; empty if the body is
        something else.
    """
    if len(body) > _MAX_BODY:
        return ()
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    match answer:
        case [str(), list(found), *_]:
            pass
        case list(found):
            pass
        case _:
            return ()
    lines = (clean_line(text, _MAX_LENGTH) for text in found if isinstance(text, str))
    return tuple(dict.fromkeys(filter(None, lines)))[:MAX_SUGGESTIONS]


MOSTLY: Final = 50.0
"""Percent of failed requests from which an engine counts as failing; SearXNG counts in steps of 5."""

_MAX_NAME: Final = 60
_MAX_ENGINES: Final = 1_000


@dataclass(frozen=True, slots=True)
class FailingEngine:
    """An engine that mostly fails, according to `/stats/errors` since the instance was started."""

    name: str
    reason: str
    trouble: Trouble


def failing_engines(text: str) -> tuple[FailingEngine, ...] | None:
    """Parse `/stats/errors`: `{engine: [{exception_classname, log_message, percentage, secondary}]}`.

    Args:
        text: its JSON.

    Returns:
        The engines most of whose requests fail, by name; `None` if it is not such a document.
    """
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    found = []
    for engine, errors in sorted(document.items())[:_MAX_ENGINES]:
        worst = max(_primary(errors), key=_percentage, default=None)
        if worst is not None and _percentage(worst) >= MOSTLY:
            reason, trouble = _reason(worst)
            found.append(FailingEngine(clean_line(engine, _MAX_NAME), reason, trouble))
    return tuple(found)


def _primary(errors: object) -> list[dict[str, object]]:
    """Return the errors that ended a request; secondary ones are about single rows."""
    listed = errors if isinstance(errors, list) else []
    return [each for each in listed if isinstance(each, dict) and each.get("secondary") is not True]


def _percentage(error: dict[str, object]) -> float:
    value = error.get("percentage")
    return float(value) if isinstance(value, int | float) else 0.0


def _reason(error: dict[str, object]) -> tuple[str, Trouble]:
    name, message = (str(error.get(key) or "") for key in ("exception_classname", "log_message"))
    reason, trouble = trouble_of(f"{name} {message}")
    shown = reason or clean_line(message or name.rpartition(".")[2], _MAX_NAME)
    return shown or "unknown", trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceContext:
    """What a reader knows besides the answer.

    Attributes:
        base_url: the instance.
        own: whether it is an own instance, whose results are trusted.
        format: the requested format.
        text: the query text.
    """

    base_url: str
    own: bool = False
    format: Format = Format.HTML
    text: str = ""


def _judge(response: Response, asked: InstanceContext) -> Judgement:
    judgement = judge(response, base_url=asked.base_url, format=asked.format)
    if asked.own:
        return naming_engines(judgement)
    return distrust(judgement, base_url=asked.base_url, text=asked.text)


def _read_robots(response: Response, asked: InstanceContext) -> str | Judgement:
    if response.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return judge(response, base_url=asked.base_url, format=asked.format)
    if response.status != HTTPStatus.OK:
        return ""
    search_path = f"{urlsplit(asked.base_url).path.rstrip('/')}/search"
    # Rules for all robots are for crawlers, and SearXNG's own robots.txt closes its search to them: they
    # say nothing about a person's search. A group that names us is meant for us.
    rules = RobotsRules(decode(response.body), by_name=True)
    decision = rules.decide(URL(f"http://host{search_path}?q=x"))
    if response.truncated and len(response.body) < FETCHED_BYTES and decision.allowed:
        # The missing rest may contain the group that names us.
        return Judgement(Verdict.MALFORMED, detail="The instance's robots.txt was cut off.")
    return decision.rule


def _read_config(response: Response, _asked: InstanceContext) -> ConfigFacts | None:
    if response.status != HTTPStatus.OK:
        return None
    return parse_config(response.body.decode("utf-8-sig", "replace"))


def _read_suggestions(response: Response, _asked: InstanceContext) -> tuple[str, ...]:
    return parse_suggestions(response.body) if response.status == HTTPStatus.OK else ()


RESULTS: Final = Reader("searxng results", _judge, takes=InstanceContext, gives=Judgement)
"""The outcome of a search."""

ROBOTS: Final = Reader("searxng robots", _read_robots, takes=InstanceContext, gives=str | Judgement)
"""The rule of the operator's robots.txt that excludes us, or nothing."""

CONFIG: Final = Reader(
    "searxng config", _read_config, takes=InstanceContext, gives=ConfigFacts | None
)
SUGGESTIONS: Final = Reader(
    "searxng suggestions", _read_suggestions, takes=InstanceContext, gives=tuple[str, ...]
)

JOBS: Final[Mapping[str, Job]] = MappingProxyType(
    {
        RESULTS.name: RESULTS.job,
        ROBOTS.name: ROBOTS.job,
        CONFIG.name: CONFIG.job,
        SUGGESTIONS.name: SUGGESTIONS.job,
    }
)
"""The readers as jobs, by name."""
