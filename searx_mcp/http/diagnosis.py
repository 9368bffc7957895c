"""One step of a connection at a time: name, socket, TLS.

Sessions make these steps at once and tell only that one failed. What is wrong with an instance is
seen by making them one after the other; nothing is sent beyond the handshake.
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
"""Gives the addresses of a host, or raises `OSError`."""


@dataclass(frozen=True, slots=True)
class Reached:
    """An established connection.

    Attributes:
        address: where it led.
        source: our own address, as the other side sees it unless something translates it between.
    """

    address: str
    source: str


class TlsFault(Enum):
    """Why a TLS connection could not be established."""

    EXPIRED = auto()
    NOT_YET_VALID = auto()
    SELF_SIGNED = auto()
    WRONG_NAME = auto()
    UNKNOWN_AUTHORITY = auto()
    OTHER_CERTIFICATE = auto()
    NOT_TLS = auto()
    """The other side does not speak TLS; usually it speaks plain http."""
    OTHER = auto()


# X509_V_ERR_* of OpenSSL, x509_vfy.h; they are not named in Python.
_CERTIFICATE_FAULTS: Final = {
    9: TlsFault.NOT_YET_VALID,
    10: TlsFault.EXPIRED,
    18: TlsFault.SELF_SIGNED,
    19: TlsFault.UNKNOWN_AUTHORITY,  # self-signed, in the chain: a root that is not trusted
    20: TlsFault.UNKNOWN_AUTHORITY,
    21: TlsFault.UNKNOWN_AUTHORITY,
    62: TlsFault.WRONG_NAME,
    64: TlsFault.WRONG_NAME,  # an address the certificate does not name
}
_NOT_TLS: Final = frozenset(
    {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL"}
)


async def look_up(host: str, port: int) -> tuple[str, ...]:
    """The addresses of a host, as sessions find them; a literal address is its own.

    Raises:
        OSError: it has none; `socket.gaierror` tells why.
        UnicodeError: it is not a host name.
    """
    if effective_address(host) is not None:
        return (host,)
    answers = await ThreadedResolver().resolve(host, port, socket.AF_UNSPEC)
    return tuple(dict.fromkeys(answer["host"] for answer in answers))


async def connect(addresses: Sequence[str], port: int, *, timeout: float) -> Reached:  # noqa: ASYNC109 - shared among the addresses
    """Open a TCP connection to the first address that accepts one, and close it.

    Args:
        addresses: literal ones.
        port: the same at all of them.
        timeout: seconds for all of them; each has its share.

    Raises:
        OSError: none did; the error of the last one.
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
        host: the name the certificate must be for.
        address: where to connect to.
        port: likewise.
        context: what is trusted; the system's authorities unless given.

    Returns:
        The version of the protocol, such as `TLSv1.3`.

    Raises:
        OSError: it failed; `tls_fault` tells what an `ssl.SSLError` among them means.
    """
    context = context or ssl.create_default_context()
    async with _connected(address, port, ssl=context, server_hostname=host) as transport:
        return str(transport.get_extra_info("ssl_object").version())


def tls_fault(error: OSError) -> TlsFault:
    """What an error of `shake_hands` means."""
    match error:
        case ssl.SSLCertVerificationError():
            # The system of macOS or Windows gives no code of OpenSSL's.
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
