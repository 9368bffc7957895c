"""Checks in order, each with its time."""

import asyncio

import pytest

from searx_mcp.ops.doctor.checks import (
    CheckName,
    CheckRunner,
    CheckStatus,
    Finding,
    broken,
    doubtful,
    fine,
    skipped,
)

OK, WARNING, FAILED, SKIPPED = CheckStatus


def runner(*, deadline: float = float("inf"), progress=None) -> CheckRunner:
    return CheckRunner("a.example", deadline=deadline, progress=progress)


def finding(found):
    async def examine():
        return found

    return examine


async def endless() -> Finding:
    await asyncio.Event().wait()
    return fine("Never.")


@pytest.mark.parametrize(
    ("found", "then"),
    [
        (fine("Yes."), OK),
        (doubtful("Well.", "Mend it."), OK),
        (broken("No.", "Mend it."), SKIPPED),
        (skipped("Not now."), SKIPPED),
    ],
    ids=["fine", "doubtful", "broken", "skipped"],
)
async def test_what_failed_or_was_skipped_skips_what_needs_it(found, then):
    checks = runner()
    await checks.take(CheckName.DNS, finding(found))
    await checks.take(CheckName.TCP, finding(fine("Yes.")), needs={CheckName.DNS})
    await checks.take(CheckName.PROXY, finding(fine("Yes.")))
    assert [check.status for check in checks.checks] == [found.status, then, OK]
    assert checks.checks[0].detail == found.detail
    assert checks.checks[0].fix == found.fix


@pytest.mark.parametrize(
    ("late", "status"), [(broken("Late.", "Mend it."), FAILED), (None, SKIPPED)]
)
async def test_a_check_that_takes_too_long_is_cut_off(monkeypatch, late, status):
    monkeypatch.setattr("searx_mcp.ops.doctor.checks.STEP_TIMEOUT", 0.01)
    checks = runner()
    await checks.take(CheckName.DNS, endless, late=late)
    assert checks.checks[0].status is status


async def test_after_the_deadline_nothing_is_looked_at():
    checks = runner(deadline=0.0)
    await checks.take(CheckName.DNS, endless)
    assert checks.checks[0].detail == "Skipped: out of time."


async def test_progress_is_told_each_step():
    said: list[str] = []
    checks = runner(progress=said.append)
    await checks.take(CheckName.DATA_FOLDER, finding(fine("Yes.")))
    await checks.take(CheckName.ENGINE_ERRORS, finding(fine("Yes.")))
    assert said == ["a.example: data folder", "a.example: /stats/errors"]
