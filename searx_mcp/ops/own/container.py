"""A container as docker and podman describe it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from searx_mcp.models.own_instance import ContainerState

_STATES: Final = {
    "running": ContainerState.RUNNING,
    "restarting": ContainerState.RESTARTING,
}


@dataclass(frozen=True, slots=True)
class Container:
    """A container that exists.

    Attributes:
        state: what it does; one that is stopped can be started.
        image: name of its image.
        labels: its labels.
        restarts: how often the engine started it again by itself.
    """

    state: ContainerState
    image: str
    labels: Mapping[str, str]
    restarts: int = 0


class _State(BaseModel):
    status: str = Field(alias="Status")


class _Config(BaseModel):
    image: str = Field(alias="Image")
    labels: dict[str, str] | None = Field(default=None, alias="Labels")


class _Described(BaseModel):
    state: _State = Field(alias="State")
    config: _Config = Field(alias="Config")
    restarts: int = Field(default=0, alias="RestartCount")


_ANSWER: Final = TypeAdapter(tuple[_Described])


def parse_container(text: str) -> Container:
    """Read the answer to `container inspect` of one container: a JSON list of one object.

    Raises:
        ValueError: it is something else.
    """
    try:
        (described,) = _ANSWER.validate_json(text)
    except ValidationError as exc:
        raise ValueError("the engine describes the container in an unknown way") from exc
    return Container(
        state=_STATES.get(described.state.status, ContainerState.STOPPED),
        image=described.config.image,
        labels=described.config.labels or {},
        restarts=described.restarts,
    )
