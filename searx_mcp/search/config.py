"""Settings of searching."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from searx_mcp.models.base import ByteCount, Frozen, matching
from searx_mcp.models.coercion import A_LANGUAGE
from searx_mcp.models.request import LANGUAGE_PATTERN, MAX_RESULTS, Category


class WebSearchConfig(Frozen):
    """The `[web_search]` table: the keys of the specification with its defaults."""

    default_results_count: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = Field(
        default=10, description="Results returned when a call does not set a number."
    )
    max_results_count: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = Field(
        default=50, description="Maximum number of results per call."
    )
    max_concurrent_fetches: Annotated[int, Field(ge=1, le=64)] = Field(
        default=5,
        description="Result pages read at once per search; eight times as many over all searches.",
    )
    default_timeout: Annotated[float, Field(ge=1, le=120)] = Field(
        default=30.0, description="Seconds a whole search may take, including its pages."
    )
    content_fetch_timeout: Annotated[float, Field(ge=1, le=120)] = Field(
        default=45.0,
        description="Seconds one result page may take; the call's own deadline comes first.",
    )
    max_content_size: Annotated[ByteCount, Field(ge=1_024, le=52_428_800)] = Field(
        default=2_097_152, description="Maximum decoded bytes of one result page, such as 2MB."
    )
    instance_health_check_interval: Annotated[float, Field(ge=10, le=86_400)] = Field(
        default=300.0,
        description="Seconds between health checks of your own instances in long-lived servers.",
    )
    max_consecutive_failures: Annotated[int, Field(ge=1, le=20)] = Field(
        default=3, description="Failures in a row before an instance's cooldown."
    )
    rate_limit_backoff_base: Annotated[float, Field(ge=1, le=86_400)] = Field(
        default=60.0,
        description="Minimum cooldown in seconds after a public instance rate-limits us.",
    )
    rotate_user_agents: bool = Field(
        default=True,
        description="Send public instances a desktop browser's headers; false sends our own name.",
    )
    request_delay_range: tuple[
        Annotated[int, Field(ge=0, le=60_000)], Annotated[int, Field(ge=0, le=60_000)]
    ] = Field(
        default=(100, 500),
        description="Minimum and maximum milliseconds between requests to public instances.",
    )
    use_random_instances: bool = Field(
        default=True,
        description="Start the round-robin at a random instance; false starts with the best.",
    )
    summarize_long_content: bool = Field(
        default=True,
        description="Add a summary in whole sentences to each page; models get passages instead.",
    )
    max_summary_length: Annotated[int, Field(ge=50, le=5_000)] = Field(
        default=500, description="Maximum characters of a summary."
    )
    extract_code_blocks: bool = Field(
        default=True, description="Keep code blocks in the Markdown; false drops them."
    )

    @model_validator(mode="after")
    def _check_pairs(self) -> Self:
        low, high = self.request_delay_range
        if low > high:
            raise ValueError("request_delay_range must run from the smaller to the larger number")
        if self.default_results_count > self.max_results_count:
            raise ValueError("default_results_count must not be above max_results_count")
        return self


SourcePattern = Annotated[
    str,
    matching(
        r"^[a-z0-9*._/-]{1,200}$",
        "a domain or pattern in lower case, such as docs.rs, *.gov or */docs/*",
    ),
]
"""A domain, which covers its subdomains, or a pattern with `*`; with a `/`, of host and path."""


class QualityConfig(Frozen):
    """The `[quality]` table: what is made of the pages that a search reads."""

    rerank: bool = Field(
        default=True,
        description="Let the pages read change the order of results; false keeps the engines' order.",
    )
    strength: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.5,
        description="Effect of quality: two tenths move a result one place at 0.5, one tenth at 1; 0 for none.",
    )
    drop_poor: bool = Field(
        default=True,
        description="Drop pages that are empty, spam or just a login or cookie wall, and say why.",
    )
    group_duplicates: bool = Field(
        default=True,
        description="Return the text of duplicate pages once, with the first result.",
    )
    preferred_domains: tuple[SourcePattern, ...] = Field(
        default=(
            # documentation
            "docs.*", "doc.*", "developer.*", "developers.*", "*.readthedocs.io", "devdocs.io",
            "docs.rs", "pkg.go.dev", "developer.mozilla.org", "learn.microsoft.com",
            "cppreference.com", "man7.org", "kernel.org", "*/docs/*", "*/documentation/*",
            "*/manual/*",
            # standards
            "rfc-editor.org", "ietf.org", "w3.org", "whatwg.org", "iso.org", "iec.ch", "itu.int",
            "unicode.org", "ecma-international.org", "tc39.es",
            # official
            "*.gov", "*.gov.*", "gov.uk", "*.gouv.fr", "*.gob.*", "*.go.jp", "*.gc.ca",
            "*.bund.de", "*.admin.ch", "europa.eu", "*.int", "un.org", "*.edu", "*.edu.*",
            "*.ac.*",
        ),
        description="Sources that gain three tenths of quality: documentation, standards, official sites.",
    )  # fmt: skip
    demoted_domains: tuple[SourcePattern, ...] = Field(
        default=(), description="Sources that lose six tenths of quality; written the same way."
    )
    prefer_named_sites: bool = Field(
        default=True,
        description="Prefer a site whose name is in the query, such as a project's own documentation.",
    )


class SearchConfig(Frozen):
    """The `[search]` table: how a search is carried out."""

    default_category: Category = Field(
        default=Category.GENERAL, description="Category if a call sets none."
    )
    default_language: Annotated[str, matching(LANGUAGE_PATTERN, A_LANGUAGE)] = Field(
        default="en", description="Language if a call sets none."
    )
    phase_timeout: Annotated[float, Field(ge=1, le=120)] = Field(
        default=12.0, description="Seconds the search phase of a call may take, without the pages."
    )
    attempt_timeout: Annotated[float, Field(ge=0.2, le=60)] = Field(
        default=5.0,
        description="Seconds a request to one instance may take while another can still answer.",
    )
    max_instances: Annotated[int, Field(ge=1, le=10)] = Field(
        default=3, description="Maximum number of instances per search."
    )
    own_at_once: Annotated[int, Field(ge=1, le=1_000)] = Field(
        default=64,
        description="Maximum concurrent searches at one of your own instances; others wait.",
    )
    fan_out: Annotated[int, Field(ge=1, le=10)] = Field(
        default=1, description="Number of your own instances asked in parallel for one search."
    )
    hedge_share: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.2,
        description="Maximum share of hedged requests when your own instance is slow; 0 for none.",
    )
    hedge_delay: Annotated[float, Field(ge=0.05, le=60)] = Field(
        default=1.5,
        description="Seconds before a hedged request while typical latency is unknown.",
    )
    cache_ttl: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=300.0,
        description="Seconds an answer is served from the cache; 0 turns the cache off.",
    )
    stale_while_revalidate: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=300.0,
        description="Seconds after cache_ttl in which an answer is served while a newer one is fetched.",
    )
    stale_if_error: Annotated[float, Field(ge=0, le=604_800)] = Field(
        default=86_400.0,
        description="Seconds an answer may be served when no instance can; 0 for never.",
    )
    cache_size: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=256, description="Maximum number of cached answers."
    )
