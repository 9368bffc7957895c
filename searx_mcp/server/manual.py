"""How to use the server, as the resource `searx://help` tells a model or a person."""

from collections.abc import Iterator, Mapping
from typing import Final

from searx_mcp.errors import ErrorCode
from searx_mcp.models.argument import arguments_of
from searx_mcp.models.base import Frozen
from searx_mcp.server.instructions import PURPOSES, STRANGERS
from searx_mcp.settings.tools import Tool
from searx_mcp.verbs.table import TOOLS

_ONLY: Final[Mapping[Tool, str]] = {
    Tool.SEARCH: "- `query`: What to search for, 1 to 500 characters.",
    Tool.FETCH: "- `id`: The id of a result, a URL, or the id at the end of a long page.",
}
"""The one argument of the tools that ChatGPT knows."""

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
"""What to do about each error that a tool can give."""

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
    """Write the help in Markdown.

    Args:
        names: of the published tools.
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
    if told := _ONLY.get(tool):
        yield told
        return
    request: type[Frozen] = TOOLS[tool].request
    for name, declared in arguments_of(request).items():
        if not declared.argument.by_person:
            yield f"- `{name}`: {declared.help}"
