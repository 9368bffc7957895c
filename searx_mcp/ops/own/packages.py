"""Installs the packages of an own instance with uv or pip, from the user's configured index.

uv does not read pip's configuration: we pass on every option that uv supports.
"""

import asyncio
import errno
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from configparser import Error as ConfigError
from configparser import RawConfigParser
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from searx_mcp.content.clean import clean_line
from searx_mcp.files import read_text
from searx_mcp.http.config import NetworkConfig
from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.models.progress import Progress
from searx_mcp.ops.own.failures import OwnInstanceError, disk_full, python_too_old
from searx_mcp.ops.own.installation import python_of
from searx_mcp.ops.own.programs import Finished, run_program

_SYSTEM: Final = (
    "/etc/xdg/pip/pip.conf", "/etc/pip.conf", "/Library/Application Support/pip/pip.conf",
)  # fmt: skip
_MAX_FILE: Final = 262_144
_SECTIONS: Final = ("global", "install")
"""Sections that `pip install` reads, in order of increasing priority."""
_YES: Final = frozenset({"1", "y", "yes", "t", "true", "on"})
_ITS_OWN: Final = ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX", "UV_FIND_LINKS", "UV_CONFIG")
"""Variables with which the user has configured uv's package sources."""

_VARIABLES: Final = {
    "index-url": ("UV_INDEX_URL",),
    "extra-index-url": ("UV_EXTRA_INDEX_URL",),
    "find-links": ("UV_FIND_LINKS",),
    "trusted-host": ("UV_INSECURE_HOST",),
    "cert": ("SSL_CERT_FILE",),
    "client-cert": ("SSL_CLIENT_CERT",),
    "proxy": ("HTTPS_PROXY", "HTTP_PROXY"),
    "timeout": ("UV_HTTP_TIMEOUT",),
    "default-timeout": ("UV_HTTP_TIMEOUT",),
    "retries": ("UV_HTTP_RETRIES",),
}
"""Variables of uv by option of pip; not arguments, which every user of this machine can read."""

_NO_MATTER: Final = frozenset(
    {
        "break-system-packages", "cache-dir", "compile", "config-file", "disable-pip-version-check",
        "help", "log", "no-binary", "no-build-isolation", "no-cache-dir", "no-color", "no-compile",
        "no-input", "no-python-version-warning", "no-user", "no-warn-conflicts",
        "no-warn-script-location", "only-binary", "prefer-binary", "prefix", "progress-bar", "quiet",
        "require", "require-virtualenv", "requirement", "root", "root-user-action", "src", "target",
        "upgrade", "upgrade-strategy", "user", "verbose", "version",
    }
)  # fmt: skip
"""Options without effect when only wheels are installed into a new environment."""

_CREDENTIALS: Final = re.compile(r"(?<=//)[^/\s]+(?=@)")


@dataclass(frozen=True, slots=True)
class ForUv:
    """Configuration for uv.

    Attributes:
        variables: of its environment.
        arguments: of `uv pip install`.
        untold: options of pip that uv does not support, or a file of pip that cannot be read.
    """

    variables: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()


def for_uv(environ: Mapping[str, str]) -> ForUv:
    """Translate pip's files and variables for uv; empty if the user has configured uv itself.

    Args:
        environ: the user's variables; those of uv take precedence.
    """
    if any(name.startswith(_ITS_OWN) for name in environ):
        return ForUv({})
    try:
        options = _options(environ)
    except OSError as exc:
        return ForUv({}, untold=(str(exc.filename),))
    variables: dict[str, str] = {}
    arguments: list[str] = []
    untold: list[str] = []
    for name, value in options.items():
        if name == "no-index":
            arguments += ["--no-index"] * (value.casefold() in _YES)
        elif name == "constraint":
            arguments += [part for path in value.split() for part in ("--constraint", path)]
        elif name in _VARIABLES and not (name == "find-links" and "," in value):
            separator = "," if name == "find-links" else " "
            variables |= dict.fromkeys(_VARIABLES[name], separator.join(value.split()))
        elif name not in _NO_MATTER:
            untold.append(name)
    if "UV_EXTRA_INDEX_URL" in variables:
        # Like pip; by default, uv takes all versions of a package from the first index with one.
        variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    known = {name.casefold() for name in environ}
    unknown = {name: value for name, value in variables.items() if name.casefold() not in known}
    return ForUv(unknown, tuple(arguments), tuple(untold))


