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
from urllib.parse import unquote

import pytest

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.request import Category, TimeRange
from searx_mcp.sources.open import engines
from searx_mcp.sources.open.config import Name, OpenSourcesConfig
from searx_mcp.sources.open.engine import OpenQuery, RefusedError
from searx_mcp.sources.open.question import Identifier, IdentifierKind
from searx_mcp.sources.open.table import ENGINES, KEYED, engines_of

FOLDER = Path(engines.__file__).parent
ANSWERS = Path(__file__).parent / "answers"
ROWS = [pytest.param(row, id=row.name) for row in ENGINES]
WITH_KEYED = [*ROWS, *(pytest.param(row, id=row.name) for row in KEYED)]
FILES = [
    pytest.param(row, path, id=path.stem)
    for row in (*ENGINES, *KEYED)
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
# Engine, what is changed in a question about red pandas so that it has no answer for it.
UNASKED = [
    ("arxiv", {"keywords": ()}),
    ("arxiv", {"keywords": ("&", "++")}),
    ("arxiv", {"identifier": Identifier(IdentifierKind.ARXIV, "1706.03762"), "page": 2}),
    ("commons", {"text": ""}),
    ("commons", {"text": ":"}),
    ("commons", {"text": " | "}),
    ("crates", {"keywords": ()}),
    ("crates", {"keywords": ('"',)}),
    ("crossref", {"text": ""}),
    ("crossref", {"identifier": Identifier(IdentifierKind.DOI, "10.5555/1"), "page": 2}),
    ("europepmc", {"text": ""}),
    ("europepmc", {"text": '" & ? "'}),
    ("europepmc", {"page": 2}),
    ("gdelt", {"keywords": ()}),
    ("gdelt", {"keywords": ("EU", "&", "熊猫")}),
    ("gdelt", {"language": "xx"}),
    ("gdelt", {"page": 2}),
    ("github", {"keywords": ()}),
    ("github", {"keywords": ('"', "--", "()")}),
    ("github", {"keywords": ("x" * 300,)}),
    ("github", {"page": 101}),
    ("hackernews", {"keywords": ()}),
    ("hackernews", {"keywords": ("--", '"')}),
    ("hackernews", {"language": "de"}),
    ("huggingface", {"keywords": ()}),
    ("huggingface", {"keywords": ('"',)}),
    ("huggingface", {"keywords": ("x" * 300,)}),
    ("internetarchive", {"keywords": ()}),
    ("internetarchive", {"keywords": ("&", "++")}),
    ("keenable", {"text": ""}),
    ("keenable", {"page": 2}),
    ("musicbrainz", {"keywords": ()}),
    ("musicbrainz", {"keywords": ("&", "!")}),
    ("npm", {"keywords": ()}),
    ("npm", {"keywords": ("a",)}),
    ("npm", {"keywords": ("x" * 300,)}),
    ("npm", {"keywords": ('"', ":")}),
    ("openverse", {"text": ""}),
    ("openverse", {"page": 13}),
    ("photon", {"text": ""}),
    ("sepiasearch", {"keywords": ()}),
    ("stackexchange", {"text": ""}),
    ("stackexchange", {"text": "[] --"}),
    ("stackexchange", {"language": "de"}),
    ("stackexchange", {"language": "zh-TW"}),
    ("stackexchange", {"language": "es", "aim": "superuser"}),
    ("brave", {"page": 11}),
    ("brave", {"text": "a" * 401}),
    ("google", {"page": 11}),
    ("wikipedia", {"language": "../x"}),
    ("wikipedia", {"language": "en.evil"}),
    ("wikipedia", {"language": ""}),
]
ARXIV = (
    '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" '
    'xmlns:o="http://a9.com/-/spec/opensearch/1.1/"><o:totalResults>{}</o:totalResults>{}</feed>'
)
ARXIV_ERROR = (
    "<entry><id>http://arxiv.org/api/errors#incorrect_id_format_for_panda</id>"
    "<title>Error</title><summary>incorrect id format for panda</summary></entry>"
)
# Engine, an answer as documented that has nothing, whether there is a next page.
EMPTY = [
    ("brave", b'{"type": "search", "query": {"original": "x"}}', False),
    ("commons", b'{"batchcomplete": true}', False),
    ("crates", b'{"crates": [], "meta": {"total": 0, "next_page": null}}', False),
    ("crossref", b'{"status": "ok", "message": {"total-results": 90, "items": []}}', False),
    ("europepmc", b'{"version": "6.9", "hitCount": 0, "resultList": {"result": []}}', None),
    ("gdelt", b"{}", None),
    ("gdelt", b"{ }\n", None),
    ("gdelt", b'{"articles": []}', None),
    (
        "google",
        b'{"kind": "customsearch#search", "searchInformation": {"totalResults": "0"}}',
        False,
    ),
    ("huggingface", b"[]", None),
    ("internetarchive", b'{"response": {"numFound": 0, "start": 0, "docs": []}}', False),
    ("keenable", b'{"query": "x", "results": []}', None),
    ("musicbrainz", b'{"count": 0, "offset": 0, "release-groups": []}', False),
    ("openverse", b'{"result_count": 0, "page_count": 0, "page": 1, "results": []}', False),
    ("photon", b'{"type": "FeatureCollection", "features": []}', None),
    ("sepiasearch", b'{"total": 0, "data": []}', False),
    ("stackexchange", b'{"items": [], "has_more": false, "quota_remaining": 299}', False),
    ("wikipedia", b'{"batchcomplete": true}', False),
]
# Engine, page that was asked for, an answer that counts what there is, whether there is a next page.
PAGES = [
    ("arxiv", 1, ARXIV.format(0, ""), False),
    ("github", 3, '{"total_count": 32, "items": []}', True),
    ("github", 4, '{"total_count": 32, "items": []}', False),
    ("github", 99, '{"total_count": 50000, "items": []}', True),
    ("github", 100, '{"total_count": 50000, "items": []}', False),
    ("hackernews", 1, '{"hits": [], "page": 0, "nbPages": 2}', True),
    ("hackernews", 2, '{"hits": [], "page": 1, "nbPages": 2}', False),
    ("hackernews", 1, '{"hits": [], "page": 0, "nbPages": 0}', False),
    ("hackernews", 1, '{"hits": []}', None),
    ("npm", 2, '{"objects": [], "total": 21}', True),
    ("npm", 2, '{"objects": [], "total": 20}', False),
    ("npm", 2, '{"objects": []}', None),
    ("openverse", 11, '{"page_count": 90, "results": []}', True),
    ("openverse", 12, '{"page_count": 90, "results": []}', False),
]
# Engine, an error that it tells with status 200, its verdict, whether the question is at fault.
REFUSED = [
    ("arxiv", ARXIV.format(1, ARXIV_ERROR), Verdict.REFUSED, True),
    ("crates", '{"errors": [{"detail": "a User-Agent for panda"}]}', Verdict.REFUSED, False),
    ("europepmc", '{"errCode": 404, "errMsg": "Invalid query: panda"}', Verdict.REFUSED, True),
    ("europepmc", '{"errCode": 500, "errMsg": "x"}', Verdict.SERVER_ERROR, False),
    ("gdelt", "Your query was too short or too long.", Verdict.REFUSED, True),
    ("gdelt", "\nThe specified phrase is too short: red panda", Verdict.REFUSED, True),
    ("gdelt", "Please limit requests to one every 5 seconds.", Verdict.RATE_LIMITED, False),
    ("github", '{"incomplete_results": true, "items": []}', Verdict.SERVER_ERROR, False),
    *(
        (name, f'{{"error": {{"code": "{code}", "info": "red panda"}}}}', verdict, ours)
        for name in ("commons", "wikipedia")
        for code, verdict, ours in (
            ("ratelimited", Verdict.RATE_LIMITED, False),
            ("maxlag", Verdict.RATE_LIMITED, False),
            ("cirrussearch-too-busy-error", Verdict.RATE_LIMITED, False),
            ("cirrussearch-backend-error", Verdict.SERVER_ERROR, False),
            ("internal_api_error_DBQueryError", Verdict.SERVER_ERROR, False),
            ("cirrussearch-query-too-long", Verdict.REFUSED, True),
            ("badvalue", Verdict.REFUSED, True),
        )
    ),
]
# Engine, what is no answer, or an error that it tells with status 200 and in no words of its own.
NO_ANSWERS = [
    ("commons", b'{"error": "x"}'),
    ("crates", b'{"meta": {}}'),
    ("crossref", b'{"status": "failed", "message": [{"type": "x"}]}'),
    ("crossref", b"Resource not found."),
    ("crossref", b'{"message": {}}'),
    ("europepmc", b"{}"),
    ("gdelt", b'{"timeline": []}'),
    ("github", b'{"message": "Not Found", "status": "404"}'),
    ("hackernews", b'{"message": "invalid numeric filter", "status": 400}'),
    ("huggingface", b'{"error": "Invalid sort parameter"}'),
    ("internetarchive", b'{"error": "[RANGE_OUT_OF_BOUNDS] x", "forensics": {}}'),
    ("keenable", b'{"message": "Rate limit exceeded"}'),
    ("musicbrainz", b'{"error": "Your requests are exceeding the allowable rate limit."}'),
    ("npm", b'{"error": "too short", "code": "ERR_TEXT_LENGTH"}'),
    ("openverse", b'{"detail": "Request was throttled."}'),
    ("photon", b'{"message": "missing search term \'q\'"}'),
    ("photon", b'{"features": {}}'),
    ("sepiasearch", b'{"error": "Too many attempts", "status": 429}'),
    ("stackexchange", b'{"has_more": false}'),
    ("wikipedia", b'{"error": "x"}'),
    ("brave", b'{"web": {}}'),
    ("google", b'{"a": 1}'),
    *(
        (row.name, body)
        for row in (*ENGINES, *KEYED)
        for body in (b"", b"<html>Too many requests</html>", b'[{"items": ', b"[]")
        if (row.name, body) != ("huggingface", b"[]")
    ),
]
# Engine, status, headers, body, and what that says: verdict, whether to ask once more, words.
STATUSES = [
    ("brave", 404, {}, b"oops", None),
    ("brave", 500, {}, b"oops", (Verdict.SERVER_ERROR, True, "")),
    ("crossref", 404, {}, b"Resource not found.", (Verdict.EMPTY, False, "")),
    ("crossref", 429, {"Retry-After": "5"}, b"", None),
    ("google", 503, {}, b"<html>", (Verdict.SERVER_ERROR, True, "")),
    ("musicbrainz", 429, {"x-ratelimit-zone": "global"}, b"", None),
    ("musicbrainz", 503, {"X-RateLimit-Zone": "global"}, b"", (Verdict.SERVER_ERROR, True, "")),
    ("musicbrainz", 503, {"x-ratelimit-zone": "ip"}, b"", None),
    ("musicbrainz", 503, {}, b"", None),
    ("openverse", 403, {}, b"<html>", (Verdict.REFUSED, False, "your network")),
    ("openverse", 404, {}, b"<html>", None),
    ("openverse", 429, {}, b"<html>", None),
]
HOSTILE: list[object] = [
    None, True, -1, 1e308, "", "x" * 100_000, "javascript:alert(1)", "http://[::1", "\ud800\u202e\x1b[31m",
    "<script>x</script>", [], [[]], {}, {"a": {"b": []}}, ["<b>"], 10**400,
]  # fmt: skip


def test_an_engine_is_one_module_that_ends_with_its_row():
    names = {path.stem for path in FOLDER.glob("[a-z]*.py")} - {"mediawiki"}
    assert names == {row.name for row in ENGINES}
    for row in ENGINES:
        module = importlib.import_module(f"searx_mcp.sources.open.engines.{row.name}")
        assert module.ENGINE is row
        for part in ("ask", "parse", "aim", "identify", "read_refusal"):
            assert getattr(row, part) is getattr(module, part, None), part


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
    page = Path(__file__).parents[3] / "docs" / "explanation" / "open-sources.md"
    docs = page.read_text(encoding="utf-8")
    (line,) = re.findall(rf"^\| `{row.name}` \| (.*) \|$", docs, re.MULTILINE)
    terms, _, categories, sent, limit = line.split(" | ")
    assert row.terms_url in terms or row.is_web_index
    assert all(category in categories for category in row.categories)
    assert ("contact" in sent) is row.wants_contact
    assert limit.startswith(f"{row.per_day:,}")
    assert f"{row.per_day_with_key or row.per_day:,}" in limit
    assert row.routing.signals or row.routing.within or row.routing.anyway
    # A web index is no collection that anybody would name.
    assert bool(row.words.names) != row.is_web_index


@pytest.mark.parametrize("row", ROWS)
def test_the_decisions_say_where_the_limits_of_an_engine_come_from(row):
    page = Path(__file__).parents[3] / "docs" / "decisions" / "open-sources.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    (cells,) = (
        cells
        for cells in (line.strip("| ").split(" | ") for line in lines)
        if row.name in cells[0].split(", ") and len(cells) == 6  # engine, weight, limits, timeout
    )
    _, weight, _, _, a_day, timeout = cells
    assert weight == f"{row.weight}"
    assert a_day.startswith(f"{row.per_day:,}")
    assert f"{row.timeout:g} s" in timeout.split(", ")


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
        # As docs/explanation/open-sources.md and docs/explanation/privacy.md tell.
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


