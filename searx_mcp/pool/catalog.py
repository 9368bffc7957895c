"""Evaluates the list of public instances: which are admitted, and their tiers and priors."""

import math
import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

import pydantic_core
from pydantic import ValidationError
from yarl import URL

from searx_mcp.errors import SettingsError
from searx_mcp.models.instance import Catalog, CatalogEntry, NetworkType, Tier, Uptime
from searx_mcp.urls.hosts import WEB_PORTS, is_host_name, is_inner_name

MinGrade = Literal["A+", "A", "B", "C", "F"]

MIN_MONTH_UPTIME: Final = 99.0
"""Percent of uptime below which an A is no better than a B. In the list of 2025-03-05, 67 of the 76 hosts
with a known uptime were at or above it. A quarter later, 62 % of the hosts at 98 to 99 % still worked, and
75 % of those at 99.9 % and more."""

UNKNOWN_GRADE: Final = "B"
"""The grade of an instance that was not measured, which is no bad result."""

_SCHEMA: Final = 1
_FIELD: Final = "instances.catalog"
_ADVICE: Final = "Correct the file, or remove the setting to use the bundled list."
_GRADE: Final = re.compile(r"([A-G])([+-]?)")
_SIGNS: Final = ("+", "", "-")
ONION: Final = ".onion"
HIDDEN_SUFFIXES: Final = (ONION, ".i2p")
"""Networks that need a program of their own."""

_GRADES: Final = {
    "A+": 1.0, "A": 0.95, "A-": 0.9, "B+": 0.8, "B": 0.75, "B-": 0.7, "C+": 0.6, "C": 0.55,
    "C-": 0.5, "D+": 0.35, "D": 0.3, "D-": 0.25, "E": 0.15, "F": 0.0, "G": 0.0,
}  # fmt: skip
_HTML_GRADES: Final = {"V": 1.0, "F": 0.95, "C": 0.85, "Cjs": 0.6, "E": 0.3, "👁️": 0.0}
_HTML_INCOMPLETE: Final = ("js?", "?")
"""Marks that searx.space gives a page if some of its files could not be fetched."""
_INCOMPLETE_SHARE: Final = 0.8
_UNKNOWN: Final = 0.5
_UNKNOWN_SUCCESS: Final = 0.35
_LEAST_SUCCESS: Final = 0.15
_UPTIME_WEIGHTS: Final = {"day": 0.1, "week": 0.3, "month": 0.35, "year": 0.25}
_BEST_LATENCY: Final = 0.4
_WORST_LATENCY: Final = 8.0
_UNKNOWN_LATENCY: Final = 0.4
"""Quality of a latency that was never measured."""


def parse_catalog(text: str) -> Catalog:
    """Parse the whole text of an `instances.json`.

    Raises:
        SettingsError: the text is not JSON, has a newer schema, or is not a catalog.
    """
    try:
        data = pydantic_core.from_json(text, allow_inf_nan=False)
    except ValueError as exc:
        raise _refuse(f"the list of instances is not JSON: {exc}") from exc
    if not isinstance(data, dict):
        raise _refuse("the list of instances must be a JSON object")
    version = data.get("schema_version")
    if isinstance(version, int) and version > _SCHEMA:
        message = f"the list has schema {version}; this version reads up to schema {_SCHEMA}"
        raise _refuse(message)
    try:
        return Catalog.model_validate_json(text)
    except ValidationError as exc:
        first, *more = exc.errors(include_url=False)
        where = ".".join(str(step) for step in first["loc"])
        others = f" (and {len(more)} more)" if more else ""
        message = f"the list of instances has an invalid {where!r}: {first['msg']}{others}"
        raise _refuse(message) from exc


def _refuse(message: str) -> SettingsError:
    return SettingsError(_FIELD, message, advice=_ADVICE)


