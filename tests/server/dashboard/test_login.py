"""Who has to log in to the dashboard, and what a login is good for."""

import re

import pytest

pytestmark = pytest.mark.slow

TOKEN = "0123456789abcdef"


async def log_in(client, token: str = TOKEN):
    return await client.post("/login", data={"token": token})


async def test_nobody_logs_in_where_there_is_no_token(browse):
    async with browse() as client:
        assert (await client.get("/")).status_code == 200
        answer = await client.get("/login")
        page = await client.get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "Log out" not in page.text


async def test_a_stranger_is_led_to_the_login_and_sees_nothing(browse, pool, read):
    async with browse(token=TOKEN) as client:
        for answer in (await client.get("/"), await client.post("/", data={"q": "bees"})):
            assert (answer.status_code, answer.headers["location"]) == (303, "/login")
            assert "example.org" not in answer.text
        page = read(await client.get("/login"))
        style = await client.get("/dashboard.css")
    assert pool.looks == 0
    assert pool.searched == []
    assert page.css_first("label").attributes["for"] == page.css_first("input[type=password]").id
    assert style.status_code == 200


async def test_a_token_opens_the_dashboard_until_the_person_leaves(browse, read):
    async with browse(token=TOKEN) as client:
        entered = await log_in(client)
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        page = read(await client.get("/"))
        assert "Log out" in page.css_first("header").text()
        found = await client.post("/", data={"q": "bees"})
        assert found.status_code == 200
        left = await client.post("/logout")
        assert (left.status_code, left.headers["location"]) == (303, "/login")
        assert (await client.get("/")).status_code == 303


async def test_the_cookie_is_kept_from_scripts_and_other_sites_and_has_no_token(browse):
    async with browse(token=TOKEN) as client:
        cookie = (await log_in(client)).headers["set-cookie"]
    assert TOKEN not in cookie
    assert re.fullmatch(
        r"searx-mcp=\.\d+\.[0-9a-f]{64}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict", cookie
    )


async def test_the_cookie_is_for_tls_alone_where_the_browser_came_by_it(browse):
    async with browse(token=TOKEN, host="127.0.0.1", allowed_hosts=("a.example",)) as client:
        headers = {"Origin": "https://a.example", "Host": "a.example"}
        entered = await client.post("/login", data={"token": TOKEN}, headers=headers)
    assert entered.headers["set-cookie"].endswith("; Secure")


@pytest.mark.parametrize("token", ["", "x", TOKEN[:-1], f"{TOKEN}0", "é" * 16])
async def test_a_wrong_token_is_refused_with_the_form(browse, read, token):
    async with browse(token=TOKEN) as client:
        answer = await log_in(client, token)
        page = read(answer)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert page.css_first("[role=alert]").text() == "The token is not valid."
    assert page.css_first("input[type=password]").attributes["aria-describedby"] == "problem"


async def test_guesses_are_counted_as_elsewhere(browse):
    async with browse(token=TOKEN) as client:
        answer = await log_in(client, "x")
        for _ in range(200):
            if answer.status_code == 429:
                break
            answer = await log_in(client, "x")
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) > 0


async def test_a_login_opens_nothing_but_the_dashboard(browse):
    async with browse(token=TOKEN) as client:
        await log_in(client)
        assert (await client.get("/v1/instances")).status_code == 401
        assert (await client.post("/v1/search", json={"query": "bees"})).status_code == 401
        assert (await client.post("/mcp", json={})).status_code == 401


async def test_a_bearer_token_opens_the_dashboard_too(browse):
    async with browse(token=TOKEN) as client:
        right = await client.get("/", headers={"Authorization": f"Bearer {TOKEN}"})
        wrong = await client.get("/", headers={"Authorization": "Bearer nothing-of-ours"})
    assert (right.status_code, wrong.status_code) == (200, 401)


async def test_a_named_token_shows_what_it_allows(browse, read, pool, write_tokens):
    file, made = write_tokens(all="", reader='tools = ["web_fetch"]\n')
    async with browse(tokens_file=str(file)) as client:
        await log_in(client, made["reader"])
        page = read(await client.get("/"))
        refused = await client.post("/", data={"q": "bees"})
        await log_in(client, made["all"])
        whole = read(await client.get("/"))
    assert page.css_first("#search-form") is None
    assert "Kept pages" not in page.css_first("#facts").text()
    assert refused.status_code == 403
    assert pool.searched == []
    assert whole.css_first("#search-form")
    assert "Kept pages" in whole.css_first("#facts").text()
