"""What answers of instances are read as."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.pool.config_facts import ConfigFacts, parse_config
from searx_mcp.searxng.autocomplete import parse_suggestions
from searx_mcp.searxng.classify import Judgement, Received, judge, naming_engines
from searx_mcp.searxng.robots import MAX_ROBOTS, forbids_us
from searx_mcp.searxng.trust import distrust
from searx_mcp.workers.answers import Reader
from searx_mcp.workers.interface import Job


def options_for(received: Received, arguments: Mapping[str, object]) -> Mapping[str, object]:
    """The options of a reader: an answer without its body, and what is to be known besides."""
    return {
        "status": received.status,
        "headers": dict(received.headers.items()),
        "url": received.url,
        "truncated": received.truncated,
        **arguments,
    }


def _received(body: bytes, options: Mapping[str, Any]) -> Received:
    return Received(
        options["status"], options["headers"], body, options["url"], options["truncated"]
    )


def _judge(body: bytes, options: Mapping[str, Any]) -> Judgement:
    judgement = judge(
        _received(body, options), base_url=options["base_url"], format=Format(options["format"])
    )
    if options["own"]:
        return naming_engines(judgement)
    return distrust(judgement, base_url=options["base_url"], text=options["text"])


def _read_robots(body: bytes, options: Mapping[str, Any]) -> bool | Judgement:
    base_url, status = options["base_url"], options["status"]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return judge(_received(body, options), base_url=base_url, format=Format(options["format"]))
    if status != HTTPStatus.OK:
        return False
    search_path = f"{urlsplit(base_url).path.rstrip('/')}/search"
    forbidden = forbids_us(body.decode("utf-8", "replace"), search_path=search_path)
    if options["truncated"] and len(body) < MAX_ROBOTS and not forbidden:
        # What is missing may well be the group that names us.
        return Judgement(Verdict.MALFORMED, detail="The instance's robots.txt was cut off.")
    return forbidden


def _read_config(body: bytes, options: Mapping[str, Any]) -> ConfigFacts | None:
    if options["status"] != HTTPStatus.OK:
        return None
    return parse_config(body.decode("utf-8-sig", "replace"))


def _read_suggestions(body: bytes, options: Mapping[str, Any]) -> tuple[str, ...]:
    return parse_suggestions(body) if options["status"] == HTTPStatus.OK else ()


RESULTS: Final = Reader("searxng results", _judge, Judgement)
"""What a search came to. Takes `base_url`, `format`, `own`, and the `text` that was searched."""

ROBOTS: Final = Reader("searxng robots", _read_robots, bool | Judgement)
"""Whether the operator's robots.txt keeps us out. Takes `base_url` and `format`."""

CONFIG: Final = Reader("searxng config", _read_config, ConfigFacts | None)
SUGGESTIONS: Final = Reader("searxng suggestions", _read_suggestions, tuple[str, ...])

JOBS: Final[Mapping[str, Job]] = MappingProxyType(
    {
        RESULTS.name: RESULTS.job,
        ROBOTS.name: ROBOTS.job,
        CONFIG.name: CONFIG.job,
        SUGGESTIONS.name: SUGGESTIONS.job,
    }
)
"""The readers as jobs, by name."""
