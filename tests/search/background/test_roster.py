"""Who belongs to the pool: settings, choices and the list."""

import random

import pytest

from searx_mcp.models.instance import Catalog, CatalogEntry, Choice
from searx_mcp.pool.catalog import gate
from searx_mcp.pool.config import InstancesConfig, PublicInstances
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.background.roster import Roster

LISTED = ("https://a.example/", "https://b.example/")
MINE = "http://10.0.0.1/"
ADDED = "http://10.0.0.2/"


def catalog_of(*urls: str) -> Catalog:
    return Catalog.model_validate(
        {
            "listed_at": "2026-08-05T00:00:00Z",
            "instances": [CatalogEntry(url=url, tls_grade="A") for url in urls],
        }
    )


class Table:
    """A roster with its pool, and what the session for own instances was told."""

    def __init__(self, choices=None, **instances) -> None:
        self.pool = InstancePool(rng=random.Random(1))
        self.told: list[tuple[str, ...]] = []
        self.roster = Roster(
            self.pool,
            instances=InstancesConfig(**instances),
            catalog=catalog_of(*LISTED),
            choices=choices or {},
            admit=lambda catalog, blocked: gate(catalog, min_grade="B", blocked=blocked),
            admit_own=lambda own: self.told.append(tuple(own)),
        )

    @property
    def urls(self) -> set[str]:
        return {row.url for row in self.pool.snapshot(0.0)}


def test_without_an_own_instance_the_list_is_asked():
    assert Table().urls == set(LISTED)


@pytest.mark.parametrize(
    ("public", "own", "choices", "expected"),
    [
        ("auto", [MINE], {}, {MINE}),
        ("auto", [], {Choice.OWN: [ADDED]}, {ADDED}),
        ("auto", [MINE], {Choice.OWN: [ADDED]}, {MINE, ADDED}),
        ("on", [MINE], {Choice.OWN: [ADDED]}, {MINE, ADDED, *LISTED}),
        ("off", [], {}, set()),
        ("off", [], {Choice.OWN: [ADDED]}, {ADDED}),
    ],
    ids=["setting", "choice", "both", "on", "off", "off, choice"],
)
def test_public_instances_are_asked_as_both_sources_of_own_ones_say(public, own, choices, expected):
    assert Table(choices, public=PublicInstances(public), own=tuple(own)).urls == expected


def test_what_is_blocked_leaves_and_what_is_unblocked_comes_back_from_the_list():
    it = Table(blocked=("b.example",))
    assert it.urls == {LISTED[0]}
    it.roster.choose({Choice.BLOCKED: ["a.example"]})
    assert it.urls == set()
    it.roster.choose({})
    assert it.urls == {LISTED[0]}


def test_the_session_is_told_of_own_instances_when_they_change():
    it = Table(own=(MINE,))
    it.roster.choose({Choice.OWN: [ADDED]})
    it.roster.choose({Choice.OWN: [ADDED]})
    it.roster.choose({})
    assert it.told == [(MINE,), (MINE, ADDED), (MINE,)]


def test_a_list_that_comes_while_public_instances_are_off_is_there_when_they_come_back():
    it = Table({Choice.OWN: [ADDED]})
    it.roster.relist(catalog_of("https://c.example/"))
    assert it.urls == {ADDED}
    assert it.roster.catalog is None
    it.roster.choose({})
    assert it.urls == {"https://c.example/"}
    assert it.roster.catalog is not None


@pytest.mark.parametrize("odd", ["", "search", "https://user@x.example/", "ftp://x/", "https://x"])
def test_a_choice_that_is_no_base_url_is_passed_over(odd):
    it = Table({Choice.OWN: [odd]})
    assert it.urls == set(LISTED)
    assert it.roster.own == ()
