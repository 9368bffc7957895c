"""Which tools a model calls for what users say, and with which arguments.

    python -m benchmarks.requests --base-url http://127.0.0.1:8080/v1 --model NAME [--profile research] [--json]
    python -m benchmarks.requests --quick

The first asks a server that speaks OpenAI's chat completions; `MODEL_API_KEY` in the environment is its key, if it
wants one. The second asks nobody and checks the table. `docs/decisions/benchmarks.md` says how a call is compared.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Final

from mcp import Client

from benchmarks.choosing.model_server import (
    ModelServer,
    ModelServerError,
    Reason,
    open_model_server,
)
from benchmarks.choosing.table import Chosen, Request, Verdict, judge, read_requests
from benchmarks.measure import Ratio, Table, command_line, report
from benchmarks.tokens import profiles
from searx_mcp.models.spelling import shown
from searx_mcp.server.app import build_server
from searx_mcp.settings.values import Settings

KEY: Final = "MODEL_API_KEY"
"""A name of its own: a key of one provider must not go to another server unasked."""
PROFILE: Final = "research"
"""Has every tool."""
RIGHT_TOOL: Final = 0.9
RIGHT_ARGUMENTS: Final = 0.8
"""Shares of the requests. These are goals: no model has been asked yet."""
IN_A_ROW: Final = 3
"""Requests without an answer after which the rest is not tried."""

Tools = list[dict[str, Any]]


def main() -> None:
    """Ask and report."""
    options = command_line(
        "Which tools a model calls for what users say.",
        texts={
            "--base-url": "what /chat/completions is appended to",
            "--model": "its name at that server",
            "--profile": f"whose tools it is given ({PROFILE})",
        },
    )
    requests = read_requests()
    profile = options.profile or PROFILE
    if profile not in profiles():
        sys.exit(f"--profile must be one of {', '.join(profiles())}")
    tools, instructions = asyncio.run(published(profile))
    if options.quick:
        report(checked(requests, tools), as_json=options.json)
    if not (options.base_url and options.model):
        sys.exit("Give --base-url and --model, or --quick to check the table alone.")
    try:
        verdicts = asyncio.run(
            _ask_all(options.base_url, options.model, requests, tools, instructions)
        )
    except ModelServerError as error:
        sys.exit(f"{error.reason}: {error}")
    targets, tables = scored(verdicts)
    report(targets, as_json=options.json, tables=tables)


async def published(profile: str) -> tuple[Tools, str]:
    """The tools of a profile as a client gets them, and the instructions of the server."""
    settings = Settings.model_validate({"server": {"profile": profile}})
    async with Client(build_server(settings)) as client:
        listed = await client.list_tools()
        tools = json.loads(listed.model_dump_json(by_alias=True, exclude_unset=True))["tools"]
        return tools, client.instructions or ""


def checked(requests: Sequence[Request], tools: Tools) -> list[Ratio]:
    """What the table must hold, without asking anybody: each tool is asked for, each call is one of a right kind."""
    known = {tool["name"]: tool["inputSchema"]["properties"].keys() for tool in tools}
    named = [(call.tool, call.arguments) for request in requests for call in request.calls]
    named += [(each.earlier.tool, each.earlier.arguments) for each in requests if each.earlier]
    wrong = [
        tool
        for tool, arguments in named
        # `offset` of a search is not published; its results name it.
        if tool not in known or arguments.keys() - known[tool] - {"offset"}
    ]
    unlike = [
        request.says
        for request in requests
        for call in request.calls
        if judge(request, [Chosen(call.tool, call.arguments)]).flaw
    ]
    return [
        Ratio("requests", len(requests), 40, at_least=True),
        Ratio("requests that need no tool", sum(not r.calls for r in requests), 4, at_least=True),
        _none("tools that nobody asks for", known.keys() - {request.tool for request in requests}),
        _none("calls of what is not published", wrong),
        _none("calls that do not serve their own request", unlike),
    ]


async def _ask_all(
    base_url: str, model: str, requests: Sequence[Request], tools: Tools, instructions: str
) -> list[Verdict]:
    key = os.environ.get(KEY, "")
    async with open_model_server(base_url, model, key=key) as server:
        return await ask(server, requests, tools, instructions)


async def ask(
    server: ModelServer, requests: Sequence[Request], tools: Tools, instructions: str
) -> list[Verdict]:
    """Put every request that these tools can serve, one after the other.

    Raises:
        ModelServerError: the server refuses the key, or several requests in a row had no answer.
    """
    functions = [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["inputSchema"],
            },
        }
        for tool in tools
    ]
    names = {tool["name"] for tool in tools}
    verdicts: list[Verdict] = []
    silent = 0
    for request in requests:
        if not request.tools <= names:
            continue
        try:
            chosen = await server.choose(messages(request, instructions), functions)
        except ModelServerError as error:
            silent += 1
            if error.reason is Reason.REFUSED or silent == IN_A_ROW:
                raise
            verdicts.append(
                Verdict(
                    request,
                    is_tool_right=False,
                    flaw=f"{error.reason}: {error}",
                    has_answer=False,
                )
            )
        else:
            silent = 0
            verdicts.append(judge(request, chosen))
    return verdicts


def messages(request: Request, instructions: str) -> list[dict[str, Any]]:
    """The conversation up to the request, as chat completions have it."""
    found: list[dict[str, Any]] = [{"role": "system", "content": instructions}]
    if earlier := request.earlier:
        call = {"name": earlier.tool, "arguments": json.dumps(earlier.arguments)}
        found += [
            {"role": "user", "content": earlier.says},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call-1", "type": "function", "function": call}],
            },
            {"role": "tool", "tool_call_id": "call-1", "content": earlier.result.strip()},
            {"role": "assistant", "content": "Done. What else?"},
        ]
    return [*found, {"role": "user", "content": request.says}]


def scored(verdicts: Sequence[Verdict]) -> tuple[list[Ratio], tuple[Table, ...]]:
    """Shares of right tools and right calls, by tool, and each miss."""
    said = Counter(verdict.request.tool for verdict in verdicts)
    tool = Counter(verdict.request.tool for verdict in verdicts if verdict.is_tool_right)
    whole = Counter(verdict.request.tool for verdict in verdicts if not verdict.flaw)
    misses = [verdict for verdict in verdicts if verdict.flaw]
    return [
        Ratio("right tool", tool.total() / len(verdicts), RIGHT_TOOL, at_least=True),
        Ratio(
            "right tool and arguments",
            whole.total() / len(verdicts),
            RIGHT_ARGUMENTS,
            at_least=True,
        ),
        _none("requests without an answer", [v for v in verdicts if not v.has_answer]),
    ], (
        Table(
            f"{len(verdicts)} requests",
            ("wanted", "requests", "right tool", "and arguments"),
            tuple((name or "no tool", said[name], tool[name], whole[name]) for name in said),
        ),
        Table(
            "Misses",
            ("wanted", "what is wrong", "said"),
            tuple((v.request.tool or "no tool", v.flaw, shown(v.request.says)) for v in misses),
        ),
    )


def _none(name: str, found: Collection[object]) -> Ratio:
    return Ratio(name, len(found), 0, at_least=False)


if __name__ == "__main__":
    main()
