"""The server as a process: its input and output, and the signals that end it."""

import asyncio
import contextlib
import json
import os
import select
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.serving import DEADLINE, HELLO, READY

pytestmark = pytest.mark.slow


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


@contextmanager
def sigint(*, ignored: bool) -> Iterator[None]:
    """What is started in the block has the signal ignored, or not, however the suite was started."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@asynccontextmanager
async def serving(
    tmp_path: Path, *arguments: str, ignored: bool = False, **environment: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    config = tmp_path / "empty.toml"
    config.touch()
    with sigint(ignored=ignored):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "searx_mcp", *arguments),
            env={
                **os.environ,
                "SEARX_MCP_CONFIG": str(config),
                "SEARX_MCP_LOG_LEVEL": "CRITICAL",
                **environment,
            },
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    try:
        async with asyncio.timeout(DEADLINE):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def greet(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line(HELLO))
    assert b"serverInfo" in await process.stdout.readline()
    process.stdin.write(line(READY))


@asynccontextmanager
async def silent_site() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """A server that never answers, and what tells that it was asked for a page."""
    asked = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = b""
        with suppress(asyncio.IncompleteReadError):  # a connection that is kept ready
            head = await reader.readuntil(b"\r\n\r\n")
        if b"robots.txt" in head:
            writer.write(
                b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        elif head:
            asked.set()
            await reader.read()
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


def descendants(number: int) -> list[int]:
    """Processes that a process started, and those they started; Linux tells."""
    found: list[int] = []
    for told in Path(f"/proc/{number}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread has ended since
            for child in map(int, told.read_text().split()):
                found += [child, *descendants(child)]
    return found


@pytest.mark.parametrize(
    ("number", "ignored"),
    [(signal.SIGTERM, False), (signal.SIGINT, True)],
    ids=["heard", "ignored at the start"],
)
async def test_one_signal_ends_a_server_that_waits_for_input(tmp_path, number, ignored):
    async with serving(tmp_path, ignored=ignored) as process:
        await greet(process)
        process.send_signal(number)
        assert process.stderr is not None
        assert await process.wait() == 128 + number
        assert await process.stderr.read() == b""


WAITING = """
import pathlib, sys, threading

class Library:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            print("loading", file=sys.stderr, flush=True)
            while not pathlib.Path(r"{gone_on}").exists():
                threading.Event().wait(0.001)

