"""A real SearXNG-like server for tests: Debian's searx over a loopback engine of ours.

A test that takes the fixture `searx` is marked `slow` by itself.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

import pytest

UPSTREAM = Path(__file__).with_name("upstream.py")
PACKAGE = Path("/usr/share/python3-searx")
CATEGORIES = ("general", "images", "videos", "news", "map", "music", "it", "science", "files")
LOOKS = 300
LOOK_INTERVAL = 0.1
STOP_TIMEOUT = 5.0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts the server, before `-m` chooses."""
    for item in items:
        if "searx" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@dataclass(frozen=True)
class Searx:
    """A running server.

    Attributes:
        url: its base URL, ending in `/`; it answers `/search` in every format, and has no limiter.
    """

    url: str
    _upstream_url: str

    def point_to(self, site: str) -> None:
        """Let row `n` of a category have the address `<site>/<category>/<n>` from now on."""
        request = Request(f"{self._upstream_url}site", data=site.encode(), method="PUT")  # noqa: S310 - a server of ours
        with _direct().open(request, timeout=60):
            pass


@pytest.fixture(scope="session")
def searx(
    tmp_path_factory: pytest.TempPathFactory, unused_port: Callable[[], int]
) -> Iterator[Searx]:
    """Start the server once for all tests; its logs stay in the session's temporary folder."""
    program = shutil.which("searx-run")
    if program is None:
        pytest.skip(
            "searx-run is missing; on Debian 12: apt-get install --no-install-recommends searx"
        )
    folder = tmp_path_factory.mktemp("searx")
    upstream_port, port = unused_port(), unused_port()
    upstream_url, url = f"http://127.0.0.1:{upstream_port}/", f"http://127.0.0.1:{port}/"
    settings = folder / "settings.yml"
    settings.write_text(json.dumps(_settings(port, upstream_url)), encoding="utf-8")
    # A bare environment: a proxy named in ours would get in between.
    environment = {"PATH": os.defpath, "SEARX_SETTINGS_PATH": str(settings)}
    with ExitStack() as stack:
        upstream = [sys.executable, str(UPSTREAM), str(upstream_port)]
        stack.enter_context(_running(upstream, {}, folder / "upstream.log", upstream_url))
        stack.enter_context(_running([program], environment, folder / "searx.log", f"{url}healthz"))
        yield Searx(url, upstream_url)


@contextmanager
def _running(
    command: list[str], environment: dict[str, str], log: Path, health: str
) -> Iterator[None]:
    """Run a server from its first healthy answer to the end of the block."""
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        ) as process,
    ):
        try:
            _wait_until_healthy(process, log, health)
            yield
        finally:
            process.terminate()
            try:
                process.wait(STOP_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_until_healthy(process: subprocess.Popen[bytes], log: Path, health: str) -> None:
    """Look up to 300 times, a tenth of a second apart; waiting for the process is the pause."""
    for _ in range(LOOKS):
        try:
            with _direct().open(health, timeout=1):
                return
        except OSError:
            pass
        try:
            code = process.wait(LOOK_INTERVAL)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(f"the server ended with code {code}:\n{_tail(log)}")
    pytest.fail(f"the server does not answer {health}:\n{_tail(log)}")


def _direct() -> OpenerDirector:
    """Give an opener that asks no proxy, whatever the environment names."""
    return build_opener(ProxyHandler({}))


def _tail(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-4_000:]


def _settings(port: int, upstream_url: str) -> dict[str, Any]:
    """Give a full settings file; JSON is YAML. The package ships no defaults to build upon."""
    return {
        "general": {
            "debug": False,
            "instance_name": "searx of the tests",
            "contact_url": False,
            "enable_stats": True,
        },
        "brand": dict.fromkeys(
            ("git_url", "issue_url", "docs_url", "public_instances", "wiki_url", "twitter_url"),
            "http://127.0.0.1/",
        )
        | {"git_branch": "master"},
        "search": {
            "safe_search": 0,
            "autocomplete": "",
            "default_lang": "",
            "ban_time_on_fail": 0,
            "max_ban_time_on_fail": 0,
            "prefer_configured_language": False,
        },
        "server": {
            "port": port,
            "bind_address": "127.0.0.1",
            "secret_key": "of no use outside the tests",
            "base_url": False,
            "image_proxy": False,
            "http_protocol_version": "1.1",
            "method": "POST",
            "default_http_headers": {"X-Content-Type-Options": "nosniff"},
        },
        "ui": {
            "autofocus": False,
            "archive_today": False,
            "static_path": str(PACKAGE / "static"),
            "templates_path": str(PACKAGE / "templates"),
            "default_theme": "simple",
            "default_locale": "",
            "theme_args": {"oscar_style": "logicodev"},
        },
        "outgoing": {
            "request_timeout": 30.0,
            "useragent_suffix": "",
            "pool_connections": 20,
            "pool_maxsize": 10,
        },
        "checker": {"off_when_debug": True, "additional_tests": {}, "tests": {}},
        "engines": [
            {
                "name": f"loopback {category}",
                "engine": "searx_engine",
                "shortcut": category,
                "enable_http": True,
                "paging": True,
                "categories": category,
                "instance_urls": [f"{upstream_url}search"],
            }
            for category in CATEGORIES
        ],
        "locales": {"en": "English"},
        "doi_resolvers": {"oadoi.org": "https://oadoi.org/"},
        "default_doi_resolver": "oadoi.org",
    }
