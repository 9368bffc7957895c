"""The cookie of a login to the dashboard: how long it is good, for whom, and where it stands."""

from collections.abc import Callable

import httpx2
import pytest

from searx_mcp.server.app import build_server
from searx_mcp.server.http import http_app
from searx_mcp.server.web.access import Access
from searx_mcp.server.web.policy import HttpRefusal
from searx_mcp.settings.server import HttpConfig
from searx_mcp.settings.values import Settings

TOKEN = "0123456789abcdef"
HERE = "http://a.example:8765"


class Door:
    """A process with a dashboard."""

    def __init__(self, pool, **config) -> None:
        settings = HttpConfig(allowed_hosts=("a.example",), **config)
        self._app = http_app(build_server(Settings(), service=pool), settings)

    async def ask(self, method: str, path: str, **what) -> httpx2.Response:
        transport = httpx2.ASGITransport(self._app)
        async with httpx2.AsyncClient(transport=transport, base_url=HERE) as client:
            return await client.request(method, path, **what)

    async def cookie(self, token: str) -> bytes:
        answer = await self.ask("POST", "/login", data={"token": token}, headers={"Origin": HERE})
        return answer.headers["set-cookie"].partition(";")[0].encode()

    async def lets_in(self, cookie: bytes) -> bool:
        return (await self.ask("GET", "/", headers={b"cookie": cookie})).status_code == 200


@pytest.fixture
def door(pool) -> Callable[..., Door]:
    """Give what makes a door of these settings."""
    return lambda **config: Door(pool, **(config or {"token": TOKEN}))


async def test_a_login_ends_after_half_a_day():
    now = 1_000_000.0
    access = Access(HttpConfig(token=TOKEN), clock=lambda: now)
    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    given = await access.log_in(scope, TOKEN.encode())
    assert isinstance(given, str)
    cookie = {b"cookie": given.partition(";")[0].encode()}
    for passed, ends in ((0, False), (12 * 3_600, False), (12 * 3_600 + 1, True)):
        now = 1_000_000.0 + passed
        assert isinstance(await access.admit(scope, cookie), HttpRefusal) is ends


@pytest.mark.parametrize("other", [b"a=b; %s; c=d", b"%s;c=d", b"x-searx-mcp=.1.0; %s"])
async def test_the_cookie_is_found_among_others(door, other):
    process = door()
    assert await process.lets_in(other % await process.cookie(TOKEN))


async def test_replicas_with_one_token_share_logins_and_others_do_not(door):
    cookie = await door().cookie(TOKEN)
    assert await door().lets_in(cookie)
    assert not await door(token=f"{TOKEN}0").lets_in(cookie)


async def test_a_changed_cookie_is_none(door):
    process = door()
    name, _, value = (await process.cookie(TOKEN)).partition(b"=")
    claim, _, seal = value.rpartition(b".")
    for forged in (
        b"",
        value[:-1],
        claim + b"." + b"0" * 64,
        b".9999999999." + seal,
        b"all" + value,
        claim + b"." + seal.upper(),
    ):
        assert not await process.lets_in(name + b"=" + forged)


async def test_a_login_ends_when_its_token_leaves_the_file(door, write_tokens, pass_by):
    file, made = write_tokens(all="", reader="")
    process = door(tokens_file=str(file))
    cookie = await process.cookie(made["all"])
    reader = await process.cookie(made["reader"])
    assert await process.lets_in(cookie)
    _, mark, rest = file.read_text().partition("[tokens.reader]")
    file.write_text(mark + rest)
    pass_by(1)
    assert not await process.lets_in(cookie)
    assert await process.lets_in(reader)


async def test_who_sees_the_hashes_of_the_file_cannot_make_a_cookie(door, write_tokens):
    file, made = write_tokens(all="")
    cookie = await door(tokens_file=str(file)).cookie(made["all"])
    assert not await door(tokens_file=str(file)).lets_in(cookie)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (HERE, 200),
        ("https://A.example:8765", 200),
        ("http://a.example", 403),
        ("http://evil.example:8765", 403),
        ("http://localhost:8765", 403),
        ("ftp://a.example:8765", 403),
        ("null", 403),
        ("", 403),
    ],
)
async def test_a_form_counts_if_a_page_of_ours_has_sent_it(door, pool, origin, status):
    process = door()
    headers = {"Cookie": (await process.cookie(TOKEN)).decode()}
    headers |= {"Origin": origin} if origin else {}
    searched = await process.ask("POST", "/", data={"q": "bees"}, headers=headers)
    left = await process.ask("POST", "/logout", headers=headers)
    assert (searched.status_code, left.status_code) == (status, 303 if status == 200 else 403)
    assert pool.searched == ["bees"] * (status == 200)
