"""The login cookie: the token's name and an expiry time, sealed; the token itself is never stored in a browser."""

import hashlib
import hmac
import re
from typing import Final

_NAME: Final = b"searx-mcp"
_SECONDS: Final = 43_200
"""A working day and a bit; then users log in again."""
_VALUE: Final = re.compile(rb"([a-z0-9_.-]{0,32})\.([0-9]{1,12})\.([0-9a-f]{64})")
_COOKIE: Final = re.compile(rb"(?:\A|; ?)searx-mcp=([^; ]{1,200})(?=;|\Z)")


def sealed(name: str, key: bytes, now: float, *, is_secure: bool) -> str:
    """Give the header that makes a browser keep a login.

    Args:
        name: of the token; empty where there is one for all.
        key: of the token and of this server.
        now: Unix seconds.
        is_secure: whether the browser reached the server through TLS.
    """
    claim = f"{name}.{int(now) + _SECONDS}".encode()
    return _header(claim + b"." + _seal(key, claim), _SECONDS, is_secure=is_secure)


def forgotten() -> str:
    """Give the header that makes a browser forget a login."""
    return _header(b"", 0, is_secure=False)


def claimed(header: bytes, now: float) -> "Claim | None":
    """Read the login cookie of a request; `None` if there is none or it has expired.

    Args:
        header: all its cookies.
        now: Unix seconds.
    """
    cookie = _COOKIE.search(header)
    found = _VALUE.fullmatch(cookie[1]) if cookie else None
    if found is None or int(found[2]) < now:
        return None
    return Claim(found[1].decode(), found[1] + b"." + found[2], found[3])


class Claim:
    """Who a browser says it is.

    Args:
        name: of the token.
        claim: what is sealed.
        seal: as the browser sent it.
    """

    def __init__(self, name: str, claim: bytes, seal: bytes) -> None:
        self.name = name
        self._claim = claim
        self._seal = seal

    def is_sealed_with(self, key: bytes) -> bool:
        """Tell whether it was sealed here for this token."""
        return hmac.compare_digest(_seal(key, self._claim), self._seal)


def _seal(key: bytes, claim: bytes) -> bytes:
    return hmac.new(key, claim, hashlib.sha256).hexdigest().encode()


def _header(value: bytes, seconds: int, *, is_secure: bool) -> str:
    secure = "; Secure" if is_secure else ""
    return f"{_NAME.decode()}={value.decode()}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
