"""Whose certificates are believed: those of the system's trust store, and of one file."""

import ssl
import sys
from pathlib import Path
from typing import Final

from searx_mcp.errors import SettingsError
from searx_mcp.files import read_bytes

_FIELD: Final = "network.ca_file"
_ADVICE: Final = "Give the path of a PEM file with the certificate of the authority, or remove it."
_MOST: Final = 16 << 20
"""Bytes of a file of authorities; the collection of Mozilla has 0.2 MB."""
_NATIVE: Final = frozenset({"darwin", "win32"})
"""Systems whose trust store is no file that OpenSSL could read."""


def tls_context(ca_file: str, *, platform: str = sys.platform) -> ssl.SSLContext | bool:
    """Make what verifies the certificates of servers.

    On macOS and Windows the system itself judges, elsewhere OpenSSL with the system's file of
    authorities: `docs/decisions/trust-store.md`.

    Args:
        ca_file: path of a PEM file whose authorities are believed, too; empty for none.
        platform: as `sys.platform`.

    Returns:
        A context, or `True` where the HTTP library's own one would be the same.

    Raises:
        SettingsError: the file cannot be read, or holds no certificate.
    """
    if platform in _NATIVE:
        from truststore import SSLContext  # noqa: PLC0415 - elsewhere it is not needed

        context: ssl.SSLContext = SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    elif not ca_file:
        return True
    else:
        context = ssl.create_default_context()
    context.set_alpn_protocols(("http/1.1",))
    if ca_file:
        _add(context, Path(ca_file))
    return context


def _add(context: ssl.SSLContext, path: Path) -> None:
    try:
        path = path.expanduser()
        read_bytes(path, _MOST)  # OpenSSL does not tell a missing file from a wrong one, and waits
        context.load_verify_locations(cafile=path)
    except ssl.SSLError as exc:
        raise SettingsError(
            _FIELD, f"{path} holds no certificates in PEM form", advice=_ADVICE
        ) from exc
    except (OSError, RuntimeError) as exc:  # RuntimeError: there is no home folder for `~`
        reason = getattr(exc, "strerror", None) or str(exc)
        raise SettingsError(_FIELD, f"{path} cannot be read: {reason}", advice=_ADVICE) from exc
