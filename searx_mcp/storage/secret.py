"""A secret that all processes of a user share and that never leaves the machine."""

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

from searx_mcp.files import read_bytes
from searx_mcp.storage.filesystem import make_private_file, make_private_folder

_SIZE = 32
_MOST = 4_096


def kept_secret(path: Path) -> bytes:
    """The secret in the file `path`, made for the user alone if there is none.

    Of several processes that make it at once, one succeeds and the others take its secret.

    Raises:
        OSError: it can neither be read nor made, or is empty.
    """
    with suppress(FileNotFoundError):
        return _read(path)
    make_private_folder(path.parent)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    make_private_file(draft)
    try:
        draft.write_bytes(secrets.token_bytes(_SIZE))
        with suppress(FileExistsError):
            os.link(draft, path)  # whole or not at all, and never in the place of another's
    finally:
        draft.unlink()
    return _read(path)


def _read(path: Path) -> bytes:
    secret = read_bytes(path, _MOST)
    if not secret:  # what everybody knows hides nothing
        raise OSError(errno.EINVAL, "it is empty", str(path))
    return secret
