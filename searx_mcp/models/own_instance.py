"""An instance of one's own in a container of this machine, as its commands report it."""

from enum import StrEnum

from searx_mcp.models.base import Frozen
from searx_mcp.models.instance import EngineReport


class ContainerState(StrEnum):
    """What a container does."""

    ABSENT = "absent"
    RUNNING = "running"
    RESTARTING = "restarting"
    """It ended, and the engine starts it again and again."""
    STOPPED = "stopped"


class Done(StrEnum):
    """What `up` had to do."""

    CREATED = "created"
    STARTED = "started"
    UPDATED = "updated"
    """The image was fetched again and the container made anew."""
    UNCHANGED = "unchanged"


class ContainerFailure(StrEnum):
    """Why an instance cannot be run in a container; each has its own remedy."""

    NO_ENGINE = "no_engine"
    """Neither docker nor podman is installed."""
    ENGINE_DOWN = "engine_down"
    """An engine is installed and does not answer."""
    NO_PERMISSION = "no_permission"
    """The engine runs, and this user may not use it."""
    PULL_FAILED = "pull_failed"
    PORT_TAKEN = "port_taken"
    NAME_TAKEN = "name_taken"
    """Somebody else's container has our name."""
    EXITED = "exited"
    """The container ended by itself."""
    NOT_READY = "not_ready"
    """The container runs, and SearXNG does not answer."""
    ENGINE_FAILED = "engine_failed"
    """The engine refused for a reason of its own."""


class OwnInstance(Frozen):
    """The instance as it is now.

    Attributes:
        engine: name of the container engine that was asked.
        container: name of the container.
        state: what the container does.
        image: of the container, or `None` if there is none.
        url: base URL of the instance, or `None` if nothing was set up.
        healthy: whether it answers `/healthz`.
        registered: whether searches use it.
        settings: path of its settings file, or `None` if there is none.
        engines: how its engines answered the searches so far, where that was asked for.
        notes: what a person should know, in whole sentences.
    """

    engine: str
    container: str
    state: ContainerState
    image: str | None = None
    url: str | None = None
    healthy: bool = False
    registered: bool = False
    settings: str | None = None
    engines: tuple[EngineReport, ...] = ()
    notes: tuple[str, ...] = ()


class OwnInstanceUp(OwnInstance):
    """The instance after `up`.

    Attributes:
        done: what had to be done.
    """

    done: Done


class OwnInstanceDown(Frozen):
    """What `down` did.

    Attributes:
        engine: name of the container engine that was asked.
        container: name of the container.
        removed: whether there was a container; it is gone.
        unregistered: base URL that searches use no longer, or `None` if none was registered.
        settings: path of the settings file that was kept, or `None` if there is none.
    """

    engine: str
    container: str
    removed: bool
    unregistered: str | None = None
    settings: str | None = None
