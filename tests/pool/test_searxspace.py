"""Reading the list of searx.space, as written in seven years, and what is no list of it."""

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.models.instance import Catalog, CatalogEntry, NetworkType
from searx_mcp.pool.catalog import gate, prior
from searx_mcp.pool.searxspace import (
    GENERAL_ENGINES,
    CatalogError,
    DropReason,
    ListedRow,
    parse_searxspace,
    read_row,
)

MAX_ROWS = 2_000
MAX_TEXT = 5_000_000

URL = "https://a.example/"
GOOD: dict[str, Any] = {"http": {"status_code": 200}, "version": "2026.8.22+9fea41204"}


def listing_of(instances: dict[str, Any], **top: Any) -> str:
    return json.dumps({"instances": instances, **top})


def reason_for(address: str = URL, **row: Any) -> DropReason | None:
    """Why a row is dropped that stands beside good ones."""
    good = {"https://good.example/": GOOD}
    dropped = parse_searxspace(listing_of(good | {address: GOOD | row})).dropped
    return next(iter(dropped), None)


def test_nothing_but_the_address_is_required():
    listing = parse_searxspace(listing_of({URL: {}, "https://b.example/searx": None}))

    assert [entry.url for entry in listing.entries] == [URL, "https://b.example/searx/"]
    assert listing.entries[0].model_dump(exclude_defaults=True) == {"url": URL}
    assert (listing.listed, listing.dropped, listing.measured_at) == (2, {}, None)


def test_all_figures_of_a_row_are_read():
    row = {
        "network_type": "normal",
        "http": {"status_code": 200, "error": None, "grade": "A+", "score": 120},
        "tls": {"grade": "E, A+", "version": "TLSv1.3"},
        "html": {"grade": "C, js?", "resources": {}},
        "uptime": {"uptimeDay": 100, "uptimeWeek": 99.5, "uptimeMonth": 99, "uptimeYear": None},
        "timing": {"search": {"success_percentage": 80.0, "all": {"median": 0.7, "value": 9}}},
        "engines": {"google": {"error_rate": 0}, "wikipedia": {}},
        "version": "2026.8.22+9fea41204",
    }
    text = listing_of({URL: row}, metadata={"timestamp": 1741158042})

    (entry,) = parse_searxspace(text).entries
    assert entry.model_dump(exclude_none=True) == {
        "url": URL,
        "network_type": NetworkType.NORMAL,
        "tls_grade": "E, A+",
        "http_grade": "A+",
        "html_grade": "C, js?",
        "uptime": {"day": 100.0, "week": 99.5, "month": 99.0},
        "search_success": 80.0,
        "search_latency": 0.7,
        "engines_working": 1 / 3,
    }
    assert parse_searxspace(text).measured_at == datetime(2025, 3, 5, 7, 0, 42, tzinfo=UTC)


@pytest.mark.parametrize(
    ("stat", "latency"),
    [
        pytest.param({"all": {"median": 0.5, "stdev": 0.1, "mean": 0.6}}, 0.5, id="samples"),
        pytest.param({"all": {"value": 0.8}}, 0.8, id="one-sample"),
        pytest.param({"all": None}, None, id="null"),
        pytest.param({}, None, id="nothing-ran"),
        pytest.param(None, None, id="null-stat"),
        pytest.param({"all": {"median": "fast"}}, None, id="a-word"),
        pytest.param({"all": {"median": float("nan"), "value": 2}}, 2.0, id="not-a-number"),
        pytest.param({"all": {"median": float("inf")}}, None, id="infinite"),
        pytest.param({"all": {"median": -1}}, None, id="negative"),
        pytest.param({"all": {"median": True}}, None, id="a-truth-value"),
    ],
)
def test_a_latency_is_the_median_or_the_only_value(stat, latency):
    assert read_row({"timing": {"search": stat}}).search_latency == latency


