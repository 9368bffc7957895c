"""The only code that reads the environment and the configuration file.

The fronts use `load`. It takes each setting from the first of

1. the arguments of the front,
2. the environment: `SEARX_MCP_<TABLE>__<KEY>`, then `SEARXNG_URL` for the own instances (and
   `HTTPS_PROXY` and the like where `network.proxy` is `env`),
3. the TOML file,
4. the defaults,

and records its origin. An error in any of them raises `SettingsError` with the name of the setting, the
origin, the value and the allowed values.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias, get_origin

import platformdirs
from pydantic import (
    BaseModel,
    BeforeValidator,
    ValidationError,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from searx_mcp.errors import MOST_PROBLEMS, SettingsError
from searx_mcp.files import read_text
from searx_mcp.models.base import WANTED
from searx_mcp.models.spelling import near, shown
from searx_mcp.settings.environment import (
    ALIASES,
    UNSHOWN_PROXIES,
    alias_leaves,
    decoded,
    parse_file,
    take_proxies,
)
from searx_mcp.settings.instances import (
    CREDENTIALS,
    OWN,
    OWN_VARIABLE,
    UNSHOWN,
    without_credentials,
    wrong_entry,
)
from searx_mcp.settings.values import DROP_STRANGERS, Settings

PREFIX: Final = "SEARX_MCP_"
FILE_VARIABLE: Final = "SEARX_MCP_CONFIG"
ENV_FILE_VARIABLE: Final = "SEARX_MCP_ENV_FILE"
_OF_TESTS: Final = ("SEARX_MCP_CAPTURES", "SEARX_MCP_LIVE_CONTACT", "SEARX_MCP_NODE")
OTHER_VARIABLES: Final = (
    FILE_VARIABLE,
    ENV_FILE_VARIABLE,
    "SEARX_MCP_LOG_LEVEL",
    *ALIASES,
    *_OF_TESTS,
)
DEFAULT: Final = "default"
_MAX_FILE: Final = 1_000_000
"""Maximum bytes of the file; the example that names every setting has 10,000."""


class Loaded(NamedTuple):
    """The settings and the origin of each, by dotted name.

    An origin is `default`, `file <path>` with the line of a variable, `environment <variable>`, an option such
    as `--transport`, or `argument <name>`.
    """

    settings: Settings
    origins: Mapping[str, str]


class SettingRow(NamedTuple):
    """One setting for display: `allowed` and `description` are for a person."""

    key: str
    value: object
    origin: str
    description: str
    default: object
    allowed: str


def load(
    *,
    path: Path | None = None,
    environ: Mapping[str, str],
    overrides: Mapping[str, object] | None = None,
    env_file: Path | None = None,
    options: Mapping[str, str] | None = None,
) -> Loaded:
    """Read the settings of a front.

    Args:
        path: the TOML file; by default, the one in `SEARX_MCP_CONFIG`, else the one in the user's
            configuration folder, if it exists.
        environ: the environment variables; an empty one counts as not set.
        overrides: values by dotted name, such as `search.cache_ttl`; `None` counts as not given.
        env_file: a file of variables such as `.env`; the environment has priority. By default, the one in
            `SEARX_MCP_ENV_FILE`; there is no default path.
        options: of the command line for overrides, by dotted name.

    Returns:
        The settings, and the origin of each.

    Raises:
        SettingsError: a value is wrong; its message tells of the others, too.
    """
    environ, lines = with_file(environ, env_file)

    def place(variable: str) -> str:
        return lines.get(variable, f"environment {shown(variable)[1:-1]}")

    _check_variables(environ, place)
    # A missing table would build its model twice: by itself, and as part of all settings.
    values: dict[str, Any] = {name: {} for name in _TABLES if "." not in name}
    origins = dict.fromkeys(_FIELDS, DEFAULT)
    strengths = dict.fromkeys(_FIELDS, 0)
    strongest_last = (
        _file_leaves(path, environ, place),
        _own_leaves(environ.get(OWN_VARIABLE, ""), place(OWN_VARIABLE)),
        alias_leaves(environ, place),
        _environment_leaves(environ, place),
        _argument_leaves(overrides or {}, options or {}),
    )
    for strength, leaves in enumerate(strongest_last, start=1):
        for names, value, origin in leaves:
            key = ".".join(names)
            _assign(values, names, _prepared(names, value, origin))
            origins[key], strengths[key] = origin, strength
    # A source that names other own instances than the file need not know the file's credentials.
    context = {DROP_STRANGERS: strengths[OWN] > strengths[CREDENTIALS]}
    take_proxies(values.get("network", {}), origins, environ, place)
    try:
        return Loaded(Settings.model_validate(values, context=context), origins)
    except ValidationError as error:
        wrong = [_settings_error(details, origins) for details in error.errors()]
        found = {each.field: each.message for each in reversed(wrong)}
        first, *_ = wrong
        first.message = "; ".join([*reversed(found.values())][:MOST_PROBLEMS])
        raise first from error


def effective(settings: Settings, origins: Mapping[str, str]) -> list[SettingRow]:
    """List every setting with its value and origin, tables in the order of the documentation."""
    values, defaults = settings.model_dump(mode="json"), Settings().model_dump(mode="json")
    rows = []
    for key, field in _FIELDS.items():
        value, default = (reduce(getitem, key.split("."), dump) for dump in (values, defaults))
        origin, description = origins.get(key, DEFAULT), field.description or ""
        rows.append(SettingRow(key, value, origin, description, default, _allowed(key)))
    for name, arguments in settings.profiles.items():
        for argument in arguments:
            key = f"profiles.{name}.{argument}"
            origin, description = origins.get(key, DEFAULT), f"Argument of the profile {name}."
            rows.append(SettingRow(key, arguments[argument], origin, description, None, ""))
    return rows


def _tables_of(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the tables of a model and those inside them, by dotted name."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield f"{prefix}{name}", field.annotation
            yield from _tables_of(field.annotation, f"{prefix}{name}.")


_TABLES: Final[Mapping[str, type[BaseModel]]] = dict(_tables_of(Settings))
_FIELDS: Final[Mapping[str, FieldInfo]] = {
    "profile": Settings.model_fields["profile"],
    **{
        f"{table}.{key}": field
        for table, model in _TABLES.items()
        for key, field in model.model_fields.items()
        if f"{table}.{key}" not in _TABLES
    },
}
_SECRETS: Final = frozenset(
    key for key, field in _FIELDS.items() if "SecretStr" in str(field.annotation)
)
SECRETS: Final = _SECRETS | {
    table for table in _TABLES if any(key.startswith(f"{table}.") for key in _SECRETS)
}
"""Settings whose invalid values are not shown, and their tables, which may be given whole."""
_PROFILES: Final = "profiles"
_PROFILE_DEPTH: Final = 3
"""Keys of an argument of a profile."""

_Path: TypeAlias = tuple[str, ...]
_Leaf: TypeAlias = tuple[_Path, object, str]
"""The keys of a value, the value and its origin."""


def settings_file(path: Path | None, environ: Mapping[str, str]) -> tuple[Path, str]:
    """Return the path of the file, even if there is none, and the option or variable with it; empty by default."""
    if path is not None:
        return path, "--config"
    if named := environ.get(FILE_VARIABLE):
        return Path(named).expanduser(), FILE_VARIABLE
    return platformdirs.user_config_path("searx-mcp", appauthor=False) / "searx-mcp.toml", ""


def _file_leaves(
    path: Path | None, environ: Mapping[str, str], place: Callable[[str], str]
) -> Iterator[_Leaf]:
    path, named_by = settings_file(path, environ)
    origin = place(named_by) if named_by == FILE_VARIABLE else named_by
    try:
        if path.is_file():
            tables = tomllib.loads(read_text(path, _MAX_FILE))
            yield from _leaves(tables, lambda _: f"file {path}")
        elif origin:
            raise SettingsError("config", f"{path} is not a file", origin=origin)
    except (OSError, ValueError, RecursionError) as error:
        message = f"{path} cannot be read as TOML: {_reason(error)}"
        raise SettingsError("config", message, origin=origin) from error


def with_file(
    environ: Mapping[str, str], path: Path | None
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Add the variables of a file such as `.env` to the environment, which has priority.

    Args:
        environ: the environment variables.
        path: of the file; by default, the one in `SEARX_MCP_ENV_FILE`, if any.

    Returns:
        All variables, and the origin of each that is from the file.

    Raises:
        SettingsError: the file cannot be read.
    """
    named_by = environ.get(ENV_FILE_VARIABLE, "")
    if path is None and not named_by:
        return environ, {}
    origin = "--env-file" if path else f"environment {ENV_FILE_VARIABLE}"
    path = path or Path(named_by).expanduser()
    try:
        found = list(parse_file(read_text(path, _MAX_FILE)))
    except (OSError, ValueError) as error:
        message = f"{path} cannot be read: {_reason(error)}"
        raise SettingsError("env-file", message, origin=origin) from error
    named = {name.upper() for name, value in environ.items() if value}
    values = {name: value for name, value, _ in found if name.upper() not in named}
    lines = {name: f"file {path}, line {line}" for name, _, line in found if values.get(name)}
    return {**environ, **{name: values[name] for name in lines}}, lines


