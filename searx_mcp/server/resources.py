"""The resources of the server: what the pool can do now, and how to use the tools.

What writes them is loaded when the first one is read.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mcp.server.mcpserver.resources import FunctionResource, Resource
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR

from searx_mcp.errors import DeadlineError, SearxMcpError
from searx_mcp.settings.tools import Tool

if TYPE_CHECKING:
    from searx_mcp.models.instance import PoolReport

INSTANCES: Final = "searx://instances"
HELP: Final = "searx://help"
INSTANCES_TOKENS: Final = 2_000
"""Of `searx://instances`: some forty instances, those that are asked first."""
_SECONDS: Final = 10.0
"""Until `searx://instances` fails: opening the files, or a store on a server that does not answer."""


def resources(
    report: "Callable[[], Awaitable[PoolReport]]",
    *,
    names: Mapping[Tool, str],
    boundary: str,
    seconds: float = _SECONDS,
) -> Sequence[Resource]:
    """The resources.

    Args:
        report: reports the pool; makes no request.
        names: of the published tools.
        boundary: of the fences around what strangers wrote; no resource can hold one.
        seconds: that a report may take.
    """

    async def instances() -> str:
        try:
            async with asyncio.timeout(seconds):
                pool = await report()
        except TimeoutError:
            late = DeadlineError("The state of the pool could not be read", advice="Read it again.")
            late.ran_out(seconds, seconds)
            raise _failure(INSTANCES, late) from None
        except SearxMcpError as error:
            raise _failure(INSTANCES, error) from error
        from searx_mcp.render.instances import instances_text  # noqa: PLC0415 - only who reads needs it

        return instances_text(pool, budget=INSTANCES_TOKENS, boundary=boundary)

    def manual() -> str:
        from searx_mcp.server.manual import manual_text  # noqa: PLC0415 - only who reads needs it

        return manual_text(names)

    return (
        FunctionResource(
            uri=INSTANCES,
            name="instances",
            title="Search instances",
            description=(
                "Which SearXNG instances can be asked now, why others cannot, and how many searches public"
                " ones still allow. Reading it sends no request."
            ),
            mime_type="application/json",
            fn=instances,
        ),
        FunctionResource(
            uri=HELP,
            name="help",
            title="How to use this server",
            description="Tools, their arguments, search syntax and error codes.",
            mime_type="text/markdown",
            fn=manual,
        ),
    )


def _failure(uri: str, error: SearxMcpError) -> MCPError:
    data = {"uri": uri, "error_type": error.code.value}
    said = " ".join(filter(None, (f"{error.message.rstrip('.')}.", error.advice)))
    return MCPError(code=INTERNAL_ERROR, message=said, data=data)
