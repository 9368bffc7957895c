"""Settings of the thin client: a server elsewhere that performs the calls."""

from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, SecretStr, model_validator

from searx_mcp.models.base import Frozen, Key, refusal
from searx_mcp.models.credentials import base_url
from searx_mcp.urls.address import effective_address


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
