"""Environment variables that are not named like settings, JSON in the values of those that are, and files of them.

No message made here shows a value: it may contain a password.
"""

import io
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, Final

import pydantic_core

from searx_mcp.http.config import ENV, NONE
from searx_mcp.http.proxy import DIRECT

ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "ENRIPROXY_URL": ("remote", "url"),
    "ENRIPROXY_API_KEY": ("remote", "key"),
    "ENRIWEB_TIMEOUT_MS": ("remote", "timeout"),
    "SEARX_MCP_REMOTE_URL": ("remote", "url"),
    "SEARX_MCP_REMOTE_KEY": ("remote", "key"),
    "SEARX_MCP_REDIS_URL": ("redis", "url"),
    "SEARX_MCP_POSTGRES_URL": ("postgres", "url"),
    "SEARX_MCP_NAMESPACE": ("storage", "namespace"),
    "ENRIWEB_WEB_FETCH_DEFAULT_MAX_CHARS": ("web_fetch", "default_max_chars"),
    "EMBEDDING_SERVER_URL": ("embedding", "url"),
    "EMBEDDING_SERVER_API_KEY": ("embedding", "key"),
    "EMBEDDING_MODEL_NAME": ("embedding", "model"),
    "SIMILARITY_THRESHOLD": ("embedding", "threshold"),
    "EMBEDDING_TOKENS_SIZE": ("corpus", "chunk_tokens"),
    "CONCURRENCY": ("corpus", "concurrency"),
    "GOOGLE_API_KEY": ("providers", "google", "key"),
    "GOOGLE_SEARCH_ENGINE_ID": ("providers", "google", "search_engine_id"),
    "GOOGLE_SAFE_SEARCH": ("providers", "google", "safe_search"),
    "BRAVE_API_KEY": ("providers", "brave", "key"),
    "DATA_DIR": ("storage", "folder"),
    "REQUEST_TIMEOUT_MS": ("web_fetch", "default_timeout"),
    "MCP_RESPONSE_TOKEN_BUDGET": ("server", "response_token_budget"),
    "MCP_TOOL_TIMEOUT": ("server", "tool_timeout"),
    "MCP_TRANSPORT": ("server", "transport"),
    "MCP_HOST": ("http", "host"),
    "MCP_PORT": ("http", "port"),
    "MCP_AUTH_TOKEN": ("http", "token"),
}
"""Other names of `SEARX_MCP_<TABLE>__<KEY>`, which has priority."""
_MILLISECONDS: Final = "_MS"
_COUNT = re.compile(r"[0-9]{1,9}")


def alias_leaves(
    environ: Mapping[str, str], place: Callable[[str], str]
) -> Iterator[tuple[tuple[str, ...], object, str]]:
    """Yield the settings with other names: the keys of each, its text, its origin.

    Args:
        environ: the variables.
        place: returns the origin of a variable.
    """
    for variable, names in ALIASES.items():
        if text := environ.get(variable, "").strip():
            if variable.endswith(_MILLISECONDS):
                # A text that is not a number of milliseconds must not be parsed as seconds.
                text = f"{int(text) / 1_000:g}" if _COUNT.fullmatch(text) else f"{text} ms"
            yield names, text, place(variable)


PROXY: Final = "network.proxy"
HTTP_PROXY: Final = "network.http_proxy"
NO_PROXY: Final = "network.no_proxy"

UNSHOWN_PROXIES: Final = frozenset({"network", PROXY, HTTP_PROXY})
"""Settings whose invalid values are not shown: a proxy may contain a password."""


def take_proxies(
    table: MutableMapping[str, Any],
    origins: MutableMapping[str, str],
    environ: Mapping[str, str],
    place: Callable[[str], str],
) -> None:
    """Replace `env` in the `[network]` table by the proxies of the environment.

    `HTTPS_PROXY` is for https and `HTTP_PROXY` for http, `ALL_PROXY` for those without one; lower-case names
    have priority. Entries of `NO_PROXY` are added to those of the table.

    Args:
        table: the `[network]` table from the other sources; changed.
        origins: of each setting; changed.
        environ: the environment.
        place: returns the origin of a variable.
    """
    if table.get("proxy") != ENV:
        return
    asked = origins[PROXY]
    https, https_origin = _first(environ, place, "https_proxy", "all_proxy")
    # A server that runs us as a CGI script would let its clients set HTTP_PROXY with the header "Proxy":
    # https://httpoxy.org.
    http_names = ("all_proxy",) if "REQUEST_METHOD" in environ else ("http_proxy", "all_proxy")
    http, http_origin = _first(environ, place, *http_names)
    table["proxy"], origins[PROXY] = https, https_origin or asked
    if not table.get("http_proxy") and http != https:
        table["http_proxy"], origins[HTTP_PROXY] = http or NONE, http_origin or asked
    direct, direct_origin = _first(environ, place, "no_proxy")
    known = table.get("no_proxy", DIRECT)
    if direct and isinstance(known, list | tuple):
        table["no_proxy"] = [*known, *re.findall(r"[^\s,]+", direct)]
        origins[NO_PROXY] = direct_origin


def _first(environ: Mapping[str, str], place: Callable[[str], str], *names: str) -> tuple[str, str]:
    """Return the first variable that is set, and its origin; lower case has priority over upper case."""
    for name in names:
        for spelling in (name, name.upper()):
            if value := environ.get(spelling, "").strip():
                return value, place(spelling)
    return "", ""


def decoded(text: str) -> object:
    """Parse a text that looks like JSON; if it is not, validation judges it unchanged."""
    if text.lstrip().startswith(("[", "{")):
        with suppress(ValueError):
            return pydantic_core.from_json(text)  # unlike json, it limits the depth
    return text


def parse_file(text: str) -> Iterator[tuple[str, str, int]]:
    """Parse a file of variables such as `.env`; `$` in a value is literal.

    Args:
        text: of the file, with a line `NAME=value` for each variable.

    Yields:
        The name, value and line of each variable; the last of the same name counts, even if it is empty.

    Raises:
        ValueError: a line is something else; the message does not show it, as it may be a secret.
    """
    from dotenv.parser import parse_stream  # noqa: PLC0415 - few starts need it

    for binding in parse_stream(io.StringIO(text)):
        written, line = binding.original
        line += written[: len(written) - len(written.lstrip())].count("\n")  # blank lines
        if binding.error:
            raise ValueError(f"line {line} is not NAME=value")
        if binding.key:
            yield binding.key, binding.value or "", line
