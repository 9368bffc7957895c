"""The process that parses long answers: `python -m searx_mcp.sources.answering MEMORY SECONDS`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from searx_mcp.sources.searxng.answers import JOBS as OF_INSTANCES
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.jobs import Job, Result, Workers
from searx_mcp.workers.pool import ChildWorkers
from searx_mcp.workers.threads import ThreadWorkers

_CHILD: Final = "searx_mcp.sources.answering"


def _read_open_source(body: bytes, options: Mapping[str, Any]) -> Result:
    """Parse an answer of an open source; their parsers are loaded only if they are used."""
    from searx_mcp.sources.open.answers import ANSWERED  # noqa: PLC0415 - loads every engine

    return ANSWERED.job(body, options)


JOBS: Final[Mapping[str, Job]] = MappingProxyType(
    {**OF_INSTANCES, "open source": _read_open_source}
)
"""The readers of instances and open sources, by name."""


def wire_answering(config: WorkersConfig, *, processes: bool) -> Workers:
    """Create the workers that parse answers; nothing is started yet.

    They are separate from the workers for pages, so that a search does not wait for a page that hangs.

    Args:
        config: limits of a process.
        processes: whether to parse answers in a child process instead of threads.

    Returns:
        The workers; the caller closes them.
    """
    if processes:
        return ChildWorkers(config.model_copy(update={"processes": 1}), module=_CHILD)
    return ThreadWorkers(config, jobs=JOBS)


if __name__ == "__main__":
    # Load it before the first answer's time starts to count.
    import searx_mcp.sources.searxng.html_parser  # noqa: F401 - likewise
    from searx_mcp.workers.child import main

    main(JOBS)
