"""What a new list, a reset and the wishes of operators make of a pool."""

import pytest

from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.instance import CatalogEntry, InstanceState, Tier
from searx_mcp.pool.proposal import Outcome
from searx_mcp.pool.record import OPTED_OUT, InstanceRecord
from tests.pool.pools import DAY, NOW, OWN, ask, entry, facts, pool, proposed

SKEW = 60.0


def test_a_new_list_adds_removes_and_regrades_and_keeps_what_was_learned():
    it = pool(entry("stays"), entry("goes"), own=[OWN])
    it.begin("https://stays.example/", NOW)
    it.report("https://stays.example/", Outcome(Verdict.RATE_LIMITED, Format.HTML, 0.1), NOW)
    it.enlist([OWN], [entry("stays", "B"), entry("comes")])
    reports = {report.url: report for report in it.snapshot(NOW)}
    assert set(reports) == {OWN, "https://stays.example/", "https://comes.example/"}
    assert reports["https://stays.example/"].tier is Tier.B
    assert reports["https://stays.example/"].state is InstanceState.RATE_LIMITED
    assert ask(it, exclude=[OWN]) == "https://comes.example/"


def test_an_own_instance_is_never_relisted():
    it = pool(entry("a"), own=[OWN])
    it.enlist([OWN], [CatalogEntry(url=OWN, tls_grade="C")])
    assert [report.tier for report in it.snapshot(NOW)] == [Tier.OWN]


def test_whoever_leaves_is_asked_no_more_and_its_last_request_still_teaches():
    it = pool(entry("stays"), entry("goes"))
    it.begin("https://goes.example/", NOW)
    it.enlist([], [entry("stays")])
    assert [row.url for row in it.snapshot(NOW)] == ["https://stays.example/"]
    assert {ask(it) for _ in range(10)} == {"https://stays.example/"}
    it.report("https://goes.example/", Outcome(Verdict.FULL, Format.HTML, 0.1), NOW)
    assert it.learned_since(NOW - 1)["https://goes.example/"].successes == 1
    it.enlist([], [entry("stays"), entry("goes")])
    rows = {row.url: row.successes for row in it.snapshot(NOW)}
    assert rows["https://goes.example/"] == 1, "what was learned came back with it"


def test_whoever_left_is_known_until_the_pool_changes_again():
    it = pool(entry("goes"))
    it.enlist([], [])
    it.begin("https://goes.example/", NOW)
    assert it.format_of("https://goes.example/", NOW) is Format.HTML
    it.enlist([], [])
    it.release("https://goes.example/")
    it.enlist([], [])
    with pytest.raises(KeyError):
        it.release("https://goes.example/")


def test_a_public_instance_that_becomes_the_users_own_keeps_what_was_learned_but_not_its_ban():
    it = pool(entry("a"), entry("b"))
    for name, state in (("a", InstanceState.BLACKLISTED), ("b", InstanceState.HEALTHY)):
        url = f"https://{name}.example/"
        it.restore({url: InstanceRecord(url=url, last_at=NOW, state=state, successes=4)})
    it.enlist(["https://a.example/", "https://b.example/"], [entry("a")])
    rows = {row.url: row for row in it.snapshot(NOW)}
    assert {row.tier for row in rows.values()} == {Tier.OWN}
    assert rows["https://a.example/"].state is InstanceState.NEW
    assert rows["https://b.example/"].state is InstanceState.HEALTHY
    it.enlist([], [entry("a")])
    assert [(row.tier, row.successes) for row in it.snapshot(NOW)] == [(Tier.A_PLUS, 4)]


def test_a_reset_instance_is_new_in_every_process_that_hears_of_it():
    here, there = pool(entry("a")), pool(entry("a"))
    url = "https://a.example/"
    for it in (here, there):
        record = InstanceRecord(
            url=url,
            last_at=NOW + 15,
            state=InstanceState.BLACKLISTED,
            reason="It rewrites.",
            bans=3,
            failures=9,
            link_token=True,
        )
        it.restore({url: record})
    there.restore({url: here.reset(url, NOW)})
    new = InstanceRecord(url=url, last_at=NOW + 15, reset_at=NOW + 15)
    for it in (here, there):
        assert (it.record_of(url), ask(it)) == (new, url)