def _reason(error: Exception) -> object:
    """Return why a file cannot be read."""
    if isinstance(error, RecursionError):
        return "its lists or tables are nested too deeply"
    return getattr(error, "strerror", None) or error


def _own_leaves(text: str, origin: str) -> Iterator[_Leaf]:
    try:
        own, credentials = without_credentials(_listed(text))
    except ValueError as error:
        raise SettingsError(OWN, str(error), origin=origin) from error
    if own:
        yield ("instances", "own"), own, origin
    if credentials:
        yield ("instances", "credentials"), credentials, origin


def _environment_leaves(environ: Mapping[str, str], place: Callable[[str], str]) -> Iterator[_Leaf]:
    named = {name.upper(): name for name, value in environ.items() if value}
    paths = {
        tuple(upper.removeprefix(PREFIX).lower().split("__")): name
        for upper, name in named.items()
        if upper.startswith(PREFIX) and upper not in OTHER_VARIABLES
    }
    for path in sorted(paths, key=len):  # a key has priority over the JSON of its table
        field, text = _FIELDS.get(".".join(path)), environ[paths[path]]
        is_text = field is not None and get_origin(field.annotation) not in {dict, tuple}

        def origin(_: _Path, name: str = paths[path]) -> str:
            return place(name)

        yield from _leaves(_nested(path, text if is_text else decoded(text)), origin)


