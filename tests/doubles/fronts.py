"""The six ways to call the service, each behind the same method: `call` a verb, get an `Outcome`.

A scenario that is run over all of them says what the service promises, whichever way it is asked.
"""

import asyncio
import json
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent, TextResourceContents
from typing_extensions import override

from searx_mcp import RemoteClient, SearxClient, SearxMcpError, Settings
from searx_mcp.server.app import build_server
from searx_mcp.verbs.verb import Room, Verb
from tests.doubles.serving import connected, serving

Arguments = Mapping[str, Any]
PATIENCE: Final = 60
"""Seconds until a call fails that would hang; nothing is measured."""


@dataclass(frozen=True)
class Outcome:
    """What came of a call.

    Attributes:
        data: the result as a program gets it; of a failure, what is said of it.
        text: the same as a model or a person reads it.
        code: of the error; empty where the call succeeded.
        status: of HTTP, or the exit code; `None` where there is none.
    """

    data: Mapping[str, Any]
    text: str
    code: str = ""
    status: int | None = None

    @classmethod
    def of_data(cls, data: Mapping[str, Any], code: str = "", status: int | None = None) -> Self:
        """An outcome that is data alone."""
        return cls(data, json.dumps(data, ensure_ascii=False), code, status)

    @classmethod
    def of_error(cls, error: SearxMcpError) -> Self:
        """An outcome that was raised."""
        fields = ("advice", "field", "reason", "status_code", "retry_after", "url")
        told = {name: getattr(error, name) for name in fields if hasattr(error, name)}
        return cls.of_data({"message": f"{error}", **told}, error.code)


@dataclass
class Front(ABC):
    """One way to call the service; open while its block runs.

    Attributes:
        tables: settings of the service, by table.
        folder: of this front alone; what it keeps outlives it here.
        token: that a caller over HTTP names.
        run_cli: runs the command in this process, as the fixture does.
    """

    tables: Mapping[str, Mapping[str, Any]]
    folder: Path
    token: str = ""
    run_cli: Callable[..., Awaitable[Any]] | None = None
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def __aenter__(self) -> Self:
        try:
            await self.open()
        except BaseException:
            await self.stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stack.aclose()

    async def restart(self) -> None:
        """End it and begin again, with what it keeps."""
        await self.stack.aclose()
        await self.open()

    @property
    def settings(self) -> Settings:
        """The settings of the service."""
        return Settings.model_validate(self._all_tables)

    @property
    def _all_tables(self) -> dict[str, Mapping[str, Any]]:
        kept = {"folder": str(self.folder / "kept"), **self.tables.get("storage", {})}
        return {**self.tables, "storage": kept}

    def config(self) -> str:
        """The path of a file with these settings; JSON of text and lists is TOML."""
        path = self.folder / "searx-mcp.toml"
        lines = (
            line
            for name, table in self._all_tables.items()
            for line in (
                f"[{name}]",
                *(f"{key} = {json.dumps(each)}" for key, each in table.items()),
            )
        )
        path.write_text("\n".join(lines), "utf-8")
        return f"{path}"

    @abstractmethod
    async def open(self) -> None:
        """Start what answers."""

    @abstractmethod
    async def call(self, verb: Verb[Any, Any], arguments: Arguments) -> Outcome:
        """Call a verb with arguments as a caller writes them."""

    async def call_held(self, verb: Verb[Any, Any], arguments: Arguments) -> Outcome:
        """The same for a call that is going to be cancelled."""
        return await self.call(verb, arguments)

    @abstractmethod
    async def pool(self) -> str:
        """What is told of the instances."""

    @abstractmethod
    async def call_unknown(self, name: str) -> Outcome | None:
        """Call what is not there; `None` where that cannot be written."""


class Program(Front):
    """A program that imports the package."""

    service: SearxClient | RemoteClient

    @override
    async def call(self, verb: Verb[Any, Any], arguments: Arguments) -> Outcome:
        try:
            request = verb.parse(arguments, self.service.settings)
            response = await verb.act(self.service, request, None)
        except SearxMcpError as error:
            return Outcome.of_error(error)
        return Outcome.of_data(verb.writing().data(response, Room()))

    @override
    async def pool(self) -> str:
        return (await self.service.instances()).model_dump_json()

    @override
    async def call_unknown(self, name: str) -> None:
        return None


class Module(Program):
    """One that searches by itself."""

    @override
    async def open(self) -> None:
        folder = self.folder / "kept"
        folder.mkdir(exist_ok=True)
        client = SearxClient(self.settings, folder=folder, processes=True)
        self.service = await self.stack.enter_async_context(client)


class Thin(Program):
    """One that asks a service elsewhere."""

    @override
    async def open(self) -> None:
        url = await self.stack.enter_async_context(served(self.settings))
        remote = {"url": url.removesuffix("/mcp"), "timeout": 50, "key": self.token}
        client = RemoteClient(Settings.model_validate({"remote": remote}))
        self.service = await self.stack.enter_async_context(client)