def test_a_robots_txt_read_by_hand_sends_away_and_lets_in_again():
    it = pool(entry("a"))
    url = "https://a.example/"
    it.read_robots(url, opted_out=True, now=NOW)
    assert it.propose(NOW + 60) is None
    it.read_robots(url, opted_out=False, now=NOW + 60)
    proposal = proposed(it, NOW + 60)
    assert proposal.is_trial
    it.read_robots("https://gone.example/", opted_out=True, now=NOW)


def after(*events: str) -> InstanceRecord:
    """What a process knows after what happened to it: `10 out` is a robots.txt ten seconds later."""
    it = pool(entry("a"))
    url = "https://a.example/"
    for event in events:
        seconds, what = event.split()
        now = NOW + float(seconds)
        if what == "found":
            it.begin(url, now)
            it.report(url, Outcome(Verdict.FULL, Format.HTML, 0.1), now)
        elif what == "reset":
            it.reset(url, now)
        elif what == "facts":
            it.learn_facts(url, facts(limiter=False), now)
        else:
            it.read_robots(url, opted_out=what == "out", now=now)
    return it.record_of(url)


@pytest.mark.parametrize(
    ("here", "there", "stays_away", "read_at"),
    [
        (["0 in", "10 out"], ["0 in", "20 found"], True, 10),
        (["0 in", "20 found"], ["0 in", "10 out"], True, 10),
        (["0 out"], ["0 in", "20 found"], True, 0),
        (["0 in", "20 found"], ["0 in", "20 out"], True, 20),
        (["0 in", "10 out"], ["20 in"], False, 20),
        (["20 in"], ["0 in", "10 out"], False, 20),
        (["10 out"], ["20 reset"], False, -NOW),
        (["10 out", "30 facts"], ["20 reset"], False, -NOW),
        (["20 reset", "30 facts"], ["10 out", "25 facts"], False, -NOW),
        (["0 in"], ["10 found"], False, 0),
        (["0 out", "10 in"], ["0 in", "20 found"], False, 10),
    ],
)
def test_of_two_processes_the_one_that_read_robots_txt_last_knows_the_wish(
    here, there, stays_away, read_at
):
    it = pool(entry("a"))
    for record in (after(*here), after(*there)):
        it.restore({record.url: record})
    assert (it.propose(NOW + 60) is None) is stays_away
    (row,) = it.snapshot(NOW + 60)
    assert (row.reason == OPTED_OUT) is stays_away
    (kept,) = it.learned_since(NOW - 1).values()
    assert kept.robots_read_at == NOW + read_at
    assert not stays_away or kept.until == NOW + read_at + 30 * DAY


def test_an_own_instance_takes_over_no_wish_from_when_it_was_public():
    it = pool(own=["https://a.example/"])
    it.learn_facts("https://a.example/", facts(limiter=False), NOW)
    it.restore({"https://a.example/": after("0 out")})
    it.restore({"https://a.example/": after("10 out")})
    assert it.propose(NOW + 60) is not None


def test_a_robots_txt_that_lets_us_in_ends_no_other_wait():
    it = pool(entry("a"))
    ask(it, Verdict.NOT_SEARXNG)
    it.read_robots("https://a.example/", opted_out=False, now=NOW + 60)
    assert it.propose(NOW + 60) is None


def waiting(url: str, now: float) -> InstanceRecord:
    """A record of one that was limited for ten minutes."""
    return InstanceRecord(
        url=url, last_at=now, state=InstanceState.RATE_LIMITED, until=now + 600, reason="Limits us."
    )


def test_a_clock_put_back_leaves_each_instance_what_was_left_of_its_wait():
    it = pool(entry("ahead"), entry("near"))
    url, near = "https://ahead.example/", "https://near.example/"
    it.restore({url: waiting(url, NOW + DAY), near: waiting(near, NOW + SKEW)})
    it.settle(NOW)
    assert (it.retry_after(url, NOW), it.retry_after(near, NOW)) == (600, 600 + SKEW)
