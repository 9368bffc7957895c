"""Settings of fetching pages, and headers for single sites."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, SecretStr, ValidationInfo

from searx_mcp.errors import SettingsError
from searx_mcp.models.base import ByteCount, Frozen, Key, matching, refusal
from searx_mcp.models.coercion import A_USER_AGENT
from searx_mcp.models.fetch_request import (
    MAX_CHARS,
    MAX_CONTENT_LENGTH,
    MIN_CHARS,
    MIN_CONTENT_LENGTH,
)
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.hosts import normalise_domain


class TierName(StrEnum):
    """Sites with an adapter, which are not read as pages."""

    PYPI = "pypi"
    """Accepted without effect: robots.txt forbids the index's JSON, so its pages are read."""
    NPM = "npm"
    GITHUB = "github"
    GITLAB = "gitlab"
    CODEBERG = "codeberg"
    HUGGINGFACE = "huggingface"


class WebFetchConfig(Frozen):
    """The `[web_fetch]` table: the keys of the specification."""

    default_timeout: Annotated[float, Field(ge=1, le=120)] = Field(
        default=30.0, description="Seconds a fetch may take if the call sets no timeout."
    )
    max_content_size: Annotated[ByteCount, Field(ge=MIN_CONTENT_LENGTH, le=MAX_CONTENT_LENGTH)] = (
        Field(
            default=1_048_576,
            description="Maximum decoded bytes of a page if the call sets none, such as 1MB.",
        )
    )
    max_redirects: Annotated[int, Field(ge=0, le=20)] = Field(
        default=10, description="Maximum number of redirects."
    )
    user_agent: Annotated[str, matching(r"^[\x20-\x7e]{0,256}$", A_USER_AGENT)] = Field(
        default="",
        description="User-Agent for pages; empty sends searx-mcp/<version> with a link.",
    )
    max_response_time: Annotated[float, Field(ge=1, le=120)] = Field(
        default=60.0,
        description="Maximum seconds per fetch; a call's own timeout takes precedence.",
    )
    verify_ssl: bool = Field(
        default=True,
        description="Verify the certificates of pages; those of instances always are.",
    )
    default_max_chars: Annotated[int, Field(ge=MIN_CHARS, le=MAX_CHARS)] = Field(
        default=200_000,
        description="Markdown characters returned if the call sets no limit; a cursor continues.",
    )


class FetchPolicy(StrEnum):
    """Which addresses may be fetched by how they became known; calls of a person are free."""

    ANY = "any"
    SEEN = "seen"
    """Results of searches, and links on pages that were read."""
    SEEN_HOSTS = "seen_hosts"
    """Any address of a host of one of these."""


class RobotsMode(StrEnum):
    """Whether the robots.txt of a site is read and obeyed."""

    RESPECT = "respect"
    IGNORE = "ignore"