class Rest(Front):
    """A program that posts JSON."""

    http: httpx2.AsyncClient

    @override
    async def open(self) -> None:
        url = await self.stack.enter_async_context(served(self.settings))
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        self.http = await self.stack.enter_async_context(
            httpx2.AsyncClient(
                base_url=url.removesuffix("/mcp"),
                headers=headers,
                trust_env=False,
                timeout=PATIENCE,
            )
        )

    @override
    async def call(self, verb: Verb[Any, Any], arguments: Arguments) -> Outcome:
        assert verb.route is not None
        if verb.route.method == "GET":
            answer = await self.http.get(verb.route.path, params=dict(arguments))
        else:
            answer = await self.http.post(verb.route.path, json=dict(arguments))
        return self._outcome(answer)

    @override
    async def pool(self) -> str:
        return (await self.http.get("/v1/instances")).text

    @override
    async def call_unknown(self, name: str) -> Outcome:
        return self._outcome(await self.http.post(f"/v1/{name}", json={}))

    @staticmethod
    def _outcome(answer: httpx2.Response) -> Outcome:
        data = answer.json()
        error = data.get("error", {})
        return Outcome.of_data(error or data, error.get("code", ""), answer.status_code)


class Mcp(Front):
    """A host that calls tools."""

    client: Client

    @override
    async def call(self, verb: Verb[Any, Any], arguments: Arguments) -> Outcome:
        return await self._call_tool(verb.tool, arguments)

    @override
    async def pool(self) -> str:
        (content,) = (await self.client.read_resource("searx://instances")).contents
        assert isinstance(content, TextResourceContents)
        return content.text

    @override
    async def call_unknown(self, name: str) -> Outcome:
        return await self._call_tool(name, {})

    async def _call_tool(self, name: str, arguments: Arguments) -> Outcome:
        result = await self.client.call_tool(name, dict(arguments))
        assert isinstance(result, CallToolResult)
        (content,) = result.content
        assert isinstance(content, TextContent)
        data = result.structured_content or {}
        code = data.get("error_type", "unnamed") if result.is_error else ""
        return Outcome(data, content.text, code)


class McpHttp(Mcp):
    """A host that calls the tools of a server over Streamable HTTP."""

    url: str

    @override
    async def open(self) -> None:
        self.url = await self.stack.enter_async_context(served(self.settings))
        self.client = await self.stack.enter_async_context(connected(self.url, token=self.token))


class McpStdio(Mcp):
    """A host that starts the server as a process of its own."""

    @override
    async def open(self) -> None:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "searx_mcp", "stdio"],
            env={**os.environ, "SEARX_MCP_CONFIG": self.config()},
        )
        self.client = await self.stack.enter_async_context(Client(stdio_client(parameters)))


_WORDS: Final = {
    "search": "query",
    "fetch": "url",
    "read": "url",
    "answer": "query",
    "corpus add": "url",
    "corpus search": "query",
    "corpus status": "source_url",
}
"""What a person types without the name of an option, by command."""
_REPEATED: Final = {"urls": "url", "queries": "query"}
"""Arguments that an option says where it is repeated."""


class Command(Front):
    """A script that runs `searx-mcp … --json`."""

    @override
    async def open(self) -> None:
        self.config()

    @override
    async def call(self, verb: Verb[Any, Any], arguments: Arguments) -> Outcome:
        return await self._run(*typed(verb, arguments))

    @override
    async def pool(self) -> str:
        return (await self._run("instances", "list", "--json")).text

    @override
    async def call_unknown(self, name: str) -> Outcome:
        return await self._run(name)

    async def _run(self, *arguments: str) -> Outcome:
        assert self.run_cli is not None
        ran = await self.run_cli(*arguments, SEARX_MCP_CONFIG=self.config())
        return self._outcome(ran.code, ran.out, ran.err)

    @override
    async def call_held(self, verb: Verb[Any, Any], arguments: Arguments) -> Outcome:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "searx_mcp", *typed(verb, arguments)),
            env={**os.environ, "SEARX_MCP_CONFIG": self.config()},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await process.communicate()
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)
            await process.communicate()
            raise
        return self._outcome(process.returncode or 0, out.decode(), err.decode())

    @staticmethod
    def _outcome(code: int, out: str, err: str) -> Outcome:
        assert "Traceback" not in err
        data = json.loads(out) if out else {"message": err}
        usage = "invalid_argument" if code == 2 else ""
        error = data.get("error_type", usage) if code else ""
        return Outcome.of_data(data, error, code)


def typed(verb: Verb[Any, Any], arguments: Arguments) -> list[str]:
    """The words that a person types for a call."""
    assert verb.command is not None
    name = verb.command.name
    words: list[str] = []
    options = ["--json"]
    for argument, value in arguments.items():
        values = [f"{each}" for each in (value if isinstance(value, list) else [value])]
        option = argument
        if argument in verb.command.without:
            option = _REPEATED[argument]
        if argument == _WORDS[name]:
            words += values
        elif isinstance(value, bool):
            options.append(f"--{'' if value else 'no-'}{option.replace('_', '-')}")
        else:
            options += [word for each in values for word in (f"--{option.replace('_', '-')}", each)]
    return [*name.split(), *options, *words]


def served(settings: Settings) -> Any:
    """A server over HTTP on a free port, by the address of its endpoint."""
    return serving(build_server(settings), settings.http.model_copy(update={"port": 0}))


FRONTS: Final[Mapping[str, type[Front]]] = {
    "module": Module,
    "command": Command,
    "stdio": McpStdio,
    "http": McpHttp,
    "rest": Rest,
    "thin": Thin,
}
