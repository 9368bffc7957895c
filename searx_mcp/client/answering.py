"""The process that reads long answers: `python -m searx_mcp.client.answering MEMORY SECONDS`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from searx_mcp.sources.open.answers import ANSWERED
from searx_mcp.sources.searxng.answers import JOBS as OF_INSTANCES
from searx_mcp.workers.config import WorkersConfig
from searx_mcp.workers.jobs import Job, Workers
from searx_mcp.workers.pool import ChildWorkers
from searx_mcp.workers.threads import ThreadWorkers

_CHILD: Final = "searx_mcp.client.answering"

JOBS: Final[Mapping[str, Job]] = MappingProxyType({**OF_INSTANCES, ANSWERED.name: ANSWERED.job})
"""What is read of instances and open sources, by name."""


def wire_answering(config: WorkersConfig, *, processes: bool) -> Workers:
    """Wire what reads answers; nothing is started yet.

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
    from searx_mcp.workers.child import main

    main(JOBS)
