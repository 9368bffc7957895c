"""The files this project keeps on a machine."""

from collections.abc import Mapping
from enum import StrEnum

from searx_mcp.models.base import Frozen


class FileKind(StrEnum):
    """What a file is."""

    SETTINGS = "settings"
    STATE = "state"
    PAGES = "pages"
    COMPANION = "companion"
    """Beside the state or the pages while they are used."""
    DAMAGED = "damaged"
    LIST = "list"
    KEY = "key"
    PAGES_KEY = "pages_key"
    OWN_INSTANCE = "own_instance"
    OTHER = "other"


class KeptFile(Frozen):
    """One file, for a person who wants to know what lies there.

    Attributes:
        path: where it lies.
        kind: what it is.
        what: what is in it and for how long, a sentence.
        size: bytes.
        age: seconds since it was written last.
    """

    path: str
    kind: FileKind
    what: str
    size: int
    age: float


class KeptFiles(Frozen):
    """Every file that is kept, and where.

    Attributes:
        folder: the folder of the state, or `None` if nothing outlives a process.
        files: in the order of their paths.
        size: bytes of all of them.
    """

    folder: str | None
    files: tuple[KeptFile, ...] = ()
    size: int = 0


class Purged(Frozen):
    """What a purge did.

    Attributes:
        emptied: files whose contents were deleted, so that running servers go on.
        deleted: files that are gone.
        left: files that stay, by path, and why.
    """

    emptied: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    left: Mapping[str, str] = {}
