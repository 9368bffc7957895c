"""The published MCP tools, built from the verbs of the service; `server.calls` performs their calls."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel
from typing_extensions import override

from searx_mcp.errors import ErrorCode
from searx_mcp.models.request import TOKEN_CHARS
from searx_mcp.server.events import CallLog, note_failure
from searx_mcp.settings.tools import Tool as Name
from searx_mcp.settings.values import Settings
from searx_mcp.verbs.table import PUBLISHED
from searx_mcp.verbs.verb import Effect, Published, Verb

if TYPE_CHECKING:
    from searx_mcp.server.calls import Calls
    from searx_mcp.service import Service

_CALLS: Final = "searx_mcp.server.calls"
_SIZE_HINT: Final = "anthropic/maxResultSizeChars"
_MOST_HINTED: Final = 500_000
"""Most characters of a result that Claude Code lets a tool ask for; without the hint, it writes results above
50,000 to a file (code.claude.com/docs/en/mcp)."""
_ANNOTATIONS: Final[Mapping[Effect, ToolAnnotations]] = {
    Effect.READS: ToolAnnotations(read_only_hint=True, open_world_hint=True, idempotent_hint=True),
    Effect.KEEPS: ToolAnnotations(
        read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
    ),
    Effect.LOOKS: ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
}


_SENTENCE_END: Final = re.compile(r"(?<=[.!?]) ")
_TOOL_NAME: Final = re.compile(r"\{(\w+)\}")


def catalog(settings: Settings) -> dict[str, Published]:
    """Return the published tools by published name, the most important first."""
    names = settings.server.published()
    tools = {name: PUBLISHED[tool] for tool, name in names.items()}
    if settings.server.profile == "small":
        tools = {name: _for_small_model(published) for name, published in tools.items()}
    return {
        name: replace(published, description=fill_in_names(published.description, names))
        for name, published in tools.items()
    }


def _for_small_model(published: Published) -> Published:
    """Return a tool with a shorter description and schema; it still accepts the arguments left out."""
    if not published.small:
        return published

    def schema(settings: Settings) -> dict[str, Any]:
        whole = published.schema(settings)
        kept = published.small_arguments
        properties = {name: rules for name, rules in whole["properties"].items() if name in kept}
        return {**whole, "properties": properties}

    return replace(published, description=published.small, schema=schema)


def fill_in_names(text: str, names: Mapping[Name, str]) -> str:
    """Fill in the published names of tools, and omit sentences that name unpublished tools.

    Args:
        text: lines of sentences with tools in braces, such as `{web_fetch}`.
        names: published name of each tool.
    """
    lines = []
    for line in text.split("\n"):
        sentences = _SENTENCE_END.split(line)
        kept = [each for each in sentences if {*_TOOL_NAME.findall(each)} <= names.keys()]
        lines.append(_TOOL_NAME.sub(lambda found: names[Name(found[1])], " ".join(kept)))
    return "\n".join(filter(None, lines))


class Tools:
    """Builds the tools of a server.

    Args:
        settings: settings with budgets, defaults and the time limit of a call.
        services: returns the function that opens the service, by namespace of the corpus.
        boundary: boundary of the fences around untrusted text.
        log: log of the calls.
    """

    def __init__(
        self,
        settings: Settings,
        services: "Callable[[str], Callable[[], Awaitable[Service]]]",
        boundary: str,
        log: CallLog,
    ) -> None:
        self._settings = settings
        self._services = services
        self._boundary = boundary
        self._calls: dict[tuple[Name, str], Calls[Any, Any]] = {}
        self._log = log

    def make(self, name: str, verb: Verb[Any, Any], published: Published) -> Tool:
        """Build a tool that passes its raw arguments to a call.

        Args:
            name: published name.
            verb: verb that the tool performs.
            published: description of the tool for clients.
        """

        async def call(arguments: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
            with self._log.call(verb.tool, arguments, context) as keep:
                from searx_mcp.server.identity import caller_of  # noqa: PLC0415 - no start needs it

                caller = caller_of(context)
                if not caller.may(verb.tool):
                    note_failure(ErrorCode.UNAUTHORIZED.value)
                    return _forbidden(name)
                key = verb.tool, caller.namespace
                if (calls := self._calls.get(key)) is None:
                    module = await asyncio.to_thread(import_module, _CALLS)
                    await asyncio.to_thread(verb.writing)
                    service = self._services(caller.namespace)
                    calls = module.Calls(verb, published, self._settings, service, self._boundary)
                    self._calls[key] = calls
                result = await calls.perform(arguments, context)
                keep(result)
                return result

        server, output = self._settings.server, None
        if server.structured_output == "on":
            writing = verb.writing()
            output = output_schema(writing.output or writing.responses[0])
        # Not `from_function`, which builds a model and a schema that `RawTool` never uses.
        return RawTool(
            fn=call,
            name=name,
            title=published.title,
            description=published.description,
            parameters=published.schema(self._settings),
            fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_schema=output),
            is_async=True,
            context_kwarg="context",
            annotations=_ANNOTATIONS[published.effect],
            meta={_SIZE_HINT: min(published.most_tokens(server) * TOKEN_CHARS, _MOST_HINTED)},
        )


def _forbidden(name: str) -> CallToolResult:
    text = f"The token does not allow {name}: use the listed tools."
    return CallToolResult(is_error=True, content=[TextContent(type="text", text=text)])


def allowed_only(names: Mapping[Name, str]) -> ServerMiddleware[Any]:
    """Return middleware that lists only the tools that the client's token allows.

    Args:
        names: published name of each tool.
    """
    from searx_mcp.server.identity import identity_of  # noqa: PLC0415 - only servers over HTTP need it

    async def narrow(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method != "tools/list" or ctx.request is None:
            return result
        identity = identity_of(ctx.request.scope)
        allowed = {name for tool, name in names.items() if identity.may(tool)}
        if not isinstance(result, dict):
            raise TypeError(type(result))  # the SDK passes the result that it is about to send
        return {**result, "tools": [tool for tool in result["tools"] if tool["name"] in allowed]}

    return narrow


class RawTool(Tool):
    """A tool that validates its own arguments.

    The SDK would validate them against the published schema, which is strict so that every model understands it;
    `searx_mcp.arguments` also accepts further spellings.
    """

    @override
    async def run(
        self,
        arguments: dict[str, Any],
        context: Context[Any, Any],
        convert_result: bool = False,
    ) -> Any:
        return await self.fn(arguments, context)


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a schema of structured content with the model's fields and types, none required and more allowed.

    A result omits empty fields, a truncated one has additional fields, and strict clients refuse results that do not
    match the schema exactly. There are no references, unions or nulls, only non-empty strings in an `enum`, and no
    descriptions, which are for developers.
    """
    whole = model.model_json_schema()
    return _plain(whole, whole.get("$defs", {}))


def _plain(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if reference := schema.get("$ref"):
        return _plain(definitions[reference.rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        kinds = [each for each in schema["anyOf"] if each.get("type") != "null"]
        return _plain(kinds[0], definitions) if len(kinds) == 1 else {}
    plain: dict[str, Any] = {"type": schema["type"]} if "type" in schema else {}
    members = schema.get("enum", [""])
    if all(isinstance(member, str) and member for member in members):
        plain["enum"] = members
    if "properties" in schema:
        plain["properties"] = {
            name: _plain(rules, definitions) for name, rules in schema["properties"].items()
        }
    if plain.get("type") == "array":
        first: Mapping[str, Any] = next(iter(schema.get("prefixItems", ())), {})
        plain["items"] = _plain(schema.get("items", first), definitions)
    return plain
