"""Merges the rows of several result pages by rank, without duplicates, and filters and prefers their sites.

The scores of different instances are not comparable.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import translate
from functools import lru_cache
from itertools import chain
from typing import Final, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from yarl import URL

from searx_mcp.content.words import tokens
from searx_mcp.models.hits import TEMPLATE_FIELDS, Hit, ResultPage
from searx_mcp.models.response import SearchResult
from searx_mcp.search.config import QualityConfig
from searx_mcp.urls.hosts import is_within, normalise_domain

T = TypeVar("T")

_TRACKING_PREFIXES = ("utm_", "mc_", "pk_", "hsa_")
_TRACKING = frozenset(
    {
        "fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "igshid", "twclid",
        "ttclid", "_ga", "_gl", "_hsenc", "_hsmi", "oly_anon_id", "oly_enc_id", "vero_id",
        "ref_src", "spm",
    }
)  # fmt: skip
_MAX_FIELDS: Final = 64
"""Maximum fields of a query that are normalised; 2,000 of them would take 5 ms a row."""


def canonical_key(url: str) -> str:
    """Return the key that all addresses of one page share, for finding duplicates.

    It is the lower-case IDNA host without `www.`, and has no scheme, default port, trailing slash, fragment
    (except `#!`, which names a page) or tracking parameters; the rest of the query keeps its order. A query
    of more than 64 fields is not changed.
    """
    try:
        parsed = URL(url)
        host = (parsed.raw_host or "").removeprefix("www.").rstrip(".")
        port = "" if parsed.is_default_port() else f":{parsed.explicit_port}"
        query = parsed.raw_query_string
        query = _telling(query) if query else ""
        fragment = parsed.raw_fragment if parsed.raw_fragment.startswith("!") else ""
    except ValueError:
        return url
    return f"{host}{port}{parsed.raw_path.rstrip('/')}?{query}#{fragment}"


def _telling(query: str) -> str:
    """Return a query without tracking parameters."""
    if query.count("&") >= _MAX_FIELDS:
        return query
    return urlencode(
        [
            (name, value)
            for name, value in parse_qsl(query, keep_blank_values=True)
            if name.lower() not in _TRACKING and not name.lower().startswith(_TRACKING_PREFIXES)
        ]
    )


def keys_of(page: ResultPage) -> frozenset[str]:
    """Return the keys of a page's rows."""
    return frozenset(row_key(hit) for hit in page.hits)


def fuse(pages: Sequence[ResultPage]) -> ResultPage:
    """Fuse the pages that several instances returned for the same search.

    Instances ask the same engines, so each engine counts once, however many instances report it: a row's
    score is the sum over its distinct engines of 1 / (60 + best rank), where the rank is its place in an
    instance's list. Ties go to the row that more instances have, then to the earlier one. A row without
    engines counts the instance as its engine. Answers, infoboxes and the like are the union of all pages; an
    engine failed only if it did everywhere.
    """
    if len(pages) == 1:
        return pages[0]
    rows: dict[str, Hit] = {}
    ranks: dict[str, dict[str, int]] = {}
    seen: Counter[str] = Counter()
    for number, page in enumerate(pages):
        places = {key: place for place, key in enumerate(dict.fromkeys(map(row_key, page.hits)), 1)}
        seen.update(places)
        for hit in page.hits:
            key = row_key(hit)
            rows[key] = join(rows[key], hit) if key in rows else hit
            best = ranks.setdefault(key, {})
            for engine in hit.engines or (f"instance {number}",):
                best[engine] = min(places[key], best.get(engine, places[key]))
    order = sorted(
        rows, key=lambda key: (-sum(1 / (K + rank) for rank in ranks[key].values()), -seen[key])
    )
    answered = {engine for page in pages for hit in page.hits for engine in hit.engines}
    failed = {e.engine: e for page in pages for e in page.unresponsive_engines}
    return replace(
        pages[0],
        hits=tuple(rows[key]._replace(position=n) for n, key in enumerate(order, start=1)),
        rows_seen=sum(page.rows_seen for page in pages),
        answers=_each_once(page.answers for page in pages),
        infoboxes=_each_once(page.infoboxes for page in pages),
        suggestions=_each_once(page.suggestions for page in pages),
        corrections=_each_once(page.corrections for page in pages),
        unresponsive_engines=tuple(e for name, e in failed.items() if name not in answered),
    )


def merge(pages: Iterable[ResultPage]) -> tuple[SearchResult, ...]:
    """Merge the result pages of one instance into one list, in the instance's order.

    Of duplicates, the result has the first place, the longest title and description, https if any has it, and
    all engines. The score is 1 / (60 + place), scaled so that the first row has 1: scores of different
    instances are not comparable, their order is.
    """
    rows: dict[str, Hit] = {}
    for page in pages:
        for hit in page.hits:
            key = row_key(hit)
            rows[key] = join(rows[key], hit) if key in rows else hit
    return tuple(_result(hit, score_at(place)) for place, hit in enumerate(rows.values(), start=1))


