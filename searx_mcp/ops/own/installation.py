"""The files of an own instance: settings, versions and environments; generates SearXNG's settings."""

import asyncio
import contextlib
import json
import re
import secrets
import shutil
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from searx_mcp.files import make_private_file, make_private_folder, read_text
from searx_mcp.models.own_instance import Installed, NativeFailure
from searx_mcp.ops.own.failures import OwnInstanceError, disk_full, written

VERSIONS: Final = "versions"
"""Folder with a subfolder for each version."""
ROOM: Final = 157_286_400
"""Bytes that must be free: a version takes 106 million, and pip more while it installs."""
_MAX_RECORD: Final = 16_384
_MAX_SETTINGS: Final = 1_048_576
_POLL: Final = 0.1
"""Seconds between two checks whether another process of ours has finished."""


class NativeFolder:
    """The files of an instance: its settings, its versions, and which of them is in use.

    They are accessible to the user only.

    Args:
        path: of the folder; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.settings = self.path / "settings.yml"
        self.run = self.path / "run"
        self._versions = self.path / VERSIONS
        self._current = self.path / "current.json"
        # Beside the folder, as `remove` deletes the folder while others wait for the lock.
        self._lock = self.path.with_suffix(".lock")

    @property
    def recorded(self) -> Installed | None:
        """Return the version that was installed last, or `None`."""
        try:
            return Installed.model_validate_json(read_text(self._current, _MAX_RECORD))
        except (OSError, ValidationError):
            return None

    @property
    def installed(self) -> Installed | None:
        """Return the version that can be started, or `None`."""
        found = self.recorded
        # Updating or removing a Python interpreter breaks its environments.
        is_whole = found is not None and python_of(self.environment(found.folder)).exists()
        return found if is_whole else None

    def source(self, version: str) -> Path:
        """Return the source folder of a version, by the version's folder name."""
        return self._versions / version / "source"

    def environment(self, version: str) -> Path:
        """Return the environment folder of a version, by the version's folder name."""
        return self._versions / version / "environment"

    def trial(self, version: str) -> Path:
        """Return the folder of the process that tries a version, by the version's folder name."""
        return self._versions / version / "trial"

    def prepare(self, proxy: str) -> None:
        """Create the folder, and the settings unless they exist.

        Args:
            proxy: for the engines; empty for none.

        Raises:
            OwnInstanceError: `not_writable` or `disk_full`.
        """
        with written(self.path):
            for folder in (self.path.parent, self.path, self._versions, self.run):
                make_private_folder(folder)
            self.path.chmod(0o700)
            if not self.settings.exists():
                make_private_file(self.settings)
                text = native_settings(secrets.token_hex(32), proxy=proxy)
                self.settings.write_text(text, encoding="utf-8")

    def settings_text(self) -> str:
        """Return the current settings; empty if they cannot be read."""
        with contextlib.suppress(OSError):
            return read_text(self.settings, _MAX_SETTINGS)
        return ""

    def make_version(self) -> str:
        """Create the folder of a version, and return its name.

        Raises:
            OwnInstanceError: `not_writable`, or `disk_full`, which is checked first: the messages of
                installers that run out of room are long.
        """
        name = secrets.token_hex(6)
        with written(self.path):
            if shutil.disk_usage(self._versions).free < ROOM:
                raise disk_full()
            make_private_folder(self.trial(name))
        return name

    def switch(self, installed: Installed) -> None:
        """Set the version in use."""
        with written(self.path):
            draft = self._current.with_suffix(".new")
            draft.write_text(installed.model_dump_json(), encoding="utf-8")
            draft.replace(self._current)

    def remove_version(self, name: str) -> None:
        """Delete a version and its files."""
        shutil.rmtree(self._versions / name, ignore_errors=True)

    def tidy(self) -> None:
        """Delete versions that are not in use, left by an interrupted update or `up`."""
        installed = self.installed
        with contextlib.suppress(OSError):
            for folder in self._versions.iterdir():
                if installed is None or folder.name != installed.folder:
                    self.remove_version(folder.name)

    def forget_current(self) -> None:
        """Set no version in use, so that no search starts it."""
        self._current.unlink(missing_ok=True)

    def remove(self, *, keep_settings: bool) -> None:
        """Delete everything, optionally except the settings; does nothing if there is nothing."""
        if not keep_settings:
            shutil.rmtree(self.path, ignore_errors=True)
            return
        for folder in (self._versions, self.run):
            shutil.rmtree(folder, ignore_errors=True)
        self.forget_current()

    @asynccontextmanager
    async def changed(self, deadline: float) -> AsyncIterator[None]:
        """Lock out other processes of ours for the duration of a change.

        Args:
            deadline: loop time by which the lock must be acquired.

        Raises:
            OwnInstanceError: `busy`, or `not_writable`.
        """
        import fcntl  # noqa: PLC0415 - POSIX alone, as SearXNG is

        with written(self.path):
            make_private_folder(self.path.parent)
            lock = self._lock.open("ab")
        with lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError as exc:
                    if asyncio.get_running_loop().time() >= deadline:
                        raise _busy() from exc
                await asyncio.sleep(_POLL)
            yield


def python_of(environment: Path) -> Path:
    """Return the interpreter of an environment."""
    return environment / "bin" / "python"


