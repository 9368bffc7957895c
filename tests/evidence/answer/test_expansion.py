"""Which links are followed, over a site on loopback, and why reading ends."""

import pytest

from searx_mcp.evidence.answer.expansion import is_likely, is_promising, score_links
from searx_mcp.models.page import PageLink
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


HOME = "https://example.org/guide/start"


def link(path: str, text: str = "more", context: str = "") -> PageLink:
    url = path if path.startswith("http") else f"https://example.org{path}"
    return PageLink(url=url, text=text, context=context)


def scored(links, question="How high is Tarn Dam?", known=()):
    return score_links(links, [question], parent=HOME, depth=1, known=known)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(link("/a", "Tarn Dam"), link("/b", "Birds"), id="words"),
        pytest.param(link("/tarn-dam"), link("/birds"), id="words of the address"),
        pytest.param(link("/Tarn_Dam.html"), link("/birds.html"), id="words of a file name"),
        pytest.param(link("/%D0%B0/tarn-dam"), link("/%D0%B0/x"), id="an escaped address"),
        pytest.param(link("/a", "Tarn Dam"), link("/b", "Dam"), id="more words"),
        pytest.param(
            link("/a", context="Tarn Dam has a page"),
            link("/b", context="Birds"),
            id="words beside",
        ),
        pytest.param(
            link("/a", "Tarn Dam"), link("/b", context="Tarn Dam"), id="words before words beside"
        ),
        pytest.param(link("/guide/a"), link("/other/b"), id="the same folder"),
        pytest.param(link("/other/a", "Tarn Dam"), link("/guide/b"), id="words before the folder"),
        pytest.param(
            link("/guide/a", "Tarn Dam"), link("https://b.example/", "Tarn Dam"), id="the same site"
        ),
        pytest.param(link("/history-of-tarn-dam"), link("/history"), id="a word of many sites"),
    ],
)
def test_the_likelier_link_comes_first(better, worse):
    for links in ([better, worse], [worse, better]):
        assert [each.url for each in scored(links)] == [better.url, worse.url]


HIGH = "How high is Tarn Dam?"
FORMS = "What do the terms say of a register, and how do I delete an account?"


@pytest.mark.parametrize(
    ("path", "text", "question", "is_followed"),
    [
        *((f"/tarn-dam.{end}", "Tarn Dam", HIGH, False) for end in ("png", "ZIP", "mp4", "css", "xlsx")),
        ("/login", "Sign in", HIGH, False),
        ("/sign-up?next=/", "Join", HIGH, False),
        ("/shop/cart", "Basket", HIGH, False),
        ("/terms.html", "Terms", HIGH, False),
        *((path, "more", FORMS, True) for path in ("/terms", "/register", "/account/delete")),
        *(
            (path, "more", HIGH, True)
            for path in ("/history-of-the-dam", "/user-guide", "/search-engines", "/categories/x", "/printing")
        ),
        ("https://b.example/x", "Birds", HIGH, False),
        ("https://b.example/y", "Dams", HIGH, True),
    ],
)  # fmt: skip
def test_files_forms_and_other_sites_are_followed_only_if_they_are_asked_for(
    path, text, question, is_followed
):
    found = link(path, text)
    assert [each.url for each in scored([found], question)] == [found.url] * is_followed


def test_each_address_is_scored_once_and_without_its_fragment():
    links = [link("/a#top", "Tarn"), link("/a#end", "Dam"), link("/known")]
    found = scored(links, known={"https://example.org/known"})
    assert [each.url for each in found] == ["https://example.org/a"]


def test_the_best_question_counts():
    links = [link("/a", "Tarn Dam"), link("/b", "Ospreys")]
    found = score_links(links, ["Tarn Dam", "ospreys"], parent=HOME, depth=2, known=())
    assert all(is_promising(each) and is_likely(each) for each in found)
    assert {each.depth for each in found} == {2}


@pytest.mark.parametrize(
    ("text", "promising", "likely"),
    [
        ("Tarn Dam", True, True),
        ("How high the dams are", True, True),
        ("Dams", True, False),
        ("Birds", False, False),
    ],
)
def test_a_link_is_promising_by_a_word_and_likely_by_several(text, promising, likely):
    found = scored([link("/a", text), link("/b", "Inns")], "How high is Tarn Dam, the oldest?")[0]
    assert (is_promising(found), is_likely(found)) == (promising, likely)


def test_a_page_of_very_many_links_is_looked_at_in_part():
    assert len(scored([link(f"/{n}") for n in range(1_000)])) == 300