@pytest.mark.parametrize(
    ("grade", "read"),
    [(" A+ ", "A+"), ("B" * 100, "B" * 100), ("B" * 500, "B" * 100), ("A\nB", None), ("", None), (5, None)],
)  # fmt: skip
def test_a_grade_is_one_short_line(grade, read):
    assert read_row({"tls": {"grade": grade}}).tls_grade == read


@pytest.mark.parametrize("name", ["resources", "ressources"])
def test_both_spellings_of_resources_leave_the_grade_alone(name):
    assert read_row({"html": {name: {"script": {}}, "grade": "V"}}).html_grade == "V"


@pytest.mark.parametrize(
    ("engines", "share"),
    [
        pytest.param(None, None, id="unknown"),
        pytest.param({}, None, id="config-unreadable"),
        pytest.param(["google"], None, id="a-list"),
        pytest.param({"wikipedia": {}}, 0.0, id="none-general"),
        pytest.param({"google": {}}, 1 / 3, id="no-error-recorded"),
        pytest.param({"google": {"error_rate": 49.9}}, 1 / 3, id="works-mostly"),
        pytest.param({"google": {"error_rate": 50}}, 0.0, id="fails-half"),
        pytest.param({"google": {"error_rate": None}}, 1 / 6, id="errors-unreadable"),
        pytest.param({"google": None}, 1 / 6, id="null"),
        pytest.param({name: {} for name in GENERAL_ENGINES}, 1.0, id="more-than-three"),
    ],
)
def test_the_share_of_working_engines(engines, share):
    assert read_row({"engines": engines}).engines_working == share


UNUSABLE = (
    "https://a.example/?r=1", "https://a.example/#top", "https://me@a.example/",
    "https://a.example:0x1/", "https://127.0.0.1/", "https://[::1]/", "https://127.1/",
    "https://0x7f.0.0.1/", "https://0177.0.0.1/", "https://2130706433/", "https://a.example.0x/",
    "https://\uff11\uff12\uff17.0.0.1/", "https://127\u30021/", "https://[::ffff:127.0.0.1]/",
    "https://8.8.8.8/", "https://localhost/", "https://searx/", "https://searx./",
    "https://searx.internal/", "https://SEARX.Internal./", "https://searx.local/",
    "https://searx.home.arpa/", "https://searx.lan/", "https://a.svc.cluster.local/",
    "https://x.localhost/", "https://-a-.b..example/", "https://a.example:22/",
    "https://a.example:0/", "https://a.example:9200/", "ftp://a.example/", "a.example", "",
    "https://\ud83d.example/",
)  # fmt: skip
"""Hosts that are numbers, names within a network, ports that are not of the web, no addresses."""


