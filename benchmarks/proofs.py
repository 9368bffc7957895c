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
    known: dict[tuple[str, str], bool] = {}
    for name, module in modules.items():
        for node in _tests(module):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            size = (node.end_lineno or node.lineno) - first + 1
            lines += size
            past += size * _is_past(node, name, modules, known)
    return lines, past


def _tests(module: _Module) -> Iterator[_Function]:
    for node in module.defined.values():
        within = node.body if isinstance(node, ast.ClassDef) else [node]
        for each in within:
            if isinstance(each, _Function) and each.name.startswith("test_"):
                yield each


def _is_past(
    node: ast.stmt, home: str, modules: Mapping[str, _Module], known: dict[tuple[str, str], bool]
) -> bool:
    """Whether what stands here, or anything that it uses, takes what is not public."""
    names = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and _is_private(each):
            return True
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
            return True
    return any(_reaches(name, home, modules, known) for name in names)


def _is_private(node: ast.Attribute) -> bool:
    name = node.attr
    own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
    return name.startswith("_") and not name.startswith("__") and not own


def _reaches(
    name: str, home: str, modules: Mapping[str, _Module], known: dict[tuple[str, str], bool]
) -> bool:
    key = (home, name)
    if key in known:
        return known[key]
    known[key] = False  # one that uses itself
    module = modules[home]
    if name in module.taken:
        source, original = module.taken[name]
        known[key] = (
            _reaches(original, source, modules, known)
            if source in modules
            else _is_hidden(source, original)
        )
    elif name in module.defined:
        known[key] = _is_past(module.defined[name], home, modules, known)
    else:
        for folder in module.folders:
            if folder != home and name in modules[folder].defined:
                known[key] = _reaches(name, folder, modules, known)
                break
    return known[key]


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