@pytest.mark.parametrize("row", WITH_KEYED)
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


@pytest.mark.parametrize("row", WITH_KEYED)
@pytest.mark.parametrize("word", ["panda", "c3p0", "熊猫科动物"])
def test_the_words_of_a_question_are_sent_in_any_script(ask, row, word):
    asked = row.ask(ask(word))
    assert word in f"{unquote(row.url(asked))} {asked.body}"


@pytest.mark.parametrize(("name", "fields"), UNASKED)
def test_what_an_engine_cannot_answer_it_is_not_asked(ask, engine, name, fields):
    assert engine(name).ask(ask(**fields)) is None


@pytest.mark.parametrize(("row", "path"), FILES)
def test_an_answer_as_documented_is_read_whole(row, path):
    parsed = row.parse(path.read_bytes(), _query(row))
    assert parsed.hits
    assert [hit.position for hit in parsed.hits] == [*range(1, len(parsed.hits) + 1)]
    assert all(hit.engines == (row.name,) for hit in parsed.hits)
    assert all(hit.url.startswith(("https://", "http://")) and hit.title for hit in parsed.hits)


@pytest.mark.parametrize(
    ("name", "page", "body", "has_next"),
    [*((name, 1, body, has_next) for name, body, has_next in EMPTY), *PAGES],
)
def test_an_answer_may_have_nothing_and_tell_whether_there_is_more(
    read, name, page, body, has_next
):
    parsed = read(name, body if isinstance(body, bytes) else body.encode(), page=page)
    assert (parsed.hits, parsed.rows_seen, parsed.has_next) == ((), 0, has_next)


