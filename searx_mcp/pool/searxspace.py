"""Parses the list of searx.space: public instances and measurements of them.

Supports the formats from 2020 to 2026. Fields appeared, were renamed and disappeared without notice, so
nothing is required but the addresses: `docs/decisions/discovery.md`.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Any, Final

from yarl import URL

from searx_mcp.errors import ErrorCode, SearxMcpError
from searx_mcp.models.credentials import base_url
from searx_mcp.models.instance import CatalogEntry, NetworkType, Uptime
from searx_mcp.pool.catalog import HIDDEN_SUFFIXES, ONION, is_public_place

MAX_TEXT: Final = 5_000_000
"""Characters of a list. The largest capture, of 2020, has 1.3 million."""

MAX_ROWS: Final = 2_000
"""Rows that are read; the list never had more than 151."""

GENERAL_ENGINES: Final = (
    "google", "google cse", "bing", "duckduckgo", "brave", "startpage", "yahoo", "qwant", "mojeek",
    "yandex", "yep",
)  # fmt: skip
"""Engines for the whole web. An instance depends on two or three of them."""

_ENOUGH_ENGINES: Final = 3
_FAILING_RATE: Final = 50.0
"""Percent of failed requests to an engine at and above which it counts as not working."""

_OK: Final = 200
_WORST_GRADES: Final = ("F", "G")
_MAX_WORD: Final = 100
"""Characters of a grade or a version that are kept."""
_MAX_ADDRESS: Final = 300
_MAX_SECONDS: Final = 253_402_300_799
"""The end of the year 9999, the latest possible date."""


class CatalogError(SearxMcpError):
    """The text is not a list of searx.space; the list before it stays in use."""


class DropReason(StrEnum):
    """Why the instance of a row may not be asked; of several reasons, the first in this order counts."""

    EXCESS = "excess"
    """It comes after the first `MAX_ROWS`."""
    ADDRESS = "address"
    """The key is not an instance's address: it has a query, a user, another address in its path, or a host or
    port that is not public."""
    HIDDEN = "hidden"
    """A Tor service, unless these are wanted, or an I2P service."""
    NOT_HTTPS = "not_https"
    ERROR = "error"
    """The checker could not load it."""
    STATUS = "status"
    """Its start page has a status other than 200."""
    VERSION = "version"
    """It reported no version of SearXNG."""
    ANALYTICS = "analytics"
    """It tracks its users with analytics."""
    TLS_GRADE = "tls_grade"
    DUPLICATE = "duplicate"
    """An earlier row that is kept has the same origin."""


@dataclass(frozen=True, slots=True)
class ListedRow:
    """The list's data on one address; absent, null and invalid values are `None`.

    Attributes:
        network_type: `normal` or `tor` as listed.
        status: the HTTP status of the start page.
        has_error: whether the checker could not load it.
        version: of SearXNG, as reported by the instance.
        has_analytics: whether its operator declared analytics.
        search_success: percent of the checker's searches with results.
        search_latency: their median time in seconds, or the only one.
        engines_working: min(1, n / 3) of the general engines that work; see `CatalogEntry`.
    """

    network_type: str | None = None
    status: float | None = None
    has_error: bool = False
    version: str | None = None
    has_analytics: bool = False
    tls_grade: str | None = None
    http_grade: str | None = None
    html_grade: str | None = None
    uptime: Uptime = field(default_factory=Uptime)
    search_success: float | None = None
    search_latency: float | None = None
    engines_working: float | None = None

    def entry(self, url: str) -> CatalogEntry:
        """Make a catalog entry for a base URL."""
        is_onion = _host(URL(url)).endswith(ONION)
        return CatalogEntry(
            url=url,
            network_type=NetworkType.TOR if is_onion else NetworkType.NORMAL,
            tls_grade=self.tls_grade,
            http_grade=self.http_grade,
            html_grade=self.html_grade,
            uptime=self.uptime,
            search_success=self.search_success,
            search_latency=self.search_latency,
            engines_working=self.engines_working,
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """The usable part of a list.

    Attributes:
        entries: instances that may be asked, in the list's order, one for each origin.
        measured_at: start of the checker's run, or `None`.
        listed: number of rows in the list.
        dropped: number of dropped rows by reason.
    """

    entries: tuple[CatalogEntry, ...]
    measured_at: datetime | None
    listed: int
    dropped: Mapping[DropReason, int]


def parse_searxspace(text: str, *, onion: bool = False) -> Listing:
    """Parse `instances.json` of searx.space and keep what may be asked.

    An instance must be an https address with a public name, on the normal network, loaded by the checker with
    status 200 and a known version, free of analytics and not graded F for its TLS. A status or version that
    no row has is not required: then the list has dropped the field.

    Args:
        text: the list.
        onion: whether to keep Tor services, too; these may use http, which Tor encrypts.

    Raises:
        CatalogError: the text is too long, not JSON, or has no object `instances`.
    """
    document = _document(text)
    listed = document["instances"]
    rows = {address: read_row(value) for address, value in islice(listed.items(), MAX_ROWS)}
    tells_status = any(row.status is not None for row in rows.values())
    tells_version = any(row.version is not None for row in rows.values())
    kept: dict[URL, CatalogEntry] = {}
    dropped = Counter({DropReason.EXCESS: len(listed) - len(rows)})
    for address, row in rows.items():
        url = _public_url(address)
        reason = _refusal(
            url, row, tells_status=tells_status, tells_version=tells_version, onion=onion
        )
        if reason is None and url.origin() in kept:
            reason = DropReason.DUPLICATE
        if reason is None:
            kept[url.origin()] = row.entry(str(url))
        else:
            dropped[reason] += 1
    return Listing(
        entries=tuple(kept.values()),
        measured_at=_instant(_value(document, "metadata", "timestamp")),
        listed=len(listed),
        dropped=+dropped,
    )


def read_row(value: object) -> ListedRow:
    """Parse the row of one address, whatever its shape."""
    search = _value(value, "timing", "search")
    median, single = (_number(_value(search, "all", name)) for name in ("median", "value"))
    return ListedRow(
        network_type=_word(_value(value, "network_type")),
        status=_number(_value(value, "http", "status_code")),
        has_error=bool(_value(value, "error") or _value(value, "http", "error")),
        version=_word(_value(value, "version")),
        has_analytics=_value(value, "analytics") is True,
        tls_grade=_word(_value(value, "tls", "grade")),
        http_grade=_word(_value(value, "http", "grade")),
        html_grade=_word(_value(value, "html", "grade")),
        uptime=Uptime(
            day=_percent(_value(value, "uptime", "uptimeDay")),
            week=_percent(_value(value, "uptime", "uptimeWeek")),
            month=_percent(_value(value, "uptime", "uptimeMonth")),
            year=_percent(_value(value, "uptime", "uptimeYear")),
        ),
        search_success=_percent(_value(search, "success_percentage")),
        search_latency=single if median is None else median,
        engines_working=_engines_working(_value(value, "engines")),
    )


def _document(text: str) -> dict[str, Any]:
    if len(text) > MAX_TEXT:
        raise _refuse(f"it is longer than {MAX_TEXT} characters")
    try:
        # Python refuses to parse an int of thousands of digits; without this, the whole list would fail.
        document = json.loads(text, parse_int=float, strict=False)
    except (ValueError, RecursionError) as exc:
        raise _refuse("it is not JSON") from exc
    if not isinstance(document, dict) or not isinstance(document.get("instances"), dict):
        raise _refuse('it has no "instances" object')
    return document


def _refuse(reason: str) -> CatalogError:
    return CatalogError(
        f"This is not a list from searx.space: {reason}.", code=ErrorCode.MALFORMED_RESPONSE
    )


def _public_url(address: str) -> URL:
    """Parse the key of a row; an empty URL if it is not the address of a public instance."""
    nowhere = URL()
    if len(address) > _MAX_ADDRESS:
        return nowhere
    try:
        url = URL(base_url(address))
    except ValueError:
        return nowhere
    # Web archives put the whole address into the path of their own.
    return url if is_public_place(url) and "//" not in url.raw_path else nowhere


def _refusal(
    url: URL, row: ListedRow, *, tells_status: bool, tells_version: bool, onion: bool
) -> DropReason | None:
    host = _host(url)
    is_onion = onion and host.endswith(ONION) and row.network_type in {None, "tor"}
    is_hidden = host.endswith(HIDDEN_SUFFIXES) or row.network_type not in {None, "normal"}
    tests = (
        (DropReason.ADDRESS, not host),
        (DropReason.HIDDEN, is_hidden and not is_onion),
        (DropReason.NOT_HTTPS, url.scheme != "https" and not is_onion),
        (DropReason.ERROR, row.has_error),
        (DropReason.STATUS, tells_status and row.status != _OK),
        (DropReason.VERSION, tells_version and row.version is None),
        (DropReason.ANALYTICS, row.has_analytics),
        (DropReason.TLS_GRADE, _has_worst_grade(row.tls_grade)),
    )
    return next((reason for reason, applies in tests if applies), None)


def _host(url: URL) -> str:
    return (url.host or "").rstrip(".")


def _has_worst_grade(grades: str | None) -> bool:
    # Grades of several addresses are joined, as in `E, ?`.
    return any(grade.strip().startswith(_WORST_GRADES) for grade in (grades or "").split(","))


def _engines_working(engines: object) -> float | None:
    """Count engines without recorded errors as working, and unreadable figures as half."""
    if not isinstance(engines, dict) or not engines:
        return None
    working = sum(_works(engines[name]) for name in GENERAL_ENGINES if name in engines)
    return min(1.0, working / _ENOUGH_ENGINES)


def _works(figures: object) -> float:
    if not isinstance(figures, dict):
        return 0.5
    if "error_rate" not in figures:
        return 1.0
    rate = _number(figures["error_rate"])
    if rate is None:
        return 0.5
    return 1.0 if rate < _FAILING_RATE else 0.0


def _instant(seconds: object) -> datetime | None:
    number = _number(seconds)
    if number is None or number > _MAX_SECONDS:
        return None
    return datetime.fromtimestamp(number, UTC)


def _value(data: object, *path: str) -> object:
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    return data


def _word(value: object) -> str | None:
    if not isinstance(value, str) or not value.isprintable():
        return None
    return value.strip()[:_MAX_WORD] or None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None  # NaN is neither


def _percent(value: object) -> float | None:
    number = _number(value)
    return number if number is not None and number <= 100 else None  # noqa: PLR2004 - a percentage
