"""How the packages of an own instance are installed, and what is said when they are not."""

import asyncio
import re
import sys

import pytest

from searx_mcp.http.config import NetworkConfig
from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.packages import CONSTRAINTS, Installation, failure, variables
from searx_mcp.ops.own.programs import Finished
from searx_mcp.ops.own.source import PINNED


@pytest.mark.parametrize(
    ("said", "reason", "words"),
    [
        ("OSError: [Errno 28] No space left on device", NativeFailure.DISK_FULL, "150 MB"),
        ("error: No space left on device (os error 28)", NativeFailure.DISK_FULL, "150 MB"),
        ("ensurepip is not available", NativeFailure.NO_VENV, "python3.12-venv"),
        ("/usr/bin/python3: No module named venv", NativeFailure.NO_VENV, "uv"),
        ("/x/bin/python: No module named pip", NativeFailure.NO_VENV, "uv"),
        ("ERROR: Package 'x' requires a different Python", NativeFailure.PYTHON_TOO_OLD, "newer"),
        ("ConnectTimeoutError: connection to x timed out", NativeFailure.NO_NETWORK, "proxy"),
        ("Temporary failure in name resolution", NativeFailure.NO_NETWORK, "network"),
        ("dns error: failed to lookup address", NativeFailure.NO_NETWORK, "index"),
        ("SSLError(SSLCertVerificationError)", NativeFailure.NO_NETWORK, "proxy"),
        (
            "ERROR: No matching distribution found for lxml",
            NativeFailure.INSTALL_FAILED,
            "in a container",
        ),
        ("", NativeFailure.INSTALL_FAILED, "in a container"),
    ],
)
def test_what_an_installer_says_has_its_remedy(said, reason, words):
    error = failure(Finished(1, "", said), version=(3, 12))
    assert error.reason is reason
    assert words in error.advice


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("GET https://me:p@ss@index.example/simple/x", ["GET https://…@index.example/simple/x"]),
        ("Looking in https://token@index.example", ["Looking in https://…@index.example"]),
        ("no such file: https://index.example/a@1", ["no such file: https://index.example/a@1"]),
        ("a\n\n\x1b[31mERROR: b", ["a", "ERROR: b"]),
    ],
    ids=["password", "token", "version", "control characters"],
)
def test_of_what_an_installer_says_neither_secrets_nor_control_characters_are_shown(said, shown):
    assert [*failure(Finished(1, "", said), version=(3, 12)).log] == shown


def test_the_proxy_and_the_authorities_of_the_settings_reach_the_installer():
    network = NetworkConfig.model_validate(
        {"proxy": "http://me:p%40ss@proxy.example:3128", "ca_file": "/ca.pem"}
    )
    found = variables({"PATH": "/bin"}, network)
    assert found == {
        "PATH": "/bin",
        "HTTPS_PROXY": "http://me:p%40ss@proxy.example:3128",
        "https_proxy": "http://me:p%40ss@proxy.example:3128",
        "PIP_CERT": "/ca.pem",
        "SSL_CERT_FILE": "/ca.pem",
    }


def test_what_the_user_has_set_for_installers_holds_and_what_leads_elsewhere_does_not():
    kept = {"HTTPS_PROXY": "http://theirs:1", "PIP_INDEX_URL": "https://index.example"}
    stray = {"PYTHONPATH": "/x", "PIP_TARGET": "/x", "PIP_USER": "1", "VIRTUAL_ENV": "/x"}
    network = NetworkConfig.model_validate({"proxy": "http://ours:2"})
    assert variables(kept | stray, network) == kept


@pytest.fixture
def install(stand_in, tmp_path):
    """Install what a file of requirements says into a new environment."""

    async def install(
        requirement, *, constraints=None, progress=lambda _: None, python=sys.executable, **environ
    ):
        requirements = tmp_path / "requirements.txt"
        requirements.write_text(f"{requirement}\n")
        installation = Installation(
            python=python,
            environ=variables({**stand_in.environ, **environ}, NetworkConfig()),
            deadline=asyncio.get_running_loop().time() + 250,
            progress=progress,
        )
        note = await installation.make(tmp_path / "environment", requirements, constraints)
        packages = (tmp_path / "environment").glob("lib/python*/site-packages/*.dist-info")
        return note, {path.name.removesuffix(".dist-info") for path in packages}

    return install


@pytest.mark.slow
@pytest.mark.parametrize(
    ("uv", "installer", "said"),
    [
        ("", "uv", ""),
        (
            "broken",
            "pip",
            "uv failed, so pip was used: error: unexpected argument '--only-binary' found",
        ),
    ],
    ids=["uv", "uv is of no use"],
)
async def test_uv_or_pip_installs_the_versions_that_constraints_choose(
    stand_in, install, tmp_path, uv, installer, said
):
    stand_in.install_uv()
    del stand_in.environ["UV_FIND_LINKS"]  # that of pip is enough
    stand_in.add_wheel("something-searxng-needs", "2.0")
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("# one\nsomething-searxng-needs==1.0 ; python_version > '3'\n")
    steps: list[str] = []
    note, found = await install(
        "something-searxng-needs", constraints=constraints, progress=steps.append, STAND_IN_UV=uv
    )
    assert note == said
    assert {"something_searxng_needs-1.0", "waitress-3.0.2"} <= found
    assert f"installing with {installer}" in steps


@pytest.mark.parametrize(
    ("has_uv", "said"),
    [
        (False, ""),
        (True, "uv was not used: it cannot be told what pip's configuration says of pre."),
    ],
)
async def test_that_pip_is_used_is_said_only_if_there_is_uv(
    stand_in, install, tmp_path, has_uv, said
):
    """Its environments are empty here, and nothing is installed in them."""
    if has_uv:
        stand_in.install_uv()
    del stand_in.environ["UV_FIND_LINKS"]
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\ntest "$2" = pip || { mkdir -p "$3/bin"; cp "$0" "$3/bin"; }\n')
    python.chmod(0o755)
    steps: list[str] = []
    note, _ = await install("x", progress=steps.append, python=str(python), PIP_PRE="1")
    assert note == said
    assert steps == ["creating an environment", "installing with pip"]


@pytest.mark.slow
async def test_progress_does_not_tell_who_may_use_an_index(stand_in, install, monkeypatch):
    stand_in.install_uv()
    steps: list[str] = []
    with pytest.raises(OwnInstanceError) as caught:
        await install("x", progress=steps.append, STAND_IN_UV="offline")
    said = "\n".join([*steps, *caught.value.log])
    assert "https://…@index.example" in said
    assert "secret" not in said


def test_the_pinned_commit_has_its_constraints():
    first, *lines = CONSTRAINTS.read_text().splitlines()
    assert first == f"# SearXNG {PINNED}, by scripts/pin_searxng.py"
    assert "waitress==3" in "".join(line[:11] for line in lines if line.startswith("waitress"))
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9a-z.]+( ; [^:/@]+)?", line) for line in lines)
