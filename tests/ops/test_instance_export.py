"""Exports: what they may hold, and what is said of those that cannot be used."""

import json

import pytest

from searx_mcp import SearxClient, Settings
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.testing.clock import FakeClock

NOW = 1_795_000_000.0
URL = "https://a.example/"


def text(**fields) -> str:
    return json.dumps({"schema_version": 1, **fields})


@pytest.fixture
async def admin():
    """The admin of an empty pool."""
    settings = Settings(instances={"public": "off"}, open_sources={"mode": "off"})
    async with SearxClient(settings, clock=FakeClock(NOW)) as client:
        yield client.admin


async def test_a_file_holds_choices_and_records_and_may_hold_what_a_newer_version_adds(admin):
    imported = await admin.import_(
        text(
            choices={"own": [URL], "blocked": ["b.example"], "pinned": ["c.example"]},
            records=[{"url": URL, "successes": 3, "last_at": NOW - 5, "mood": "good"}],
            charges=[["https://a.example/", 0]],
        )
    )
    assert (imported.added, imported.blocked, imported.learned) == ((URL,), ("b.example",), 1)
    assert [(each["url"], each["successes"]) for each in (await admin.export()).records] == [
        (URL, 3)
    ]
    assert (await admin.import_(text())).learned == 0


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("", "file"),
        ("{", "file"),
        ("[]", "file"),
        ("{}", "file.schema_version"),
        ('{"schema_version": 2}', "file.schema_version"),
        ('{"schema_version": "x"}', "file.schema_version"),
        (text(choices=[]), "file.choices"),
        (text(choices={"own": ["a.example"]}), "file.choices.own.0"),
        (text(choices={"own": [URL, "http://8.8.8.8/"]}), "file.choices.own.1"),
        (text(choices={"own": ["https://me:secret@a.example/"]}), "file.choices.own.0"),
        (text(choices={"blocked": ["https://a.example/"]}), "file.choices.blocked.0"),
        (text(records=[{}]), "file.records.0.url"),
        (text(records=[{"url": "nowhere"}]), "file.records.0.url"),
        (text(records=[{"url": URL}, {"url": URL, "state": "fine"}]), "file.records.1.state"),
        (
            text(records=[{"url": URL, "outcomes": [{"at": 1}]}]),
            "file.records.0.outcomes.0.verdict",
        ),
        (text(records=[{"url": URL}] * 5_001), "file.records"),
        (" " * 20_000_001, "file"),
    ],
    ids=[
        *("empty", "cut off", "a list", "no version", "newer", "odd version", "choices"),
        *("no address", "in the clear", "credentials", "no host", "no url", "odd url", "state"),
        *("outcome", "many", "long"),
    ],
)
async def test_what_cannot_be_used_is_named(admin, content, field):
    with pytest.raises(InvalidArgumentError) as caught:
        await admin.import_(content)
    assert caught.value.field == field
    assert caught.value.advice
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Search.Example.org", "search.example.org"),
        ("https://search.example.org/searx/", "search.example.org"),
        ("search.example.org:8443", "search.example.org"),
        (" search.example.org. ", "search.example.org"),
        ("[2001:db8::1]", "2001:db8::1"),
    ],
)
async def test_a_host_is_taken_out_of_what_is_given(admin, given, name):
    assert (await admin.block(given)).subject == name


@pytest.mark.parametrize("given", ["", "a b", "https://", "ftp://a.example/"])
async def test_what_is_no_host_is_refused(admin, given):
    with pytest.raises(InvalidArgumentError, match="is not a host such as"):
        await admin.block(given)