@pytest.mark.parametrize(("name", "body"), NO_ANSWERS)
def test_what_is_no_answer_is_refused(ask, engine, name, body):
    with pytest.raises(ValueError, match=r"the answer|JSON|Expecting"):
        engine(name).parse(body, ask())


@pytest.mark.parametrize(("name", "body", "verdict", "ours"), REFUSED)
def test_an_error_with_status_200_is_a_refusal_without_its_words(read, name, body, verdict, ours):
    with pytest.raises(RefusedError) as refused:
        read(name, body.encode())
    assert (refused.value.verdict, refused.value.ours) == (verdict, ours)
    assert "panda" not in refused.value.detail


@pytest.mark.parametrize(("name", "status", "headers", "body", "said"), STATUSES)
def test_an_engine_may_say_what_a_status_of_its_own_means(
    engine, name, status, headers, body, said
):
    refusal = engine(name).read_refusal(status, headers, body)
    assert (refusal and (refusal.verdict, refusal.again)) == (said and said[:2])
    assert said is None or said[2] in refusal.detail


@pytest.mark.parametrize(
    ("table", "elsewhere"),
    [
        ("open/engines/test_answers.py", set()),
        ("open/engines/test_hostile.py", {"wikipedia"}),  # parsed as Commons is
        ("open/engines/test_questions.py", set()),
        ("open/test_route.py", set()),
    ],
)
def test_every_engine_has_a_row_in_the_tables_of_what_is_tried(table, elsewhere):
    text = (Path(__file__).parents[1] / table).read_text(encoding="utf-8")
    absent = {row.name for row in ENGINES if not re.search(rf'["\s]{row.name}["\s]', text)}
    assert absent == elsewhere


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
    for _ in range(30):
        yield body[: dice.randrange(len(body))]
        place = dice.randrange(len(body))
        yield body[:place] + bytes([dice.randrange(256)]) + body[place + 1 :]
    try:
        value = json.loads(body)
    except ValueError:
        return
    places = [*_places(value)]
    for hostile in HOSTILE:
        for member in dice.sample(places, min(12, len(places))):
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
