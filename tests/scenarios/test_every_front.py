"""One table of scenarios for every front: whichever way the service is called, it does the same.

A row has the world that it happens in and its calls, one after the other; a call, what must be seen of it.
Add one here for whatever a user is promised; what one front alone promises is tested with that front.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pytest

from searx_mcp.verbs.evidence import ANSWER, CORPUS_STATUS, INGEST, READ_PAGE, SEARCH_CORPUS
from searx_mcp.verbs.table import VERBS
from searx_mcp.verbs.verb import Verb
from searx_mcp.verbs.web import WEB_FETCH, WEB_SEARCH
from tests.doubles.fronts import FRONTS, Command, Outcome, Rest

QUESTION: Final = "How many kilograms of honey does a colony store for winter?"
FACT: Final = "A colony stores 27 kilograms of honey for winter."
DANCE: Final = "Bees dance to tell each other where flowers are."


@dataclass(frozen=True)
class Call:
    """One call of a scenario, and what must be seen of it.

    Everywhere, `{site}` is the site, `{good}` the last instance of the world, `{new}` another number for each
    scenario, and `{last}` the data of the call before, by path.

    Attributes:
        verb: that is called.
        arguments: of the call.
        data: of its result, by path; of a failure, likewise.
        words: in what is read of it.
        lacks: what is not.
        code: of the error; empty where it succeeds.
        asked: how many requests it may cost, for pages and searches; `None` if that does not matter.
        sent: parameters of the search that has reached the last instance.
        longest: characters that are read of it at most; 0 where that does not matter.
    """

    verb: Verb[Any, Any]
    arguments: Mapping[str, Any]
    data: Mapping[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    code: str = ""
    asked: int | None = None
    sent: Mapping[str, str] = field(default_factory=dict)
    longest: int = 0


@dataclass(frozen=True)
class Scenario:
    """Calls one after the other, in a world.

    Attributes:
        calls: in their order.
        world: as of the fixtures.
        fronts: those that can be called so.
    """

    calls: tuple[Call, ...]
    world: str = "usual"
    fronts: tuple[str, ...] = tuple(FRONTS)


def search(arguments: Mapping[str, Any], **then: Any) -> Call:
    """A search for something new, without pages."""
    usual = {"query": "bees {new}", "fetch_content": False, "results_count": 3}
    return Call(WEB_SEARCH, {**usual, **arguments}, **then)


def fetch(path: str, more: Mapping[str, Any] | None = None, **then: Any) -> Call:
    """A page of the site."""
    return Call(WEB_FETCH, {"url": f"{{site}}{path}", **(more or {})}, **then)


SEARCHING: Final = {
    "a search finds pages": search(
        {}, data={"results.0.url": "{site}/bees", "instance_used": "{good}"}, asked=1
    ),
    "a search reads the pages it finds": search(
        {"fetch_content": True},
        data={"content_fetch_stats.successful": 2, "content_fetch_stats.failed": 1},
        words=(DANCE, FACT, "not_found"),
    ),
    "suggestions are told": search({}, words=("bee keeping",)),
    "a category": search({"category": "news"}, sent={"categories": "news"}),
    "a language": search({"language": "de"}, sent={"language": "de"}),
    "an age": search({"time_range": "month"}, sent={"time_range": "month"}),
    "safe search": search({"safe_search": "strict"}, sent={"safesearch": "2"}),
    "engines": search({"engines": "alpha,beta"}, sent={"engines": "alpha,beta"}),
    "what one wants to know stays here": search(
        {"search_prompt": "a secret"}, sent={"q": "bees {new}"}
    ),
    "no more results than asked for": search(
        {"results_count": 1}, data={"results_count": 1}, lacks=("{site}/winter",)
    ),
    "only allowed domains": search(
        {"allowed_domains": ["other.example"]}, data={"results_count": 0}, lacks=("{site}/bees",)
    ),
    "no blocked domain": search(
        {"blocked_domains": ["127.0.0.1"]}, data={"results_count": 0}, lacks=("{site}/bees",)
    ),
    "past the end of the list, other words are not the advice": search(
        {"offset": 50}, words=("The list ends before offset 50",), lacks=("more general words",)
    ),
    "several searches name what is repeated": search(
        {"queries": ["wasps {new}"]}, words=("bees {new}", "wasps {new}", "{site}/winter")
    ),
}
"""At a good instance."""

INSTANCES: Final = {
    "nothing found is no failure": ("empty", search({}, data={"results_count": 0})),
    "an instance whose engines are blocked": (
        "blocked",
        search({}, code="no_instances_available", data={"reason": "own_failed"}),
    ),
    "an instance that limits us": (
        "limited",
        search({}, code="no_instances_available", data={"reason": "own_failed"}),
    ),
    "an answer without an instance": (
        "limited",
        Call(ANSWER, {"query": QUESTION}, code="no_instances_available"),
    ),
    "the next instance answers": ("failing", search({}, data={"instance_used": "{good}"})),
    # In a world without other pages: a busy site is left alone.
    "a busy site": (
        "nobody",
        fetch("/busy", code="rate_limited", data={"status_code": 429}, asked=1),
    ),
    "nobody to ask": (
        "nobody",
        search({}, code="no_instances_available", data={"reason": "nothing_configured"}, asked=0),
    ),
}
"""By the world that they happen in."""

READING: Final = {
    "a page": fetch("/winter", data={"title": "Winter", "status_code": 200}, words=(FACT,)),
    "a page behind a redirect": fetch(
        "/moved", data={"final_url": "{site}/winter", "redirect_count": 1}, words=(FACT,)
    ),
    "where a redirect would lead": fetch(
        "/moved", {"follow_redirects": False}, data={"status_code": 301}, lacks=(FACT,)
    ),
    "a PDF": fetch(
        "/pdf", data={"content_type": "application/pdf"}, words=("lays two thousand eggs",)
    ),
    "a section": fetch(
        "/long", {"section": "Part 7"}, words=("Part 7 says",), lacks=("Part 6 says", "Part 8 says")
    ),
    "what answers a prompt": fetch(
        "/long", {"prompt": "part 9", "max_chars": 900}, words=("Part 9 says",)
    ),
    "as many bytes as are allowed": fetch(
        "/long?{new}",
        {"max_content_length": 2_000},
        data={"truncated": True, "content_length": 2_000},
    ),
    "a question about cookies is not taken for the page": fetch(
        "/cookies", words=("The site asks for cookie consent first",)
    ),
    "a page that is gone": fetch("/gone", code="not_found", data={"status_code": 404}),
    "a site that refuses": fetch("/denied", code="blocked_by_site", data={"status_code": 403}),
    "a picture": fetch("/picture", code="unsupported_content_type"),
    "a page that robots may not read": fetch("/closed/page", code="robots_disallowed"),
    "a redirect inside": fetch("/inside", code="blocked_address"),
    "a redirect without an end": fetch("/round", code="redirect_loop"),
    "a section that is not there": fetch("/long", {"section": "Coffee"}, code="invalid_argument"),
    "passages that answer": Call(
        READ_PAGE,
        {"url": "{site}/bees", "query": "where are flowers"},
        data={"queries.0.answered": True},
        words=(DANCE,),
    ),
    "no passage that answers": Call(
        READ_PAGE,
        {"url": "{site}/bees", "query": "zebras"},
        data={"queries.0.answered": False, "queries.0.missingTerms.0": "zebras"},
    ),
    "passages of a page that is gone": Call(
        READ_PAGE, {"url": "{site}/gone", "query": "bees"}, code="not_found"
    ),
    "an answer of a search": Call(
        ANSWER, {"query": QUESTION}, data={"answered": True}, words=(FACT,)
    ),
    "no answer": Call(
        ANSWER,
        {"query": "How do zebras swim?", "url": "{site}/tea"},
        data={"answered": False, "parts.0.missing_terms.0": "zebras"},
    ),
    "an answer of a page that is gone": Call(
        ANSWER, {"query": "bees", "url": "{site}/gone"}, code="not_found"
    ),
    "a kept page is not there": Call(
        CORPUS_STATUS, {"source_url": "https://b.example/"}, words=("https://b.example/",), asked=0
    ),
    "a cursor that nobody gave": Call(
        WEB_FETCH, {"url": "", "cursor": "a" * 16}, code="cursor_expired", asked=0
    ),
}
"""One call each."""

ADDRESSES: Final = {
    "http://127.0.0.1/": "blocked_address",
    "http://[::1]/": "blocked_address",
    "http://10.0.0.1/": "blocked_address",
    "http://[::ffff:10.0.0.1]/": "blocked_address",
    "http://169.254.169.254/latest/": "blocked_address",
    "http://2130706433/": "blocked_address",
    "http://0x7f.1/": "blocked_address",
    "http://localhost/": "blocked_address",
    "http://printer.local/": "blocked_address",
    "file:///etc/passwd": "blocked_scheme",
    "ftp://example.org/": "blocked_scheme",
    "javascript:alert(1)": "blocked_scheme",
    "https://example.org:22/": "blocked_port",
    "http://": "invalid_argument",
    "http://user:secret@example.org/": "invalid_argument",
}
"""That are asked for by nobody, each with its code."""

TOGETHER: Final = {
    "a page is read on without a request": (
        fetch("/long", {"max_chars": 500}, data={"truncated": True}, words=("Part 0 says",)),
        Call(
            WEB_FETCH,
            {"url": "", "cursor": "{last.cursor}", "offset": "{last.next_offset}", "limit": 500},
            data={"from_cache": True},
            words=("Part 0 says",),
            asked=0,
        ),
    ),
    "a page is kept until it is to be fresh": (
        fetch("/tea", words=("made of leaves",)),
        fetch("/tea", data={"from_cache": True}, asked=0),
        fetch("/tea", {"force_refresh": True}, words=("made of leaves",), asked=1),
    ),
    "a fact two links away is quoted, and found again without a request": (
        Call(
            ANSWER,
            {"query": QUESTION, "url": "{site}/bees"},
            data={
                "answered": True,
                "citations.0.text": FACT,
                "citations.0.url": "{site}/winter",
                "sources.0.title": "Winter",
            },
        ),
        Call(
            SEARCH_CORPUS,
            {"query": QUESTION},
            data={"citations.0.text": FACT, "citations.0.url": "{site}/winter"},
            asked=0,
        ),
        Call(
            READ_PAGE, {"url": "{site}/winter", "query": "kilograms of honey"}, words=(FACT,), asked=0
        ),
        Call(CORPUS_STATUS, {}, words=("{site}/bees", "{site}/hive", "{site}/winter"), asked=0),
    ),
    "pages are kept, and which could not be is told": (
        Call(
            INGEST,
            {"url": ["{site}/tea?{new}", "{site}/gone"]},
            data={"pages.0.title": "Tea", "pages.1.error_type": "not_found"},
        ),
        Call(
            SEARCH_CORPUS,
            {"query": "What is tea made of?", "source_urls": ["{site}/tea?{new}"]},
            words=("made of leaves",),
            asked=0,
        ),
        Call(
            SEARCH_CORPUS,
            {"query": "How do zebras swim?", "source_urls": ["{site}/tea?{new}"]},
            data={"answered": False},
            asked=0,
        ),
        Call(
            CORPUS_STATUS, {"source_url": "{site}/tea?{new}"}, data={"documents": 1}, asked=0
        ),
    ),
}  # fmt: skip
"""Several calls each."""

BUDGETS: Final = (
    (
        "many",
        search({"results_count": 10, "max_tokens": 300}, data={"results_count": 10}, longest=1_800),
    ),
    (
        "usual",
        Call(READ_PAGE, {"url": "{site}/long", "query": "tea", "max_tokens": 300}, longest=1_000),
    ),
    (
        "usual",
        Call(ANSWER, {"url": "{site}/long", "query": "tea", "max_tokens": 400}, longest=1_500),
    ),
)
"""By the world that they happen in: what is written keeps to its budget."""

_READING: Final = ("module", "command", "stdio", "rest")
"""Fronts that read arguments each in a way of its own; the others pass on what these have read."""
_QUERY: Final = {"query": "bees"}
_URL: Final = {"url": "{site}/bees"}
WRONG: Final[Mapping[Verb[Any, Any], tuple[Mapping[str, Any], ...]]] = {
    WEB_SEARCH: (
        {"query": " "}, {"query": "x" * 501}, {"results_count": "many"}, {"results_count": 51},
        {"category": "no;such"}, {"language": "english language"}, {"time_range": "fortnight"},
        {"safe_search": 7}, {"allowed_domains": ["not a domain"]}, {"blocked_domains": ["-"]},
        {"page": 51}, {"offset": "x"}, {"timeout": 0}, {"max_tokens": 10}, {"source": "nowhere"},
        {"source": "open"}, {"engines": "a" * 61}, {"queries": [" "]}, {"colour": "green"},
        {"page": 2, "offset": 10}, {"results_count": 0}, {"safe_search": "very"},
    ),
    WEB_FETCH: (
        {"url": ""}, {"url": "not an address"}, {"cursor": "short"}, {"offset": "x"}, {"limit": 0},
        {"max_chars": "many"}, {"images": "loud"}, {"timeout": 1}, {"max_content_length": 1},
        {"section": "x" * 301}, {"colour": "green"}, {"prompt": "x" * 2_001}, {"user_agent": "a\nb"},
    ),
    READ_PAGE: (
        {"query": "x" * 2_001}, {"max_results": 0}, {"timeout": 0}, {"max_tokens": 10}, {"url": ""},
    ),
    ANSWER: (
        {"query": ""}, {"intent": "guess"}, {"expansion_budget": 21}, {"url": "x" * 5_000},
        {"constraints": ["x" * 301]}, {"timeout": 121}, {"colour": "green"},
    ),
    SEARCH_CORPUS: ({"query": ""}, {"top_k": 0}, {"top_k": "many"}, {"intent": "guess"}),
    CORPUS_STATUS: ({"colour": "green"},),
    INGEST: ({"url": ""}, {"timeout": 0}, {"colour": "green"}),
}  # fmt: skip
"""Arguments that are refused, each by its name."""
_NEEDS: Final = {WEB_SEARCH: _QUERY, WEB_FETCH: _URL, READ_PAGE: {**_URL, **_QUERY}, ANSWER: _QUERY}
_NEEDS_TOO: Final = {SEARCH_CORPUS: _QUERY, CORPUS_STATUS: {}, INGEST: _URL}


def refusals() -> Mapping[str, Scenario]:
    """A scenario for each wrong argument; it costs no request."""
    found = {}
    for verb, wrong in WRONG.items():
        usual = (_NEEDS | _NEEDS_TOO)[verb]
        for given in wrong:
            *_, name = given
            call = Call(verb, {**usual, **given}, code="invalid_argument", words=(name,), asked=0)
            fronts = tuple(FRONTS) if given is wrong[0] else _READING
            found[f"{verb.tool}: {f'{given}':.40}"] = Scenario((call,), fronts=fronts)
    return found


SCENARIOS: Final[Mapping[str, Scenario]] = {
    **{name: Scenario((call,)) for name, call in (SEARCHING | READING).items()},
    **{name: Scenario((call,), world) for name, (world, call) in INSTANCES.items()},
    **{name: Scenario(calls) for name, calls in TOGETHER.items()},
    # Each command is a process of its own, and searches are kept in memory.
    "a search is kept": Scenario(
        (
            search({"query": "kept {new}"}, asked=1),
            search({"query": " kept  {new} "}, data={"cached": True}, asked=0),
        ),
        fronts=tuple(front for front in FRONTS if front != "command"),
    ),
    "a program gets summaries": Scenario(
        (
            search(
                {"fetch_content": True},
                data={"results.0.content.summary": f"{DANCE} More on hive honey."},
            ),
            fetch("/winter", data={"summary": FACT}),
        ),
        fronts=("module", "command", "rest", "thin"),
    ),
    # A program that calls a method gets everything: only what is written has a budget.
    **{
        f"a budget of tokens: {call.verb.tool}": Scenario(
            (call,), world, fronts=("command", "stdio", "http", "rest")
        )
        for world, call in BUDGETS
    },
    **{
        f"{address:.24} is refused": Scenario(
            (Call(WEB_FETCH, {"url": address}, code=code, lacks=(":secret",), asked=0),),
            fronts=_READING,
        )
        for address, code in ADDRESSES.items()
    },
    **refusals(),
}


def test_every_verb_with_a_command_succeeds_and_refuses_on_every_front():
    verbs = {verb for verb in VERBS if verb.command}
    succeeds = {call.verb for each in SCENARIOS.values() for call in each.calls if not call.code}
    assert succeeds >= verbs
    assert WRONG.keys() == verbs


@pytest.fixture(scope="module")
def anyio_backend(backend_at: Callable[[float], Any]) -> Any:
    return backend_at(1.0)


STATUSES: Final = {
    "": 200,
    "not_found": 424,
    "invalid_argument": 422,
    "no_instances_available": 503,
}
EXITS: Final = {"": 0, "invalid_argument": 2, "no_instances_available": 3}


def at(data: Any, path: str) -> Any:
    """What stands at a path of data."""
    for name in path.split("."):
        data = data[int(name)] if name.isdigit() else data[name]
    return data


def check(scene: Any, call: Call, outcome: Outcome, asked: int) -> None:
    """Compare what was seen of a call with what must be seen."""
    assert outcome.code == call.code, outcome.text
    if isinstance(scene.front, Rest):
        assert outcome.status == STATUSES.get(call.code, outcome.status)
    # A script is told by the exit code, too, that some pages could not be kept.
    if isinstance(scene.front, Command) and (call.code or call.verb is not INGEST):
        assert outcome.status == EXITS.get(call.code, 1)
    for path, value in call.data.items():
        assert at(outcome.data, path) == scene.filled(value), path
    everything = f"{outcome.text}\n{outcome.data}"
    for words in call.words:
        found = scene.filled(words)
        assert found in everything or found.replace("_", "-") in everything, outcome.text
    for words in call.lacks:
        assert scene.filled(words) not in everything, words
    assert call.asked in {None, asked}
    assert not call.longest or len(outcome.text) <= call.longest
    if call.sent:
        sent = scene.searches[-1].parameters
        assert scene.filled(call.sent).items() <= sent.items()
        assert "secret" not in f"{sent}"


_MARKS: Final[Mapping[str, tuple[Any, ...]]] = {
    "module": (),
    "command": (),
    "stdio": (pytest.mark.slow, pytest.mark.smoke),
    "http": (pytest.mark.slow,),
    "rest": (pytest.mark.slow, pytest.mark.smoke),
    "thin": (pytest.mark.slow,),
}
"""Processes and servers are slow; two fronts stand for the others where everything is to be tried soon."""
ROWS: Final = [
    pytest.param((front, scenario.world), scenario, id=f"{front}: {name}", marks=_MARKS[front])
    for front in FRONTS
    for name, scenario in SCENARIOS.items()
    if front in scenario.fronts
]


@pytest.mark.parametrize(("opened", "scenario"), ROWS, indirect=["opened"], scope="module")
async def test_every_front_does_the_same(scene: Any, scenario: Scenario) -> None:
    for call in scenario.calls:
        before = scene.asked
        outcome = await scene.call(call.verb, call.arguments)
        check(scene, call, outcome, scene.asked - before)
