"""The tokens file: read, checked, and reloaded when it changes.

It holds SHA-256 hashes. A token has 32 random bytes and cannot be guessed from its hash, so a slow hash would cost
every request time and add nothing.
"""

import asyncio
import hashlib
import hmac
import os
import re
import secrets
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from searx_mcp.errors import SettingsError
from searx_mcp.files import open_regular
from searx_mcp.models.base import Frozen
from searx_mcp.models.spelling import did_you_mean
from searx_mcp.server.events import note_tokens, note_tokens_unread
from searx_mcp.server.identity import Identity
from searx_mcp.settings.tools import Tool

SETTING: Final = "http.tokens_file"
_PREFIX: Final = "smcp_"
"""Lets secret scanners and people recognise a token."""
_RANDOM_BYTES: Final = 32
_MIN_LENGTH: Final = 43
"""Characters of 32 bytes in URL-safe base64; a shorter token might be guessed from its hash."""
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,31}")
"""Shorter than any token, so that a token in the wrong place is never shown as a name."""
_NAME_RULE: Final = "a name has 1 to 32 lower-case letters, digits, dots, - and _"
_MOST_BYTES: Final = 262_144
_MOST_TOKENS: Final = 1_000
_MOST_NAMESPACES: Final = 100
"""Each one used holds a thread and an open corpus file."""
_CHECK_INTERVAL: Final = 1.0
"""Seconds between two checks of the file."""
_CHECK_TIMEOUT: Final = 1.0
"""Seconds that a request waits for a check, so that a hanging file system does not stop the server."""
_ADVICE: Final = "Make one with: searx-mcp token NAME >> FILE"
_UNREADABLE: Final = "the file cannot be read: {}"
_LINE: Final = re.compile(r"line [0-9]{1,7}")


class _Entry(Frozen):
    """A table `[tokens.NAME]`."""

    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    tools: tuple[Tool, ...] | None = None
    per_minute: Annotated[int, Field(ge=1, le=100_000, strict=True)] | None = None
    per_day: Annotated[int, Field(ge=1, le=10_000_000, strict=True)] | None = None
    namespace: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] = ""
    metrics: Annotated[bool, Field(strict=True)] = False


@dataclass(frozen=True, slots=True)
class KnownToken:
    """A valid token.

    Attributes:
        digest: SHA-256 of the token.
        identity: identity of its holder.
    """

    digest: bytes = field(repr=False)
    identity: Identity


def new_token(name: str) -> tuple[str, str]:
    """Make a token.

    Args:
        name: name of the token in the file.

    Returns:
        The token, which is stored nowhere, and the lines for the file.

    Raises:
        ValueError: the name is invalid.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(_NAME_RULE)
    token = _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    key = f'"{name}"' if "." in name else name
    return token, f'[tokens.{key}]\nsha256 = "{_digest(token.encode()).hex()}"\n'


def find(tokens: tuple[KnownToken, ...], token: bytes) -> Identity | None:
    """Return the identity of a token; takes as long for a wrong token as for a valid one."""
    digest, found = _digest(token), None
    for known in tokens:
        if hmac.compare_digest(known.digest, digest):
            found = known.identity
    return found if len(token) >= _MIN_LENGTH else None


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


class TokensFile:
    """The tokens in a file, reloaded when it changes.

    If the file becomes unusable, the last good content stays in force and the log tells the reason. A missing or
    empty file counts as unusable, because it may be so for a moment while an editor saves it. A token whose table
    was deleted is refused.

    Args:
        path: path of the file; a symbolic link is followed.

    Raises:
        SettingsError: the file is unusable at the start.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._mark, self.tokens = _read(path)
        except _UnusableError as exc:
            raise SettingsError(SETTING, f"{path}: {exc}", advice=exc.advice or _ADVICE) from None
        if not self.tokens:
            raise SettingsError(SETTING, f"{path}: the file holds no token", advice=_ADVICE)
        note_tokens(len(self.tokens))
        self._next_check = 0.0
        self._check: asyncio.Future[None] | None = None
        self._is_settled = False
        self._problem = ""

    async def current(self) -> tuple[KnownToken, ...]:
        """Return the tokens in the file, at most a second old."""
        loop = asyncio.get_running_loop()
        is_checking = self._check is not None and not self._check.done()
        if loop.time() >= self._next_check and not is_checking:
            self._next_check = loop.time() + _CHECK_INTERVAL
            self._check = loop.run_in_executor(None, self._reload)
            await asyncio.wait({self._check}, timeout=_CHECK_TIMEOUT)
        return self.tokens

    def _reload(self) -> None:
        """Read the file if it has changed, and once more at the next check: coarse file times may hide a change."""
        try:
            is_same = _mark_of(self._path.stat()) == self._mark
            if is_same and self._is_settled and not self._problem:
                return
            mark, tokens = _read(self._path)
        except (OSError, _UnusableError) as exc:
            reason = (
                str(exc) if isinstance(exc, _UnusableError) else _UNREADABLE.format(exc.strerror)
            )
            if reason != self._problem:
                note_tokens_unread(reason, len(self.tokens))
            self._problem = reason
            return
        self._mark, self._is_settled = mark, mark == self._mark
        if tokens != self.tokens or self._problem:
            note_tokens(len(tokens))
        self.tokens, self._problem = tokens, ""


