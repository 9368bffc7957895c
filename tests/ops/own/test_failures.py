"""What a person is told to do."""

from pathlib import Path

import pytest

from searx_mcp.models.own_instance import ContainerFailure
from searx_mcp.ops.own.failures import complaint, engine_down, exited, no_engine

DAEMON_DOWN = (
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon"
    " running?\n"
)
DENIED = (
    "permission denied while trying to connect to the Docker daemon socket at"
    " unix:///var/run/docker.sock\n"
)


@pytest.mark.parametrize(
    ("platform", "words"),
    [
        ("linux", "sudo apt install podman"),
        ("darwin", "mac-install"),
        ("win32", "windows-install"),
        ("freebsd14", "Install Docker or Podman, then run"),
    ],
)
def test_what_to_install_depends_on_the_system(platform, words):
    error = no_engine(None, platform=platform)
    assert error.reason is ContainerFailure.NO_ENGINE
    assert words in error.advice
    assert "SEARXNG_URL" in error.advice
    assert "docs/guides/own-instance.md" in error.advice


def test_an_engine_that_was_asked_for_is_named():
    assert no_engine("podman", platform="linux").message == "podman is not installed."


@pytest.mark.parametrize(
    ("name", "stderr", "platform", "reason", "advice"),
    [
        ("docker", DAEMON_DOWN, "linux", "engine_down", "Start it: sudo systemctl start docker"),
        ("docker", DAEMON_DOWN, "darwin", "engine_down", "Start Docker Desktop."),
        ("podman", "x", "darwin", "engine_down", "Start its machine: podman machine start"),
        ("podman", "", "linux", "engine_down", "Run `podman info` to see why."),
        ("docker", DENIED, "linux", "no_permission", "sudo usermod -aG docker $USER"),
        ("podman", DENIED, "linux", "no_permission", "Run `podman info` to see why."),
    ],
    ids=[
        *("docker on Linux", "docker on macOS", "podman on macOS", "podman on Linux"),
        *("docker denied", "podman denied"),
    ],
)
def test_an_engine_that_does_not_answer_has_its_one_fix(name, stderr, platform, reason, advice):
    error = engine_down(name, stderr, platform=platform)
    assert error.reason == reason
    assert advice in error.advice


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no reason given"),
        ("\n one \n two \n", "two"),
        (
            "Trying to pull x...\nError: initializing source: refused\n",
            "initializing source: refused",
        ),
        (
            "Error response from daemon: No such image: x\nError: failed to start\n",
            "No such image: x",
        ),
        (
            "docker: Error response from daemon: Conflict.\n\nRun 'docker run --help' for more\n",
            "Conflict.",
        ),
        ("Error: \x1b[31mred\x1b[0m\x07", "red"),
        (f"Error: {'x' * 1_000}", f"{'x' * 299}…"),
    ],
    ids=["nothing", "last line", "podman pull", "docker start", "docker run", "colour", "long"],
)
def test_the_line_that_says_what_is_wrong_is_found(text, words):
    assert complaint(text) == words


MISSING = "ModuleNotFoundError: No module named 'sniffio'"
YAML = (
    "searx.exceptions.SearxSettingsException: while parsing a block mapping",
    'in "/state/own-native/settings.yml", line 129, column 3',
)
FOREIGN = "ImportError: cannot import name 'Client' from 'httpx' (/site-packages/httpx/__init__.py)"


@pytest.mark.parametrize(
    ("log", "message", "advice"),
    [
        ((MISSING,), "module sniffio cannot", "with --version, or reinstall"),
        ((FOREIGN,), "module httpx cannot", "with --version, or reinstall"),
        (("ValueError: Invalid settings.yml",), "SearXNG exited.", "Correct /settings.yml"),
        (YAML, "SearXNG exited.", "Correct /settings.yml"),
        (
            ("server.secret_key is not changed.", "sys:1: ResourceWarning: unclosed"),
            "SearXNG exited.",
            "Correct /settings.yml",
        ),
        (("RuntimeError: no",), "SearXNG exited.", "say why. Choose another version, or reinstall"),
        ((), "SearXNG exited.", "say why. Choose another version, or reinstall"),
        ((*YAML, "Traceback", MISSING), "module sniffio cannot", "with --version"),
        ((MISSING, *YAML), "SearXNG exited.", "Correct /settings.yml"),
        ((MISSING, "RuntimeError: no"), "SearXNG exited.", "say why"),
    ],
    ids=[
        *("missing module", "other module", "settings", "yaml", "secret", "other", "no log"),
        *("settings mended", "module mended", "other at last"),
    ],
)
def test_the_advice_follows_the_last_cause_in_the_log(log, message, advice):
    error = exited(log, Path("/settings.yml"))
    assert message in error.message
    assert advice in error.advice
    assert error.log == log
