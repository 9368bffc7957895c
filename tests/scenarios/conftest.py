"""What the scenarios ask: a site, instances, and the front in the way to them."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import pytest

from searx_mcp.testing.loopback import ReceivedRequest
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article, redirect
from tests.doubles.fronts import FRONTS, Front, Outcome
from tests.doubles.pdf import make_pdf
from tests.doubles.watched import Watched

RunCli = Callable[..., Awaitable[Any]]
FACT: Final = "A colony stores 27 kilograms of honey for winter."
_LONG: Final = "".join(
    f"<h2>Part {part}</h2>" + f"<p>Part {part} says a little more of tea.</p>" * 60
    for part in range(12)
)


def _page(title: str, text: str, link: str = "") -> FakePage:
    more = f"<p>More on <a href='{link}'>{link.strip('/')} honey</a>.</p>" if link else ""
    return FakePage(f"<title>{title}</title><article><h1>{title}</h1><p>{text}</p>{more}</article>")


def _pages(hostile: str) -> dict[str, FakePage]:
    return {
        "/bees": _page("Bees", "Bees dance to tell each other where flowers are.", "/hive"),
        "/hive": _page("Hive", "A hive is made of combs of wax, cleaned daily.", "/winter"),
        "/winter": _page("Winter", FACT),
        "/tea": FakePage(article("Tea", ["Tea is made of leaves that are dried."] * 20)),
        "/long": FakePage(f"<title>Long</title><main><h1>Long</h1>{_LONG}</main>"),
        "/pdf": FakePage(make_pdf("The queen lays two thousand eggs."), "application/pdf"),
        "/picture": FakePage(b"\x89PNG\r\n\x1a\n", "image/png"),
        "/hostile": FakePage(article(f"Tea {hostile}", [f"Tea is good. {hostile}"] * 5)),
        "/robots.txt": FakePage("User-agent: *\nDisallow: /closed/\n", "text/plain"),
        "/closed/page": FakePage(article("Closed", ["Nobody may read this."])),
        "/moved": redirect("/winter", status=301),
        "/round": redirect("/round"),
        "/inside": redirect("http://10.0.0.1/"),
        "/denied": FakePage("no", status=403),
        "/busy": FakePage("slow", status=429, headers={"Retry-After": "7"}),
        "/gone": FakePage("gone", status=404),
        "/cookies": _page(
            "Before you continue to Honey", "Choose “Reject all” if we may not use cookies."
        ),
    }


class Site(Watched, FakeWeb):
    """The pages above, and one that never comes."""

    def __init__(self, hostile: str) -> None:
        super().__init__({**_pages(hostile), "/held": FakePage(silent=True)})


class Instance(Watched, FakeSearxng):
    """An instance that knows how many searches wait."""


@dataclass
class Scene:
    """A front, and what stands behind it.

    Attributes:
        front: that is called.
        site: of pages.
        instances: in the order of the settings.
        last: the data of the call before.
        new: a number for words that nobody has searched for.
    """

    front: Front
    site: Site
    instances: list[Instance]
    last: Mapping[str, Any] = field(default_factory=dict)
    new: int = 0

    def filled(self, value: Any) -> Any:
        """A value with `{site}`, `{good}` (the last instance), `{new}` and `{last.…}` in their places."""
        match value:
            case str():
                good = self.instances[-1].url if self.instances else ""
                value = value.replace("{site}", self.site.base).replace("{good}", good)
                value = value.replace("{new}", f"{self.new}")
                return re.sub(r"\{last\.(\w+)\}", lambda found: f"{self.last[found[1]]}", value)
            case Mapping():
                return {name: self.filled(each) for name, each in value.items()}
            case list():
                return [self.filled(each) for each in value]
            case _:
                return value

    @property
    def asked(self) -> int:
        """Requests that have arrived so far, for pages and searches."""
        return len(self.site.requests) + sum(each.searches for each in self.instances)

    @property
    def searches(self) -> list[ReceivedRequest]:
        """The searches that have reached the last instance."""
        return [each for each in self.instances[-1].requests if each.path == "/search"]

    async def call(self, verb: Any, arguments: Mapping[str, Any]) -> Outcome:
        """Call a verb."""
        outcome = await self.front.call(verb, self.filled(arguments))
        self.last = outcome.data
        return outcome


_WORLDS: Final[Mapping[str, tuple[dict[str, Any], ...]]] = {
    "usual": ({"suggestions": ["bee keeping"]},),
    "empty": ({"results": []},),
    "blocked": ({"engines_failed": True},),
    "limited": ({"status": 429},),
    "failing": ({"status": 500}, {}),
    "nobody": (),
    "many": ({"links": ()},),
}
"""The instances of each world: what differs from a good one."""


class Scenes:
    """Opens scenes, and closes them with its block."""

    def __init__(self, folder: Path, hostile: str, run_cli: RunCli | None = None) -> None:
        self._folder = folder
        self._hostile = hostile
        self._run_cli = run_cli
        self._stack = AsyncExitStack()
        self._count = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def open(self, front: str, world: str = "usual", **more: Any) -> Scene:
        """Open a world of its own with a front in front of it."""
        site = await self._stack.enter_async_context(Site(self._hostile))
        links = [site.url(path) for path in ("/bees", "/winter", "/gone")]
        instances = [
            await self._stack.enter_async_context(
                Instance(**{"formats": ["html", "json"], "links": links, **given})
            )
            for given in _WORLDS[world]
        ]
        return await self._behind(front, site, instances, **more)

    async def beside(self, front: str, scene: Scene, **more: Any) -> Scene:
        """Put another front in front of the world of a scene."""
        return await self._behind(front, scene.site, scene.instances, **more)

    async def _behind(
        self,
        name: str,
        site: Site,
        instances: list[Instance],
        *,
        token: str = "",
        **tables: Mapping[str, Any],
    ) -> Scene:
        self._count += 1
        folder = self._folder / f"{self._count}"
        folder.mkdir()
        usual: dict[str, Mapping[str, Any]] = {
            "fetch": {"allow_private": [site.origin], "host_rate": 6_000},
            "instances": {"own": [each.url for each in instances], "public": "off"},
            "open_sources": {"mode": "off"},
            "server": {"profile": "research", "structured_output": "on"},
        }
        for table, given in tables.items():
            usual[table] = {**usual.get(table, {}), **given}
        front = FRONTS[name](usual, folder, token, self._run_cli)
        await self._stack.enter_async_context(front)
        return Scene(front, site, instances)


@pytest.fixture(scope="session")
def open_scenes(tmp_path_factory: pytest.TempPathFactory, hostile: Any) -> Callable[..., Scenes]:
    """Give what opens scenes; one with a command needs what runs it, at the latest when it is called."""
    return lambda run_cli=None: Scenes(tmp_path_factory.mktemp("scenes"), hostile.seen, run_cli)


@pytest.fixture(scope="module")
async def opened(request: pytest.FixtureRequest, open_scenes: Any) -> AsyncIterator[Any]:
    """A front in front of a world, for all rows that happen there."""
    async with open_scenes() as scenes:
        yield await scenes.open(*request.param)


@pytest.fixture
def scene(opened: Any, run_cli: Any, patient_search: None) -> Any:
    """The same for one row: nobody has searched for its words yet."""
    opened.front.run_cli = run_cli
    opened.new += 1
    return opened