def _readable(read: Callable[[tuple[str, ...]], object]) -> AfterValidator:
    """Refuse entries that cannot be read as what they stand for."""

    def check(entries: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        try:
            read(entries)
        except SettingsError as error:
            reason = error.message.removeprefix(f"{error.field}: ")
            raise refusal(
                f"fetch.{info.field_name}", f"{reason}. {error.advice}".rstrip(". ")
            ) from error
        except ValueError as error:
            raise refusal(f"fetch.{info.field_name}", str(error)) from error
        return entries

    return AfterValidator(check)


_Places = Annotated[tuple[str, ...], _readable(AllowList.parse)]
_Domains = Annotated[tuple[str, ...], _readable(lambda entries: [*map(normalise_domain, entries)])]

_HEADERS_KEY: Final = "fetch.headers"

_MAX_HEADERS: Final = 20
_HEADER_CHARS: Final = 4_096
"""Characters; servers usually accept 8 kB of headers in total."""
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")
"""A token of RFC 9110, section 5.6.2."""
_HEADER_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?")
_OUR_HEADERS: Final = frozenset(
    {
        "accept-encoding", "connection", "content-encoding", "content-length", "content-type",
        "expect", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "keep-alive", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Hop-by-hop headers (RFC 9110, section 7.6.1), and those that control how the answer is encoded."""
_SITE_HOST: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?|[0-9a-f:.]+:[0-9a-f:.]*")
_PRINTABLE: Final = re.compile(r"[\x21-\x7e]+")
_PORTS: Final = {"http": 80, "https": 443}

_SiteHeaders = dict[str, dict[str, SecretStr]]


def _checked_headers(given: _SiteHeaders) -> _SiteHeaders:
    found: _SiteHeaders = {}
    for written, headers in given.items():
        origin = _site_origin(written)
        if origin in found:
            raise refusal(_HEADERS_KEY, f"there are two tables for {origin}: keep one")
        if len(headers) > _MAX_HEADERS:
            raise refusal(
                _HEADERS_KEY, f"{origin} has {len(headers)} headers; at most {_MAX_HEADERS}"
            )
        names = [name.lower() for name in headers]
        if len(set(names)) < len(names):
            raise refusal(_HEADERS_KEY, f"a header of {origin} appears twice: keep one")
        for name, value in headers.items():
            _check_header(origin, name, value)
        found[origin] = headers
    return found


def _site_origin(written: str) -> str:
    """Parse a host, perhaps with a port, as its https origin; http must be written out."""
    text = written if "://" in written else f"https://{written}"
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError as error:
        raise refusal(_HEADERS_KEY, _NO_SITE) from error
    is_bare = text.count("/") == 2 + (parts.path == "/") and not (parts.query or parts.fragment)
    is_clean = _PRINTABLE.fullmatch(text) and "@" not in text  # urlsplit drops line breaks
    if not (is_clean and is_bare and parts.scheme in _PORTS and _SITE_HOST.fullmatch(host)):
        raise refusal(_HEADERS_KEY, _NO_SITE)
    authority = f"[{host}]" if ":" in host else host
    if port is not None and port != _PORTS[parts.scheme]:
        authority = f"{authority}:{port}"
    return f"{parts.scheme}://{authority}"


_NO_SITE: Final = (
    "its tables are named after a host, such as wiki.example.org or wiki.example.org:8443, or"
    " http://wiki.internal for one without https; international names in ASCII"
)


def _check_header(origin: str, name: str, value: SecretStr) -> None:
    if not _HEADER_NAME.fullmatch(name):
        raise refusal(_HEADERS_KEY, f"{origin} has a name that no header can have")
    if name.lower() in _OUR_HEADERS:
        raise refusal(
            _HEADERS_KEY, f"{name} of {origin} belongs to the connection and cannot be set"
        )
    text = value.get_secret_value()
    if len(text) > _HEADER_CHARS or not _HEADER_VALUE.fullmatch(text):
        raise refusal(
            _HEADERS_KEY,
            f"{name} of {origin} is not one line of 1 to {_HEADER_CHARS:,} ASCII characters",
        )


HostHeaders = Annotated[_SiteHeaders, AfterValidator(_checked_headers)]
"""Headers that the operator adds for single sites, such as an intranet wiki's key: by origin, as
`https://host:port` without a default port, so that a redirect from https to http does not send them in the clear.
No error shows a value."""


class FetchConfig(Frozen):
    """The `[fetch]` table: what may be fetched, how often, and how long it is kept."""

    model_config = ConfigDict(hide_input_in_errors=True)

    allow_private: _Places = Field(
        default=(),
        description="Private host:port or cidr:port that may be reached, such as 10.0.0.5:8080.",
    )
    policy: FetchPolicy = Field(
        default=FetchPolicy.ANY,
        description="any address; only those seen in results and pages; or any of seen_hosts.",
    )
    allowed_domains: _Domains = Field(
        default=(),
        description="Only these domains, subdomains included, are fetched; empty for all.",
    )
    blocked_domains: _Domains = Field(
        default=(), description="Domains never fetched, including subdomains."
    )
    blocklist_file: str = Field(
        default="",
        description="File of domains never fetched: one per line, or in hosts format.",
    )
    robots: RobotsMode = Field(
        default=RobotsMode.RESPECT,
        description="Obey the robots.txt of sites (respect), or read pages without asking (ignore).",
    )
    headers: HostHeaders = Field(
        default_factory=dict,
        description="Headers sent only to one site, by host; see the documentation.",
    )
    max_per_host: Annotated[int, Field(ge=1, le=64)] = Field(
        default=4, description="Concurrent requests per host."
    )
    host_rate: Annotated[int, Field(ge=1, le=6_000)] = Field(
        default=60, description="Requests per host and minute, on average."
    )
    breaker_failures: Annotated[int, Field(ge=1, le=100)] = Field(
        default=5, description="Failures in a row before a host's cooldown."
    )
    breaker_pause: Annotated[float, Field(ge=1, le=3_600)] = Field(
        default=30.0,
        description="First cooldown of a failing host in seconds; doubled each time.",
    )
    robots_timeout: Annotated[float, Field(ge=0.5, le=30)] = Field(
        default=5.0, description="Seconds a site's robots.txt may take."
    )
    cache_ttl: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=300.0,
        description="Seconds a page is served from the cache if the site sets no lifetime.",
    )
    cache_max_age: Annotated[float, Field(ge=60, le=2_592_000)] = Field(
        default=604_800.0, description="Seconds a captured page is kept and its cursor is valid."
    )
    cache_size: Annotated[ByteCount, Field(ge=1_048_576, le=10_737_418_240)] = Field(
        default=104_857_600,
        description="Maximum bytes of captured pages on disk or Redis, such as 100MB; at most 16MB in memory.",
    )
    stale_if_error: Annotated[float, Field(ge=0, le=2_592_000)] = Field(
        default=86_400.0,
        description="Seconds a cached page may be served when its site fails; 0 for never.",
    )
    tiers: tuple[TierName, ...] = Field(
        default=tuple(name for name in TierName if name is not TierName.PYPI),
        description="Sites read from raw files and documented APIs, not pages; pypi has no effect.",
    )
    github_token: Key = Field(
        default=SecretStr(""),
        description="Token for GitHub's API; without one it allows 60 calls an hour.",
    )
    browser: bool = Field(
        default=False,
        description="Run scripts in Chromium for pages that are empty without them; needs [browser].",
    )
    browser_path: str = Field(default="", description="Path of Chromium; empty finds the system's.")


def with_own(
    headers: Mapping[str, str], origin: str, own: Mapping[str, Mapping[str, SecretStr]]
) -> dict[str, str]:
    """Return the headers for a request to an origin; the operator's replace those of the same name."""
    added = own.get(origin, {})
    names = {name.lower() for name in added}
    kept = {name: value for name, value in headers.items() if name.lower() not in names}
    return kept | {name: value.get_secret_value() for name, value in added.items()}
