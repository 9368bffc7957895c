"""What is said of one instance, and of a list that was fetched."""

from datetime import UTC, datetime

import pytest
from rich.console import Console

from searx_mcp.cli.instance_pages import print_details, refresh_lines
from searx_mcp.models.administration import (
    ConfigReport,
    InstanceDetails,
    Refresh,
    Source,
    Timers,
)
from searx_mcp.models.instance import InstanceReport, InstanceState, Tier

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PARTS = dict.fromkeys(
    [
        *("prior", "observed", "confidence", "latency", "access", "format"),
        *(f"prior_{name}" for name in ("success", "latency", "uptime", "grade", "engines")),
    ],
    0.5,
)


def page(config: ConfigReport | None = None, **fields) -> str:
    row = InstanceReport.model_validate(
        {
            "url": "https://a.example/",
            "tier": Tier.A,
            "grade": None,
            "state": InstanceState.NEW,
            "score": 0.5,
            "score_parts": PARTS,
            **fields,
        }
    )
    timers = Timers(learned_at=NOW, waits_until=datetime(2026, 11, 21, 12, tzinfo=UTC))
    details = InstanceDetails(instance=row, source=Source.LIST, timers=timers, config=config)
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        print_details(console, details, NOW)
    return capture.get()


def test_a_new_instance_has_a_short_page():
    shown = page()
    assert "limit  none" in shown
    assert "not read yet" in shown
    assert "requests" not in shown
    assert "Last requests" not in shown
    assert "(in 1.0 d)" in shown


def test_trouble_is_told_with_its_reason():
    shown = page(
        state=InstanceState.BLACKLISTED, reason="It rewrites [b]links[/b].", drift=3, failures=3
    )
    assert "blacklisted" in shown
    assert "It rewrites [b]links[/b]." in shown
    assert "never" in shown
    assert "3 answers with rows that could not be read" in shown


@pytest.mark.parametrize(
    ("engines", "shown"),
    [(None, ""), ((), "0: "), (("a", "b"), "2: a, b"), (tuple("abcdefghijklmn"), " and 2 more")],
    ids=["unknown", "none", "some", "many"],
)
def test_engines_are_told_as_far_as_config_told_them(engines, shown):
    text = page(ConfigReport(engines=engines, limiter=False))
    assert shown in text
    assert ("engines " in text.partition("What /config said")[2]) is (engines is not None)
    assert "does not say" in text


def test_a_list_that_was_not_fetched_is_explained():
    refresh = Refresh(source="x", problem="The server answered with status 500.", in_pool=80)
    assert [*refresh_lines(refresh)] == [
        "There is no newer list: The server answered with status 500."
    ]