def _argument_leaves(
    overrides: Mapping[str, object], options: Mapping[str, str]
) -> Iterator[_Leaf]:
    def origin(path: _Path) -> str:
        return options.get(key := ".".join(path), f"argument {key}")

    for name, value in overrides.items():
        if value is not None:
            yield from _leaves(_nested(name.split("."), value), origin)


def _nested(path: Sequence[str], value: object) -> object:
    return reduce(lambda inner, part: {part: inner}, reversed(path), value)


def _leaves(value: object, origin: Callable[[_Path], str], path: _Path = ()) -> Iterator[_Leaf]:
    in_profiles = path[:1] == (_PROFILES,)
    is_table = not path or ".".join(path) in _TABLES or (in_profiles and len(path) < _PROFILE_DEPTH)
    # A profile without arguments is still a profile.
    if not is_table or (value == {} and in_profiles):
        yield path, value, origin(path)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, origin, (*path, str(key)))
    else:
        key = ".".join(path)
        raise SettingsError(key, f"{_shown(key, value)} is not a table", origin=origin(path))


def _assign(values: dict[str, Any], path: _Path, value: object) -> None:
    for table in path[:-1]:
        values = values.setdefault(table, {})
    # A profile without arguments does not empty the same one of a weaker source.
    values[path[-1]] = values.get(path[-1], {}) if value == {} else value


def _prepared(path: _Path, value: object, origin: str) -> object:
    """Parse a text as the list it represents, and refuse `true` where pydantic would see a 1."""
    field = _FIELDS.get(key := ".".join(path))
    if field is None:
        return value
    if isinstance(value, str) and get_origin(field.annotation) is tuple:
        return decoded(value) if value.lstrip().startswith("[") else _listed(value)
    if isinstance(value, bool) and field.annotation is not bool:
        raise SettingsError(key, f"{shown(value)} is not {_allowed(key)}", origin=origin)
    return value


def _listed(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"[;,]", text) if part.strip()]


_NEAR: Final = 0.75
"""Least similarity of a setting to the one that was meant: many names share their table."""


def _check_variables(environ: Mapping[str, str], place: Callable[[str], str]) -> None:
    """Refuse unknown variables with our prefix: most are misspelt."""
    keys = (*_FIELDS, *_TABLES, _PROFILES)
    known = {*OTHER_VARIABLES, *(f"{PREFIX}{key.replace('.', '__').upper()}" for key in keys)}
    for name in environ:
        upper = name.upper()
        if not upper.startswith(PREFIX) or upper.startswith(f"{PREFIX}PROFILES__"):
            continue
        if upper not in known:
            field = upper.removeprefix(PREFIX).lower().replace("__", ".")
            named = {each.removeprefix(PREFIX): each for each in known.difference(_OF_TESTS)}
            meant = near(upper.removeprefix(PREFIX), named, least=_NEAR)
            message = f"is not a setting{f' (did you mean {named[meant]}?)' if meant else ''}"
            raise SettingsError(shown(field)[1:-1], message, origin=place(name))


