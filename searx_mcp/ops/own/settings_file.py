"""The settings file of SearXNG as a process of this machine."""

import json
import re
from collections.abc import Iterable
from typing import Final

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
"""Engines that want no key, by category. Left out: those that ask the network when they start and
stay away when it is down (wikidata, radio browser), and those that SearXNG gives 9 s and more because they need it (ahmia, gentoo, wttr.in)."""

_SWITCHED_OFF: Final = (
    "bing", "mojeek", "npm", "crates.io", "hackernews", "openalex", "crossref", "openmeteo",
)  # fmt: skip
"""Those of them that SearXNG ships switched off."""
_TIMEOUTS: Final = {"crossref": 6.0}
"""Seconds, where SearXNG ships more than any search of ours waits: 30."""
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
    """Write the settings.

    Args:
        secret: 64 lower-case hexadecimal digits.
        proxy: through which engines are asked; empty for none.

    Raises:
        ValueError: `secret` is something else.
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
    """The engines that a settings file written by `native_settings` keeps; none of another shape."""
    found = _KEPT.search(text)
    return tuple(match["name"] for match in _NAME.finditer(found["names"])) if found else ()


def missing_engines(text: str, listed: Iterable[str]) -> tuple[str, ...]:
    """The engines that a settings file keeps and an instance does not list: SearXNG ignores them."""
    known = {*listed}
    return tuple(name for name in kept_engines(text) if name not in known)


def without_secrets(text: str) -> str:
    """Mask what looks like a secret of ours, in a log that is about to be shown."""
    return _SECRET.sub("…", text)
