"""No module needs a system that has POSIX as soon as it is imported."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "searx_mcp"
MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
NAMES = {
    "os": {"chown", "fork", "geteuid", "getpgid", "getuid", "killpg", "mkfifo", "setsid", "uname"},
    "signal": {"SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "alarm"},
    "socket": {"AF_UNIX"},
}


def at_import(nodes: list[ast.stmt]) -> Iterator[ast.AST]:
    """What runs when a module is imported: bodies of functions, and what is tried or asked about first, do not."""
    for node in nodes:
        match node:
            case ast.Try() | ast.If():
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for each in (*node.decorator_list, node.args):
                    yield from ast.walk(each)
            case ast.ClassDef():
                yield from at_import(node.body)
            case _:
                yield from ast.walk(node)


def posix_names(source: str) -> set[str]:
    found = set()
    for node in at_import(ast.parse(source).body):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names} & MODULES
            case ast.ImportFrom(module=module, names=names) if module:
                known = NAMES.get(module, set())
                found |= ({module} & MODULES) | ({alias.name for alias in names} & known)
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                found |= {name} & NAMES.get(module, set())
            case _:
                pass
    return found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import fcntl", {"fcntl"}),
        ("from os import fork", {"fork"}),
        ("import signal\nSTOP = {signal.SIGKILL}", {"SIGKILL"}),
        ("import os\nclass A:\n    user = os.getuid()", {"getuid"}),
        ("import os\ndef f(user=os.getuid()): ...", {"getuid"}),
        ("try:\n    import resource\nexcept ImportError:\n    resource = None", set()),
        ("def f():\n    import fcntl", set()),
        ("import os, signal\nA = os.environ, signal.SIGTERM", set()),
    ],
)
def test_the_search_finds_what_runs_at_import(source, found):
    assert posix_names(source) == found


def test_no_module_needs_posix_to_be_imported():
    found = {
        str(path.relative_to(PACKAGE)): names
        for path in sorted(PACKAGE.rglob("*.py"))
        if (names := posix_names(path.read_text("utf-8")))
    }
    assert found == {}
