"""When a site is asked for its robots.txt, and what counts when it does not answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from yarl import URL

from searx_mcp.errors import (
    ContentError,
    ErrorCode,
    FetchError,
    PolicyError,
    ProxyError,
    RedirectError,
    TransportError,
)
from searx_mcp.fetch.hops.robots import RobotsGate
from searx_mcp.http.robots import FETCHED_BYTES
from searx_mcp.storage.memory import MemoryPageStore
from searx_mcp.storage.pages import KeptRobots
from searx_mcp.tasks import Tasks
from searx_mcp.testing.clock import FakeClock
from tests.doubles import virtual_time

OPEN = (200, b"User-agent: *\nDisallow: /private\n")
CLOSED = (200, b"User-agent: *\nDisallow: /\n")
NONE = (404, b"")
DOWN = (503, b"")
HOUR, DAY = 3_600.0, 86_400.0


def pages() -> MemoryPageStore:
    return MemoryPageStore(max_bytes=10_000_000, max_age=30 * DAY)


def unreached(code: ErrorCode = ErrorCode.TIMEOUT, url: str = "", kind=TransportError):
    return kind("It is not there.", code=code, url=url, advice="Wait.", retry_after=7.0)


@dataclass
class Shelf:
    """Keeps robots.txt files in a dict."""

    kept: dict[str, KeptRobots] = field(default_factory=dict)

    async def robots(self, origin: str, now: float) -> KeptRobots | None:
        await asyncio.sleep(0)
        return self.kept.get(origin)

    async def keep_robots(self, origin: str, robots: KeptRobots, now: float) -> None:
        await asyncio.sleep(0)
        self.kept[origin] = robots


@dataclass
class RobotsSite:
    """Answers every request for a robots.txt alike.

    Attributes:
        answer: status and body, or what is raised.
        takes: seconds until then.
        asked: the addresses that were asked for.
        under_way: requests that have not ended.
    """

    answer: tuple[int, bytes] | Exception = (404, b"")
    takes: float = 0.0
    asked: list[str] = field(default_factory=list)
    under_way: int = 0

    async def get(self, url: URL, deadline: float) -> tuple[int, bytes]:
        self.asked.append(str(url))
        self.under_way += 1
        try:
            await asyncio.sleep(self.takes)
        finally:
            self.under_way -= 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass
class RobotsWorld:
    """A gate, what it asks and where it keeps things, in virtual time."""

    clock: virtual_time.VirtualClock
    tasks: Tasks
    site: RobotsSite = field(default_factory=RobotsSite)
    shelf: Shelf = field(default_factory=Shelf)

    def __post_init__(self) -> None:
        self.gate = self.new_gate()

    def new_gate(self) -> RobotsGate:
        """A gate of another process: it shares what is kept and nothing else."""
        return RobotsGate(
            self.site.get, self.shelf, clock=self.clock, timeout=5.0, spawn=self.tasks.spawn
        )

    async def check(self, url: str = "https://a.example/page", within: float = 60.0) -> str:
        return await self.gate.check(URL(url), deadline=asyncio.get_running_loop().time() + within)

    async def refused(self, url: str = "https://a.example/page", **how: float) -> FetchError:
        with pytest.raises(FetchError) as caught:
            await self.check(url, **how)
        assert caught.value.url == str(URL(url))
        assert caught.value.advice or caught.value.code is ErrorCode.TIMEOUT
        return caught.value


@asynccontextmanager
async def robots_world(clock: virtual_time.VirtualClock) -> AsyncIterator[RobotsWorld]:
    """Make a world, and see that nothing is left under way."""
    async with Tasks() as tasks:
        world = RobotsWorld(clock, tasks)
        yield world
        await asyncio.sleep(0)
        assert world.site.under_way == 0
        assert not tasks._running


in_virtual_time = virtual_time.in_world(robots_world)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (200, "allowed"), (206, "allowed"), (204, "allowed"), (300, "absent"), (304, "absent"),
        (400, "absent"), (401, "absent"), (403, "absent"), (404, "absent"), (410, "absent"),
        (429, "absent"), (451, "absent"), (499, "absent"), (500, "robots_disallowed"),
        (502, "robots_disallowed"), (503, "robots_disallowed"), (599, "robots_disallowed"),
        (999, "robots_disallowed"), (100, "robots_disallowed"),
    ],
)  # fmt: skip
@in_virtual_time
async def test_the_status_tells_whether_there_is_a_robots_txt(world, status, verdict):
    world.site.answer = (status, b"")
    if verdict == "robots_disallowed":
        error = await world.refused()
        assert isinstance(error, PolicyError)
        assert error.code == verdict
        assert error.message == (
            "The site's robots.txt could not be read, so its pages may not be fetched. "
            f"The site failed (HTTP {status})."
        )
        assert error.retry_after == 60
    else:
        assert await world.check() == verdict


@in_virtual_time
async def test_the_body_of_an_error_has_no_rules(world):
    world.site.answer = (404, CLOSED[1])
    assert await world.check() == "absent"
    assert world.shelf.kept["https://a.example"].text == ""


@pytest.mark.parametrize(
    ("url", "robots"),
    [
        ("https://a.example/x/y?z#f", "https://a.example/robots.txt"),
        ("http://a.example/", "http://a.example/robots.txt"),
        ("https://a.example:8443/x", "https://a.example:8443/robots.txt"),
        ("https://a.example:443/x", "https://a.example/robots.txt"),
        ("https://b\u00fccher.example/x", "https://xn--bcher-kva.example/robots.txt"),
        ("http://[2001:db8::1]:8080/x", "http://[2001:db8::1]:8080/robots.txt"),
    ],
)
@in_virtual_time
async def test_it_is_at_the_root_of_the_origin(world, url, robots):
    await world.check(url)
    assert world.site.asked == [robots]


@in_virtual_time
async def test_robots_txt_itself_is_always_allowed_and_nobody_is_asked(world):
    world.site.answer = CLOSED
    assert await world.check("https://a.example/robots.txt") == "allowed"
    assert world.site.asked == []


@pytest.mark.parametrize("is_new", [False, True], ids=["the same process", "another one"])
@pytest.mark.parametrize("answer", [OPEN, NONE])
@in_virtual_time
async def test_a_site_is_asked_once_a_day_whatever_it_answered(world, answer, *, is_new):
    world.site.answer = answer
    first = await world.check("https://a.example/a")
    await asyncio.sleep(DAY - 0.5)
    world.gate = world.new_gate() if is_new else world.gate
    assert await world.check("https://a.example/b") == first
    assert len(world.site.asked) == 1
    await asyncio.sleep(0.5)
    await world.check("https://a.example/c")
    assert len(world.site.asked) == 2


@pytest.mark.parametrize("ahead", [-DAY, DAY, 400 * DAY])
@in_virtual_time
async def test_a_clock_that_was_changed_makes_nothing_good_for_ever(world, ahead):
    world.shelf.kept["https://a.example"] = KeptRobots(404, "", world.clock() + ahead)
    world.site.answer = CLOSED
    assert (await world.refused()).code is ErrorCode.ROBOTS_DISALLOWED


async def test_a_clock_that_was_set_back_makes_nothing_good_for_ever_in_memory_either():
    clock, answers = FakeClock(), [OPEN, CLOSED]

    async def get(url: URL, deadline: float) -> tuple[int, bytes]:
        return answers.pop(0)

    async with Tasks() as tasks:
        gate = RobotsGate(get, pages(), clock=clock, timeout=5.0, spawn=tasks.spawn)
        deadline = asyncio.get_running_loop().time() + 30
        assert await gate.check(URL("https://a.example/a"), deadline=deadline) == "allowed"
        clock.jump(-2 * DAY)
        with pytest.raises(PolicyError):
            await gate.check(URL("https://a.example/a"), deadline=deadline)


@in_virtual_time
async def test_what_was_kept_of_a_failure_counts_as_nothing(world):
    for status in (0, 503):
        world.shelf.kept["https://a.example"] = KeptRobots(status, "", world.clock())
        world.gate = world.new_gate()
        world.site.answer = CLOSED
        assert (await world.refused()).quoted == "Disallow: /"


@pytest.mark.parametrize(
    "failure",
    [
        DOWN,
        unreached(),
        unreached(ErrorCode.MALFORMED_RESPONSE, "https://a.example/robots.txt"),
        unreached(ErrorCode.DNS_ERROR, "https://elsewhere.example/robots.txt"),
        unreached(ErrorCode.BLOCKED_ADDRESS, "http://10.0.0.1/robots.txt", PolicyError),
        unreached(ErrorCode.UNSUPPORTED_ENCODING, "https://a.example/robots.txt", ContentError),
        unreached(ErrorCode.DNS_ERROR, "no address"),
    ],
    ids=[
        "503", "timeout", "not HTTP", "redirect to nowhere", "to a private one", "encoding", "url",
    ],
)  # fmt: skip
@in_virtual_time
async def test_without_an_answer_nothing_is_allowed_for_a_minute(world, failure):
    world.site.answer = failure
    error = await world.refused()
    assert (type(error), error.code) == (PolicyError, ErrorCode.ROBOTS_DISALLOWED)
    assert "10.0.0.1" not in error.message
    assert error.retry_after == 60
    world.site.answer = OPEN
    await asyncio.sleep(50)
    assert (await world.refused()).retry_after == 10
    assert len(world.site.asked) == 1
    await asyncio.sleep(11)
    assert await world.check() == "allowed"
    assert len(world.site.asked) == 2


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (ErrorCode.DNS_ERROR, TransportError), (ErrorCode.CONNECTION_ERROR, TransportError),
        (ErrorCode.TLS_ERROR, TransportError), (ErrorCode.BLOCKED_ADDRESS, PolicyError),
    ],
)  # fmt: skip
@in_virtual_time
async def test_what_keeps_us_from_the_whole_site_is_told_as_it_is(world, code, kind):
    world.site.answer = unreached(code, "https://a.example/robots.txt", kind)
    for _ in range(2):
        error = await world.refused()
        assert (type(error), error.code) == (kind, code)
        assert (error.message, error.advice) == ("It is not there.", "Wait.")
    assert len(world.site.asked) == 1


@pytest.mark.parametrize(
    "failure",
    [
        unreached(ErrorCode.CONNECTION_ERROR, kind=ProxyError),
        unreached(ErrorCode.RATE_LIMITED, kind=FetchError),
    ],
    ids=["our proxy", "our own pace"],
)
@in_virtual_time
async def test_what_says_nothing_about_the_site_is_not_remembered(world, failure):
    world.site.answer = failure
    error = await world.refused()
    assert (type(error), error.code, error.retry_after) == (type(failure), failure.code, 7)
    world.site.answer = OPEN
    assert await world.check() == "allowed"


@pytest.mark.parametrize("code", [ErrorCode.TOO_MANY_REDIRECTS, ErrorCode.REDIRECT_LOOP])
@in_virtual_time
async def test_too_many_redirects_are_no_robots_txt(world, code):
    world.site.answer = unreached(code, kind=RedirectError)
    assert await world.check() == "absent"
    assert world.shelf.kept["https://a.example"].status == 302


@in_virtual_time
async def test_a_429_is_not_kept_for_a_day(world):
    world.site.answer = (429, b"")
    assert await world.check() == "absent"
    assert world.shelf.kept == {}
    world.site.answer = CLOSED
    await asyncio.sleep(61)
    await world.refused()


@pytest.mark.parametrize("failure", [DOWN, unreached()])
@in_virtual_time
async def test_a_copy_counts_for_thirty_days_while_the_site_fails(world, failure):
    world.site.answer = OPEN
    await world.check()
    world.site.answer = failure
    await asyncio.sleep(29 * DAY)
    assert await world.check() == "allowed"
    assert (await world.refused("https://a.example/private")).quoted == "Disallow: /private"
    assert len(world.site.asked) == 2
    await asyncio.sleep(61)
    assert await world.check() == "allowed"
    assert len(world.site.asked) == 3
    await asyncio.sleep(DAY)
    await world.refused()


@in_virtual_time
async def test_a_site_that_had_none_is_closed_while_it_fails(world):
    """A note that there was no file is no copy of one."""
    await world.check()
    world.site.answer = DOWN
    await asyncio.sleep(DAY + 1)
    await world.refused()


@in_virtual_time
async def test_fifty_concurrent_calls_share_one_request(world):
    world.site.answer, world.site.takes = OPEN, 2.0
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(world.check(f"https://a.example/{n}")) for n in range(50)] + [
            group.create_task(world.check("https://b.example/"))
        ]
    assert {call.result() for call in calls} == {"allowed"}
    assert sorted(world.site.asked) == [
        "https://a.example/robots.txt",
        "https://b.example/robots.txt",
    ]
    assert repr(world.gate) == "<RobotsGate [2 origins known]>"


@in_virtual_time
async def test_a_site_that_does_not_answer_takes_the_configured_time_and_closes(world):
    world.site.takes = 100.0
    started = world.clock()
    error = await world.refused()
    assert world.clock() - started == pytest.approx(5)
    assert error.code is ErrorCode.ROBOTS_DISALLOWED
    assert "No answer within 5 seconds" in error.message


@in_virtual_time
async def test_a_call_ends_at_its_own_deadline_and_says_nothing_about_the_site(world):
    world.site.answer, world.site.takes = OPEN, 3.0
    started = world.clock()
    async with asyncio.TaskGroup() as group:
        patient = group.create_task(world.check("https://a.example/a"))
        error = await world.refused("https://a.example/b", within=1.0)
        assert world.clock() - started == pytest.approx(1)
        assert (type(error), error.code) == (TransportError, ErrorCode.TIMEOUT)
    assert patient.result() == "allowed"
    assert world.clock() - started == pytest.approx(3)


@pytest.mark.parametrize("turns", range(8))
@in_virtual_time
async def test_cancelled_at_any_moment_it_leaves_nothing_under_way(world, turns):
    world.site.answer = OPEN
    async with asyncio.TaskGroup() as group:
        call = group.create_task(world.check())
        for _ in range(turns):
            await asyncio.sleep(0)
        call.cancel()
    await asyncio.sleep(0)
    assert world.site.under_way == 0
    assert await world.check() == "allowed"


@in_virtual_time
async def test_only_so_many_rules_are_kept_parsed(world):
    world.site.answer = OPEN
    for n in range(2_100):
        await world.check(f"https://{n}.example/")
    assert repr(world.gate) == "<RobotsGate [2048 origins known]>"


@pytest.mark.parametrize("count", [5_000, 40_000], ids=["kept parsed", "too long for that"])
async def test_a_long_file_is_read_beside_the_loop(count):
    body = b"User-agent: *\n" + b"".join(b"Disallow:/%x\n" % n for n in range(count))
    asked: list[URL] = []

    async def get(url: URL, deadline: float) -> tuple[int, bytes]:
        asked.append(url)
        return 200, body[:FETCHED_BYTES]

    async with Tasks() as tasks:
        gate = RobotsGate(get, pages(), clock=lambda: 1e9, timeout=5.0, spawn=tasks.spawn)
        deadline = asyncio.get_running_loop().time() + 200
        for _ in range(2):
            assert await gate.check(URL("https://a.example/z"), deadline=deadline) == "allowed"
            with pytest.raises(PolicyError, match="does not allow automated access") as caught:
                await gate.check(URL("https://a.example/123"), deadline=deadline)
            assert caught.value.quoted == "Disallow: /123"
    assert len(asked) == 1


US = "User-agent: searx-mcp\n"
ALL = "User-agent: *\n"


@pytest.mark.parametrize(
    ("text", "target", "rule"),
    [
        (f"{ALL}Disallow: /", "/a", "Disallow: /"),
        (f"{US}Disallow: /\nDisallow: /a/b\nDisallow: /a\n", "/a/b/c", "Disallow: /a/b"),
        (f"{US}disallow:/a/*/b$ # why\n", "/a/x/b", "Disallow: /a/*/b$"),
        (f"{US}Disallow: /z\nAllow: /a\nDisallow: /a/b\nDisallow: /y", "/a/b", "Disallow: /a/b"),
        (f"{US}Disallow: /a\u202e\u200bb", "/a%E2%80%AE%E2%80%8Bb", "Disallow: /ab"),
        (f"{US}Disallow: /{'a' * 500}", f"/{'a' * 500}", f"Disallow: /{'a' * 98}\u2026"),
    ],
)
@in_virtual_time
async def test_a_refusal_quotes_the_rule_as_a_person_wrote_it(world, text, target, rule):
    world.site.answer = (200, text.encode())
    error = await world.refused(f"https://a.example{target}")
    assert error.message == "The site's robots.txt does not allow automated access to this address."
    assert error.quoted == rule
