"""Settings of fetching pages."""

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field, SecretStr

from searx_mcp.http.host_headers import HostHeaders
from searx_mcp.models.base import ByteCount, Frozen
from searx_mcp.models.fetch_request import (
    MAX_CHARS,
    MAX_CONTENT_LENGTH,
    MIN_CHARS,
    MIN_CONTENT_LENGTH,
)


class TierName(StrEnum):
    """The sites that are read in another way than as pages."""

    PYPI = "pypi"
    """Accepted and without effect: robots.txt forbids the index's JSON, so its pages are read."""
    NPM = "npm"
    GITHUB = "github"
    GITLAB = "gitlab"
    CODEBERG = "codeberg"
    HUGGINGFACE = "huggingface"


class WebFetchConfig(Frozen):
    """The `[web_fetch]` table: the keys of the specification."""

    default_timeout: Annotated[float, Field(ge=1, le=120)] = Field(
        default=30.0, description="Seconds a fetch may take when a call names no timeout."
    )
    max_content_size: Annotated[ByteCount, Field(ge=MIN_CONTENT_LENGTH, le=MAX_CONTENT_LENGTH)] = (
        Field(
            default=1_048_576,
            description="Decoded bytes read of a page when a call names no length, such as 1MB.",
        )
    )
    max_redirects: Annotated[int, Field(ge=0, le=20)] = Field(
        default=10, description="Redirects followed at most."
    )
    user_agent: Annotated[str, Field(pattern=r"^[\x20-\x7e]{0,256}$")] = Field(
        default="",
        description="User-Agent sent to pages; empty sends searx-mcp/<version> with a link to us.",
    )
    max_response_time: Annotated[float, Field(ge=1, le=120)] = Field(
        default=60.0,
        description="Seconds a fetch may take at most; a timeout named by a call beats it.",
    )
    verify_ssl: bool = Field(
        default=True,
        description="Verify certificates of pages; instances are always verified.",
    )
    default_max_chars: Annotated[int, Field(ge=MIN_CHARS, le=MAX_CHARS)] = Field(
        default=200_000,
        description="Characters of Markdown given when a call names no number; the rest has a cursor.",
    )


class FetchPolicy(StrEnum):
    """Which addresses may be fetched by how they became known; calls of a person are free."""

    ANY = "any"
    SEEN = "seen"
    """Results of searches, and links on pages that were read."""
    SEEN_HOSTS = "seen_hosts"
    """Any address of a host of one of these."""


class Robots(StrEnum):
    """Whether the robots.txt of a site is read and obeyed."""

    RESPECT = "respect"
    IGNORE = "ignore"


class FetchConfig(Frozen):
    """The `[fetch]` table: what may be fetched, how often, and how long it is kept."""

    model_config = ConfigDict(hide_input_in_errors=True)

    allow_private: tuple[str, ...] = Field(
        default=(),
        description="Private host:port or cidr:port that may be reached, such as 10.0.0.5:8080.",
    )
    policy: FetchPolicy = Field(
        default=FetchPolicy.ANY,
        description="any address; only those seen in results and pages; or any of seen_hosts.",
    )
    allowed_domains: tuple[str, ...] = Field(
        default=(),
        description="Only these domains, subdomains included, are fetched; empty for all.",
    )
    blocked_domains: tuple[str, ...] = Field(
        default=(), description="Domains, subdomains included, that are never fetched."
    )
    blocklist_file: str = Field(
        default="",
        description="File of domains that are never fetched: one a line, or in the form of hosts.",
    )
    robots: Robots = Field(
        default=Robots.RESPECT,
        description="Obey the robots.txt of sites (respect), or read pages without asking (ignore).",
    )
    headers: HostHeaders = Field(
        default_factory=dict,
        description="Headers sent to one site alone, by its host; see the documentation.",
    )
    max_per_host: Annotated[int, Field(ge=1, le=64)] = Field(
        default=4, description="Requests to one host at the same time."
    )
    host_rate: Annotated[int, Field(ge=1, le=6_000)] = Field(
        default=60, description="Requests to one host in a minute, on average."
    )
    breaker_failures: Annotated[int, Field(ge=1, le=100)] = Field(
        default=5, description="Failures in a row after which a host is left alone for a time."
    )
    breaker_pause: Annotated[float, Field(ge=1, le=3_600)] = Field(
        default=30.0,
        description="Seconds a failing host is left alone at first; doubled each time.",
    )
    robots_timeout: Annotated[float, Field(ge=0.5, le=30)] = Field(
        default=5.0, description="Seconds a site's robots.txt may take."
    )
    cache_ttl: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=300.0,
        description="Seconds a page is served again without asking a site that names no time.",
    )
    cache_max_age: Annotated[float, Field(ge=60, le=2_592_000)] = Field(
        default=604_800.0, description="Seconds a captured page is kept, and its cursor is good."
    )
    cache_size: Annotated[ByteCount, Field(ge=1_048_576, le=10_737_418_240)] = Field(
        default=104_857_600,
        description="Bytes of captured pages in a file or on Redis, such as 100MB; in memory at most 16MB.",
    )
    stale_if_error: Annotated[float, Field(ge=0, le=2_592_000)] = Field(
        default=86_400.0,
        description="Seconds a kept page is served for when its site fails; 0 for never.",
    )
    tiers: tuple[TierName, ...] = Field(
        default=tuple(name for name in TierName if name is not TierName.PYPI),
        description="Sites read from raw files and documented APIs, not pages; pypi has no effect.",
    )
    github_token: SecretStr = Field(
        default=SecretStr(""),
        description="Token for GitHub's API, which allows 60 calls an hour without one.",
    )
    browser: bool = Field(
        default=False,
        description="Let Chromium run the scripts of pages that are empty without; needs [browser].",
    )
    browser_path: str = Field(
        default="", description="Chromium's program; empty looks for the system's."
    )