def score_at(place: int) -> float:
    """Return the score of a place in the list, from 1: 1 / (60 + place), scaled so that the first has 1."""
    return round((K + 1) / (K + place), 4)


def keep_domains(
    results: Sequence[SearchResult], *, allowed: Sequence[str], blocked: Sequence[str]
) -> tuple[SearchResult, ...]:
    """Return the results whose domain is allowed (any, if none is named) and not blocked."""
    only, never = (frozenset(map(normalise_domain, domains)) for domains in (allowed, blocked))
    return tuple(
        result
        for result in results
        if (not only or is_within(URL(result.url).raw_host or "", only))
        and (not never or not is_within(URL(result.url).raw_host or "", never))
    )


PREFERRED: Final = 0.3
"""Bonus in quality of a preferred source: at the default strength one place, rarely two."""
DEMOTED: Final = -0.6

_SHORTEST_NAME: Final = 3
_SECOND_LEVEL: Final = frozenset(
    {"ac", "co", "com", "edu", "gov", "go", "gob", "gouv", "ne", "net", "or", "org"}
)
"""Second-level labels under which registries assign names, as in `co.uk`."""


def preference(url: str, query: str, config: QualityConfig) -> float:
    """Return the bonus or penalty of a result's address, in quality.

    Args:
        url: of the result.
        query: the search; its words may name a site.
        config: the operator's rules.

    Returns:
        `DEMOTED`, 0 or `PREFERRED`; demoting wins.
    """
    parts = urlsplit(url)
    host = (parts.hostname or "").removeprefix("www.")
    address = f"{host}{parts.path.lower()}"
    if _matches(host, address, config.demoted_domains):
        return DEMOTED
    is_named = config.prefer_named_sites and _is_named(host, query)
    return PREFERRED if is_named or _matches(host, address, config.preferred_domains) else 0.0


def _matches(host: str, address: str, patterns: Iterable[str]) -> bool:
    return any(
        _compiled(pattern).fullmatch(address if "/" in pattern else host) for pattern in patterns
    )


@lru_cache(maxsize=1_024)
def _compiled(pattern: str) -> re.Pattern[str]:
    if "/" in pattern or "*" in pattern:
        return re.compile(translate(pattern))
    return re.compile(rf"(?:.*\.)?{re.escape(pattern)}")


def _is_named(host: str, query: str) -> bool:
    """Return whether the registered name of a site is a word of the query."""
    labels = host.split(".")[:-1]
    if len(labels) > 1 and labels[-1] in _SECOND_LEVEL:
        labels.pop()
    name = labels[-1] if labels else ""
    return len(name) >= _SHORTEST_NAME and name in tokens(query)


def row_key(hit: Hit | SearchResult) -> str:
    """Return the key that identifies a row: an image differs from the page that contains it."""
    return f"image {hit.image.url}" if hit.image else canonical_key(hit.url)


def _each_once(lists: Iterable[Sequence[T]]) -> tuple[T, ...]:
    # Infoboxes cannot be hashed.
    kept: list[T] = []
    for each in chain.from_iterable(lists):
        if each not in kept:
            kept.append(each)
    return tuple(kept)


def join(first: Hit, second: Hit) -> Hit:
    """Merge two rows of the same page; the address is the first one's, or the https one."""
    secure = next((hit.url for hit in (first, second) if hit.url.startswith("https:")), first.url)
    published_at = first.published_at or second.published_at
    return first._replace(
        url=secure,
        title=max(first.title, second.title, key=len),
        description=max(first.description, second.description, key=len),
        engines=tuple(dict.fromkeys((*first.engines, *second.engines))),
        published_at=published_at,
        published_text="" if published_at else first.published_text or second.published_text,
        thumbnail=first.thumbnail or second.thumbnail,
        attribution=first.attribution or second.attribution,
        **{name: getattr(first, name) or getattr(second, name) for name in TEMPLATE_FIELDS},
    )


def _result(hit: Hit, score: float) -> SearchResult:
    return SearchResult(
        title=hit.title,
        url=hit.url,
        description=hit.description,
        score=score,
        engine=hit.engines[0] if hit.engines else "",
        engines=hit.engines,
        category=hit.category,
        published_at=hit.published_at,
        published_text=hit.published_text,
        thumbnail=hit.thumbnail,
        author=hit.author,
        attribution=hit.attribution,
        **{name: getattr(hit, name) for name in TEMPLATE_FIELDS},
    )


K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""
