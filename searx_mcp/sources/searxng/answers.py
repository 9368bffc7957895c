"""Readers of instances' answers: search results, and what instances report without a search.

`Upstream` passes a `Reader` to the code that parses an answer, here or in another process. In robots.txt only
rules with our name count: rules for all robots are for crawlers, and SearXNG's own robots.txt closes its
search to them; they say nothing about a person's search.

Hits of a public instance are checked for where they lead. There are two signs, neither of which needs a list: hits
that lead to the instance itself, and hits through one host that contains the real address in its own. Either is a
trap for programs or a tracker. Not covered: addresses hidden other than by percent-encoding, spread over many hosts,
or simply replaced.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote, urlencode, urlsplit

from yarl import URL

from searx_mcp.content.clean import clean_line
from searx_mcp.http.body import Response
from searx_mcp.http.robots import FETCHED_BYTES, RobotsRules, decode
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.pool.config_facts import ConfigFacts, parse_config
from searx_mcp.pool.engine_care import Trouble, trouble_of
from searx_mcp.pool.proposal import Outcome
from searx_mcp.sources.searxng.classify import judge, judge_page, naming_engines
from searx_mcp.sources.searxng.request import neutralise
from searx_mcp.urls.hosts import ends_in_number
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


MIN_REWRITTEN: Final = 3
"""Hits through one host that cannot be accidental, if they are also half of the page."""

_ADDRESS = re.compile(r"https?:/{1,2}(?:[^/?#@\s]*@)?([\w.-]+\.[\w-]+)", re.IGNORECASE)
"""An absolute address inside another; archives and proxies often keep one slash of the two."""
_ENCODINGS: Final = 3
"""Maximum levels of percent-encoding that are decoded."""
_SITE = re.compile(r"""(?<![\w-])site:["']?(?:https?://)?([^\s/"':)]+)""", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_MAX_HOST: Final = 100


def distrust(outcome: Outcome, *, base_url: str, text: str) -> Outcome:
    """Check where the hits of a public instance lead.

    Hits that lead to the instance's own host (its own origin, if it has no name) or through a rewriting host
    are removed from the page and are a trust violation. A host rewrites if three or more hits, and at least
    half of the page, are on it and contain the address of another site. Hosts that the query names by `site:`
    are exempt.

    Args:
        outcome: the classification so far.
        base_url: the instance.
        text: the query.

    Returns:
        The same outcome if nothing is wrong. Otherwise with `trust_violation`, and the verdict on the
        remaining hits: `UNTRUSTED` if there are none.
    """
    page = outcome.page
    if page is None or not page.hits:
        return outcome
    home = _host(base_url)
    hosts = [_host(hit.url) for hit in page.hits]
    traps = {home} | _rewriters([hit.url for hit in page.hits], hosts)
    traps -= {
        host
        for host in traps
        for site in map(_ascii, _SITE.findall(text))
        if _is_within(host, site)
    }
    bad = Counter(host for host in hosts if host in traps)
    if not bad:
        return outcome
    hits = tuple(hit for hit, host in zip(page.hits, hosts, strict=True) if host not in traps)
    # Rows left out for a reason are not rows that could not be parsed.
    rows_seen = page.rows_seen - (len(page.hits) - len(hits))
    page = replace(page, hits=hits, rows_seen=rows_seen)
    trust_violation = _trust_violation(bad, len(hosts), home=home, text=text)
    if not hits:
        return replace(
            outcome,
            verdict=Verdict.UNTRUSTED,
            page=page,
            detail=trust_violation,
            trust_violation=trust_violation,
        )
    verdict, _ = judge_page(page)
    return replace(outcome, verdict=verdict, page=page, trust_violation=trust_violation)


def _rewriters(urls: list[str], hosts: list[str]) -> set[str]:
    rewritten = Counter(
        host for url, host in zip(urls, hosts, strict=True) if _carries_another(url, host)
    )
    least = max(MIN_REWRITTEN, len(urls) / 2)
    return {host for host, count in rewritten.items() if count >= least}


def _carries_another(url: str, host: str) -> bool:
    """Return whether an address contains one of another site in its path or query."""
    parts = urlsplit(url)
    inside = f"{parts.path}?{parts.query}"
    for _ in range(_ENCODINGS):
        if "%" not in inside:
            break
        inside = unquote(inside)
    carried = (_ascii(other) for other in _ADDRESS.findall(inside))
    return any(not _is_within(other, host) and not _is_within(host, other) for other in carried)


def _trust_violation(bad: Counter[str], total: int, *, home: str, text: str) -> str:
    """Describe the violation, without a host that contains words of the query."""
    words = _WORD.findall(text.lower())
    sentences = []
    for host, count in bad.items():
        if host == home:
            where = "back to the instance itself"
        elif any(word in host for word in words):
            where = "through a host that rewrites addresses"
        else:
            where = f"through {clean_line(host, _MAX_HOST)}"
        sentences.append(f"{count} of {total} results lead {where}.")
    return " ".join(sentences)


def _is_within(host: str, site: str) -> bool:
    return host == site or host.endswith(f".{site}")


def _host(url: str) -> str:
    """Return the host of an address, with its port if it is numeric, as many sites may share that."""
    parts = urlsplit(url)
    host = _ascii(parts.hostname or "")
    if ":" in host or ends_in_number(host):
        return f"{host}:{parts.port or parts.scheme}"
    return host


def _ascii(host: str) -> str:
    """Normalise a host name: instances send international names in either form."""
    host = host.lower().strip(".")
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host


def _judge(response: Response, asked: InstanceContext) -> Outcome:
    outcome = judge(response, base_url=asked.base_url, format=asked.format)
    if not asked.own:
        return distrust(outcome, base_url=asked.base_url, text=asked.text)
    if outcome.verdict is Verdict.ENGINES_FAILED:
        return naming_engines(outcome)
    return outcome


def _read_robots(response: Response, asked: InstanceContext) -> str | Outcome:
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
        return Outcome(Verdict.MALFORMED, detail="The instance's robots.txt was cut off.")
    return decision.rule


def _read_config(response: Response, _asked: InstanceContext) -> ConfigFacts | None:
    if response.status != HTTPStatus.OK:
        return None
    return parse_config(response.body.decode("utf-8-sig", "replace"))


def _read_suggestions(response: Response, _asked: InstanceContext) -> tuple[str, ...]:
    return parse_suggestions(response.body) if response.status == HTTPStatus.OK else ()


RESULTS: Final = Reader("searxng results", _judge, takes=InstanceContext, gives=Outcome)
"""The outcome of a search."""

ROBOTS: Final = Reader("searxng robots", _read_robots, takes=InstanceContext, gives=str | Outcome)
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
