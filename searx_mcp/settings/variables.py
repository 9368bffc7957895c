"""Reads the environment variables that are named after settings, with pydantic-settings.

A separate module, because that library takes as long to load as everything else that reads settings; it is
skipped if no such variable is set.
"""

import io
from collections.abc import Iterator, Mapping
from typing import Any

from dotenv.parser import parse_stream
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource
from typing_extensions import override

from searx_mcp.settings.environment import decoded
from searx_mcp.settings.values import Settings


class _Shape(Settings, BaseSettings, case_sensitive=True):  # type: ignore[misc] # - pydantic merges the two configs
    """The tables and keys to look for; never instantiated."""


class _Environment(EnvSettingsSource):
    """The variables of a given environment instead of this process's."""

    def __init__(self, environ: Mapping[str, str], prefix: str) -> None:
        self._environ = {name.lower(): value for name, value in environ.items() if value}
        super().__init__(_Shape, env_prefix=prefix.lower(), env_nested_delimiter="__")

    @override
    def _load_env_vars(self) -> Mapping[str, str | None]:
        return self._environ

    @override
    def decode_complex_value(self, field_name: str, field: FieldInfo, value: str) -> object:
        return decoded(value)


def read_variables(environ: Mapping[str, str], *, prefix: str) -> dict[str, Any]:
    """Return the values by table and key.

    Args:
        environ: the environment variables; an empty one counts as not set.
        prefix: of the names of the variables.
    """
    return _Environment(environ, prefix)()


def parse_file(text: str) -> Iterator[tuple[str, str, int]]:
    """Parse a file of variables such as `.env`; `$` in a value is literal.

    Args:
        text: of the file, with a line `NAME=value` for each variable.

    Yields:
        The name, value and line of each variable; the last of the same name counts, even if it is empty.

    Raises:
        ValueError: a line is something else; the message does not show it, as it may be a secret.
    """
    for binding in parse_stream(io.StringIO(text)):
        written, line = binding.original
        line += written[: len(written) - len(written.lstrip())].count("\n")  # blank lines
        if binding.error:
            raise ValueError(f"line {line} is not NAME=value")
        if binding.key:
            yield binding.key, binding.value or "", line
