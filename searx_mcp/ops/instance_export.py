"""Exports choices and learned records to a file for another machine, and imports them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import pydantic_core
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.administration import Imported
from searx_mcp.models.credentials import base_url
from searx_mcp.models.instance import InstanceChoice
from searx_mcp.pool.config import InstancesConfig
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.settings.instances import own_address
from searx_mcp.storage.state import StateStore

MAX_TEXT: Final = 20_000_000
"""Maximum characters of a file. A record has some thousand, and the list has 80 instances."""
_MAX_RECORDS: Final = 5_000
_SCHEMA: Final = 1
_FIELD: Final = "file"
_ADVICE: Final = "Use a file written by `searx-mcp instances export`."


def host_name(text: str) -> str:
    """Normalise the host of a public instance, which may be given as an address.

    Raises:
        ValueError: it is neither; with a sentence for a person.
    """
    text = text.strip()
    url = base_url(text if "://" in text else f"https://{text}/")
    host = url.partition("://")[2].split("/")[0]
    # Ports are dropped: a host is blocked on all of them.
    name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
    return name.casefold().rstrip(".")


def _exact(normalise: Callable[[str], str]) -> AfterValidator:
    def check(text: str) -> str:
        if normalise(text) != text:
            raise ValueError(f"it is not written as {normalise(text)}")
        return text

    return AfterValidator(check)


class _Record(InstanceRecord):
    url: Annotated[str, _exact(base_url)]


class _Chosen(BaseModel):
    # A file of a newer version may contain more.
    model_config = ConfigDict(frozen=True, extra="ignore")

    own: tuple[Annotated[str, _exact(own_address)], ...] = ()
    blocked: tuple[Annotated[str, _exact(host_name)], ...] = ()


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: Literal[1]
    choices: _Chosen = _Chosen()
    records: Annotated[tuple[_Record, ...], Field(max_length=_MAX_RECORDS)] = ()


@dataclass(frozen=True, slots=True)
class Portable:
    """A checked export.

    Attributes:
        choices: of the user, by kind.
        records: what was learned, by base URL.
    """

    choices: Mapping[InstanceChoice, tuple[str, ...]]
    records: Mapping[str, InstanceRecord]


def read_portable(text: str) -> Portable:
    """Parse an export.

    Raises:
        InvalidArgumentError: it is not one, or of a newer version; the error names the field.
    """
    if len(text) > MAX_TEXT:
        raise _refuse("", f"is longer than {MAX_TEXT:,} characters")
    try:
        data: Any = pydantic_core.from_json(text, allow_inf_nan=False)
    except ValueError as exc:
        raise _refuse("", f"is not JSON: {exc}") from exc
    if not isinstance(data, dict):
        raise _refuse("", "must be a JSON object")
    version = data.get("schema_version")
    if isinstance(version, int) and version > _SCHEMA:
        message = f"is {version}; this version reads up to {_SCHEMA}"
        raise InvalidArgumentError(
            f"{_FIELD}.schema_version", message, advice="Install a newer searx-mcp."
        )
    try:
        file = _File.model_validate_json(text)
    except ValidationError as exc:
        first, *more = exc.errors(include_url=False, include_input=False)
        where = ".".join(str(step) for step in first["loc"])
        others = f" (and {len(more)} more)" if more else ""
        raise _refuse(where, f"{first['msg']}{others}") from exc
    return Portable(
        choices={
            InstanceChoice.OWN: file.choices.own,
            InstanceChoice.BLOCKED: file.choices.blocked,
        },
        records={
            record.url: InstanceRecord.model_validate(record.model_dump())
            for record in file.records
        },
    )


def _refuse(where: str, message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"{_FIELD}.{where}".rstrip("."), message, advice=_ADVICE)


async def take_over(
    file: Portable, instances: InstancesConfig, state: StateStore, now: float
) -> Imported:
    """Store everything in an export that is missing or older in the store; it has no charges.

    Args:
        file: the parsed export.
        instances: the `[instances]` table; its contents need not be chosen.
        state: the store.
        now: Unix seconds.

    Raises:
        StorageError: a choice cannot be stored now.
    """
    known = await state.load(now)
    news = {
        url: record
        for url, record in file.records.items()
        if url not in known or record.settled(now).last_at > known[url].last_at
    }
    await state.save(news, now)
    configured = {InstanceChoice.OWN: instances.own, InstanceChoice.BLOCKED: instances.blocked}
    joined = {
        kind: tuple(
            [
                value
                for value in values
                if value not in configured[kind] and await state.choose(kind, value, chosen=True)
            ]
        )
        for kind, values in file.choices.items()
    }
    return Imported(
        added=joined[InstanceChoice.OWN],
        blocked=joined[InstanceChoice.BLOCKED],
        learned=len(news),
        known=len(file.records) - len(news),
    )
