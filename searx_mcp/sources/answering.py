"""The process that reads long answers: `python -m searx_mcp.sources.answering MEMORY SECONDS`."""

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
    """Read an answer of an open source; without open sources their parsers are not loaded."""
    from searx_mcp.sources.open.answers import ANSWERED  # noqa: PLC0415 - loads every engine

    return ANSWERED.job(body, options)


JOBS: Final[Mapping[str, Job]] = MappingProxyType(
    {**OF_INSTANCES, "open source": _read_open_source}
)
"""What is read of instances and open sources, by name."""


def wire_answering(config: WorkersConfig, *, processes: bool) -> Workers:
    """Make the workers that read answers; nothing is started yet.

    It is apart from what reads pages: a search does not wait for a page that hangs.

    Args:
        config: what a process may use.
        processes: whether answers are read in a child process instead of threads.

    Returns:
        The workers; the caller closes them.
    """
    if processes:
        return ChildWorkers(config.model_copy(update={"processes": 1}), module=_CHILD)
    return ThreadWorkers(config, jobs=JOBS)


if __name__ == "__main__":
    # Load it before the time of the first answer counts.
    import searx_mcp.sources.searxng.html_parser  # noqa: F401 - likewise
    from searx_mcp.workers.child import main

    main(JOBS)