def _busy() -> OwnInstanceError:
    return OwnInstanceError(
        "Another process is installing or updating the instance.",
        reason=NativeFailure.BUSY,
        advice="Wait for it, then try again.",
    )


_SECRET = re.compile(r"[0-9a-f]{64}")

ENGINES: Final = {
    "general": "duckduckgo, brave, startpage, google cse, bing, mojeek, wikipedia, currency",
    "images": "bing images, duckduckgo images, startpage images, google cse images, brave.images,"
    " openverse, unsplash, wikicommons.images",
    "videos": "youtube, bing videos, duckduckgo videos, brave.videos, dailymotion, vimeo,"
    " wikicommons.videos",
    "news": "bing news, duckduckgo news, brave.news, startpage news, google news, reuters, wikinews",
    "map": "openstreetmap, photon",
    "music": "bandcamp, genius, mixcloud, soundcloud, wikicommons.audio",
    "it": "github, stackoverflow, askubuntu, superuser, mdn, arch linux wiki, docker hub, pypi, npm,"
    " crates.io, hackernews",
    "science": "arxiv, pubmed, semantic scholar, google scholar, openalex, crossref",
    "files": "kickass, piratebay, solidtorrents, bt4g, wikicommons.files",
    "others": "openmeteo",
}
"""Engines without a key, by category. Left out: engines that use the network when they start and stay
unavailable if it is down (wikidata, radio browser), and engines to which SearXNG gives 9 s or more because
they need it (ahmia, gentoo, wttr.in)."""

_SWITCHED_OFF: Final = (
    "bing", "mojeek", "npm", "crates.io", "hackernews", "openalex", "crossref", "openmeteo",
)  # fmt: skip
"""Those of them that SearXNG disables by default."""
_TIMEOUTS: Final = {"crossref": 6.0}
"""Seconds, where SearXNG's default is longer than any search of ours waits: 30."""
_NAME: Final = re.compile(r"^\s*-\s+(?P<name>[^#\n]+?)\s*$", re.MULTILINE)
_KEPT: Final = re.compile(r"^    keep_only:\n(?P<names>(?:      -[^\n]*\n)+)", re.MULTILINE)

_NATIVE: Final = """\
# SearXNG for searx-mcp, on this machine only. Edit it as you like, then run
# `searx-mcp instances own up` to restart it.
# Everything else has SearXNG's default: https://docs.searxng.org/admin/settings/
use_default_settings:
  engines:
    keep_only:
{kept}
engines:
{changed}
search:
  # Programs read json; without html SearXNG's own pages do not work.
  formats: [html, json]
  autocomplete: ""
  favicon_resolver: ""
  default_lang: en
  # A timeout is no reason to leave an engine out of the searches that follow.
  ban_time_on_fail: 0
  max_ban_time_on_fail: 0
  # Seconds; SearXNG's own are made for public instances, up to 15 days.
  suspended_times:
    SearxEngineAccessDenied: 180
    SearxEngineCaptcha: 900
    SearxEngineTooManyRequests: 120
    cf_SearxEngineCaptcha: 3600
    cf_SearxEngineAccessDenied: 900
    recaptcha_SearxEngineCaptcha: 3600

server:
  # Private: signs what SearXNG hands to browsers.
  secret_key: "{secret}"
  bind_address: "127.0.0.1"
  # The limiter keeps programs out; only this machine has access.
  limiter: false
  public_instance: false
  image_proxy: false
  method: "GET"

ui:
  default_locale: en

outgoing:
  request_timeout: 4.0
  max_request_timeout: 12.0
  pool_connections: 100
  pool_maxsize: 20
  keepalive_expiry: 30.0
  enable_http2: true
  retries: 0
{proxies}
# Some fetch lists when SearXNG starts, and keep it waiting without a network.
plugins: {{}}
"""


def native_settings(secret: str, *, proxy: str = "") -> str:
    """Generate the settings.

    Args:
        secret: 64 lower-case hexadecimal digits.
        proxy: for the engines; empty for none.

    Raises:
        ValueError: `secret` has another form.
    """
    if not _SECRET.fullmatch(secret):
        raise ValueError("a secret has 64 lower-case hexadecimal digits")
    names = [name.strip() for listed in ENGINES.values() for name in listed.split(",")]
    changed = []
    for name in names:
        rows = ["    disabled: false"] if name in _SWITCHED_OFF else []
        rows += [f"    timeout: {_TIMEOUTS[name]}"] if name in _TIMEOUTS else []
        changed += [f"  - name: {name}", *rows] if rows else []
    return _NATIVE.format(
        kept="\n".join(f"      - {name}" for name in names),
        changed="\n".join(changed),
        secret=secret,
        proxies=f"  proxies:\n    all://: [{json.dumps(proxy)}]\n" if proxy else "",
    )


def kept_engines(text: str) -> tuple[str, ...]:
    """Return the engines in a settings file from `native_settings`; empty for a file of another form."""
    found = _KEPT.search(text)
    return tuple(match["name"] for match in _NAME.finditer(found["names"])) if found else ()


def missing_engines(text: str, listed: Iterable[str]) -> tuple[str, ...]:
    """Return the engines in a settings file that an instance does not list: SearXNG ignores them."""
    known = {*listed}
    return tuple(name for name in kept_engines(text) if name not in known)


def without_secrets(text: str) -> str:
    """Mask what looks like a secret of ours, in a log that will be shown."""
    return _SECRET.sub("…", text)
