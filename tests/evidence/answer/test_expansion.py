"""Reading on, over a site on loopback, and why it ends."""

import pytest

from searx_mcp.testing.web import FakeWeb

AGREED = {"/llms.txt", "/sitemap.xml"}
"""Where a site is asked for an index that it does not tell of; the sites here have none."""
QUESTION = "How high is Tarn Dam, the oldest dam?"


def linked(*paths: str, text: str = "next") -> str:
    return (
        "<p>"
        + " ".join(f'Go to <a href="{path}">{text} {path[1:]}</a>.' for path in paths)
        + "</p>"
    )


def filler(name: str) -> str:
    return " ".join(f"The {name}{n} of {name}{n + 3} was a {name}{n * 5}." for n in range(12))


async def read_on(client_of, pages, question=QUESTION, **arguments):
    async with FakeWeb(pages) as web:
        client = await client_of(web)
        response = await client.answer(question, url=web.url("/"), **arguments)
    return response, [request.path for request in web.requests if request.path not in AGREED]


async def test_nothing_is_read_on_once_the_question_is_answered(client_of, page_of):
    pages = {
        "/": page_of(
            "Tarn Dam",
            "Tarn Dam is the oldest dam: it is 43 metres high. How high? High.",
            linked("/inns", "/birds"),
        ),
        "/inns": page_of("Inns", filler("inn")),
        "/birds": page_of("Birds", filler("bird")),
    }
    response, asked = await read_on(client_of, pages)
    assert asked == ["/"]
    assert response.stats.stop_reason == "every part of the question is answered"


async def test_a_budget_that_a_call_names_is_used_even_so(client_of, page_of):
    pages = {
        "/": page_of("Tarn Dam", "Tarn Dam, the oldest dam, is 43 metres high.", linked("/inns")),
        "/inns": page_of("Inns", filler("inn")),
    }
    _, asked = await read_on(client_of, pages, expansion_budget=3)
    assert asked == ["/", "/inns"]


async def test_a_link_that_names_the_question_is_read_although_it_seems_answered(
    client_of, page_of
):
    pages = {
        "/": page_of(
            "Dams", "How high is the oldest dam, Tarn Dam? " * 2, linked("/tarn", text="Tarn Dam")
        ),
        "/tarn": page_of("Tarn Dam", f"It is 43 metres high. {filler('wall')}"),
    }
    _, asked = await read_on(client_of, pages)
    assert asked == ["/", "/tarn"]


@pytest.mark.parametrize(
    ("text", "rounds"),
    [pytest.param("next", 1, id="blind"), pytest.param("dam", 2, id="promising")],
)
async def test_reading_ends_when_pages_stop_helping(client_of, page_of, text, rounds):
    paths = [f"/{n}" for n in range(18)]
    pages = {"/": page_of("Tarn", filler("tree"), linked(*paths, text=text))}
    pages |= {path: page_of(f"Page {path[1:]}", filler(f"leaf{path[1:]}x")) for path in paths}
    response, asked = await read_on(client_of, pages, expansion_budget=20)
    assert response.stats.stop_reason.startswith("score plateau")
    assert len(asked) == 1 + 4 * rounds


async def test_reading_ends_with_the_links(client_of, page_of):
    pages = {"/": page_of("Dams", filler("dam"), linked("/a")), "/a": page_of("A", filler("a"))}
    response, asked = await read_on(client_of, pages)
    assert asked == ["/", "/a"]
    assert response.stats.stop_reason == "no promising links left"


async def test_a_circle_of_links_is_read_once(client_of, page_of):
    pages = {
        "/": page_of("Dams", filler("dam"), linked("/a", "/#top")),
        "/a": page_of("A", filler("a"), linked("/", "/a", "/b", text="dam")),
        "/b": page_of("B", filler("b"), linked("/a#x")),
    }
    _, asked = await read_on(client_of, pages)
    assert asked == ["/", "/a", "/b"]


async def test_the_likeliest_links_are_read_first(client_of, page_of):
    pages = {
        "/": page_of(
            "Dams", filler("dam"), linked("/inns", "/birds"), linked("/x", text="The oldest dam")
        ),
        **{path: page_of(path, filler(path[1:])) for path in ("/inns", "/birds", "/x")},
    }
    _, asked = await read_on(client_of, pages, expansion_budget=1)
    assert asked == ["/", "/x"]


async def test_a_link_that_leads_nowhere_adds_no_depth(client_of, page_of):
    pages = {"/": page_of("Dams", filler("dam"), linked("/gone")), "/b": page_of("B", filler("b"))}
    response, _ = await read_on(client_of, pages)
    assert [step.failure for step in response.steps] == ["", "not_found"]
    assert response.stats.depth == 0
    assert response.stats.iterations == 1
