"""What the conformance suite calls by fixed names, added to a server of ours.

A product has no tool that returns a picture on demand. The suite needs one to see how pictures
travel, and likewise for every other kind of content. Names and the contents that it compares are the
suite's; its scenarios say what each of them has to do.
"""

import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer, UserMessage
from mcp.server.mcpserver.prompts.base import Prompt
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    Completion,
    CompletionArgument,
    CompletionContext,
    ContentBlock,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    PromptReference,
    RequestParams,
    ResourceTemplateReference,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import Field

Answer = str | InputRequiredResult
Call = Callable[..., Awaitable[Answer]]

PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
"""A PNG of one transparent pixel."""
SILENCE: Final = (
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\0\0\0\0"
)
"""A WAV file without a sample."""
RESOURCE: Final = "test://static-text"


def _text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def _embedded(uri: str, words: str, mime_type: str = "text/plain") -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    return EmbeddedResource(type="resource", resource=contents)


IMAGE: Final = ImageContent(type="image", data=PIXEL, mime_type="image/png")
CONTENT: Final[Mapping[str, list[ContentBlock]]] = {
    "test_simple_text": [_text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [
        AudioContent(type="audio", data=base64.b64encode(SILENCE).decode(), mime_type="audio/wav")
    ],
    "test_embedded_resource": [_embedded("test://embedded-resource", "An embedded resource.")],
    "test_multiple_content_types": [
        _text("Several kinds of content:"),
        IMAGE,
        _embedded("test://mixed-content-resource", '{"test": "data"}', "application/json"),
    ],
}
"""What tools without arguments give."""


def _form(message: str, **properties: Mapping[str, Any]) -> ElicitRequestFormParams:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ElicitRequestFormParams(message=message, requested_schema=schema)


def _sampling(words: str) -> CreateMessageRequestParams:
    message = SamplingMessage(role="user", content=_text(words))
    return CreateMessageRequestParams(messages=[message], max_tokens=50)


WORD: Final = {"type": "string"}
NAME: Final = ElicitRequest(params=_form("What is your name?", name=WORD))
CONFIRM: Final = ElicitRequest(params=_form("Please confirm", ok={"type": "boolean"}))
ROOTS: Final = ListRootsRequest()
GREETING: Final = CreateMessageRequest(params=_sampling("Generate a greeting"))
CAPITAL: Final = CreateMessageRequest(params=_sampling("What is the capital of France?"))
COLOUR: Final = ElicitRequest(params=_form("Which colour do you like?", color=WORD))
CONTEXT: Final = ElicitRequest(params=_form("In which context?", context=WORD))
INPUTS: Final[Mapping[str, list[dict[str, InputRequest]]]] = {
    "elicitation": [{"user_name": NAME}],
    "sampling": [{"capital_question": CAPITAL}],
    "list_roots": [{"client_roots": ROOTS}],
    "request_state": [{"confirm": CONFIRM}],
    "tampered_state": [{"confirm": CONFIRM}],
    "multiple_inputs": [{"user_name": NAME, "greeting": GREETING, "client_roots": ROOTS}],
    "multi_round": [{"step1": NAME}, {"step2": COLOUR}],
}
"""What tools of 2026-07-28 ask their caller for, round by round, before they answer."""

ENUM: Final = ["one", "two", "three"]
TITLED: Final = [{"const": word, "title": word.title()} for word in ENUM]
FORMS: Final = {
    "test_elicitation_sep1034_defaults": _form(
        "Is all of this right?",
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive"], "default": "active"},
        verified={"type": "boolean", "default": True},
    ),
    "test_elicitation_sep1330_enums": _form(
        "Which of these?",
        untitledSingle={"type": "string", "enum": ENUM},
        titledSingle={"type": "string", "oneOf": TITLED},
        legacyEnum={"type": "string", "enum": ENUM, "enumNames": [row["title"] for row in TITLED]},
        untitledMulti={"type": "array", "items": {"type": "string", "enum": ENUM}},
        titledMulti={"type": "array", "items": {"anyOf": TITLED}},
    ),
}
"""What tools of the handshake era ask their caller for in the middle of a call."""

SCHEMA_2020_12: Final = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"city": WORD}}},
    "properties": {"address": {"$ref": "#/$defs/address"}, "phone": WORD, "email": WORD},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"required": ["phone"]},
    "then": {"properties": {"phone": {"minLength": 3}}},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def add_everything(server: MCPServer[None]) -> None:
    """Add all of it to a server that does not run yet."""
    tools: dict[str, Callable[..., Any]] = {
        "test_tool_with_logging": log,
        "test_tool_with_progress": progress,
        "test_error_handling": fail,
        "test_sampling": sample,
        "test_elicitation": elicit,
        "test_missing_capability": need_sampling,
        "test_x_mcp_header": echo_region,
        "test_trigger_tool_change": change_tools,
        "test_trigger_prompt_change": change_prompts,
        "test_input_required_result_capabilities": ask_what_is_possible,
    }
    tools |= {name: _giving(content) for name, content in CONTENT.items()}
    tools |= {name: _asking_at_once(form) for name, form in FORMS.items()}
    tools |= {
        f"test_input_required_result_{name}": _asking(rounds) for name, rounds in INPUTS.items()
    }
    for name, call in tools.items():
        server.add_tool(call, name=name, description=f"Fixture {name}", structured_output=False)
    keywords = "json_schema_2020_12_tool"
    server.add_tool(nothing, name=keywords, description="Fixture", structured_output=False)
    server._tool_manager._tools[keywords].parameters = SCHEMA_2020_12
    _add_resources(server)
    _add_prompts(server)
    low = server._lowlevel_server
    low.add_request_handler("logging/setLevel", SetLevelRequestParams, acknowledge)
    low.add_request_handler("resources/subscribe", SubscribeRequestParams, acknowledge)
    low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, acknowledge)
    # Ours announces no changes; announced ones show that what is sent unasked arrives.
    listen = ListenHandler(server._subscriptions)
    low.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, listen)


