"""Settings of fetching pages."""

from typing import Annotated

from pydantic import Field

from searx_mcp.models.base import ByteCount, Frozen
from searx_mcp.models.request import MAX_CONTENT_LENGTH, MIN_CONTENT_LENGTH


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


class FetchConfig(Frozen):
    """The `[fetch]` table: which addresses may be fetched."""

    allow_private: tuple[str, ...] = Field(
        default=(),
        description="Private host:port or cidr:port that may be reached, such as 10.0.0.5:8080.",
    )
    blocked_domains: tuple[str, ...] = Field(
        default=(), description="Domains, subdomains included, that are never fetched."
    )
