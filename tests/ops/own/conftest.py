"""A stand-in for SearXNG that is installed, started and ended for real."""

import asyncio
import os
import shutil
import signal
import struct
import sys
import zipfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from searx_mcp.ops.own.native_process import NativeProcess
from searx_mcp.settings.values import Settings

T = TypeVar("T")


class StandInSearxng:
    """Archives of a small program of SearXNG's shape, and a machine that can install them.

    Attributes:
        folder: where archives, wheels and programs are.
        state: the state folder.
        port: for the instance.
        environ: variables under which packages come from one folder.
    """

    commit = "c0ffee" * 6 + "c0ff"
    sources = Path(__file__).with_name("stand_in")

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.state = folder / "state"
        for name in ("wheels", "bin"):
            (folder / name).mkdir()
        self.add_wheel("waitress", "3.0.2")
        self.add_wheel("something-searxng-needs", "1.0")
        self.environ = {
            "PATH": f"{folder / 'bin'}:/usr/bin:/bin",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(folder / "wheels"),
            "UV_FIND_LINKS": str(folder / "wheels"),
        }

    @property
    def settings(self) -> Settings:
        """Settings under which nothing but this machine is used."""
        tables: dict[str, Any] = {
            "storage": {"folder": str(self.state)},
            "open_sources": {"mode": "off"},
            "instances": {"public": "off"},
        }
        return Settings.model_validate(tables)

    def install_uv(self) -> None:
        """Put a stand-in for `uv` on the path, which is quicker than pip."""
        program = self.folder / "bin" / "uv"
        source = (self.sources / "uv.py").read_text()
        program.write_text(f"#!{sys.executable} -I\n{source}")
        program.chmod(0o755)

    def archive(self, mood: str = "", *, commit: str = commit, more: str = "") -> Path:
        """Pack a version that behaves as `mood` says; `more` makes its files differ."""
        path = self.folder / f"{commit}-{mood or 'well'}{len(more)}.zip"
        files = {
            f"searx/{name}": self._read(f"searx/{name}") for name in ("__init__.py", "webapp.py")
        }
        files |= {
            "requirements.txt": b"something-searxng-needs\n",
            "README.rst": more.encode(),
        }
        if mood:
            files["searx/mood.txt"] = mood.encode()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.comment = commit.encode()
            for name, content in files.items():
                member = zipfile.ZipInfo(f"searxng-{commit}/{name}")
                member.extra = struct.pack("<2sHBL", b"UT", 5, 1, 1_787_376_729)
                archive.writestr(member, content)
        return path

    def _read(self, name: str) -> bytes:
        return (self.sources / name).read_bytes()

    def add_wheel(self, name: str, version: str) -> None:
        """Make a package available in a version."""
        package = name.replace("-", "_")
        module = self.sources / name / "__init__.py"
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        about = "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        info = f"{package}-{version}.dist-info"
        files = {
            f"{package}/__init__.py": module.read_text() if module.exists() else "",
            f"{info}/METADATA": metadata,
            f"{info}/WHEEL": about,
        }
        record = "".join(f"{path},,\n" for path in (*files, f"{info}/RECORD"))
        files[f"{info}/RECORD"] = record
        links = self.folder / "wheels"
        with zipfile.ZipFile(links / f"{package}-{version}-py3-none-any.whl", "w") as wheel:
            for path, content in files.items():
                wheel.writestr(path, content)


def is_running(pid: int) -> bool:
    """Whether a process is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unused_port: Callable[[], int]
) -> Iterator[StandInSearxng]:
    """Archives to install, on a machine whose packages come from one folder; pip alone installs."""
    folder = tmp_path / "stand_in"
    folder.mkdir()
    made = StandInSearxng(folder, unused_port())
    for name in [*os.environ]:
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    yield made
    # First what one would start with that was begun by a search and came too late.
    shutil.rmtree(made.state / "own-native" / "versions", ignore_errors=True)
    for lock in made.state.rglob("run.lock"):
        if (running := NativeProcess(lock.parent).find()) is not None:
            os.kill(running.pid, signal.SIGKILL)


@pytest.fixture
def until() -> Callable[[Callable[[], T]], Awaitable[T]]:
    """Wait until something holds that another process does, and give it."""

    async def wait(check: Callable[[], T]) -> T:
        async with asyncio.timeout(60):
            while not (found := check()):  # noqa: ASYNC110 - another process sets no event of ours
                await asyncio.sleep(0.01)
            return found

    return wait
