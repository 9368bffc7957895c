"""`searx-mcp selfcheck`."""

import json

from searx_mcp.cli.selfcheck import _print
from searx_mcp.ops.selfcheck import KindCount, SelfCheck, Verdict, WrongVector

WRONG = WrongVector(
    id="x-1",
    kind="x",
    url="http://127.0.0.1/\u202e",
    why="loopback",
    expected=Verdict.REFUSED,
    came_to="allowed",
)


async def test_all_is_right_here(run_cli):
    ran = await run_cli("selfcheck")
    assert ran.code == 0, ran.out
    assert ran.out.splitlines()[0].split() == ["kind", "refused", "allowed", "wrong"]
    assert "judged right." in ran.out


async def test_json_has_the_counts_of_each_kind(run_cli):
    ran = await run_cli("selfcheck", "--json")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert found["passed"] is True
    assert found["vectors"] == sum(kind["refused"] + kind["allowed"] for kind in found["kinds"])
    assert found["wrong"] == []


async def test_no_configuration_is_read(run_cli, tmp_path):
    broken = tmp_path / "broken.toml"
    broken.write_text("no toml at all [")
    ran = await run_cli("--config", str(broken), "selfcheck")
    assert ran.code == 0


def test_what_is_wrong_is_shown_with_nothing_a_terminal_would_obey(capsys):
    counts = KindCount(kind="x", refused=1, allowed=0, wrong=1)
    _print(SelfCheck(passed=False, vectors=1, kinds=(counts,), wrong=(WRONG,), error_texts=2))
    shown = capsys.readouterr().out
    assert r"x-1: 'http://127.0.0.1/\u202e'" in shown
    assert "must be refused, came to allowed" in shown
    assert "Errors for forbidden addresses differ" in shown
    assert "1 of 1 addresses were judged wrong." in shown
