"""Settings of fetching pages."""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, ConfigDict, Field, SecretStr, ValidationInfo

from searx_mcp.errors import SettingsError
from searx_mcp.http.host_headers import HostHeaders
from searx_mcp.models.base import ByteCount, Frozen, matching, refusal
from searx_mcp.models.coercion import A_USER_AGENT
from searx_mcp.models.fetch_request import (
    MAX_CHARS,
    MAX_CONTENT_LENGTH,
    MIN_CHARS,
    MIN_CONTENT_LENGTH,
)
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.hosts import normalise_domain

_TOKEN: Final = re.compile(r"[!-~]{0,255}")


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


def _check_token(token: SecretStr, info: ValidationInfo) -> SecretStr:
    if not _TOKEN.fullmatch(token.get_secret_value()):
        raise refusal(
            f"fetch.{info.field_name}",
            "contains a character that no token has; copy it again without spaces",
        )
    return token


_Places = Annotated[tuple[str, ...], _readable(AllowList.parse)]
_Domains = Annotated[tuple[str, ...], _readable(lambda entries: [*map(normalise_domain, entries)])]


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
    github_token: Annotated[SecretStr, AfterValidator(_check_token)] = Field(
        default=SecretStr(""),
        description="Token for GitHub's API; without one it allows 60 calls an hour.",
    )
    browser: bool = Field(
        default=False,
        description="Run scripts in Chromium for pages that are empty without them; needs [browser].",
    )
    browser_path: str = Field(default="", description="Path of Chromium; empty finds the system's.")