class _UnusableError(Exception):
    """The file is unusable; the reason never quotes a hash or a token."""

    def __init__(self, reason: str, advice: str = "") -> None:
        super().__init__(reason)
        self.advice = advice


def _mark_of(status: os.stat_result) -> tuple[int, ...]:
    """Return a value that differs once the file was changed or replaced."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _read(path: Path) -> tuple[tuple[int, ...], tuple[KnownToken, ...]]:
    """Read the mark and the tokens of a file.

    Raises:
        _UnusableError: the file cannot be read or is invalid.
    """
    try:
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            _check_owner(status)
            content = file.read(_MOST_BYTES + 1)
    except OSError as exc:
        raise _UnusableError(_UNREADABLE.format(exc.strerror)) from exc
    if len(content) > _MOST_BYTES:
        raise _UnusableError(f"the file is longer than {_MOST_BYTES:,} bytes")
    return _mark_of(status), _parse(content)


def _check_owner(status: os.stat_result) -> None:
    """Refuse a file that lets other users add tokens; they may read it, as hashes are not secret.

    Raises:
        _UnusableError: another user owns it or may write to it.
    """
    if os.name == "nt":
        return
    if status.st_uid not in {0, os.geteuid()}:
        raise _UnusableError("the file belongs to another user", "It must be yours or root's.")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _UnusableError("other users may write to the file", "Run: chmod go-w FILE")


def _parse(content: bytes) -> tuple[KnownToken, ...]:
    """Parse the content of a file.

    Raises:
        _UnusableError: the content is invalid.
    """
    if not content:
        raise _UnusableError("the file is empty")
    try:
        tables = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as exc:
        raise _UnusableError("the file is not UTF-8 text") from exc
    except (ValueError, RecursionError) as exc:
        # Only the line number: the library's message may quote a token.
        found = _LINE.search(str(exc))
        raise _UnusableError(f"the file is not TOML{f' ({found[0]})' if found else ''}") from exc
    entries = tables.pop("tokens", None)
    if tables or not isinstance(entries, dict):
        raise _UnusableError("the file must hold tables [tokens.NAME] and nothing else")
    if len(entries) > _MOST_TOKENS:
        raise _UnusableError(f"the file has more than {_MOST_TOKENS:,} tokens")
    tokens = tuple(_parse_entry(number, *item) for number, item in enumerate(entries.items(), 1))
    if len({known.digest for known in tokens}) < len(tokens):
        raise _UnusableError("two names have the same sha256")
    if len({known.identity.namespace for known in tokens}) > _MOST_NAMESPACES:
        raise _UnusableError(f"the file has more than {_MOST_NAMESPACES} namespaces")
    return tokens


def _parse_entry(number: int, name: str, table: object) -> KnownToken:
    if not _NAME.fullmatch(name):
        raise _UnusableError(f"the name of table {number} cannot be used: {_NAME_RULE}")
    try:
        entry = _Entry.model_validate(table)
    except ValidationError as exc:
        raise _UnusableError(f"tokens.{name}{_problem_of(exc)}") from exc
    tools = None if entry.tools is None else frozenset(entry.tools)
    identity = Identity(
        name, tools, entry.per_minute, entry.per_day, entry.namespace, entry.metrics
    )
    return KnownToken(bytes.fromhex(entry.sha256), identity)


def _problem_of(error: ValidationError) -> str:
    """Describe the first error in an entry, without quoting its value."""
    details = error.errors(include_input=False, include_url=False)[0]
    if not details["loc"]:
        return " is not a table"
    key = str(details["loc"][0])
    if details["type"] == "extra_forbidden":
        return f" has an unknown key{did_you_mean(key, _EXPECTED)}; known: {', '.join(_EXPECTED)}"
    return f".{key} must be {_EXPECTED[key]}"


_EXPECTED: Final[Mapping[str, str]] = {
    "sha256": "64 lower-case hexadecimal digits, as searx-mcp token NAME prints them",
    "tools": f"a list of {', '.join(Tool)}",
    "per_minute": "a whole number from 1 to 100,000",
    "per_day": "a whole number from 1 to 10,000,000",
    "namespace": "1 to 64 letters, digits, dots, - and _",
    "metrics": "true or false",
}
