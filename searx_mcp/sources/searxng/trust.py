"""Whether the hits of a public instance lead where they claim to.

That it does not has two signs, both without any list: hits that lead to the instance itself, and hits that lead through
one host which carries the real address inside its own. Either is a trap for programs or a tracker.

Not covered: addresses hidden otherwise than by percent-encoding, spread over many hosts, or plainly
replaced by others.
"""

import re
from collections import Counter
from dataclasses import replace
from typing import Final
from urllib.parse import unquote, urlsplit

from searx_mcp.content.clean import clean_line
from searx_mcp.models.attempt import Verdict
from searx_mcp.sources.searxng.classify import (
    Judgement,
    judge_page,
)
from searx_mcp.urls.hosts import ends_in_number

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
    """Judge an answer of a public instance by where its hits lead.

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
    """Whether an address contains one of another site in its path or query."""
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
