"""The doctor and the self-check as a person meets them."""

import json
import locale
import os
import re
import signal
import sys

import pytest

from searx_mcp.cli.doctor import _print_proof
from searx_mcp.cli.running import ExitCode
from searx_mcp.ops.selfcheck import AddressVerdict, KindCount, SelfCheck, WrongVector
from searx_mcp.testing.searxng import FakeSearxng

JSON = ("html", "json")
YAML_JSON = ["search:", "  formats:", "    - html", "    - json"]


async def test_the_shape_of_json_stays(run_cli):
    async with FakeSearxng() as fake:
        ran = await run_cli("doctor", "--json", fake.url)
    data = json.loads(re.sub(r'"elapsed_ms": \d+', '"elapsed_ms": 0', ran.out))
    machine, instance = data.pop("examinations")
    assert data == {
        "healthy": False,
        "summary": f"1 of 12 checks failed; start with the json check of {fake.url}.",
    }
    assert (machine["subject"], machine["url"]) == ("this machine", "")
    assert (instance["subject"], instance["url"]) == (fake.url, fake.url)
    assert [check for check in instance["checks"] if check["status"] == "failed"] == [
        {
            "name": "json",
            "status": "failed",
            "detail": "JSON is off (status 403).",
            "fix": "\n".join(
                ["Turn on JSON in the instance's settings.yml and restart it.", *YAML_JSON]
            ),
            "elapsed_ms": 0,
        }
    ]


@pytest.mark.parametrize(
    "address",
    [
        "searx.example.org",
        "ftp://searx.example.org/",
        "https://searx.example.org/?q=x",
        "https://user@searx.example.org/",
        "https://user:pass@word@searx.example.org:port/",
    ],
    ids=["no scheme", "scheme", "query", "no password", "port"],
)
async def test_what_is_no_address_is_a_wrong_argument(run_cli, address):
    ran = await run_cli("doctor", address)
    assert ran.code == ExitCode.USAGE
    assert "pass@word" not in ran.err
    assert ran.err.startswith("searx-mcp: URL: ")


async def test_the_list_wraps_and_indents_its_fixes(run_cli):
    async with FakeSearxng() as fake:
        ran = await run_cli("doctor", fake.url)
    lines = ran.out.splitlines()
    assert ran.code == ExitCode.FAILED
    assert lines[0] == "this machine"
    assert "  ✓ proxy          None: connections are made directly." in lines
    begin = lines.index("  ✗ json           JSON is off (status 403).")
    assert lines[begin + 2 : begin + 6] == [f"      {line}" for line in YAML_JSON]
    # A path is never broken.
    assert max(len(line) for line in lines if "xdg_state_home" not in line) <= 80
    assert lines[-1] == f"1 of 12 checks failed; start with the json check of {fake.url}."
    assert "\x1b" not in ran.out


async def test_marks_are_ascii_where_nothing_else_can_be_shown(run_cli, monkeypatch):
    monkeypatch.setattr(locale, "getencoding", lambda: "ISO-8859-1")
    async with FakeSearxng() as fake:
        ran = await run_cli("doctor", fake.url)
    assert ran.out.isascii()
    assert "  + proxy " in ran.out
    assert "  x json " in ran.out


@pytest.mark.slow
async def test_interrupting_leaves_no_trace(start_program, tmp_path):
    config = tmp_path / "empty.toml"
    config.touch()
    async with FakeSearxng(hang=True) as fake:
        process = await start_program(
            *(sys.executable, "-m", "searx_mcp", "doctor", fake.url),
            env={**os.environ, "SEARX_MCP_CONFIG": str(config)},
        )
        await fake.wait_for_requests(1)
        process.send_signal(signal.SIGINT)
        out, errors = await process.communicate()
    assert process.returncode == ExitCode.INTERRUPTED
    assert (out, errors.strip()) == (b"", b"")


WRONG = WrongVector(
    id="x-1",
    kind="x",
    url="http://127.0.0.1/\u202e",
    why="loopback",
    expected=AddressVerdict.REFUSED,
    came_to="allowed",
)


async def test_all_is_right_here_whatever_the_configuration(run_cli, tmp_path):
    broken = tmp_path / "broken.toml"
    broken.write_text("no toml at all [")
    ran = await run_cli("--config", str(broken), "selfcheck")
    assert ran.code == 0, ran.out
    assert ran.out.splitlines()[0].split() == ["kind", "refused", "allowed", "wrong"]
    assert "cases passed." in ran.out


async def test_json_has_the_counts_of_each_kind(run_cli):
    found = json.loads((await run_cli("selfcheck", "--json")).out)
    assert found["passed"] is True
    assert found["vectors"] == sum(kind["refused"] + kind["allowed"] for kind in found["kinds"])
    assert found["wrong"] == []


def test_what_is_wrong_is_shown_with_nothing_a_terminal_would_obey(capsys):
    counts = KindCount(kind="x", refused=1, allowed=0, wrong=1)
    _print_proof(SelfCheck(passed=False, vectors=1, kinds=(counts,), wrong=(WRONG,), error_texts=2))
    shown = capsys.readouterr().out
    assert r"x-1: 'http://127.0.0.1/\u202e'" in shown
    assert "expected refused, got allowed" in shown
    assert "Error messages for forbidden addresses differ" in shown
    assert "1 of 1 cases failed." in shown
