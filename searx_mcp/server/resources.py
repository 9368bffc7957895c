"""The resources of the server: the state of the pool, and help on the tools.

The module that formats the pool is imported on the first read.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mcp.server.mcpserver.resources import FunctionResource, Resource
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR

from searx_mcp.errors import DeadlineError, ErrorCode, SearxMcpError
from searx_mcp.models.argument import arguments_of
from searx_mcp.models.base import Frozen
from searx_mcp.server.instructions import PURPOSES, STRANGERS
from searx_mcp.settings.tools import Tool
from searx_mcp.verbs.table import TOOLS

if TYPE_CHECKING:
    from searx_mcp.models.instance import PoolReport


INSTANCES: Final = "searx://instances"
HELP: Final = "searx://help"
INSTANCES_TOKENS: Final = 2_000
"""Tokens of `searx://instances`: enough for the forty or so instances that are asked first."""
_SECONDS: Final = 10.0
"""Seconds until `searx://instances` fails: it opens files, or a store on a server that may not respond."""


def resources(
    report: "Callable[[], Awaitable[PoolReport]]",
    *,
    names: Mapping[Tool, str],
    boundary: str,
    seconds: float = _SECONDS,
) -> Sequence[Resource]:
    """Return the resources.

    Args:
        report: returns the report of the pool, without sending a request.
        names: published name of each tool.
        boundary: boundary of the fences around untrusted text, which no resource can forge.
        seconds: time limit of a report.
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
        from searx_mcp.render.instances import instances_text  # noqa: PLC0415 - only a read needs it

        return instances_text(pool, budget=INSTANCES_TOKENS, boundary=boundary)

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
            fn=lambda: manual_text(names),
        ),
    )


def _failure(uri: str, error: SearxMcpError) -> MCPError:
    data = {"uri": uri, "error_type": error.code.value}
    message = " ".join(filter(None, (f"{error.message.rstrip('.')}.", error.advice)))
    return MCPError(code=INTERNAL_ERROR, message=message, data=data)


_ONLY_ARGUMENT: Final[Mapping[Tool, str]] = {
    Tool.SEARCH: "- `query`: What to search for, 1 to 500 characters.",
    Tool.FETCH: "- `id`: The id of a result, a URL, or the id at the end of a long page.",
}
"""Argument of each ChatGPT tool, which has no other."""

REMEDIES: Final[Mapping[str, tuple[ErrorCode, ...]]] = {
    "correct the argument that the error names": (
        ErrorCode.INVALID_ARGUMENT,
        ErrorCode.CONTENT_TOO_LARGE,
    ),
    "check the address": (
        ErrorCode.NOT_FOUND,
        ErrorCode.DNS_ERROR,
        ErrorCode.TOO_MANY_REDIRECTS,
        ErrorCode.REDIRECT_LOOP,
    ),
    "wait `retry_after` seconds, then call again": (
        ErrorCode.NO_INSTANCES_AVAILABLE,
        ErrorCode.RATE_LIMITED,
        ErrorCode.TIMEOUT,
        ErrorCode.DEADLINE_EXCEEDED,
        ErrorCode.CONNECTION_ERROR,
        ErrorCode.MALFORMED_RESPONSE,
        ErrorCode.INTERNAL,
    ),
    "use another source; this site refuses automated clients or needs a login": (
        ErrorCode.ROBOTS_DISALLOWED,
        ErrorCode.BLOCKED_BY_SITE,
        ErrorCode.AUTHENTICATION_REQUIRED,
    ),
    "use another source; this page failed or is not text": (
        ErrorCode.HTTP_ERROR,
        ErrorCode.TLS_ERROR,
        ErrorCode.UNSUPPORTED_CONTENT_TYPE,
        ErrorCode.UNSUPPORTED_ENCODING,
        ErrorCode.EXTRACTION_FAILED,
    ),
    "do not retry; such addresses are never read": (
        ErrorCode.BLOCKED_SCHEME,
        ErrorCode.BLOCKED_PORT,
        ErrorCode.BLOCKED_ADDRESS,
        ErrorCode.BLOCKED_DOMAIN,
    ),
    "read the page again from its beginning": (ErrorCode.CURSOR_EXPIRED,),
}
"""Remedy for each error code that a tool can return."""

_SYNTAX: Final = """\
`"exact words"`, `-word` and `site:example.org` are passed to the search engines unchanged; most engines also
understand `filetype:pdf` and `intitle:word`. SearXNG's own commands (`!images`, `:de`) are treated as
plain words."""
_SIZES: Final = """\
Results are cut to a token budget. A result that was cut ends with the call that continues it: make that call
exactly as written."""
_ERRORS: Final = """\
A failed call names one of these codes (`error_type`). Unless it says when to retry, do not repeat it."""


def manual_text(names: Mapping[Tool, str]) -> str:
    """Return the help as Markdown.

    Args:
        names: published name of each tool.
    """
    lines = ["# How to use this server", "", STRANGERS]
    for tool, name in names.items():
        purpose = PURPOSES[tool]
        lines += [
            "",
            f"## {name}",
            "",
            f"{purpose[:1].upper()}{purpose[1:]}.",
            "",
            *_arguments(tool),
        ]
    lines += ["", "## Search syntax", "", _SYNTAX, "", "## Long results", "", _SIZES]
    lines += ["", "## Errors", "", _ERRORS, ""]
    lines += [f"- `{'`, `'.join(codes)}`: {remedy}." for remedy, codes in REMEDIES.items()]
    return "\n".join([*lines, ""])


def _arguments(tool: Tool) -> Iterator[str]:
    if only := _ONLY_ARGUMENT.get(tool):
        yield only
        return
    request: type[Frozen] = TOOLS[tool].request
    for name, declared in arguments_of(request).items():
        if not declared.argument.by_person:
            yield f"- `{name}`: {declared.help}"