@pytest.mark.parametrize(
    ("address", "row", "reason"),
    [
        *(pytest.param(address, {}, DropReason.ADDRESS, id=ascii(address)) for address in UNUSABLE),
        pytest.param(f"https://a.example/{'x' * 283}", {}, DropReason.ADDRESS, id="endless"),
        pytest.param(
            "https://web.archive.org/web/20240905142001/https://b.example/",
            {},
            DropReason.ADDRESS,
            id="archived",
        ),
        pytest.param("http://abc.onion/", {"network_type": "tor"}, DropReason.HIDDEN, id="tor"),
        pytest.param(
            "http://abc.i2p/", {"network_type": "normal"}, DropReason.HIDDEN, id="i2p-typed-normal"
        ),
        pytest.param(URL, {"network_type": "tor"}, DropReason.HIDDEN, id="typed-tor"),
        pytest.param("http://a.example/", {}, DropReason.NOT_HTTPS, id="http"),
        pytest.param(URL, {"error": "Connection refused"}, DropReason.ERROR, id="error"),
        pytest.param(URL, {"error": "verify failed:\nno"}, DropReason.ERROR, id="error-in-lines"),
        pytest.param(
            URL, {"http": {"status_code": 200, "error": "x"}}, DropReason.ERROR, id="http-error"
        ),
        pytest.param(URL, {"http": {"status_code": 502}}, DropReason.STATUS, id="status"),
        pytest.param(URL, {"http": {"status_code": None}}, DropReason.STATUS, id="no-status"),
        pytest.param(URL, {"version": None}, DropReason.VERSION, id="version-null"),
        pytest.param(URL, {"analytics": True}, DropReason.ANALYTICS, id="analytics"),
        pytest.param(URL, {"tls": {"grade": "F"}}, DropReason.TLS_GRADE, id="tls-f"),
        pytest.param(URL, {"tls": {"grade": "A+, F"}}, DropReason.TLS_GRADE, id="tls-worst-part"),
        pytest.param("https://good.example/x/", {}, DropReason.DUPLICATE, id="same-origin"),
        pytest.param(URL, {"network_type": None}, None, id="network-null"),
        pytest.param(URL, {"analytics": False}, None, id="no-analytics"),
        pytest.param(URL, {"tls": {"grade": "E, ?"}}, None, id="tls-e"),
        pytest.param(URL, {"tls": {"grade": "?"}}, None, id="tls-unknown"),
        pytest.param(URL, {"html": {"grade": "F"}}, None, id="html-f-is-a-fork"),
        pytest.param(URL, {"error": None, "generator": "searx"}, None, id="any-generator"),
        pytest.param("https://a.example/searx/", {}, None, id="path"),
        pytest.param(f"https://a.example/{'x' * 282}", {}, None, id="long-path"),
        pytest.param("https://a.example:8443/", {}, None, id="port-of-the-web"),
        pytest.param("https://a_b.example/", {}, None, id="underscore"),
        pytest.param("https://local.example/", {}, None, id="local-is-no-suffix"),
        pytest.param("https://bücher.example/", {}, None, id="international-name"),
    ],
)
def test_what_may_be_asked_is_kept(address, row, reason):
    assert reason_for(address, **row) == reason


def test_a_dropped_row_does_not_hide_a_good_one_of_the_same_origin():
    rows = {"https://a.example/old/": GOOD | {"error": "gone"}, "https://a.example/": GOOD}

    assert [entry.url for entry in parse_searxspace(listing_of(rows)).entries] == [URL]


@pytest.mark.parametrize("field", ["version", "http"])
def test_a_field_that_the_list_has_dropped_everywhere_is_not_asked_for(field):
    row = {name: value for name, value in GOOD.items() if name != field}
    listing = parse_searxspace(listing_of({URL: row, "https://b.example/": row}))

    assert len(listing.entries) == 2


def test_rows_beyond_the_limit_are_counted_and_not_looked_at():
    rows = {f"https://h{number}.example/": GOOD for number in range(MAX_ROWS + 5)}
    listing = parse_searxspace(listing_of(rows))

    assert (len(listing.entries), listing.listed) == (MAX_ROWS, MAX_ROWS + 5)
    assert listing.dropped == {DropReason.EXCESS: 5}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("<!DOCTYPE html><title>502</title>", id="error-page"),
        pytest.param('{"instances": {"https://a.example/": {"version": "20', id="cut"),
        pytest.param("[]", id="list"),
        pytest.param("null", id="null"),
        pytest.param('{"metadata": {}}', id="without-instances"),
        pytest.param('{"instances": ["https://a.example/"]}', id="instances-a-list"),
        pytest.param("[" * 200_000, id="deep"),
        pytest.param('{"instances": {"https://a.example/": ' + '{"a":' * 200_000, id="deep-row"),
        pytest.param('{"instances": {}}' + " " * MAX_TEXT, id="too-long"),
    ],
)
def test_what_is_no_list_is_refused_in_a_sentence(text):
    with pytest.raises(CatalogError, match=r"This is not a list from searx\.space: .+\."):
        parse_searxspace(text)


