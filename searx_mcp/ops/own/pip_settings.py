"""What the user has told pip, as far as uv, which does not read it, can be told the same."""

import errno
import os
import re
from collections.abc import Iterator, Mapping
from configparser import Error as ConfigError
from configparser import RawConfigParser
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from searx_mcp.files import read_text

_SYSTEM: Final = (
    "/etc/xdg/pip/pip.conf", "/etc/pip.conf", "/Library/Application Support/pip/pip.conf",
)  # fmt: skip
_MAX_FILE: Final = 262_144
_SECTIONS: Final = ("global", "install")
"""Those that `pip install` reads, the stronger one last."""
_YES: Final = frozenset({"1", "y", "yes", "t", "true", "on"})
_ITS_OWN: Final = ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX", "UV_FIND_LINKS", "UV_CONFIG")
"""Variables by which the user has told uv itself where packages are."""

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
"""Variables of uv by option of pip; not its arguments, which every user of this machine can read."""

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
"""Options that change nothing where wheels alone are installed into a new environment."""

_CREDENTIALS: Final = re.compile(r"(?<=//)[^/\s]+(?=@)")


@dataclass(frozen=True, slots=True)
class ForUv:
    """What uv is to be told.

    Attributes:
        variables: of its environment.
        arguments: of `uv pip install`.
        untold: options of pip for which uv has no equal, or a file of pip that cannot be read.
    """

    variables: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()


def for_uv(environ: Mapping[str, str]) -> ForUv:
    """Translate pip's files and variables for uv; nothing if the user has told uv itself.

    Args:
        environ: the user's variables; those that uv reads hold.
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
        # As pip does it; by itself, uv takes all versions of a package from the first index with one.
        variables["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    known = {name.casefold() for name in environ}
    unknown = {name: value for name, value in variables.items() if name.casefold() not in known}
    return ForUv(unknown, tuple(arguments), tuple(untold))


def without_credentials(text: str) -> str:
    """Mask who may use an index or a proxy, in a line of an installer that is about to be shown."""
    return _CREDENTIALS.sub("…", text)


def _options(environ: Mapping[str, str]) -> dict[str, str]:
    """The options of `pip install`, by name, as pip itself reads them."""
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
    """Where pip looks for its configuration, the strongest last."""
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
