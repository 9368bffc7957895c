"""Settings of network access."""

from functools import partial
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
)

from searx_mcp.http.proxy import DIRECT, Bypass, ProxyRules, ProxyUrl
from searx_mcp.models.base import Frozen, refusal

ENV: Final = "env"
"""Value of `network.proxy` that selects the proxies of the environment."""
NONE: Final = "none"
"""Value of `network.http_proxy` that means no proxy."""


def _read_proxy(value: Any, *, key: str) -> ProxyUrl | None:  # noqa: ANN401 - pydantic hands over whatever was given
    if value is None or isinstance(value, ProxyUrl):
        return value
    if not isinstance(value, str):
        raise refusal(f"network.{key}", "is not text")
    if value == ENV:
        reason = "env is for the command and the server; a program names the proxy itself"
        raise refusal(
            f"network.{key}", reason if key == "proxy" else "env belongs in network.proxy"
        )
    try:
        return ProxyUrl.parse(value) if value.strip() else None
    except ValueError as error:
        raise refusal(f"network.{key}", str(error)) from None


def _read_http_proxy(value: Any) -> "ProxyUrl | str":  # noqa: ANN401 - pydantic hands over whatever was given
    return NONE if value == NONE else _read_proxy(value, key="http_proxy") or ""


def _check_bypass(entries: tuple[str, ...]) -> tuple[str, ...]:
    try:
        Bypass.parse(entries)
    except ValueError as error:
        raise refusal("network.no_proxy", str(error)) from None
    return entries


_AS_TEXT = (
    PlainSerializer(lambda proxy: str(proxy or "")),
    WithJsonSchema({"type": "string"}),
)


class NetworkConfig(Frozen):
    """The `[network]` table."""

    # A proxy may contain a password, so pydantic's errors must not show their input.
    model_config = ConfigDict(hide_input_in_errors=True)

    connect_timeout: Annotated[float, Field(ge=0.1, le=60)] = Field(
        default=5.0, description="Seconds to open one TCP and TLS connection."
    )
    max_connections: Annotated[int, Field(ge=1, le=1_000)] = Field(
        default=64,
        description="Maximum open connections for each kind of traffic, own instances excepted.",
    )
    max_connections_per_host: Annotated[int, Field(ge=1, le=100)] = Field(
        default=8,
        description="Maximum open connections to one host; own instances have search.own_at_once.",
    )
    proxy: Annotated[
        ProxyUrl | None, PlainValidator(partial(_read_proxy, key="proxy")), *_AS_TEXT
    ] = Field(
        default=None,
        description="Proxy: http, https or socks5://user:password@host:port; env for HTTPS_PROXY.",
    )
    http_proxy: Annotated[ProxyUrl | str, PlainValidator(_read_http_proxy), *_AS_TEXT] = Field(
        default="", description="Another proxy for plain http; empty for the same, none for none."
    )
    no_proxy: Annotated[tuple[str, ...], AfterValidator(_check_bypass)] = Field(
        default=DIRECT,
        description="Domains, addresses and networks that are reached without the proxy.",
    )
    ca_file: str = Field(
        default="",
        description="PEM file of trusted certificates in addition to the system's.",
    )

    def proxies(self) -> ProxyRules:
        """Return which requests use which proxy."""
        http = self.proxy if self.http_proxy == "" else self.http_proxy
        return ProxyRules(
            https=self.proxy,
            http=http if isinstance(http, ProxyUrl) else None,
            bypass=Bypass.parse(self.no_proxy),
        )
