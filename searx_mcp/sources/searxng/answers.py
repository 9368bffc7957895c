"""What answers of instances are read as, and whether a public one leads where the searcher wants.

That it does not has two signs, both without any list: hits that lead to the instance itself, and hits that lead through
one host which carries the real address inside its own. Either is a trap for programs or a tracker.

Not covered: addresses hidden otherwise than by percent-encoding, spread over many hosts, or plainly
replaced by others.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from yarl import URL

from searx_mcp.content.clean import clean_line
from searx_mcp.http.body import Response
from searx_mcp.http.robots import FETCHED_BYTES, RobotsRules, decode
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.pool.config_facts import ConfigFacts, parse_config
from searx_mcp.sources.searxng.autocomplete import parse_suggestions
from searx_mcp.sources.searxng.classify import (
    Judgement,
    judge,
    judge_page,
    naming_engines,
)
from searx_mcp.urls.hosts import ends_in_number
from searx_mcp.workers.jobs import Job, Reader

MIN_REWRITTEN: Final = 3
"""Hits through one host from which on it is no accident, if they are half of the page too."""

_ADDRESS = re.compile(r"https?:/{1,2}(?:[^/?#@\s]*@)?([\w.-]+\.[\w-]+)", re.IGNORECASE)
"""An absolute address inside another; archives and proxies often keep one slash of the two."""
_ENCODINGS: Final = 3
"""How often an address may be percent-encoded."""
_SITE = re.compile(r"""(?<![\w-])site:["']?(?:https?://)?([^\s/"':)]+)""", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_MAX_HOST: Final = 100


def distrust(judgement: Judgement, *, base_url: str, text: str) -> Judgement:
    """Judge an answer of a public instance once more, by where its hits lead.

    Hits that lead to the instance's own host (its own origin, if it has no name) or through a
    rewriting host are taken from the page and are a violation of trust. A host rewrites when three hits or
    more, and at least half of the page, are on it and carry the address of another site. What the
    query asks for by `site:` is exempt.

    Args:
        judgement: what the answer came to so far.
        base_url: the instance.
        text: the query.

    Returns:
        The judgement as it was if there is nothing wrong. Else with the trust_violation, and the verdict
        on what remains: `UNTRUSTED` if no hit does.
    """
    page = judgement.page
    if page is None or not page.hits:
        return judgement
    home = _host(base_url)
    hosts = [_host(hit.url) for hit in page.hits]
    traps = {home} | _rewriters([hit.url for hit in page.hits], hosts)
    traps -= {host for host in traps for site in _sites(text) if _is_within(host, site)}
    bad = Counter(host for host in hosts if host in traps)
    if not bad:
        return judgement
    hits = tuple(hit for hit, host in zip(page.hits, hosts, strict=True) if host not in traps)
    # Rows left out for a reason are not rows that could not be read.
    rows_seen = page.rows_seen - (len(page.hits) - len(hits))
    page = replace(page, hits=hits, rows_seen=rows_seen)
    trust_violation = _trust_violation(bad, len(hosts), home=home, text=text)
    if not hits:
        return replace(
            judgement,
            verdict=Verdict.UNTRUSTED,
            page=page,
            detail=trust_violation,
            trust_violation=trust_violation,
        )
    verdict, _ = judge_page(page)
    return replace(judgement, verdict=verdict, page=page, trust_violation=trust_violation)


def _rewriters(urls: list[str], hosts: list[str]) -> set[str]:
    rewritten = Counter(
        host for url, host in zip(urls, hosts, strict=True) if _carries_another(url, host)
    )
    least = max(MIN_REWRITTEN, len(urls) / 2)
    return {host for host, count in rewritten.items() if count >= least}


def _carries_another(url: str, host: str) -> bool:
    """Whether an address holds one of another site in its path or query."""
    parts = urlsplit(url)
    inside = f"{parts.path}?{parts.query}"
    for _ in range(_ENCODINGS):
        if "%" not in inside:
            break
        inside = unquote(inside)
    carried = (_ascii(other) for other in _ADDRESS.findall(inside))
    return any(not _is_within(other, host) and not _is_within(host, other) for other in carried)


def _trust_violation(bad: Counter[str], total: int, *, home: str, text: str) -> str:
    """Say what is wrong, without a host that shows words of the query."""
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


def _sites(text: str) -> list[str]:
    return [_ascii(site) for site in _SITE.findall(text)]


def _is_within(host: str, site: str) -> bool:
    return host == site or host.endswith(f".{site}")


def _host(url: str) -> str:
    """The host of an address; with its port if it is a number, which many sites may share."""
    parts = urlsplit(url)
    host = _ascii(parts.hostname or "")
    if ":" in host or ends_in_number(host):
        return f"{host}:{parts.port or parts.scheme}"
    return host


def _ascii(host: str) -> str:
    """A host name as it is compared: instances send those of other alphabets in either form."""
    host = host.lower().strip(".")
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return host


def options_for(received: Response, arguments: Mapping[str, object]) -> Mapping[str, object]:
    """The options of a reader: an answer without its body, and what is to be known besides."""
    return {
        "status": received.status,
        "headers": dict(received.headers.items()),
        "url": received.url,
        "truncated": received.truncated,
        **arguments,
    }


def _received(body: bytes, options: Mapping[str, Any]) -> Response:
    return Response(
        options["status"], options["headers"], body, options["url"], options["truncated"]
    )


def _judge(body: bytes, options: Mapping[str, Any]) -> Judgement:
    judgement = judge(
        _received(body, options), base_url=options["base_url"], format=Format(options["format"])
    )
    if options["own"]:
        return naming_engines(judgement)
    return distrust(judgement, base_url=options["base_url"], text=options["text"])


def _read_robots(body: bytes, options: Mapping[str, Any]) -> str | Judgement:
    base_url, status = options["base_url"], options["status"]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return judge(_received(body, options), base_url=base_url, format=Format(options["format"]))
    if status != HTTPStatus.OK:
        return ""
    search_path = f"{urlsplit(base_url).path.rstrip('/')}/search"
    # Rules for all robots are for crawlers, and SearXNG's own robots.txt closes its search to them: they
    # say nothing about the search of a person. A group that names us is meant for us.
    rules = RobotsRules(decode(body), by_name=True)
    decision = rules.decide(URL(f"http://host{search_path}?q=x"))
    if options["truncated"] and len(body) < FETCHED_BYTES and decision.allowed:
        # What is missing may well be the group that names us.
        return Judgement(Verdict.MALFORMED, detail="The instance's robots.txt was cut off.")
    return decision.rule


def _read_config(body: bytes, options: Mapping[str, Any]) -> ConfigFacts | None:
    if options["status"] != HTTPStatus.OK:
        return None
    return parse_config(body.decode("utf-8-sig", "replace"))


def _read_suggestions(body: bytes, options: Mapping[str, Any]) -> tuple[str, ...]:
    return parse_suggestions(body) if options["status"] == HTTPStatus.OK else ()


RESULTS: Final = Reader("searxng results", _judge, Judgement)
"""What a search came to. Takes `base_url`, `format`, `own`, and the `text` that was searched."""

ROBOTS: Final = Reader("searxng robots", _read_robots, str | Judgement)
"""The rule of the operator's robots.txt that keeps us out, or nothing. Takes `base_url` and `format`."""

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
