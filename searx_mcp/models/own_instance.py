"""The own instance on this machine, as its commands report it."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from searx_mcp.models.base import Frozen
from searx_mcp.models.instance import EngineReport


class Done(StrEnum):
    """Steps that `up` had to take."""

    CREATED = "created"
    STARTED = "started"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


class NativeState(StrEnum):
    """States of the process of an instance."""

    ABSENT = "absent"
    """Nothing is installed."""
    RUNNING = "running"
    STOPPED = "stopped"
    """It is installed, and the next search starts it."""


class NativeFailure(StrEnum):
    """Reasons why an instance cannot be run; each has its own remedy."""

    UNSUPPORTED = "unsupported"
    """SearXNG does not run on this system."""
    PYTHON_TOO_OLD = "python_too_old"
    NO_VENV = "no_venv"
    """Python's `venv` module, or the pip that comes with it, is missing."""
    NO_NETWORK = "no_network"
    """The source or the packages cannot be fetched."""
    NOT_FOUND = "not_found"
    """The version does not exist."""
    WRONG_ARCHIVE = "wrong_archive"
    """The archive is damaged, hostile or not SearXNG."""
    WRONG_TREE = "wrong_tree"
    """The files are not those of the version."""
    DISK_FULL = "disk_full"
    NOT_WRITABLE = "not_writable"
    INSTALL_FAILED = "install_failed"
    """The packages could not be installed."""
    BUSY = "busy"
    """Another process of ours is installing."""
    PORT_TAKEN = "port_taken"
    EXITED = "exited"
    """The process ended by itself."""
    NOT_READY = "not_ready"
    """The process runs, but SearXNG does not answer correctly."""
    NOT_INSTALLED = "not_installed"


class Installed(Frozen):
    """An instance installed as a process on this machine; kept in `current.json`.

    Attributes:
        folder: name of this version's folder.
        version: as SearXNG reports it, such as `2026.8.22+9fea41204`.
        commit: commit of the source, from its archive; may be empty.
        tree: git's hash of the files.
        released_at: Unix seconds of the commit.
        port: port on 127.0.0.1.
    """

    folder: str
    version: str
    commit: str
    tree: str
    released_at: float
    port: Annotated[int, Field(ge=1, le=65_535)]

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}/"


class NativeInstance(Frozen):
    """The instance as it is now.

    Attributes:
        state: state of its process.
        version: SearXNG version, or `None` if nothing is installed.
        age_days: days since that version was released.
        url: its base URL.
        healthy: whether it answers `/healthz`.
        registered: whether searches use it.
        pid: its process ID.
        memory: memory of its process in bytes; `None` if the system does not report it.
        failing: engines most of whose requests fail, with the reason.
        missing: engines that its settings name but that it does not have.
        settings: path of its settings file, or `None` if there is none.
        engines: how its engines answered searches so far.
        log: last lines of its log, oldest first; empty while it answers.
        notes: sentences the user should know.
    """

    state: NativeState
    version: str | None = None
    age_days: int | None = None
    url: str | None = None
    healthy: bool = False
    registered: bool = False
    pid: int | None = None
    memory: int | None = None
    failing: dict[str, str] = Field(default_factory=dict)
    missing: tuple[str, ...] = ()
    settings: str | None = None
    engines: tuple[EngineReport, ...] = ()
    log: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class NativeInstanceUp(NativeInstance):
    """The instance after `up` or `update`.

    Attributes:
        done: what had to be done.
        seconds: what each step took, by its name.
    """

    done: Done
    seconds: dict[str, float] = Field(default_factory=dict)


class NativeInstanceDown(Frozen):
    """Outcome of `down`.

    Attributes:
        removed: whether there was an installation to remove.
        unregistered: base URL that searches no longer use, or `None` if none was registered.
        settings: path of the settings file that was kept, or `None` if there is none.
    """

    removed: bool
    unregistered: str | None = None
    settings: str | None = None
