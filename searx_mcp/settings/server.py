"""Settings of the MCP server, of HTTP access to it, and of a service elsewhere that performs its calls."""

import re
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, SecretStr, model_validator

from searx_mcp.models.base import Address, ByteCount, Frozen, Key, matching, refusal
from searx_mcp.models.credentials import base_url
from searx_mcp.settings.tools import DEFAULTS, PROFILES, Tool, published_names
from searx_mcp.urls.address import effective_address

_TOKEN: Final = re.compile(r"[\x21-\x7e]{16,500}")
_AUTHORITY: Final = r"([A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?"
"""A host and an optional port as in a request (RFC 9110, 7.2); IPv6 addresses are in brackets."""

_Host = Annotated[
    str, matching(rf"^{_AUTHORITY}$", "a host such as search.example.org, [::1] or 192.0.2.1:8765")
]
_Origin = Annotated[
    str,
    matching(
        rf"^[a-z][a-z0-9+.-]{{0,30}}://{_AUTHORITY}$",
        "an origin such as https://app.example.org, without a path",
    ),
]


def _check_token(token: SecretStr) -> SecretStr:
    text = token.get_secret_value()
    if text and not _TOKEN.fullmatch(text):
        # Clients may encode other characters differently, so they would never match.
        raise refusal(
            "http.token", "it must have 16 to 500 visible ASCII characters, and no spaces"
        )
    return token


def _check_network(text: str) -> str:
    try:
        ip_network(text, strict=False)
    except ValueError as exc:
        raise refusal(
            "http.proxies", f"{text[:100]!r} is neither an address nor a network"
        ) from exc
    return text


class ServerConfig(Frozen):
    """The `[server]` table: what the MCP server gives its clients."""

    transport: Literal["stdio", "streamable-http"] = Field(
        default="stdio",
        description="How clients reach it: stdio, or streamable-http as set in [http].",
    )
    profile: Literal["default", "research", "small", "chatgpt"] = Field(
        default="default",
        description="Tools: default (four), research (also for kept pages), small or chatgpt (two).",
    )
    tools: tuple[Tool, ...] = Field(
        default=(), description="Publish exactly these tools instead of the profile's."
    )
    tool_prefix: str = Field(
        default="",
        description="Prefix for the names of tools that are not renamed, such as searx_.",
    )
    tool_names: dict[str, str] = Field(
        default_factory=dict,
        description="Tools to rename, old name to new; the prefix is not added.",
    )
    tool_timeout: Annotated[float, Field(ge=5, le=600)] = Field(
        default=50.0,
        description="Seconds an MCP or REST call may take; by default, less for clients known to wait less.",
    )
    search_token_budget: Annotated[int, Field(ge=200, le=200_000)] = Field(
        default=6_000, description="Tokens of a search's text by default."
    )
    fetch_token_budget: Annotated[int, Field(ge=200, le=200_000)] = Field(
        default=2_000,
        description="Tokens of a fetched page's text by default.",
    )
    response_token_budget: Annotated[int, Field(ge=200, le=200_000)] = Field(
        default=1_500,
        description="Tokens of evidence by default.",
    )
    fetch_token_limit: Annotated[int, Field(ge=200, le=200_000)] = Field(
        default=20_000,
        description="Maximum tokens of a fetched page's text.",
    )
    structured_output: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="Structured results next to the text: auto (by client), on (with schemas), off.",
    )
    traces: Address = Field(
        default="",
        description="OpenTelemetry collector (OTLP over HTTP) for traces, such as http://127.0.0.1:4318.",
    )

    @model_validator(mode="before")
    @classmethod
    def _apply_profile(cls, values: object) -> object:
        if isinstance(values, Mapping) and isinstance(profile := values.get("profile"), str):
            return {**DEFAULTS.get(profile, {}), **values}
        return values

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        self.published()
        return self

    def published(self) -> dict[Tool, str]:
        """Return the name of each published tool, the most needed first."""
        return published_names(
            self.tools or PROFILES[self.profile], prefix=self.tool_prefix, renamed=self.tool_names
        )


