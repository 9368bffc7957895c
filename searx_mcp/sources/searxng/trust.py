"""Checks whether the hits of a public instance lead where they claim to.

There are two signs, neither of which needs a list: hits that lead to the instance itself, and hits through
one host that contains the real address in its own. Either is a trap for programs or a tracker.

Not covered: addresses hidden other than by percent-encoding, spread over many hosts, or simply replaced.
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
"""Hits through one host that cannot be accidental, if they are also half of the page."""

_ADDRESS = re.compile(r"https?:/{1,2}(?:[^/?#@\s]*@)?([\w.-]+\.[\w-]+)", re.IGNORECASE)
"""An absolute address inside another; archives and proxies often keep one slash of the two."""
_ENCODINGS: Final = 3
"""Maximum levels of percent-encoding that are decoded."""
_SITE = re.compile(r"""(?<![\w-])site:["']?(?:https?://)?([^\s/"':)]+)""", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_MAX_HOST: Final = 100


def distrust(judgement: Judgement, *, base_url: str, text: str) -> Judgement:
    """Check where the hits of a public instance lead.

    Hits that lead to the instance's own host (its own origin, if it has no name) or through a rewriting host
    are removed from the page and are a trust violation. A host rewrites if three or more hits, and at least
    half of the page, are on it and contain the address of another site. Hosts that the query names by `site:`
    are exempt.

    Args:
        judgement: the classification so far.
        base_url: the instance.
        text: the query.

    Returns:
        The same judgement if nothing is wrong. Otherwise with `trust_violation`, and the verdict on the
        remaining hits: `UNTRUSTED` if there are none.
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
    # Rows left out for a reason are not rows that could not be parsed.
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


def _sites(text: str) -> list[str]:
    return [_ascii(site) for site in _SITE.findall(text)]


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