def gate(
    catalog: Catalog,
    *,
    min_grade: MinGrade,
    blocked: Collection[str] = (),
    allow: Callable[[URL], bool] = lambda _url: False,
    onion: bool = False,
) -> tuple[CatalogEntry, ...]:
    """Select the entries that may be asked as public instances, in the catalog's order.

    An entry is dropped if its address is not https, has a host or port that is not public, or has a user,
    query or fragment; if it is on Tor (unless that is reachable) or I2P; if an earlier entry has the same
    origin; if its host is blocked; or if its grade is worse than `min_grade`. Resolved addresses are not
    checked here, but when connecting.

    Args:
        catalog: the parsed list.
        min_grade: the worst grade that is kept; a letter includes its signs, so `B` keeps `B-`.
        blocked: hosts, compared whole and case-insensitively.
        allow: returns whether the operator has lifted the guard for an address: then any host and port are
            allowed, and http is used.
        onion: whether Tor services can be reached; these may use http, too, which Tor encrypts.

    Returns:
        The entries, their URLs ending in `/`.
    """
    refused = {host.lower().rstrip(".") for host in blocked}
    kept: dict[URL, CatalogEntry] = {}
    for entry in catalog.instances:
        url = _base_url(entry, allow, onion=onion)
        if url is None or url.origin() in kept:
            continue
        if refused.isdisjoint(_host_names(url)) and _is_good_enough(entry, min_grade):
            kept[url.origin()] = entry.model_copy(update={"url": str(url)})
    return tuple(kept.values())


def _base_url(entry: CatalogEntry, allow: Callable[[URL], bool], *, onion: bool) -> URL | None:
    try:
        url = URL(entry.url)
    except ValueError:
        return None
    host = url.raw_host
    if host is None or not _is_reachable(host.rstrip("."), entry.network_type, onion=onion):
        return None
    is_onion = entry.network_type is NetworkType.TOR
    is_allowed = allow(url)
    if url.scheme != "https" and not (url.scheme == "http" and (is_onion or is_allowed)):
        return None
    if not (is_allowed or is_public_place(url)):
        return None
    if url.raw_user or url.raw_password or url.raw_query_string or url.raw_fragment:
        return None
    return url.with_path(url.raw_path.rstrip("/") + "/", encoded=True)


def is_public_place(url: URL) -> bool:
    """Return whether the host and port of an address are possible on the public web or Tor.

    Unassigned names, such as those in `.example`, are left to the resolver.
    """
    try:
        host, port = url.raw_host or "", url.port
    except ValueError:
        return False
    return port in WEB_PORTS and is_host_name(host) and not is_inner_name(host)


def _is_reachable(host: str, network_type: NetworkType, *, onion: bool) -> bool:
    """Return whether a host can be reached; false if its name contradicts its listed type."""
    if network_type is NetworkType.TOR:
        return onion and host.endswith(ONION)
    return not host.endswith(HIDDEN_SUFFIXES)


def _host_names(url: URL) -> set[str]:
    names = (url.host, url.raw_host)
    return {name.lower().rstrip(".") for name in names if name}


def _is_good_enough(entry: CatalogEntry, min_grade: MinGrade) -> bool:
    grade = overall_grade(entry) or UNKNOWN_GRADE
    if min_grade == "A+":
        return grade == "A+"
    return grade[0] <= min_grade


def overall_grade(entry: CatalogEntry) -> str | None:
    """Return the worse of the known TLS and HTTP grades, or `None` if neither is known.

    searx.space joins the grades of a host's addresses with commas and writes `?` for an unknown one, as in
    `E, ?`: the worst known part counts.
    """
    parts = f"{entry.tls_grade or ''},{entry.http_grade or ''}".split(",")
    known = [match for part in parts if (match := _GRADE.fullmatch(part.strip()))]
    return max(known, key=_badness)[0] if known else None


def _badness(grade: re.Match[str]) -> tuple[str, int]:
    return grade[1], _SIGNS.index(grade[2])


def tier_of(entry: CatalogEntry) -> Tier:
    """Return the tier of a public instance.

    A+ is its own tier. A and A- need a monthly uptime of 99 %, or an unknown one. B+, B, B-, no known
    grade, and an A below 99 % are tier B. Anything worse is tier C.
    """
    grade = overall_grade(entry) or UNKNOWN_GRADE
    match grade[0]:
        case "A" if grade == "A+":
            return Tier.A_PLUS
        case "A":
            month = entry.uptime.month
            return Tier.A if month is None or month >= MIN_MONTH_UPTIME else Tier.B
        case "B":
            return Tier.B
        case _:
            return Tier.C