def _giving(content: list[ContentBlock]) -> Callable[[], list[ContentBlock]]:
    def give() -> list[ContentBlock]:
        return content

    return give


def _asking(rounds: list[dict[str, InputRequest]]) -> Call:
    """Ask round by round; the state says which round the answers belong to."""

    async def ask(ctx: Context[Any, Any]) -> Answer:
        current = int(ctx.request_state or 0)
        if rounds[current].keys() <= (ctx.input_responses or {}).keys():
            current += 1
        if current == len(rounds):
            return "state-ok: all answers are there"
        return InputRequiredResult(input_requests=rounds[current], request_state=str(current))

    return ask


def _asking_at_once(form: ElicitRequestFormParams) -> Call:
    async def ask(ctx: Context[Any, Any]) -> Answer:
        return await _elicit(form, ctx)

    return ask


async def _elicit(form: ElicitRequestFormParams, ctx: Context[Any, Any]) -> str:
    result = await ctx.session.elicit_form(form.message, form.requested_schema, ctx.request_id)
    return f"action={result.action}, content={result.content}"


async def elicit(message: str, ctx: Context[Any, Any]) -> str:
    return await _elicit(_form(message, username=WORD, email=WORD), ctx)


async def sample(prompt: str, ctx: Context[Any, Any]) -> str:
    messages = _sampling(prompt).messages
    # Without the id of its request it would go to a stream that no client has opened.
    result = await ctx.session.create_message(  # part of 2025-11-25
        messages, max_tokens=50, related_request_id=ctx.request_id
    )
    return f"LLM response: {result.content}"


async def log(ctx: Context[Any, Any]) -> str:
    for words in ("begun", "under way", "done"):
        await ctx.info(words)  # type: ignore[deprecated] # part of 2025-11-25
    return "logged"


async def progress(ctx: Context[Any, Any]) -> str:
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"{done} of 100")
    return "done"


def fail() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


def nothing() -> str:
    return "nothing"


def echo_region(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "none",
) -> str:
    return region


async def change_tools(ctx: Context[Any, Any]) -> str:
    await ctx.notify_tools_changed()
    return "said"


async def change_prompts(ctx: Context[Any, Any]) -> str:
    await ctx.notify_prompts_changed()
    return "said"


async def need_sampling(ctx: Context[Any, Any]) -> str:
    if ctx.client_capabilities is None or ctx.client_capabilities.sampling is None:
        raise MCPError(
            code=MISSING_REQUIRED_CLIENT_CAPABILITY,
            message="This tool needs a client that samples",
            data={"requiredCapabilities": {"sampling": {}}},
        )
    return "The client samples."


async def ask_what_is_possible(ctx: Context[Any, Any]) -> Answer:
    can = ctx.client_capabilities
    requests: dict[str, InputRequest] = {}
    if can is not None and can.sampling is not None:
        requests["greeting"] = GREETING
    if can is not None and can.elicitation is not None:
        requests["user_name"] = NAME
    return InputRequiredResult(input_requests=requests, request_state="asked")


def _add_resources(server: MCPServer[None]) -> None:
    @server.resource(RESOURCE, mime_type="text/plain")
    def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        return base64.b64decode(PIXEL)

    @server.resource("test://watched-resource", mime_type="text/plain")
    def watched() -> str:
        return "watched"

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:  # noqa: A002 - the suite names it
        return f'{{"id": "{id}", "templateTest": true}}'


def _add_prompts(server: MCPServer[None]) -> None:
    def simple() -> str:
        return "This is a simple prompt for testing."

    def with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    def with_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 - the suite names it
        return [UserMessage(_embedded(resourceUri, "An embedded resource."))]

    def with_image() -> list[UserMessage]:
        return [UserMessage(IMAGE), UserMessage("Please analyze the image above.")]

    prompts: dict[str, Callable[..., Any]] = {
        "test_simple_prompt": simple,
        "test_prompt_with_arguments": with_arguments,
        "test_prompt_with_embedded_resource": with_resource,
        "test_prompt_with_image": with_image,
        "test_input_required_result_prompt": _asking([{"user_context": CONTEXT}]),
    }
    for name, give in prompts.items():
        server.add_prompt(Prompt.from_function(give, name=name, description=f"Fixture {name}"))

    @server.completion()  # type: ignore[untyped-decorator] # the library does not type it
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion:
        words = ["Paris", "Park", "Party"]
        return Completion(values=[word for word in words if word.startswith(argument.value)])


async def acknowledge(_: ServerRequestContext[Any, Any], __: RequestParams) -> EmptyResult:
    return EmptyResult()