sys.meta_path.insert(0, Library())
"""


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has signals that end")
@pytest.mark.parametrize(
    ("module", "number"),
    [("click", signal.SIGINT), ("pydantic_core", signal.SIGTERM), ("mcp", signal.SIGINT)],
)
async def test_one_signal_ends_a_server_that_still_loads(tmp_path, module, number):
    gone_on = tmp_path / "gone on"
    library = WAITING.format(module=module, gone_on=gone_on)
    (tmp_path / "sitecustomize.py").write_text(library)
    async with serving(tmp_path, PYTHONPATH=str(tmp_path)) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(line(HELLO))
        assert await process.stderr.readline() == b"loading\n"
        process.send_signal(number)
        gone_on.touch()
        assert await process.wait() == 128 + number
        assert await process.stderr.read() == b""


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has signals that end")
async def test_one_signal_ends_a_server_that_nobody_has_greeted(tmp_path):
    async with serving(tmp_path, SEARX_MCP_LOG_LEVEL="INFO") as process:
        assert process.stderr is not None
        assert b" server.start " in await process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 128 + signal.SIGTERM
        assert b" server.stop " in await process.stderr.readline()
        assert await process.stderr.read() == b""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux tells who started whom")
@pytest.mark.parametrize(
    ("tool", "number"),
    [("web_search", signal.SIGINT), ("web_fetch", signal.SIGTERM), ("answer", signal.SIGINT)],
)
async def test_one_signal_ends_a_call_and_all_that_was_started_for_it(tmp_path, number, tool):
    async with silent_site() as (origin, asked):
        environment = {
            "SEARXNG_URL": f"http://{origin}/",
            "SEARX_MCP_FETCH__ALLOW_PRIVATE": origin,
            "SEARX_MCP_INSTANCES__PUBLIC": "off",
            "SEARX_MCP_OPEN_SOURCES__MODE": "off",
        }
        async with serving(tmp_path, ignored=True, **environment) as process:
            await greet(process)
            arguments = {"query": "bees"} if tool != "web_fetch" else {}
            arguments |= {"url": f"http://{origin}/a"} if tool != "web_search" else {}
            assert process.stdin is not None
            assert process.stderr is not None
            params = {"name": tool, "arguments": arguments}
            process.stdin.write(
                line({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
            )
            await asked.wait()
            started = [os.pidfd_open(child) for child in descendants(process.pid)]
            process.send_signal(number)
            assert await process.wait() == 128 + number
            assert await process.stderr.read() == b""
            for child in started:
                ended, *_ = await asyncio.to_thread(select.select, [child], [], [], DEADLINE)
                os.close(child)
                assert ended, "a process outlived the server"


async def test_a_host_that_does_not_read_the_log_gets_its_answers(tmp_path):
    number = 150  # of lines of 2 kB and more, which neither a pipe nor what reads it here takes in
    params = {"name": "web_search", "arguments": {"query": "", "prompt": "x" * 2_000}}
    async with serving(tmp_path, SEARX_MCP_LOG_LEVEL="DEBUG") as process:
        await greet(process)
        assert process.stdin is not None
        assert process.stdout is not None
        for name in range(number):
            process.stdin.write(
                line({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params})
            )
            assert json.loads(await process.stdout.readline())["id"] == name
        process.stdin.close()
        assert await process.stdout.read() == b""


async def test_the_end_of_the_input_ends_the_server_after_its_last_line(tmp_path):
    async with serving(tmp_path) as process:
        out, errors = await process.communicate(line(HELLO).rstrip())
    assert json.loads(out)["id"] == 1
    assert (process.returncode, errors) == (0, b"")


async def test_lines_that_are_no_message_are_answered_and_the_next_one_is_read(tmp_path):
    noise = b"\xff\xfe\x00\n" + b"[" * 100_000 + b"\n\n{}\r\n"
    async with serving(tmp_path) as process:
        out, _ = await process.communicate(noise + line(HELLO))
    assert any(json.loads(answer).get("id") == 1 for answer in out.splitlines())
    assert process.returncode == 0


async def test_a_host_that_stops_reading_is_told_of_in_a_sentence(tmp_path):
    async with serving(tmp_path) as process:
        await greet(process)
        assert process.stdin is not None
        assert process.stdout is not None
        process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined] # - no public way closes one pipe
        assert await process.stdout.read() == b""  # it is closed now, and takes no answer any more
        process.stdin.write(line({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}))
        assert process.stderr is not None
        errors = await process.stderr.read()
        assert await process.wait() == 1
    assert errors.decode() == "searx-mcp: standard output was closed by its reader\n"


PRINTING = """
import os, sys, threading

print("printed before the start")

class Library:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            print("printed while loading")
            threading.Thread(target=chatter, daemon=True).start()
        elif name == "mcp":
            os.write(1, b"written to the number\\n")
        elif name == "searx_mcp.client.facade":
            print("printed in a call", flush=True)
            sys.__stdout__.write("written to the first stream\\n")
            os.system("echo printed by a process")
            if os.name == "posix":
                import ctypes
                ctypes.CDLL(None).puts(b"printed in C")

def chatter():
    while True:
        print("printed by a thread", flush=True)
        threading.Event().wait(0.02)  # what is not read yet must not fill the pipe

sys.meta_path.insert(0, Library())
"""


@pytest.mark.parametrize("arguments", [(), ("serve", "--transport", "stdio")])
async def test_what_libraries_print_goes_to_standard_error(tmp_path, arguments):
    (tmp_path / "sitecustomize.py").write_text(PRINTING)
    call = {"name": "web_fetch", "arguments": {"url": "http://127.0.0.1:9/"}}
    # Unbuffered, what is printed before anything of ours runs would be gone.
    environment = {"PYTHONPATH": str(tmp_path), "PYTHONUNBUFFERED": ""}
    async with serving(tmp_path, *arguments, ignored=False, **environment) as process:
        await greet(process)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(
            line({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        )
        assert json.loads(await process.stdout.readline())["id"] == 2
        out, errors = await process.communicate(b"")
    assert out == b""
    assert process.returncode == 0
    printed = {
        "printed before the start",
        "printed while loading",
        "printed by a thread",
        "written to the number",
        "printed in a call",
        "written to the first stream",
        "printed by a process",
        *(["printed in C"] if os.name == "posix" else []),
    }
    assert printed <= set(errors.decode().splitlines())
