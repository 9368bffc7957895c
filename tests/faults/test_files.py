"""Files that are cut, emptied or replaced under a client that uses them."""

import asyncio
import os
from pathlib import Path

import pytest

from searx_mcp.client.facade import persistent_client
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes have names on POSIX alone")


@pytest.fixture
def pace() -> float:
    """Processes that convert pages take the time they need, which is not that of the loop."""
    return 1.0


def empty(place: Path) -> None:
    if place.exists():
        os.truncate(place, 0)


def cut(place: Path) -> None:
    if place.exists():
        os.truncate(place, place.stat().st_size // 2)


def overwrite(place: Path) -> None:
    if place.exists():
        place.write_bytes(b"\xa5" * place.stat().st_size)


def delete(place: Path) -> None:
    place.unlink(missing_ok=True)


def pipe(place: Path) -> None:
    delete(place)
    os.mkfifo(place)


def device(place: Path) -> None:
    delete(place)
    place.symlink_to("/dev/full")


def folder(place: Path) -> None:
    delete(place)
    place.mkdir()


NAMES = [
    *(f"state-v1.db{end}" for end in ("", "-journal", "-wal", "-shm", ".lock")),
    *(f"pages-v1.db{end}" for end in ("", "-journal", "-wal", "-shm", ".lock")),
    *(f"corpus-v1.db{end}" for end in ("", "-journal", "-wal", "-shm", ".lock")),
    *("pages.key", "catalog-v1.json"),
]


async def passages(client, url: str):
    """What a page that is kept to be asked has of an answer."""
    return (await client.read_page(url, query="Do they dance?")).queries[0].results


@pytest.mark.slow
@pytest.mark.parametrize("pace", [1.0])  # files and threads keep their time, whatever the loop's is
@pytest.mark.parametrize("spoil", [empty, cut, overwrite, delete, pipe, device, folder])
async def test_searches_and_pages_go_on_whatever_becomes_of_all_files(
    settings_for, tmp_path, spoil
):
    state = tmp_path / "state"
    web = FakeWeb({f"/{n}": FakePage(article(f"Bees {n}", ["They dance."] * 30)) for n in range(4)})
    async with FakeSearxng() as own, web, asyncio.timeout(240):
        settings = settings_for(
            own,
            web,
            own=[own],
            storage={"folder": str(state)},
            search={"attempt_timeout": 60, "phase_timeout": 60},
            web_fetch={"default_timeout": 120, "max_response_time": 120},
        )
        async with persistent_client(settings) as client:
            for turn in range(2):
                assert (await client.search(f"bees {turn}", fetch_content=False)).results
                assert (await client.fetch(web.url(f"/{turn}"))).title == f"Bees {turn}"
                assert await passages(client, web.url(f"/{turn}"))
                if turn == 0:
                    assert (state / "corpus-v1.db").exists()
                    for name in NAMES:
                        spoil(state / name)
        async with persistent_client(settings) as client:
            assert (await client.search("bees", fetch_content=False)).results
            assert (await client.fetch(web.url("/3"))).title == "Bees 3"
            assert await passages(client, web.url("/3"))