class Prior(NamedTuple):
    """The prior's parts, from a catalog's figures, each 0 to 1.

    Success and latency predict whether an instance works a quarter later; grades hardly do, but users were
    promised better grades first.
    """

    success: float
    latency: float
    uptime: float
    grade: float
    engines: float

    @property
    def total(self) -> float:
        """.35 success + .35 latency + .15 uptime + .10 grade + .05 engines."""
        return (
            0.35 * self.success
            + 0.35 * self.latency
            + 0.15 * self.uptime
            + 0.10 * self.grade
            + 0.05 * self.engines
        )


OWN_PRIOR: Final = Prior(1.0, 1.0, 1.0, 1.0, 1.0)
"""An own instance is assumed to be good until it proves otherwise."""


class Standing(NamedTuple):
    """What is known about an instance before we ask it."""

    tier: Tier
    grade: str | None
    prior: Prior


def standing_of(entry: CatalogEntry) -> Standing:
    """Return the catalog's judgement of an instance."""
    return Standing(tier_of(entry), overall_grade(entry), prior(entry))


def prior(entry: CatalogEntry) -> Prior:
    """Compute the prior from a catalog's figures.

    The grade is .6 TLS + .25 HTTP + .15 HTML: only TLS affects what we do.
    """
    success = entry.search_success
    engines = entry.engines_working
    return Prior(
        success=_UNKNOWN_SUCCESS if success is None else max(_LEAST_SUCCESS, success / 100),
        latency=latency_quality(entry.search_latency),
        uptime=uptime_quality(entry.uptime),
        grade=(
            0.60 * grade_quality(entry.tls_grade)
            + 0.25 * grade_quality(entry.http_grade)
            + 0.15 * html_quality(entry.html_grade)
        ),
        engines=_UNKNOWN if engines is None else engines,
    )


def latency_quality(seconds: float | None) -> float:
    """Return 1 at 0.4 s and below, 0 at 8 s and above, logarithmic between; 0.4 if unknown."""
    if seconds is None:
        return _UNKNOWN_LATENCY
    ratio = math.log(max(seconds, _BEST_LATENCY) / _BEST_LATENCY)
    return max(0.0, 1.0 - ratio / math.log(_WORST_LATENCY / _BEST_LATENCY))


def uptime_quality(uptime: Uptime) -> float:
    """Return ((u - 90) / 10)^2 of the weighted uptime, clipped to 90..100 percent; 0.5 if unknown."""
    known = {
        name: value for name in _UPTIME_WEIGHTS if (value := getattr(uptime, name)) is not None
    }
    if not known:
        return _UNKNOWN
    total = sum(_UPTIME_WEIGHTS[name] for name in known)
    mean = sum(_UPTIME_WEIGHTS[name] * value for name, value in known.items()) / total
    return float(((min(100.0, max(90.0, mean)) - 90.0) / 10.0) ** 2)


def grade_quality(grades: str | None) -> float:
    """Return 1 for A+, 0 for F, 0.5 if unknown; the worst known one of several such as `E, ?`."""
    parts = [part.strip() for part in (grades or "").split(",")]
    return min((_GRADES[part] for part in parts if part in _GRADES), default=_UNKNOWN)


def html_quality(grade: str | None) -> float:
    """Return 1 for unmodified SearXNG pages, less for modified ones; a fifth less if some files are unknown."""
    parts = [part.strip() for part in (grade or "").split(",")]
    quality = min((_HTML_GRADES[part] for part in parts if part in _HTML_GRADES), default=_UNKNOWN)
    incomplete = any(part in _HTML_INCOMPLETE for part in parts)
    return quality * _INCOMPLETE_SHARE if incomplete else quality


def catalog_age_days(catalog: Catalog, now: float) -> int:
    """Return the whole days between the list of hosts and `now`, in Unix seconds; never negative."""
    listed_at = catalog.listed_at
    if listed_at.tzinfo is None:
        listed_at = listed_at.replace(tzinfo=UTC)
    return max(0, (datetime.fromtimestamp(now, UTC) - listed_at).days)
