"""The command line of a process and its environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import searx_mcp
from searx_mcp.workers.process import command, environment


def test_the_interpreter_is_our_own():
    assert command("a.b", "1", "2") == [sys.executable, "-P", "-X", "utf8", "-m", "a.b", "1", "2"]


@pytest.mark.parametrize(("name", "value"), [("executable", ""), ("frozen", True)])
def test_a_program_that_is_no_interpreter_is_not_started_again(monkeypatch, name, value):
    monkeypatch.setattr(sys, name, value, raising=False)
    with pytest.raises(FileNotFoundError):
        command("a.b")


def test_nothing_passes_but_what_an_interpreter_needs():
    found = environment({"PATH": "/bin", "TOKEN": "secret", "PYTHONSTARTUP": "x", "HOME": "/root"})
    assert found.keys() == {"PATH", "PYTHONPATH"}


def test_imports_are_found_where_ours_are_but_never_in_the_current_folder(monkeypatch):
    package = str(Path(searx_mcp.__file__).resolve().parents[1])
    folder = str(Path("/a/folder").absolute())
    monkeypatch.setattr(sys, "path", ["", ".", "relative", folder, f"/odd{os.pathsep}name"])
    assert environment({})["PYTHONPATH"].split(os.pathsep) == [folder, package]


HIDDEN = """
import sys
for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
import searx_mcp.workers.pool, searx_mcp.workers.threads
from searx_mcp.workers.child import limit, watched
limit(1 << 28)
with watched(20):
    pass
"""


@pytest.mark.slow
def test_nothing_needs_a_module_that_windows_lacks():
    subprocess.run([sys.executable, "-c", HIDDEN], check=True, timeout=60)
