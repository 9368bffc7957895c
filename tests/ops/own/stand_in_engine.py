"""A container engine for tests: the few subcommands that are used, and no containers.

It is copied into a folder of the path as `docker` or `podman`. What it remembers is in `engine.json`
beside that folder; how it misbehaves is in the environment variable STAND_IN, a JSON object. A
container of it is a process that answers as SearXNG with the settings it was given, behind a door
on the published port.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

STATE = Path(__file__).resolve().parent.parent / "engine.json"
MOOD = json.loads(os.environ.get("STAND_IN", "{}"))
NAME = Path(__file__).name


def main(arguments: list[str]) -> int:
    """Do what an engine would do."""
    if arguments[0] == "--serve":
        asyncio.run(serve(yaml.safe_load(Path(arguments[1]).read_text()), int(arguments[2])))
        return 0
    state = json.loads(STATE.read_text()) if STATE.exists() else {"calls": []}
    state["calls"].append([NAME, *arguments])
    keep(state)
    if NAME in MOOD.get("down", ()):
        return say("Cannot connect to the Docker daemon. Is the docker daemon running?")
    if MOOD.get("denied"):
        return say("permission denied while trying to connect to the docker API")
    code = Engine(state).obey(arguments)
    keep(state)
    return code


def keep(state: dict[str, Any]) -> None:
    """Remember; whoever looks meanwhile sees the old state or the new one."""
    file = STATE.with_name(f"engine-{os.getpid()}.json")
    file.write_text(json.dumps(state))
    file.replace(STATE)


def answer(line: str) -> None:
    """Say what was asked for."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def say(line: str, code: int = 1) -> int:
    """Complain."""
    sys.stderr.write(f"{line}\n")
    return code


def tell_the_test() -> None:
    """Let the test know that this point was reached, and who reached it."""
    with socket.create_connection(("127.0.0.1", MOOD["tell"])) as connection:
        connection.sendall(f"{os.getpid()}\n".encode())


class Engine:
    """The subcommands."""

    def __init__(self, state: dict[str, Any]) -> None:
        self.state = state
        self.containers = state.setdefault("containers", {})
        self.images = state.setdefault("images", [])

    def obey(self, arguments: list[str]) -> int:
        verb, *rest = arguments
        if verb in {"container", "image"}:
            verb, rest = f"{rest[0]}_{verb}", rest[1:]
        code: int = getattr(self, verb)(rest)
        return code

    def ps(self, _: list[str]) -> int:
        return 0

    def inspect_container(self, arguments: list[str]) -> int:
        container = self.containers.get(arguments[-1])
        if container is None:
            answer("[]")
            return say(f"Error: No such container: {arguments[-1]}")
        if MOOD.get("loops"):
            container["restarts"] += 1
        if MOOD.get("tell") and MOOD.get("hang"):
            tell_the_test()
        answer(
            json.dumps(
                [
                    {
                        "State": {"Status": container["status"]},
                        "Config": {"Image": container["image"], "Labels": container["labels"]},
                        "RestartCount": container["restarts"],
                    }
                ]
            )
        )
        return 0

    def inspect_image(self, arguments: list[str]) -> int:
        if arguments[-1] in self.images:
            answer("sha256:0")
            return 0
        return say(f"Error response from daemon: No such image: {arguments[-1]}")

    def pull(self, arguments: list[str]) -> int:
        if MOOD.get("pull") == "fails":
            answer("Using default tag")
            return say("Error response from daemon: pull access denied")
        if MOOD.get("pull") == "hangs":
            if MOOD.get("tell"):
                tell_the_test()
            time.sleep(600)
        answer("latest: Pulling from searxng\nabc: Pull complete")
        self.images.append(arguments[-1])
        return 0

    def run(self, arguments: list[str]) -> int:
        *options, image = arguments
        values: dict[str, list[str]] = {}
        options.remove("--detach")
        for option, value in zip(options[::2], options[1::2], strict=True):
            values.setdefault(option, []).append(value)
        (name,) = values["--name"]
        address, port, _ = values["--publish"][0].split(":")
        container = {
            "status": "created",
            "image": image,
            "labels": dict(label.split("=", 1) for label in values["--label"]),
            "restarts": 0,
            "port": int(port),
            "settings": values["--volume"][0].split(":")[0],
        }
        self.containers[name] = container
        assert address == "127.0.0.1"
        if MOOD.get("port") == "taken":
            say("docker: Error response from daemon: Bind failed: port is already allocated.")
            return say("\nRun 'docker run --help' for more information", 125)
        answer("0123456789abcdef")
        self._begin(container)
        return 0

    def start(self, arguments: list[str]) -> int:
        self._begin(self.containers[arguments[-1]])
        return 0

    def stop(self, arguments: list[str]) -> int:
        self._end(self.containers[arguments[-1]])
        return 0

    def rm(self, arguments: list[str]) -> int:
        container = self.containers.pop(arguments[-1], None)
        if container is None:
            return say(f"Error response from daemon: No such container: {arguments[-1]}")
        self._end(container)
        return 0

    def logs(self, arguments: list[str]) -> int:
        answer("SearXNG 2026.8.22")
        secret = yaml.safe_load(Path(self.containers[arguments[-1]]["settings"]).read_text())
        return say(f"\x1b[31mkey {secret['server']['secret_key']} is wrong", 0)

    def _begin(self, container: dict[str, Any]) -> None:
        container["status"] = "exited" if MOOD.get("exits") else "running"
        if not MOOD.get("exits"):
            serving = subprocess.Popen(
                [
                    sys.executable,
                    __file__,
                    "--serve",
                    container["settings"],
                    str(container["port"]),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            container["pid"] = serving.pid

    def _end(self, container: dict[str, Any]) -> None:
        container["status"] = "exited"
        with contextlib.suppress(ProcessLookupError, KeyError):
            os.kill(container.pop("pid"), signal.SIGKILL)


async def serve(read: dict[str, Any], port: int) -> None:
    """Answer as SearXNG with these settings, on this port."""
    from searx_mcp.testing.searxng import FakeSearxng  # noqa: PLC0415 - half a second that nothing else here needs

    formats = read["search"]["formats"]
    hang = bool(MOOD.get("hang"))
    async with FakeSearxng(formats=formats, hang=hang, link_token=read["server"]["limiter"]) as own:

        async def pass_on(reader, writer) -> None:
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", own.port)
            async with asyncio.TaskGroup() as group:
                group.create_task(pump(reader, inner_writer))
                group.create_task(pump(inner_reader, writer))

        async with await asyncio.start_server(pass_on, "127.0.0.1", port) as door:
            await door.serve_forever()


async def pump(reader, writer) -> None:
    """Hand on what comes until nothing does."""
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