def without_credentials(text: str) -> str:
    """Mask credentials of an index or a proxy, in an installer's line that will be shown."""
    return _CREDENTIALS.sub("…", text)


def _options(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the options of `pip install` by name, with pip's precedence."""
    found: dict[str, dict[str, str]] = {section: {} for section in _SECTIONS}
    for path in _files(environ):
        try:
            text = read_text(path, _MAX_FILE)
        except FileNotFoundError:
            continue
        parser = RawConfigParser()
        try:
            parser.read_string(text)
        except ConfigError as exc:
            raise OSError(errno.EINVAL, "it is not a file of settings", str(path)) from exc
        for section in _SECTIONS:
            if parser.has_section(section):
                found[section] |= {_named(name): value for name, value in parser.items(section)}
    variables = {
        _named(name.removeprefix("PIP_")): value
        for name, value in environ.items()
        if name.startswith("PIP_")
    }
    merged: dict[str, str] = {}
    for options in (*found.values(), variables):
        merged |= {name: value for name, value in options.items() if value}
    return merged


def _named(name: str) -> str:
    return name.lower().replace("_", "-").removeprefix("--")


def _files(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the paths of pip's configuration, in order of increasing priority."""
    chosen = environ.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return
    yield from map(Path, _SYSTEM)
    if not chosen or not Path(chosen).exists():
        home = Path(environ.get("HOME") or Path.home())
        yield home / ".pip" / "pip.conf"
        yield Path(environ.get("XDG_CONFIG_HOME") or home / ".config", "pip", "pip.conf")
        yield home / "Library" / "Application Support" / "pip" / "pip.conf"
    if chosen:
        yield Path(chosen)


CONSTRAINTS: Final = Path(__file__).with_name("constraints.txt")
"""The versions of all packages tested with `PINNED`; `scripts/pin_searxng.py` writes it."""
SERVER: Final = "waitress>=3,<4"
"""The server: one process of 64 threads, which fails if its port is taken and ends at a signal."""
WHEELS: Final = ("--only-binary", ":all:")
"""Nothing is built: no compiler is needed, and no package code runs during the installation."""
_SHOWN: Final = 60
"""Characters of an installer's line that are shown as progress."""
_LONGEST: Final = 300
_TAIL: Final = 12
_STRAY: Final = ("PYTHON", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE")
"""Variables that would install packages elsewhere, or make an interpreter import other modules."""
_FULL: Final = ("no space left", os.strerror(errno.ENOSPC).casefold(), "disk quota exceeded")

_OFFLINE: Final = (
    "connection", "name resolution", "dns error", "network is unreachable", "timed out",
    "proxyerror", "certificate", "sslerror", "error sending request",
)  # fmt: skip

_NO_PIP: Final = ("ensurepip", "no module named venv", "no module named pip")


class Installation:
    """Creates the environment of an instance, with `uv` if it works, else with pip.

    Args:
        python: the interpreter to use.
        environ: environment variables of the installer.
        deadline: loop time by which it must be done.
        progress: called with each step.
    """

    def __init__(
        self, *, python: str, environ: Mapping[str, str], deadline: float, progress: Progress
    ) -> None:
        self._python = python
        self._environ = environ
        self._deadline = deadline
        self._progress = progress

    async def make(self, environment: Path, requirements: Path, constraints: Path | None) -> str:
        """Create an environment with the packages of a requirements file, and the server.

        Args:
            environment: the folder to create.
            requirements: names and versions of packages.
            constraints: versions of these and their dependencies; `None` for the newest.

        Returns:
            Why pip was used although uv is installed, a sentence; else empty.

        Raises:
            OwnInstanceError: `no_venv`, `no_network`, `disk_full`, `python_too_old` or `install_failed`.
        """
        wanted: tuple[str, ...] = (*WHEELS, "--requirement", str(requirements), SERVER)
        if constraints is not None:
            wanted += ("--constraint", str(constraints))
        uv = shutil.which("uv", path=self._environ.get("PATH"))
        told = await asyncio.to_thread(for_uv, self._environ)
        note = ""
        if uv is not None and told.untold:
            names = ", ".join(clean_line(name, _SHOWN) for name in told.untold)
            note = f"uv was not used: it cannot be told what pip's configuration says of {names}."
        elif uv is not None:
            try:
                await self._with_uv(uv, environment, wanted, told)
            except OwnInstanceError as error:
                if error.reason is not NativeFailure.INSTALL_FAILED:
                    raise
                # It may be old or broken; pip may still work, and otherwise explains what is wrong.
                note = (
                    f"uv failed, so pip was used: {error.log[-1] if error.log else error.message}"
                )
                await asyncio.to_thread(shutil.rmtree, environment, ignore_errors=True)
            else:
                return ""
        await self._run("creating an environment", self._python, "-m", "venv", environment)
        python = str(python_of(environment))
        pip = (python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check")
        await self._run("installing with pip", *pip, "--progress-bar", "off", *wanted)
        return note

    async def _with_uv(
        self, uv: str, environment: Path, wanted: tuple[str, ...], told: ForUv
    ) -> None:
        make = (uv, "venv", "--quiet", "--python", self._python, environment)
        install = (uv, "pip", "install", "--python", str(python_of(environment)), *told.arguments)
        await self._run("creating an environment", *make, more=told.variables)
        await self._run("installing with uv", *install, *wanted, more=told.variables)

    async def _run(
        self, step: str, *command: str | Path, more: Mapping[str, str] | None = None
    ) -> None:
        self._progress(step)
        left = max(0.0, self._deadline - asyncio.get_running_loop().time())
        try:
            done = await run_program(
                [str(part) for part in command],
                timeout=left,
                environment={**self._environ, **(more or {})},
                on_line=lambda line: self._progress(f"{step}: {_shown(line, _SHOWN)}"),
            )
        except TimeoutError as exc:
            raise OwnInstanceError(
                "The packages that SearXNG needs were not installed in time.",
                reason=NativeFailure.INSTALL_FAILED,
                advice="Allow more time with --timeout.",
            ) from exc
        except OSError as exc:
            raise OwnInstanceError(
                f"{command[0]} cannot be started: {exc.strerror}.",
                reason=NativeFailure.INSTALL_FAILED,
                advice="Reinstall Python.",
            ) from exc
        if done.code:
            raise failure(done, version=sys.version_info[:2])


def variables(environ: Mapping[str, str], network: NetworkConfig) -> dict[str, str]:
    """Return the installer's environment: the user's own, plus the proxy and CA file of the settings."""
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
    """Return the proxy of the settings with credentials, percent-encoded; empty if there is none."""
    proxy = network.proxy
    if proxy is None or proxy.username is None:
        return proxy.address if proxy else ""
    userinfo = f"{quote(proxy.username, safe='')}:{quote(proxy.password or '', safe='')}"
    return proxy.address.replace("//", f"//{userinfo}@", 1)


def failure(done: Finished, *, version: Sequence[int]) -> OwnInstanceError:
    """Return the error for an installer's output.

    Args:
        done: the failed installer.
        version: of the interpreter, for the name of a package.
    """
    text = f"{done.out}\n{done.err}"
    said = text.casefold()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    log = tuple(_shown(line, _LONGEST) for line in lines[-_TAIL:])
    if any(words in said for words in _FULL):
        return disk_full()
    if any(words in said for words in _NO_PIP):
        major, minor = version
        return OwnInstanceError(
            "This Python cannot create environments: its venv module or its pip is missing.",
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
        return OwnInstanceError(
            "The packages that SearXNG needs cannot be fetched.",
            reason=NativeFailure.NO_NETWORK,
            advice="Check the network, the proxy and the package index of this machine, then try again.",
            log=log,
        )
    return OwnInstanceError(
        "The packages that SearXNG needs cannot be installed.",
        reason=NativeFailure.INSTALL_FAILED,
        advice="The last lines say why; SearXNG in a container does not need these packages.",
        log=log,
    )


def _shown(line: str, longest: int) -> str:
    return clean_line(without_credentials(line), longest)
