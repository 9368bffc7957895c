"""The environment of an instance: an interpreter of its own with what SearXNG needs."""

import asyncio
import errno
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote

from searx_mcp.content.clean import clean_line
from searx_mcp.http.config import NetworkConfig
from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.models.service import Progress
from searx_mcp.ops.own import process
from searx_mcp.ops.own.errors import NativeError
from searx_mcp.ops.own.process import Finished

SERVER: Final = "waitress>=3,<4"
"""The server: one process of 64 threads, which fails on a taken port and ends at a signal."""
WHEELS: Final = ("--only-binary", ":all:")
"""Nothing is built: no compiler is needed, and no code of a package runs while it is installed."""

_SHOWN: Final = 60
"""Characters of a line of the installer that are shown as progress."""
_LONGEST: Final = 300
_TAIL: Final = 12
_STRAY: Final = ("PYTHON", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE")
"""Variables by which a user sends packages elsewhere, or an interpreter to other modules."""
_PIP_INDEX: Final = frozenset(
    {
        "PIP_INDEX_URL",
        "PIP_EXTRA_INDEX_URL",
        "PIP_FIND_LINKS",
        "PIP_NO_INDEX",
        "PIP_CONFIG_FILE",
    }
)
_PIP_FILES: Final = (
    "/etc/pip.conf",
    "~/.config/pip/pip.conf",
    "~/.pip/pip.conf",
    "~/Library/Application Support/pip/pip.conf",
)
_UV_INDEX: Final = ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX", "UV_FIND_LINKS", "UV_CONFIG")

_FULL: Final = ("no space left", os.strerror(errno.ENOSPC).casefold(), "disk quota exceeded")
_OFFLINE: Final = (
    "connection",
    "name resolution",
    "dns error",
    "network is unreachable",
    "timed out",
    "proxyerror",
    "certificate",
    "sslerror",
    "error sending request",
)
_NO_PIP: Final = ("ensurepip", "no module named venv", "no module named pip")


def installer(environ: Mapping[str, str]) -> str | None:
    """The path of `uv`, where it is installed and would ask the index that the user has chosen.

    uv does not read the settings of pip. Who has set an index for pip alone means it.
    """
    uv = shutil.which("uv", path=environ.get("PATH"))
    is_set_for_pip = not _PIP_INDEX.isdisjoint(environ) or any(
        Path(file).expanduser().is_file() for file in _PIP_FILES
    )
    is_set_for_uv = any(name.startswith(_UV_INDEX) for name in environ)
    return None if is_set_for_pip and not is_set_for_uv else uv


def variables(environ: Mapping[str, str], network: NetworkConfig) -> dict[str, str]:
    """The variables of an installer: the user's own, and the proxy and authorities of the settings."""
    kept = {name: value for name, value in environ.items() if not name.startswith(_STRAY)}
    kept.pop("VIRTUAL_ENV", None)
    proxy = proxy_text(network)
    if proxy and not {"HTTPS_PROXY", "https_proxy"} & kept.keys():
        kept |= dict.fromkeys(("HTTPS_PROXY", "https_proxy"), proxy)
    if network.ca_file:
        for name in ("PIP_CERT", "SSL_CERT_FILE"):
            kept.setdefault(name, network.ca_file)
    return kept


def proxy_text(network: NetworkConfig) -> str:
    """The proxy of the settings with what lets us in, percent-encoded; empty if there is none."""
    proxy = network.proxy
    if proxy is None or proxy.username is None:
        return proxy.address if proxy else ""
    userinfo = f"{quote(proxy.username, safe='')}:{quote(proxy.password or '', safe='')}"
    return proxy.address.replace("//", f"//{userinfo}@", 1)


def python_of(environment: Path) -> Path:
    """The interpreter of an environment."""
    return environment / "bin" / "python"


class Installation:
    """Makes the environment of an instance, with `uv` where it is of use and else with pip.

    Args:
        python: the interpreter to make it with.
        environ: variables of the installer.
        deadline: instant on the running loop's clock by which it must be done.
        progress: told each step.
    """

    def __init__(
        self, *, python: str, environ: Mapping[str, str], deadline: float, progress: Progress
    ) -> None:
        self._python = python
        self._environ = environ
        self._deadline = deadline
        self._progress = progress

    async def make(self, environment: Path, requirements: Path) -> None:
        """Make an environment with the packages of a file of requirements, and the server.

        Raises:
            NativeError: `no_venv`, `no_network`, `disk_full`, `python_too_old` or `install_failed`.
        """
        wanted = (*WHEELS, "--requirement", str(requirements), SERVER)
        python = str(python_of(environment))
        uv = await asyncio.to_thread(installer, self._environ)
        if uv is not None:
            try:
                make = (uv, "venv", "--quiet", "--python", self._python, environment)
                await self._run("making an environment", *make)
                await self._run(
                    "installing with uv", uv, "pip", "install", "--python", python, *wanted
                )
            except NativeError as error:
                if error.reason is not NativeFailure.INSTALL_FAILED:
                    raise
            else:
                return
            # One that is old or broken; pip may do all the same, and else says what is wrong.
            await asyncio.to_thread(shutil.rmtree, environment, ignore_errors=True)
        await self._run("making an environment", self._python, "-m", "venv", environment)
        pip = (python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check")
        await self._run("installing with pip", *pip, "--progress-bar", "off", *wanted)

    async def _run(self, step: str, *command: str | Path) -> None:
        self._progress(step)
        left = max(0.0, self._deadline - asyncio.get_running_loop().time())
        try:
            done = await process.run(
                [str(part) for part in command],
                timeout=left,
                environment=self._environ,
                on_line=lambda line: self._progress(f"{step}: {clean_line(line, _SHOWN)}"),
            )
        except TimeoutError as exc:
            raise NativeError(
                "The packages that SearXNG needs were not installed in time.",
                reason=NativeFailure.INSTALL_FAILED,
                advice="Give it more seconds with --timeout.",
            ) from exc
        except OSError as exc:
            raise NativeError(
                f"{command[0]} cannot be started: {exc.strerror}.",
                reason=NativeFailure.INSTALL_FAILED,
                advice="Install Python anew, or use --engine container.",
            ) from exc
        if done.code:
            raise failure(done, version=sys.version_info[:2])


def failure(done: Finished, *, version: Sequence[int]) -> NativeError:
    """The error that fits what an installer said.

    Args:
        done: the installer, which has failed.
        version: of the interpreter, for the name of a package.
    """
    text = f"{done.out}\n{done.err}"
    said = text.casefold()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    log = tuple(clean_line(line, _LONGEST) for line in lines[-_TAIL:])
    if any(words in said for words in _FULL):
        return disk_full()
    if any(words in said for words in _NO_PIP):
        major, minor = version
        return NativeError(
            "Python here makes no environments: its module venv, or the pip that belongs to it, is missing.",
            reason=NativeFailure.NO_VENV,
            advice=(
                f"Install it (Debian and Ubuntu: sudo apt install python{major}.{minor}-venv), or"
                " install uv (https://docs.astral.sh/uv/), then try again."
            ),
            log=log,
        )
    if "requires-python" in said or "requires a different python" in said:
        return python_too_old(version)
    if any(words in said for words in _OFFLINE):
        return NativeError(
            "The packages that SearXNG needs cannot be fetched.",
            reason=NativeFailure.NO_NETWORK,
            advice="Check the network, the proxy and the package index of this machine, then try again.",
            log=log,
        )
    return NativeError(
        "The packages that SearXNG needs cannot be installed.",
        reason=NativeFailure.INSTALL_FAILED,
        advice="The last lines say why; `--engine container` needs none of them.",
        log=log,
    )


def python_too_old(version: Sequence[int]) -> NativeError:
    """The error for an interpreter that SearXNG does not run on."""
    return NativeError(
        f"Python {'.'.join(map(str, version))} is too old for this version of SearXNG.",
        reason=NativeFailure.PYTHON_TOO_OLD,
        advice="Run searx-mcp with a newer Python, or use --engine container.",
    )


def disk_full() -> NativeError:
    """The error for a disk without room."""
    return NativeError(
        "The disk is full.",
        reason=NativeFailure.DISK_FULL,
        advice="Make room for 150 MB, or name a folder on another disk in storage.folder.",
    )
