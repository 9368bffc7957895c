"""Names and values for a server to which others have access."""

import hmac
import json
from hashlib import blake2b
from typing import Final

_KEY: Final = 32
_NAME: Final = 16
_SEAL: Final = 16


class Sealing:
    """Names that reveal nothing, and values that only we can make.

    Without the secret it is impossible to find out what a name stands for, even by guessing. A value is
    sealed for its name: if it was changed, or moved to another name, it does not open. It is not encrypted.
    Anyone with write access to the server can still delete it, or restore an older one of the same name.

    Args:
        secret: the same for all processes that share values; it is never sent to the server.
    """

    def __init__(self, secret: bytes) -> None:
        self._key = blake2b(secret, digest_size=_KEY, person=b"searx-mcp").digest()

    def name(self, *parts: object) -> str:
        """Return a keyed hash of anything that JSON can hold, as 32 hexadecimal digits."""
        text = json.dumps(parts).encode()
        return blake2b(text, digest_size=_NAME, key=self._key).hexdigest()

    def seal(self, name: str, text: bytes) -> bytes:
        """Return the value to store under `name`."""
        return self._mark(name, text) + text

    def open(self, name: str, value: bytes) -> bytes | None:
        """Return the text in a value found under `name`, or `None` if it was not sealed for that name."""
        mark, text = value[:_SEAL], value[_SEAL:]
        return text if hmac.compare_digest(mark, self._mark(name, text)) else None

    def _mark(self, name: str, text: bytes) -> bytes:
        digest = blake2b(f"{len(name)}:{name}".encode(), digest_size=_SEAL, key=self._key)
        digest.update(text)
        return digest.digest()
