"""Which instances are listed, and in which order."""

import pytest

from searx_mcp.models.instance import InstanceReport, InstanceState, SortKey, Tier
from searx_mcp.ops.instances.listing import Selection


def row(name: str, **fields) -> InstanceReport:
    base = {"tier": Tier.A, "grade": "A", "state": InstanceState.HEALTHY, "score": 0.5}
    return InstanceReport.model_validate({"url": f"https://{name}.example/", **base, **fields})


ROWS = (
    row("own", tier=Tier.OWN, score=1, p50=0.3, p95=0.9, success=0.9, budget_left=None),
    row("b", score=0.7, p50=0.2, p95=1.0, success=1.0, budget_left=1),
    row("a", state="quarantined", retry_after=60, budget_left=2, success=0.0),
    row("c", state="blacklisted", score=0.1, budget_left=0, tier=Tier.A_PLUS),
)


def names(selection: Selection) -> str:
    return " ".join(found.url.split("//")[1].split(".")[0] for found in selection.of(ROWS))


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        (None, "own b a c"),
        (SortKey.HOST, "a b c own"),
        (SortKey.SCORE, "own b a c"),
        (SortKey.STATE, "own b a c"),
        (SortKey.SUCCESS, "b own a c"),
        (SortKey.P50, "b own a c"),
        (SortKey.P95, "own b a c"),
        (SortKey.LEFT, "own a b c"),
        (SortKey.NEXT, "own b a c"),
    ],
)
def test_the_best_comes_first_and_what_is_unknown_last(sort, order):
    assert names(Selection(sort=sort)) == order
    assert names(Selection(sort=sort, reverse=True)) == " ".join(reversed(order.split()))


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(states=[InstanceState.HEALTHY]), "own b"),
        (Selection(states=[InstanceState.BLACKLISTED, InstanceState.QUARANTINED]), "a c"),
        (Selection(tiers=[Tier.OWN, Tier.A_PLUS]), "own c"),
        (Selection(host="B.EX"), "b"),
        (Selection(usable=True), "own b"),
        (Selection(usable=True, tiers=[Tier.A]), "b"),
    ],
    ids=["state", "states", "tiers", "host", "usable", "both"],
)
def test_only_what_is_wanted_is_listed(selection, expected):
    assert names(selection) == expected
