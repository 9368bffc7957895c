"""Answers of services, read on the event loop while they are short, else as jobs."""

import asyncio
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from searx_mcp.errors import ContentError
from searx_mcp.workers.failures import broken
from searx_mcp.workers.interface import DefeatError, Result, Workers

MAX_ON_LOOP: Final = 32_768
"""Bytes of an answer that are read on the event loop. So much markup at its worst takes 18 ms."""

T = TypeVar("T")


class Reader(Generic[T]):
    """Makes something of an answer, here or in a job.

    Args:
        name: of the job.
        read: takes a body and options of JSON; pure.
        kind: the type of what it gives, which must survive JSON.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[bytes, Mapping[str, Any]], T],
        kind: Any,  # noqa: ANN401 - a union is no `type`
    ) -> None:
        self.name = name
        self.read = read
        self._kind = kind

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        return TypeAdapter(self._kind)

    def job(self, body: bytes, options: Mapping[str, Any]) -> Result:
        """Read a body as a job."""
        return {"answer": self._adapter.dump_python(self.read(body, options), mode="json")}

    def answer(self, result: Result) -> T:
        """What a job has made.

        Raises:
            DefeatError: it is none of what it should be.
        """
        try:
            return self._adapter.validate_python(result.get("answer"))
        except ValidationError as exc:
            raise broken() from exc


async def read_answer(
    workers: Workers | None,
    reader: Reader[T],
    body: bytes,
    options: Callable[[], Mapping[str, object]],
    *,
    deadline: float,
    here: Callable[[], T],
) -> T:
    """Read an answer where it does no harm.

    Args:
        workers: run the job of a long one; without them it is read in a thread.
        reader: what is done.
        body: the answer; whoever wrote it.
        options: gives those of the reader.
        deadline: the event loop's time by which to be done.
        here: does what the reader does without a job.

    Raises:
        DefeatError: it was too much for its reader.
        TransportError: `timeout`.
    """
    if len(body) <= MAX_ON_LOOP:
        return here()
    if workers is not None:
        try:
            return reader.answer(await workers.run(reader.name, body, options(), deadline=deadline))
        except DefeatError:
            raise
        except ContentError:
            # No process can be started. The guards in front of the parsers bound what this may cost.
            pass
    return await asyncio.to_thread(here)