def _settings_error(details: ErrorDetails, origins: Mapping[str, str]) -> SettingsError:
    context = details.get("ctx", {})
    location = [str(part) for part in details["loc"]]
    key = _named(location)
    if "key" in context:
        key, message = context["key"], context["reason"]
    elif key == CREDENTIALS and len(location) > CREDENTIALS.count(".") + 1:
        message = wrong_entry(details)
    elif details["type"] == "extra_forbidden":
        meant = near(key, (*_FIELDS, *_TABLES, _PROFILES), least=_NEAR)
        message = f"is not a setting{f' (did you mean {meant}?)' if meant else ''}"
        return SettingsError(shown(key)[1:-1], message, origin=origins.get(key, ""))
    elif key in _FIELDS:
        allowed = _allowed(key)
        if details["type"] in {"enum", "literal_error"}:  # of a value, which may be in a list
            allowed = allowed.replace("a list of", "one of")
        elif details["type"] == "string_pattern_mismatch":  # likewise
            rules, _ = _rules(key)
            allowed = rules.get("items", rules)[WANTED]
        message = f"{_shown(key, details['input'])} is not {allowed}"
    else:
        # A rule about several keys of one table; blame the last of them that was changed.
        message = str(context["error"])
        changed = [name for name in origins if origins[name] != DEFAULT and name.startswith(key)]
        key = [key, *(name for name in changed if name.rpartition(".")[2] in message)][-1]
    return SettingsError(key, message, origin=origins.get(key, ""))


def _named(location: Sequence[str]) -> str:
    """Return the name of the setting at a location, which may be inside its value."""
    if location[:1] == [_PROFILES]:
        return ".".join(location[:_PROFILE_DEPTH])
    prefixes = [".".join(location[:depth]) for depth in range(1, len(location) + 1)]
    return next((name for name in prefixes if name not in _TABLES), ".".join(location))


def _shown(key: str, value: object) -> str:
    # An address with an @ may contain a password, and a long one is cut.
    text = value if isinstance(value, str) else shown(value)
    is_unshown = key in UNSHOWN | UNSHOWN_PROXIES | SECRETS or "@" in text
    return "it" if is_unshown else shown(value)


def _allowed(key: str) -> str:
    """Describe for a person which values a setting may have."""
    if key.rpartition(".")[0] not in _TABLES:
        return "text"
    rules, definitions = _rules(key)
    if entry := definitions.get(_referred(rules.get("items", {}))):
        if "enum" in entry:
            return f"a list of {', '.join(entry['enum'])}"
        return f"a list of tables with {', '.join(entry['properties'])}"
    rules = rules | definitions.get(_referred(rules), {})
    is_size = any(isinstance(rule, BeforeValidator) for rule in _FIELDS[key].metadata)
    return _described(rules) + (", or a size such as 2MB" if is_size else "")


@cache
def _schema(table: str) -> Mapping[str, Any]:
    """Return the schema of a table, made once for all its settings."""
    return _TABLES[table].model_json_schema()


def _rules(key: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the schema of a setting, and the definitions that it may refer to."""
    table, _, name = key.rpartition(".")
    return _schema(table)["properties"][name], _schema(table).get("$defs", {})


def _referred(rules: Mapping[str, Any]) -> str:
    return str(rules.get("$ref", "")).rpartition("/")[2]


def _described(rules: Mapping[str, Any]) -> str:
    if "enum" in rules:
        return f"one of {', '.join(rules['enum'])}"
    if rules["type"] in {"integer", "number"}:
        # After our own validators, pydantic calls the bounds `ge` and `le`.
        bounds = [
            f" {word} {bound:,}"
            for word, name, mark in (("from", "minimum", "ge"), ("to", "maximum", "le"))
            if (bound := rules.get(name, rules.get(mark))) is not None
        ]
        return f"a {'whole ' * (rules['type'] == 'integer')}number{''.join(bounds)}"
    if "enum" in rules.get("items", {}):
        return f"a list of {', '.join(rules['items']['enum'])}"
    if items := [_described(item) for item in rules.get("prefixItems", ())]:
        return f"a list of {len(items)}, each {items[0]}"
    if WANTED in rules:
        return str(rules[WANTED])
    inner = "text" if rules.get("additionalProperties") == {"type": "string"} else "tables"
    others = {
        "boolean": "true or false",
        "array": "a list of text",
        "object": f"a table of {inner}",
    }
    return others.get(rules["type"], "text")