@pytest.mark.parametrize(
    "number", ["9" * 10_000, "-1", "1e999", "-Infinity", "NaN", "true", '"1"', "253402300800"]
)
def test_odd_numbers_are_unknown(number):
    row = f'{{"uptime": {{"uptimeDay": {number}}}, "timing": {{"search": {{"success_percentage": {number}}}}}}}'
    text = f'{{"metadata": {{"timestamp": {number}}}, "instances": {{"{URL}": {row}}}}}'
    listing = parse_searxspace(text)

    assert listing.measured_at is None
    assert (listing.entries[0].uptime.day, listing.entries[0].search_success) == (None, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["http", "status_code", "error", "grade", "version", "tls", "html", "uptime",
                 "uptimeDay", "timing", "search", "all", "median", "value", "success_percentage",
                 "engines", "google", "error_rate", "network_type", "analytics"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)  # fmt: skip
ADDRESSES = st.text(max_size=30) | st.builds(
    "https://{}{}".format,
    st.text(max_size=20) | st.sampled_from(["a.example", "b.example:8443", "[::1]", "\ud83d.x"]),
    st.sampled_from(["", "/", "/searx", "//", "/%2e%2e/", "/?q"]) | st.text(max_size=10),
)


@settings(deadline=None)
@given(st.text(max_size=200) | JSON.map(json.dumps))
def test_any_text_is_a_list_or_refused(text):
    with contextlib.suppress(CatalogError):
        parse_searxspace(text)


@settings(deadline=None)
@given(st.dictionaries(ADDRESSES, JSON | st.just(GOOD), max_size=6), JSON)
def test_any_rows_make_entries_that_can_be_kept_and_asked(rows, metadata):
    listing = parse_searxspace(listing_of(rows, metadata=metadata))

    assert len(listing.entries) + sum(listing.dropped.values()) == listing.listed == len(rows)
    catalog = Catalog(listed_at=datetime(2026, 8, 5, tzinfo=UTC), instances=listing.entries)
    assert Catalog.model_validate_json(catalog.model_dump_json()) == catalog
    assert gate(catalog, min_grade="F") == listing.entries
    assert all(0 <= prior(entry).total <= 1 for entry in listing.entries)


@pytest.fixture
def captured() -> Callable[[], Iterable[tuple[str, str]]]:
    """The captured lists in the folder SEARX_MCP_CAPTURES, by short name; none without it."""
    folder = os.environ.get("SEARX_MCP_CAPTURES")

    def lists() -> Iterable[tuple[str, str]]:
        for file in sorted(Path(folder).glob("searx-space-instances*.json")) if folder else ():
            name = file.name.removeprefix("searx-space-instances").strip(".")
            yield name.removesuffix("json").strip(".") or "2025", file.read_text("utf-8")

    return lists


LISTED = {
    "2020-03-13": (151, 1584126426, 62, {"hidden": 14, "error": 26, "tls_grade": 49}),
    "2022-12-05": (
        130, 1670234424, 101, {"hidden": 21, "error": 1, "version": 2, "tls_grade": 5},
    ),
    "2024-09-05.wayback-rewritten": (97, 1725543801, 0, {"address": 97}),
    "2025": (90, 1741158042, 75, {"hidden": 11, "error": 2, "version": 1, "tls_grade": 1}),
    "2026-schema.DERIVED": (
        90, 1741158042, 75, {"hidden": 11, "error": 2, "version": 1, "tls_grade": 1},
    ),
}  # fmt: skip


def test_the_captured_lists_are_read(captured):
    for name, text in captured():
        listing = parse_searxspace(text)
        assert listing.measured_at is not None
        assert (
            listing.listed,
            listing.measured_at.timestamp(),
            len(listing.entries),
            listing.dropped,
        ) == LISTED[name], name


def _grades(text: str) -> dict[str | None, int]:
    """`A+: 60, None: 14` as a counter; some grades hold a comma themselves."""
    pairs = (part.rsplit(": ", 1) for part in text.split("; "))
    return {None if name == "None" else name: int(count) for name, count in pairs}


COUNTS: dict[str, dict[str, dict[Any, int]]] = {
    "2025": {
        "network_type": {"normal": 79, "tor": 11},
        "status": {200: 85, None: 4, 502: 1},
        "has_error": {True: 5, False: 85},
        "version": {None: 6},
        "http_grade": _grades("A+: 60; None: 14; B: 5; C-: 5; D-: 3; C: 1; B+: 1; A-: 1"),
        "html_grade": _grades("V: 64; C: 13; None: 6; F: 5; js?: 1; E: 1"),
        "tls_grade": _grades("A+: 67; None: 14; E: 5; ?: 2; F: 1; E, ?: 1"),
        "search_success": {100.0: 73, 0.0: 9, None: 6, 80.0: 2},
        "engines_working": {None: 7},
    },
    "2022-12-05": {
        "network_type": {"normal": 111, "tor": 19},
        "status": {200: 122, None: 8},
        "has_error": {True: 8, False: 122},
        "version": {None: 11},
        "http_grade": _grades(
            "A+: 81; None: 24; D: 8; B+: 6; C: 3; B: 3; A-: 2; B-: 1; D+: 1; F: 1"
        ),
        "html_grade": _grades(
            "V: 96; None: 11; C: 10; F: 7; E, js?: 2; js?: 1; Cjs: 1; E: 1; Cjs, js?: 1"
        ),
        "tls_grade": _grades("A+: 81; None: 24; E: 11; F: 5; ?: 4; A+, ?: 3; E, ?: 1; E, A+: 1"),
        "search_success": {100.0: 113, None: 11, 67.0: 4, 0.0: 2},
        "engines_working": {None: 12},
    },
    "2020-03-13": {
        "network_type": {"normal": 139, "tor": 12},
        "status": {200: 120, None: 25, 502: 5, 503: 1},
        "has_error": {True: 31, False: 120},
        "version": {None: 32},
        "http_grade": _grades(
            "None: 42; A+: 31; F: 30; D+: 23; B: 9; B+: 9; C+: 3; C-: 2; D: 1; B-: 1"
        ),
        "html_grade": {None: 151},
        "tls_grade": _grades("F: 48; None: 40; E: 30; A+: 28; ?: 3; F, ?: 1; E, ?: 1"),
        "search_success": {100.0: 89, None: 32, 0.0: 15, 67.0: 9, 33.0: 6},
        "engines_working": {None: 38},
    },
    "2024-09-05.wayback-rewritten": {
        "network_type": {"normal": 83, "tor": 14},
        "status": {200: 88, None: 7, 502: 1, 404: 1},
        "has_error": {True: 9, False: 88},
        "version": {None: 10},
        "http_grade": _grades("A+: 65; None: 21; C-: 5; B: 4; C: 1; B+: 1"),
        "html_grade": _grades("V: 63; C: 14; None: 10; F: 4; js?: 3; ?: 1; Cjs: 1; E: 1"),
        "tls_grade": _grades("A+: 69; None: 21; E: 4; E, ?: 1; A+, ?: 1; ?: 1"),
        "search_success": {100.0: 72, None: 10, 0.0: 9, 80.0: 2, 20.0: 2, 60.0: 1, 40.0: 1},
        "engines_working": {None: 11},
    },
}
COUNTS["2026-schema.DERIVED"] = COUNTS["2025"]

UPTIMES = {
    "2025": (76, 72, 67),
    "2026-schema.DERIVED": (76, 72, 67),
    "2022-12-05": (106, 100, 91),
    "2020-03-13": (0, 0, 0),
    "2024-09-05.wayback-rewritten": (76, 69, 58),
}


def _rows(text: str) -> list[ListedRow]:
    return [read_row(row) for row in json.loads(text)["instances"].values()]


def test_the_figures_of_the_captured_lists_are_read(captured):
    for name, text in captured():
        rows = _rows(text)
        for attribute, expected in COUNTS[name].items():
            found = Counter(getattr(row, attribute) for row in rows)
            assert {value: found[value] for value in expected} == expected, (name, attribute)
            if attribute not in {"version", "engines_working"}:
                assert found.total() == sum(expected.values())
        uptimes = [row.uptime for row in rows]
        assert (
            sum(uptime.year is not None for uptime in uptimes),
            sum(uptime.day == 100 for uptime in uptimes),
            sum((uptime.month or 0) >= 99 for uptime in uptimes),
        ) == UPTIMES[name], name


def test_the_order_of_first_contact_on_the_list_of_2025(captured):
    for name, text in captured():
        if name not in {"2025", "2026-schema.DERIVED"}:
            continue
        ranked = sorted(parse_searxspace(text).entries, key=prior, reverse=True)
        assert ranked[0].url == "https://searx.be/"
        assert [entry.search_success == 0 for entry in ranked[-6:]] == [False] + [True] * 5
        assert sum(entry.search_success == 0 for entry in ranked) == 5


def test_the_schemas_of_2025_and_2026_say_the_same(captured):
    lists = {name: parse_searxspace(text) for name, text in captured()}
    assert lists.get("2025") == lists.get("2026-schema.DERIVED")


ONION = f"http://{'a' * 56}.onion/"
ROW = {"http": {"status_code": 200}, "version": "2026.8.1", "network_type": "tor"}


def catalog_of(*rows: tuple[str, NetworkType]) -> Catalog:
    entries = tuple(CatalogEntry(url=url, network_type=kind) for url, kind in rows)
    return Catalog.model_validate({"listed_at": "2026-08-05T00:00:00Z", "instances": entries})


TOR, NORMAL = NetworkType.TOR, NetworkType.NORMAL
ONIONS = catalog_of(
    ("https://a.example.org", NORMAL),
    (ONION, TOR),
    (ONION.replace("http:", "https:").replace("aa", "bb"), TOR),
    (f"{ONION}?q", TOR),
    ("http://b.example.org", TOR),  # a type that the name belies
    ("https://c.example.org", TOR),
    (ONION.replace("aaa", "ccc"), NORMAL),
    ("http://d.i2p", TOR),
    ("http://e.i2p", NORMAL),
    ("https://e.i2p", NORMAL),
)


def test_tor_services_are_kept_where_there_is_a_way_to_them():
    kept = [entry.url for entry in gate(ONIONS, min_grade="B", onion=True)]
    secure = ONION.replace("http:", "https:").replace("aa", "bb")
    assert kept == ["https://a.example.org/", ONION, secure]


def test_tor_services_are_left_out_otherwise():
    kept = [entry.url for entry in gate(ONIONS, min_grade="B")]
    assert kept == ["https://a.example.org/"]


def test_tor_services_pass_the_other_rules_too():
    host = ONION.split("/")[2]
    assert len(gate(ONIONS, min_grade="B", onion=True, blocked=[host])) == 2
    assert len(gate(ONIONS, min_grade="A", onion=True)) == 0


def test_rows_of_tor_services_are_kept_when_asked_for():
    rows = {
        ONION: ROW,
        ONION.replace("a", "b"): {**ROW, "network_type": None},
        ONION.replace("a", "c"): {**ROW, "network_type": "i2p"},
        ONION.replace("a", "d"): {**ROW, "error": "down"},
        "http://e.example.org/": ROW,
        "http://f.i2p/": {**ROW, "network_type": "normal"},
    }
    text = json.dumps({"instances": rows})
    listing = parse_searxspace(text, onion=True)
    assert [entry.url for entry in listing.entries] == [ONION, ONION.replace("a", "b")]
    assert {entry.network_type for entry in listing.entries} == {TOR}
    assert listing.dropped == {DropReason.HIDDEN: 3, DropReason.ERROR: 1}
    assert parse_searxspace(text).entries == ()


def test_nothing_else_of_the_captured_lists_is_kept(captured):
    for _, text in captured():
        with_tor, without = parse_searxspace(text, onion=True), parse_searxspace(text)
        added = set(with_tor.entries) - set(without.entries)
        assert all(".onion" in entry.url for entry in added)
        assert [e for e in with_tor.entries if e not in added] == list(without.entries)
