"""The page on searching names every verdict and state, and its figures are those of the bundled list."""

import re
from pathlib import Path

import pytest

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.instance import InstanceState
from searx_mcp.pool.catalog import gate, parse_catalog
from searx_mcp.search.background.membership import read_bundled
from searx_mcp.search.budget import month_account
from searx_mcp.settings.values import Settings

FOLDER = Path(__file__).parents[2] / "docs" / "explanation"
PAGE = (FOLDER / "searching.md").read_text(encoding="utf-8")


def test_every_verdict_has_a_place_in_the_table_of_verdicts():
    table = PAGE.partition("| verdict |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(cells))) == sorted(Verdict)


@pytest.mark.parametrize("state", InstanceState)
def test_the_diagram_has_every_state(state: InstanceState):
    diagram = (FOLDER / "instance-states.svg").read_text(encoding="utf-8")
    assert f">{state.replace('_', '-')}</text>" in diagram


def test_the_budget_of_the_month_is_that_of_the_bundled_list():
    config = Settings().instances
    urls = [entry.url for entry in gate(parse_catalog(read_bundled()), min_grade=config.min_grade)]
    a_day, *_, month = month_account(urls).windows
    later = (month.limit - a_day.limit) / 29
    assert f"all {len(urls)} instances of the bundled list" in PAGE
    assert f"{a_day.limit} searches on the first day and about {later:.0f} a day" in " ".join(
        PAGE.split()
    )
    readme = " ".join((FOLDER.parents[1] / "README.md").read_text(encoding="utf-8").split())
    spelled = {50: "fifty", 5: "five"}
    at_once, a_day_later = spelled[round(a_day.limit, -1)], spelled[round(later)]
    assert f"about {at_once} searches at once, then {a_day_later} a day" in readme
