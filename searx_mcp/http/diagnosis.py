"""The steps of a connection, one at a time: name, socket, TLS.

Sessions do these steps at once and report only that one failed. To find out what is wrong with an instance,
they are made separately; nothing is sent beyond the handshake.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from aiohttp import ThreadedResolver

from searx_mcp.urls.address import effective_address

LookUp = Callable[[str, int], Awaitable[tuple[str, ...]]]
"""Returns the addresses of a host, or raises `OSError`."""


@dataclass(frozen=True, slots=True)
class Reached:
    """An established connection.

    Attributes:
        address: the remote address.
        source: our own address, as the other side sees it unless there is NAT in between.
    """

    address: str
    source: str


class TlsFault(Enum):
    """Why a TLS connection failed."""

    EXPIRED = auto()
    NOT_YET_VALID = auto()
    SELF_SIGNED = auto()
    WRONG_NAME = auto()
    UNKNOWN_AUTHORITY = auto()
    OTHER_CERTIFICATE = auto()
    NOT_TLS = auto()
    """The other side does not speak TLS; usually it speaks plain http."""
    OTHER = auto()


# X509_V_ERR_* of OpenSSL, x509_vfy.h; Python does not name them.
_CERTIFICATE_FAULTS: Final = {
    9: TlsFault.NOT_YET_VALID,
    10: TlsFault.EXPIRED,
    18: TlsFault.SELF_SIGNED,
    19: TlsFault.UNKNOWN_AUTHORITY,  # self-signed, in the chain: a root that is not trusted
    20: TlsFault.UNKNOWN_AUTHORITY,
    21: TlsFault.UNKNOWN_AUTHORITY,
    62: TlsFault.WRONG_NAME,
    64: TlsFault.WRONG_NAME,  # the certificate does not name the address
}
_NOT_TLS: Final = frozenset(
    {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL"}
)


async def look_up(host: str, port: int) -> tuple[str, ...]:
    """Return the addresses of a host, as sessions resolve them; a literal address is returned as it is.

    Raises:
        OSError: it has none; `socket.gaierror` says why.
        UnicodeError: it is not a host name.
    """
    if effective_address(host) is not None:
        return (host,)
    answers = await ThreadedResolver().resolve(host, port, socket.AF_UNSPEC)
    return tuple(dict.fromkeys(answer["host"] for answer in answers))


async def connect(addresses: Sequence[str], port: int, *, timeout: float) -> Reached:  # noqa: ASYNC109 - shared among the addresses
    """Open a TCP connection to the first address that accepts one, and close it.

    Args:
        addresses: literal addresses.
        port: the same for all of them.
        timeout: seconds for all of them, divided equally.

    Raises:
        OSError: none accepted; the last one's error.
    """
    failure = OSError("there is no address")
    for address in addresses:
        try:
            async with (
                asyncio.timeout(timeout / len(addresses)),
                _connected(address, port) as transport,
            ):
                return Reached(address, transport.get_extra_info("sockname")[0])
        except OSError as exc:
            failure = exc
    raise failure


async def shake_hands(
    host: str, address: str, port: int, *, context: ssl.SSLContext | None = None
) -> str:
    """Open a TLS connection and close it.

    Args:
        host: the name that the certificate must be valid for.
        address: to connect to.
        port: to connect to.
        context: what is trusted; by default the system's authorities.

    Returns:
        The protocol version, such as `TLSv1.3`.

    Raises:
        OSError: it failed; `tls_fault` explains an `ssl.SSLError`.
    """
    context = context or ssl.create_default_context()
    async with _connected(address, port, ssl=context, server_hostname=host) as transport:
        return str(transport.get_extra_info("ssl_object").version())


def tls_fault(error: OSError) -> TlsFault:
    """Classify an error of `shake_hands`."""
    match error:
        case ssl.SSLCertVerificationError():
            # macOS and Windows report no OpenSSL code.
            code = getattr(error, "verify_code", 0)
            return _CERTIFICATE_FAULTS.get(code, TlsFault.OTHER_CERTIFICATE)
        case ssl.SSLError(reason=reason) if reason in _NOT_TLS:
            return TlsFault.NOT_TLS
        case _:
            return TlsFault.OTHER


@asynccontextmanager
async def _connected(
    address: str,
    port: int,
    *,
    ssl: ssl.SSLContext | None = None,
    server_hostname: str | None = None,
) -> AsyncIterator[asyncio.WriteTransport]:
    _, writer = await asyncio.open_connection(
        address, port, ssl=ssl, server_hostname=server_hostname
    )
    try:
        yield writer.transport
    finally:
        # Do not wait for the other side, which may be slow to close.
        writer.transport.abort()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
