"""What holds for every engine of the table."""

import ast
import importlib
import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open import engines
from searx_mcp.sources.open.config import Name, OpenSourcesConfig
from searx_mcp.sources.open.engine import OpenQuery, RefusedError
from searx_mcp.sources.open.table import ENGINES, engines_of

FOLDER = Path(engines.__file__).parent
ANSWERS = Path(__file__).parent / "answers"
ROWS = [pytest.param(row, id=row.name) for row in ENGINES]
FILES = [
    pytest.param(row, path, id=path.stem)
    for row in ENGINES
    for path in sorted([*ANSWERS.glob(f"{row.name}.*"), *ANSWERS.glob(f"{row.name}-*.*")])
]
NAMES_TRIED = [
    row.name
    for row in ENGINES
    if [*ANSWERS.glob(f"{row.name}.*"), *ANSWERS.glob(f"{row.name}-*.*")]
]
QUERIES = [
    OpenQuery(
        text=text,
        keywords=tuple(text.split()[:6]),
        now=datetime(2026, 11, 22, tzinfo=UTC),
        category=category,
        time_range=age,
        page=page,
        language=language,
    )
    for text in (
        "red panda",
        'C++ & "<vector>" \\ (a OR b) [x TO y] ~* ?',
        "熊猫",
        "x" * 300,
        "a",
        "",
    )
    for category in Category
    for age, page, language in [
        (TimeRange.ANY, 1, "en"),
        (TimeRange.YEAR, 2, "de"),
        (TimeRange.DAY, 30, "all"),
        (TimeRange.MONTH, 1, "zh-TW"),
    ]
]
HOSTILE: list[object] = [
    None, True, -1, 1e308, "", "x" * 100_000, "javascript:alert(1)", "http://[::1", "\ud800\u202e\x1b[31m",
    "<script>x</script>", [], [[]], {}, {"a": {"b": []}}, ["<b>"], 10**400,
]  # fmt: skip


def test_an_engine_is_one_module_that_ends_with_its_row():
    modules = {path.stem for path in FOLDER.glob("[a-z]*.py")} - {"lucene", "mediawiki"}
    rows = {
        name: importlib.import_module(f"searx_mcp.sources.open.engines.{name}").ENGINE
        for name in modules
    }
    assert rows == {row.name: row for row in ENGINES}


def test_only_its_own_module_knows_an_engine_by_its_name():
    names = {row.name for row in ENGINES}
    # The settings check names before any engine is imported; packages and works have kinds of that name.
    known = {"config.py", "question.py"}
    for path in FOLDER.parent.rglob("*.py"):
        strings = {
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert path.name in known or strings & names <= {path.stem}, path.name


@pytest.mark.parametrize("row", ROWS)
def test_every_engine_stands_in_the_docs_and_says_what_speaks_for_asking_it(row):
    docs = (Path(__file__).parents[3] / "docs" / "sources.md").read_text(encoding="utf-8")
    assert f"| `{row.name}` |" in docs
    assert row.routing.signals or row.routing.within or row.routing.anyway
    # A web index is no collection that anybody would name.
    assert bool(row.words.names) != row.is_web_index


def test_the_names_of_the_settings_are_those_of_the_table():
    assert sorted(get_args(Name)) == sorted(row.name for row in ENGINES)


@pytest.mark.parametrize("row", ROWS)
def test_a_row_says_where_its_terms_stand_and_when_they_were_read(row):
    assert row.terms_url.startswith("https://")
    assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", row.terms_checked)
    assert row.categories
    assert row.gap > 0
    assert row.per_day * row.gap < 86_400


@pytest.mark.parametrize(
    ("quality", "names"),
    [
        pytest.param("demands_all", "commons europepmc openverse wikipedia", id="joined with AND"),
        # As docs/sources.md and docs/privacy.md tell.
        pytest.param(
            "wants_contact",
            "arxiv commons crates crossref internetarchive musicbrainz photon wikipedia",
            id="told a contact",
        ),
        pytest.param("per_day_with_key", "github stackexchange", id="has keys"),
    ],
)
def test_some_have_what_others_have_not(quality, names):
    assert sorted(row.name for row in ENGINES if getattr(row, quality)) == names.split()


def test_every_category_has_an_engine_that_is_on():
    rows = engines_of(OpenSourcesConfig()).values()
    for category in Category:
        assert [row.name for row in rows if category in row.categories and not row.triggered]


@pytest.mark.parametrize("row", ROWS)
def test_an_engine_is_only_ever_asked_at_its_own_host(row):
    row = replace(row, endpoint=row.endpoint or "https://packages.example")
    root = re.escape(row.endpoint.replace("{language}", "LANG")).replace("LANG", "[a-z]{2,3}")
    asks = [ask for ask in map(row.ask, QUERIES) if ask is not None]
    assert asks
    for url in map(row.url, asks):
        assert re.match(rf"{root}(?:[/?]|$)", url)
        assert url.isascii()
        assert not re.search(r"[\s\"<>\\]", url)
        assert "/../" not in url


@pytest.mark.parametrize(("row", "path"), FILES)
def test_an_answer_as_documented_is_read_whole(row, path):
    parsed = row.parse(path.read_bytes(), _query(row))
    assert parsed.hits
    assert [hit.position for hit in parsed.hits] == [*range(1, len(parsed.hits) + 1)]
    assert all(hit.engines == (row.name,) for hit in parsed.hits)
    assert all(hit.url.startswith(("https://", "http://")) and hit.title for hit in parsed.hits)


def test_every_engine_has_an_answer_to_be_tried_on():
    assert {row.name for row in ENGINES} == set(NAMES_TRIED)


@pytest.mark.parametrize(("row", "path"), FILES)
def test_no_answer_breaks_a_parser(row, path):
    body = path.read_bytes()
    query = _query(row)
    for broken in _broken(body):
        try:
            parsed = row.parse(broken, query)
        except (ValueError, RefusedError):
            continue
        for hit in parsed.hits:
            assert hit.url.startswith(("https://", "http://"))
            assert hit.title
            assert not re.search("[\ud800-\udfff\u202e\x1b\n]", hit.title + hit.description)
            assert len(hit.title) <= 500
            assert len(hit.description) <= 2_000


def _query(row):
    category = min(row.categories)
    return OpenQuery(
        text="red panda",
        keywords=("red", "panda"),
        now=datetime(2026, 11, 22, tzinfo=UTC),
        category=category,
    )


def _broken(body: bytes) -> Iterator[bytes]:
    """The answer cut anywhere, with bytes changed, and, if it is JSON, with each value replaced."""
    dice = random.Random(1)
    for _ in range(60):
        yield body[: dice.randrange(len(body))]
        place = dice.randrange(len(body))
        yield body[:place] + bytes([dice.randrange(256)]) + body[place + 1 :]
    try:
        value = json.loads(body)
    except ValueError:
        return
    places = [*_places(value)]
    for hostile in HOSTILE:
        for member in dice.sample(places, min(25, len(places))):
            yield json.dumps(_with(value, member, hostile)).encode()
    yield b"[" * 100_000


def _places(value: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if at:
        yield at
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, member in members:
        yield from _places(member, (*at, key))


def _with(value, place, hostile):
    key, *rest = place
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = _with(value[key], rest, hostile) if rest else hostile
    return copy
