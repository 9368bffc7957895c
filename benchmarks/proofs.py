"""How much of the tests goes through public names alone.

A test does if nothing that it, its fixtures and its helpers use is taken from a module below `searx_mcp` that is not
public, and if none of it reads a private attribute. Public are what a user meets: the names of the package, the arguments
of its client, its values, settings, errors and doubles, the command with its exit codes, and the server to which a client
speaks.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_PACKAGE: Final = "searx_mcp"
_PUBLIC: Final = (
    "cli.main",
    "cli.running.ExitCode",
    "client.facade",
    "errors",
    "evidence.requests",
    "evidence.values",
    "http.dialling",
    "models",
    "remote.client",
    "server.app",
    "server.http",
    "service",
    "settings",
    "testing",
)
"""Homes of public names, and the doors through which a command, a tool and a route are called."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Key = tuple[str, str]
"""A module of tests, and a name in it."""


@dataclass(slots=True)
class _Module:
    """A file of tests: what it defines at its top level, and what it takes from elsewhere.

    Attributes:
        defined: by name.
        taken: the module and the name from which a name comes.
        folders: modules of fixtures that apply, the nearest first.
    """

    defined: dict[str, ast.stmt] = field(default_factory=dict)
    taken: dict[str, tuple[str, str]] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)


def lines_of(folder: Path) -> tuple[int, int]:
    """Lines of the test functions below a folder with their tables, and those of them that reach past public names."""
    modules = {_name(folder, path): _read(folder, path) for path in sorted(folder.rglob("*.py"))}
    lines = past = 0
    uses: dict[_Key, set[_Key] | None] = {}
    clean: set[_Key] = set()
    for name, module in modules.items():
        for node in _tests(module):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            size = (node.end_lineno or node.lineno) - first + 1
            lines += size
            past += size * _is_past(_uses_of(node, name), modules, uses, clean)
    return lines, past


def _tests(module: _Module) -> Iterator[_Function]:
    for node in module.defined.values():
        within = node.body if isinstance(node, ast.ClassDef) else [node]
        for each in within:
            if isinstance(each, _Function) and each.name.startswith("test_"):
                yield each


def _is_past(
    first: set[_Key] | None,
    modules: Mapping[str, _Module],
    uses: dict[_Key, set[_Key] | None],
    clean: set[_Key],
) -> bool:
    """Whether anything that is used, or that this uses in turn, takes what is not public."""
    if first is None:
        return True
    seen: set[_Key] = set()
    left = [*first]
    while left:
        key = left.pop()
        if key in seen or key in clean:
            continue
        seen.add(key)
        if key not in uses:
            uses[key] = _uses(key, modules)
        if (found := uses[key]) is None:
            return True
        left += found
    clean |= seen
    return False


def _uses_of(node: ast.stmt, home: str) -> set[_Key] | None:
    """Return the names that stand here; `None` if it takes what is not public itself."""
    names = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and _is_private(each):
            return None
        if isinstance(each, ast.Name):
            names.add(each.id)
        elif isinstance(each, ast.arg):
            names.add(each.arg)
        elif (
            isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and each.value.isidentifier()
        ):
            names.add(each.value)  # usefixtures, and the name of a fixture in a table
        elif isinstance(each, ast.ImportFrom | ast.Import) and any(
            _is_hidden(*pair) for pair in _takes(each).values()
        ):
            return None
    return {(home, name) for name in names}


def _is_private(node: ast.Attribute) -> bool:
    name = node.attr
    own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
    return name.startswith("_") and not name.startswith("__") and not own


def _uses(key: _Key, modules: Mapping[str, _Module]) -> set[_Key] | None:
    home, name = key
    module = modules[home]
    if name in module.taken:
        source, original = module.taken[name]
        if source in modules:
            return {(source, original)}
        return None if _is_hidden(source, original) else set()
    if name in module.defined:
        return _uses_of(module.defined[name], home)
    for folder in module.folders:
        if folder != home and name in modules[folder].defined:
            return {(folder, name)}
    return set()


def _is_hidden(source: str, name: str) -> bool:
    """Whether a name of the package is none that a user meets."""
    if source == _PACKAGE:
        return name.startswith("_") and name != "__version__"
    inner = source.removeprefix(_PACKAGE + ".")
    if inner == source:
        return False
    places = (inner, f"{inner}.{name}")
    return name.startswith("_") or not any(
        place == public or place.startswith(public + ".") for public in _PUBLIC for place in places
    )


def _read(folder: Path, path: Path) -> _Module:
    module = _Module()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, _Function | ast.ClassDef):
            module.defined[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for each in ast.walk(target):
                    if isinstance(each, ast.Name):
                        module.defined[each.id] = node
        elif isinstance(node, ast.ImportFrom | ast.Import):
            module.taken |= _takes(node)
    at = path.parent
    while at != folder.parent:
        if (at / "conftest.py").exists():
            module.folders.append(_name(folder, at / "conftest.py"))
        at = at.parent
    return module


def _takes(node: ast.ImportFrom | ast.Import) -> dict[str, tuple[str, str]]:
    if isinstance(node, ast.ImportFrom):
        return {each.asname or each.name: (node.module or "", each.name) for each in node.names}
    return {(each.asname or each.name).partition(".")[0]: (each.name, "") for each in node.names}


def _name(folder: Path, path: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
