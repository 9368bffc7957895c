"""Ports of this machine's loopback address."""

import os
import socket
from typing import Final

from searx_mcp.models.own_instance import ContainerFailure
from searx_mcp.ops.own.errors import ContainerError

LOOPBACK: Final = "127.0.0.1"
FIRST_PORT: Final = 8888
"""SearXNG's own default outside a container."""

_TRIED: Final = 20


def free_port(wanted: int | None = None) -> int:
    """A port nobody listens on: the wanted one, else the first free one from 8888 on.

    Another program may take it before it is used.

    Raises:
        ContainerError: the wanted port is taken, or all that were tried.
    """
    last = FIRST_PORT + _TRIED - 1
    for port in (wanted,) if wanted else range(FIRST_PORT, last + 1):
        if _is_free(port):
            return port
    raise ContainerError(
        f"Port {wanted} is taken." if wanted else f"Ports {FIRST_PORT} to {last} are taken.",
        reason=ContainerFailure.PORT_TAKEN,
        advice="Choose another one with --port.",
    )


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if os.name == "posix":  # elsewhere it lets two programs listen on one port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
