"""Jina's reader: the address in the path, the headers, text and JSON."""

import pytest

from searx_mcp.models.style import Images

URL = "https://a.example/bees"
JSON = {"Accept": "application/json"}
MARKDOWN = "# Bees\n\nThey fly. \U0001f41d"


@pytest.mark.parametrize(
    ("target", "url"),
    [
        (URL, URL),
        (f"{URL}?a=1&b=%20x&key=secret", f"{URL}?a=1&b=%20x&key=secret"),
        ("https%3A%2F%2Fa.example%2Fbees%3Fa%3D1", f"{URL}?a=1"),
        ("https:/a.example/bees", URL),
        ("a.example/bees", URL),
        ("https://a.example/b%C3%A9", "https://a.example/b%C3%A9"),
    ],
)
async def test_the_rest_of_the_path_and_the_query_are_the_address(rest, service, target, url):
    answer = await rest.get(f"/r/{target}")
    assert answer.status_code == 200
    assert service.asked[0].url == url


async def test_a_page_is_text_with_a_head(rest):
    answer = await rest.get(f"/r/{URL}")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == (
        f"Title: Bees\n\nURL Source: {URL}\n\nPublished Time: 2026-05-01\n\nMarkdown Content:\n{MARKDOWN}\n"
    )


async def test_a_page_is_json_where_that_is_accepted(rest):
    answer = await rest.get(f"/r/{URL}", headers=JSON | {"X-With-Links-Summary": "true"})
    assert answer.json() == {
        "code": 200,
        "status": 20000,
        "data": {
            "title": "Bees",
            "description": "All about bees.",
            "url": URL,
            "content": MARKDOWN,
            "publishedTime": "2026-05-01",
            "links": {"Wasps": "https://a.example/wasps"},
        },
    }


async def test_a_page_that_is_too_long_says_so(rest, service):
    service.length = 7
    answer = await rest.get(f"/r/{URL}", headers=JSON)
    assert answer.json()["data"]["content"] == "# Bees\n"
    assert answer.json()["data"]["warning"] == "These are the first 7 of 19 characters."


@pytest.mark.parametrize(
    ("headers", "text"),
    [
        ({"X-Return-Format": "markdown"}, MARKDOWN),
        ({"X-Respond-With": "Markdown"}, MARKDOWN),
        ({"X-With-Images-Summary": "true"}, "Images:\n- ![Image 1: a bee](https://a.example/bee.png)\n"),
        ({"X-With-Links-Summary": "true"}, "Links/Buttons:\n- [Wasps](https://a.example/wasps)\n"),
    ],
)  # fmt: skip
async def test_a_header_says_how_the_text_is_written(rest, headers, text):
    answer = await rest.get(f"/r/{URL}", headers=headers)
    assert answer.text.endswith(text)
    assert answer.text.startswith("Title: ") is (text != MARKDOWN)


@pytest.mark.parametrize(
    ("headers", "field", "value"),
    [
        ({}, "images", Images.INLINE),
        ({"X-Retain-Images": "none"}, "images", Images.NONE),
        ({"X-Retain-Images": "alt"}, "images", Images.ALT),
        ({"X-No-Cache": "true"}, "force_refresh", True),
        ({"X-No-Cache": "false"}, "force_refresh", False),
        ({"X-Cache-Tolerance": "0"}, "force_refresh", True),
        ({"X-Timeout": "30"}, "timeout", 30),
        ({"X-Timeout": "1"}, "timeout", 5),
        ({"X-Timeout": "180"}, "timeout", 50),  # server.tool_timeout
        ({"X-User-Agent": "Bot/1"}, "user_agent", "Bot/1"),
        ({"X-With-Generated-Alt": "false"}, "force_refresh", False),
        ({"X-Engine": "direct"}, "force_refresh", False),
    ],
)
async def test_a_header_is_an_argument_of_ours(rest, service, headers, field, value):
    assert (await rest.get(f"/r/{URL}", headers=headers)).status_code == 200
    assert getattr(service.asked[0], field) == value


async def test_a_kept_page_is_no_older_than_is_tolerated(rest, service):
    await rest.get(f"/r/{URL}", headers={"X-Cache-Tolerance": "200"})
    assert len(service.asked) == 1
    await rest.get(f"/r/{URL}", headers={"X-Cache-Tolerance": "50"})
    assert [request.force_refresh for request in service.asked] == [False, False, True]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-return-format", "screenshot"),
        ("x-respond-with", "html"),
        ("x-target-selector", "main"),
        ("x-wait-for-selector", "main"),
        ("x-with-generated-alt", "true"),
        ("x-proxy-url", "http://a.example"),
        ("x-set-cookie", "a=b"),
        ("x-retain-links", "none"),
        ("x-engine", "browser"),
        ("x-timeout", "soon"),
        ("x-cache-tolerance", "-1"),
        ("x-max-tokens", "10"),
    ],
)
async def test_a_header_that_is_not_honoured_is_refused_by_its_name(rest, service, name, value):
    answer = await rest.get(f"/r/{URL}", headers={name: value})
    assert answer.status_code == 400
    assert answer.json()["status"] == 40000
    assert answer.json()["message"].startswith(f"{name}: ")
    assert not service.asked


@pytest.mark.parametrize(
    ("target", "status"),
    [("", 400), ("https%3A%2F%2Fa.example%2Fa%20b", 400), (f"{URL}/missing", 424)],
)
async def test_a_page_that_cannot_be_read_is_told_as_json(rest, target, status):
    answer = await rest.get(f"/r/{target}")
    assert answer.status_code == answer.json()["code"] == status
    assert answer.json()["data"] is None


async def test_a_page_wants_the_token_in_the_header_alone(open_rest, locked, service):
    token = locked.token.get_secret_value()
    async with open_rest(config=locked) as rest:
        for headers in ({}, {"X-API-Key": token}):
            refused = await rest.get(f"/r/{URL}?key={token}", headers=headers)
            assert refused.status_code == 401
        answer = await rest.get(f"/r/{URL}", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    assert len(service.asked) == 1
