"""The cookie of a login to the dashboard: how long it is good, for whom, and where it stands."""

import pytest

from searx_mcp.server.web.access import Access
from searx_mcp.server.web.policy import HttpRefusal
from searx_mcp.settings.server import HttpConfig

TOKEN = "0123456789abcdef"
LATER = 12 * 3_600 + 1


class Door:
    """An `Access` with a clock, and the cookies that it gives."""

    def __init__(self, config: HttpConfig) -> None:
        self.now = 1_000_000.0
        self._access = Access(config, clock=lambda: self.now)

    async def cookie(self, token: str) -> bytes:
        header = await self._access.log_in({"type": "http", "headers": []}, token.encode())
        assert isinstance(header, str)
        return header.partition(";")[0].encode()

    async def lets_in(self, cookie: bytes, method: str = "GET", **headers: bytes) -> bool:
        scope = {"type": "http", "method": method, "path": "/", "headers": []}
        given = {b"cookie": cookie, **{name.encode(): value for name, value in headers.items()}}
        return not isinstance(await self._access.admit(scope, given), HttpRefusal)


async def test_a_login_ends_after_a_day():
    door = Door(HttpConfig(token=TOKEN))
    cookie = await door.cookie(TOKEN)
    assert await door.lets_in(cookie)
    door.now += LATER
    assert not await door.lets_in(cookie)


@pytest.mark.parametrize("other", [b"a=b; %s; c=d", b"%s;c=d", b"x-searx-mcp=.1.0; %s"])
async def test_the_cookie_is_found_among_others(other):
    door = Door(HttpConfig(token=TOKEN))
    assert await door.lets_in(other % await door.cookie(TOKEN))


async def test_replicas_with_one_token_share_logins_and_others_do_not():
    cookie = await Door(HttpConfig(token=TOKEN)).cookie(TOKEN)
    assert await Door(HttpConfig(token=TOKEN)).lets_in(cookie)
    assert not await Door(HttpConfig(token=f"{TOKEN}0")).lets_in(cookie)


async def test_a_changed_cookie_is_none():
    door = Door(HttpConfig(token=TOKEN))
    name, _, value = (await door.cookie(TOKEN)).partition(b"=")
    claim, _, seal = value.rpartition(b".")
    for forged in (
        b"",
        value[:-1],
        claim + b"." + b"0" * 64,
        b".9999999999." + seal,
        b"all" + value,
        claim + b"." + seal.upper(),
    ):
        assert not await door.lets_in(name + b"=" + forged)


async def test_a_login_ends_when_its_token_leaves_the_file(write_tokens, pass_by):
    file, made = write_tokens(all="", reader="")
    door = Door(HttpConfig(tokens_file=str(file)))
    cookie = await door.cookie(made["all"])
    reader = await door.cookie(made["reader"])
    assert await door.lets_in(cookie)
    _, mark, rest = file.read_text().partition("[tokens.reader]")
    file.write_text(mark + rest)
    pass_by(1)
    assert not await door.lets_in(cookie)
    assert await door.lets_in(reader)


async def test_who_sees_the_hashes_of_the_file_cannot_make_a_cookie(write_tokens):
    file, made = write_tokens(all="")
    cookie = await Door(HttpConfig(tokens_file=str(file))).cookie(made["all"])
    assert not await Door(HttpConfig(tokens_file=str(file))).lets_in(cookie)


@pytest.mark.parametrize(
    ("origin", "is_let_in"),
    [
        (b"http://a.example:8765", True),
        (b"https://A.example:8765", True),
        (b"http://a.example", False),
        (b"http://evil.example:8765", False),
        (b"ftp://a.example:8765", False),
        (b"null", False),
    ],
)
async def test_a_form_counts_if_a_page_of_ours_has_sent_it(origin, is_let_in):
    door = Door(HttpConfig(token=TOKEN))
    cookie = await door.cookie(TOKEN)
    let_in = await door.lets_in(cookie, "POST", origin=origin, host=b"a.example:8765")
    assert let_in is is_let_in