class HttpConfig(Frozen):
    """The `[http]` table: the server over HTTP."""

    # A token may be in the wrong field, so pydantic's errors must not show their input.
    model_config = ConfigDict(hide_input_in_errors=True)

    host: Annotated[
        str,
        matching(
            r"^[A-Za-z0-9._:-]{1,253}$", "a host name or IP address, such as 127.0.0.1 or ::1"
        ),
    ] = Field(
        default="127.0.0.1",
        description="Address to listen on; anything but loopback needs a token.",
    )
    port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        default=8_765, description="Port to listen on; 0 takes a free one."
    )
    token: Annotated[SecretStr, AfterValidator(_check_token)] = Field(
        default=SecretStr(""),
        description="Bearer token that requests must carry, at least 16 characters; empty for none.",
    )
    tokens_file: str = Field(
        default="",
        description="File of named tokens with tools and quotas, instead of http.token.",
    )
    key_in_query: bool = Field(
        default=False,
        description="Take the token of SearXNG's clients from ?key= too; proxies may log it.",
    )
    allowed_hosts: tuple[_Host, ...] = Field(
        default=(),
        description="Host names that clients use for it, such as search.example.org, besides loopback.",
    )
    allowed_origins: tuple[_Origin, ...] = Field(
        default=(),
        description="Origins of web pages that may use it, such as https://app.example.org.",
    )
    proxies: tuple[Annotated[str, AfterValidator(_check_network)], ...] = Field(
        default=(),
        description="Addresses or networks of proxies, whose connections are not counted as one client's.",
    )
    max_body_size: Annotated[ByteCount, Field(ge=1_024, le=67_108_864)] = Field(
        default=1_048_576, description="Maximum bytes of a request, such as 1MB."
    )
    drain: Annotated[float, Field(ge=0, le=600)] = Field(
        default=0.0,
        description="Seconds to go on serving at a stop, with /readyz at 503, before it accepts no more.",
    )

    @model_validator(mode="after")
    def _check_tokens(self) -> Self:
        if self.token.get_secret_value() and self.tokens_file:
            raise refusal(
                "http.tokens_file",
                "http.token is set too: put that token into the file, under a name",
            )
        return self

    @property
    def wants_token(self) -> bool:
        """Whether requests need a token."""
        return bool(self.token.get_secret_value() or self.tokens_file)


def _check_url(url: str) -> str:
    try:
        return base_url(url.strip()) if url.strip() else ""
    except ValueError as error:
        raise refusal("remote.url", str(error)) from None


class RemoteConfig(Frozen):
    """The `[remote]` table: a service elsewhere that performs the calls of the MCP server."""

    # A key may be in the wrong field, so pydantic's errors must not show their input.
    model_config = ConfigDict(hide_input_in_errors=True)

    url: Annotated[str, AfterValidator(_check_url)] = Field(
        default="",
        description="Base URL of a service that performs the calls; empty for this process.",
    )
    key: Key = Field(default=SecretStr(""), description="Bearer token for that service.")
    timeout: Annotated[float, Field(ge=0.1, le=600)] = Field(
        default=60.0, description="Seconds one call to that service may take."
    )
    allow_plain_http: bool = Field(
        default=False,
        description="Send the key over plain http within a private network, not only to this machine.",
    )

    @model_validator(mode="after")
    def _check_scheme(self) -> Self:
        if (
            self.key.get_secret_value()
            and not self.allow_plain_http
            and not _is_private_way(self.url)
        ):
            raise refusal(
                "remote.url",
                "plain http would expose the key; use https, or set remote.allow_plain_http",
            )
        return self


def _is_private_way(url: str) -> bool:
    """Return whether nobody can read the traffic to an address on the way."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    address = effective_address(host)
    return (
        parts.scheme != "http"
        or host == "localhost"
        or (address is not None and address.is_loopback)
    )
