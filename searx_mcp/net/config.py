"""Settings of the network edge."""

from typing import Annotated

from pydantic import Field

from searx_mcp.models.base import Frozen


class NetworkConfig(Frozen):
    """The `[network]` table."""

    connect_timeout: Annotated[float, Field(ge=0.1, le=60)] = Field(
        default=5.0, description="Seconds for one TCP and TLS connection."
    )
    max_connections: Annotated[int, Field(ge=1, le=1_000)] = Field(
        default=64, description="Open connections at most, for each kind of traffic."
    )
    max_connections_per_host: Annotated[int, Field(ge=1, le=100)] = Field(
        default=4, description="Open connections to one host at most."
    )
