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


Pages = dict[str, tuple[str, ...]]
"""The title and the parts of each page."""


@pytest.fixture
def read_on(client_of, page_of):
    """Answers over a site, from its first page: the evidence, and the pages that were asked for."""

    async def answer(pages: Pages, **arguments):
        site = {path: page_of(*page) for path, page in pages.items()}
        async with FakeWeb(site) as web:
            client = await client_of(web)
            response = await client.answer(QUESTION, url=web.url("/"), **arguments)
        return response, [request.path for request in web.requests if request.path not in AGREED]

    return answer


A = ("A", filler("a"))
INNS, BIRDS = ("Inns", filler("inn")), ("Birds", filler("bird"))
SITES: dict[str, tuple[Pages, dict[str, int], list[str], str]] = {
    "nothing once the question is answered": (
        {
            "/": (
                "Tarn Dam",
                "Tarn Dam is the oldest dam: it is 43 metres high. How high? High.",
                linked("/inns", "/birds"),
            ),
            "/inns": INNS,
            "/birds": BIRDS,
        },
        {},
        ["/"],
        "every part of the question is answered",
    ),
    "even so, the budget that a call names": (
        {
            "/": ("Tarn Dam", "Tarn Dam, the oldest dam, is 43 metres high.", linked("/inns")),
            "/inns": INNS,
        },
        {"expansion_budget": 3},
        ["/", "/inns"],
        "no promising links left",
    ),
    "a link that names the question although it seems answered": (
        {
            "/": (
                "Dams",
                "How high is the oldest dam, Tarn Dam? " * 2,
                linked("/tarn", text="Tarn Dam"),
            ),
            "/tarn": ("Tarn Dam", f"It is 43 metres high. {filler('wall')}"),
        },
        {},
        ["/", "/tarn"],
        "",
    ),
    "all links": (
        {"/": ("Dams", filler("dam"), linked("/a")), "/a": A},
        {},
        ["/", "/a"],
        "no promising links left",
    ),
    "a circle of links once": (
        {
            "/": ("Dams", filler("dam"), linked("/a", "/#top")),
            "/a": (*A, linked("/", "/a", "/b", text="dam")),
            "/b": ("B", filler("b"), linked("/a#x")),
        },
        {},
        ["/", "/a", "/b"],
        "no promising links left",
    ),
    "the likeliest link first": (
        {
            "/": (
                "Dams",
                filler("dam"),
                linked("/inns", "/birds"),
                linked("/x", text="The oldest dam"),
            ),
            "/inns": INNS,
            "/birds": BIRDS,
            "/x": ("X", filler("x")),
        },
        {"expansion_budget": 1},
        ["/", "/x"],
        "expansion budget exhausted",
    ),
}


@pytest.mark.parametrize(("pages", "arguments", "read", "reason"), SITES.values(), ids=SITES)
async def test_those_pages_are_read(read_on, pages, arguments, read, reason):
    response, asked = await read_on(pages, **arguments)
    assert asked == read
    assert reason in response.stats.stop_reason


@pytest.mark.parametrize(
    ("text", "rounds"),
    [pytest.param("next", 1, id="blind"), pytest.param("dam", 2, id="promising")],
)
async def test_reading_ends_when_pages_stop_helping(read_on, text, rounds):
    paths = [f"/{n}" for n in range(18)]
    pages: Pages = {"/": ("Tarn", filler("tree"), linked(*paths, text=text))}
    pages |= {path: (f"Page {path[1:]}", filler(f"leaf{path[1:]}x")) for path in paths}
    response, asked = await read_on(pages, expansion_budget=20)
    assert response.stats.stop_reason.startswith("score plateau")
    assert len(asked) == 1 + 4 * rounds


async def test_a_link_that_leads_nowhere_adds_no_depth(read_on):
    pages = {"/": ("Dams", filler("dam"), linked("/gone")), "/b": ("B", filler("b"))}
    response, _ = await read_on(pages)
    assert [step.failure for step in response.steps] == ["", "not_found"]
    assert response.stats.depth == 0
    assert response.stats.iterations == 1
