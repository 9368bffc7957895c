"""Pages opened by the index of their site: one link away or three, over sites on loopback."""

import json

import pytest

from searx_mcp.testing.web import FakePage, FakeWeb

QUESTION = "At which water level does the barrage of Skerry close?"
ANSWER = (
    "The barrage of Skerry closes at a water level of 3.4 metres, two hours before the tide turns."
)
SCRIPT = "text/javascript"
SPHINX_HEAD = '<script src="{root}_static/documentation_options.js"></script><link rel="search" href="{root}search.html">'


def manual(title: str, text: str, *, root: str = "", head: str = SPHINX_HEAD) -> FakePage:
    """A page of a manual that leads nowhere by its words."""
    links = " ".join(
        f'Another part is told in <a href="/en/{name}.html">{name}</a>.'
        for name in ("one", "two", "six")
    )
    return FakePage(
        f"<!DOCTYPE html><html lang=en><head><title>{title}</title>{head.format(root=root)}</head>"
        f"<body><main><h1>{title}</h1><p>{text}</p><p>{links}</p></main></body></html>"
    )


def sphinx(**titles: str) -> FakePage:
    index = {
        "docnames": [name.replace("__", "/") for name in titles],
        "titles": [*titles.values()],
        "terms": {"barrag": 1, "skerri": 1},
    }
    return FakePage(f"Search.setIndex({json.dumps(index)})", content_type=SCRIPT)


FILLER = (
    "The works keep the harbour open through the winter, and the gates are painted every spring."
)
SITE = {
    "/en/index.html": manual("Harbour works", FILLER),
    "/en/one.html": manual("One", FILLER),
    "/en/two.html": manual("Two", FILLER),
    "/en/six.html": manual("Six", FILLER),
    "/en/gates/far/skerry.html": manual("Barrage of Skerry", ANSWER, root="../../"),
}
INDEX = "/en/searchindex.js"


async def ask(client_of, pages, *, start="/en/index.html", question=QUESTION, times=1, **tables):
    """The evidence, and what was asked of the site, robots.txt aside."""
    async with FakeWeb(pages) as web:
        client = await client_of(web, **tables)
        for _ in range(times - 1):
            await client.answer(question, url=web.url(start))
        response = await client.answer(question, url=web.url(start))
        texts = [each.text for each in response.evidence]
        return response, " ".join(texts), [request.path for request in web.requests]


async def test_the_index_of_a_site_names_the_page_to_open(client_of):
    index = sphinx(index="Harbour works", gates__far__skerry="Barrage of Skerry", two="Two")
    response, text, asked = await ask(client_of, SITE | {INDEX: index})
    assert "3.4 metres" in text
    assert asked == ["/en/index.html", INDEX, "/en/gates/far/skerry.html"]
    assert response.steps[-1].parent.endswith(INDEX)
    assert response.steps[-1].depth == 1


async def test_an_index_that_is_kept_is_not_fetched_again(client_of):
    index = sphinx(index="Harbour works", gates__far__skerry="Barrage of Skerry")
    _, text, asked = await ask(client_of, SITE | {INDEX: index}, times=2)
    assert "3.4 metres" in text
    assert asked.count(INDEX) == 1


@pytest.mark.parametrize(
    "index",
    [
        pytest.param(FakePage("gone", status=404), id="missing"),
        pytest.param(FakePage("<!doctype html><title>Sorry</title>"), id="a page"),
        pytest.param(FakePage("Search.setIndex(" + "[" * 9_000, content_type=SCRIPT), id="hostile"),
        pytest.param(FakePage(b"x" * (9 << 20), content_type=SCRIPT), id="too large"),
        pytest.param(FakePage("Search.setIndex({", content_type=SCRIPT, cut_after=4), id="cut"),
    ],
)  # fmt: skip
async def test_without_an_index_links_are_followed_as_ever(client_of, index):
    _, _, asked = await ask(client_of, SITE | {INDEX: index}, times=2)
    assert asked[:3] == ["/en/index.html", INDEX, "/en/objects.inv"]
    assert {"/en/one.html", "/en/two.html", "/en/six.html"} <= set(asked)
    assert asked.count(INDEX) == 1


async def test_robots_are_obeyed_for_an_index_too(client_of):
    index = sphinx(index="Harbour works", gates__far__skerry="Barrage of Skerry")
    robots = FakePage(
        "User-agent: *\nDisallow: /en/searchindex.js\nDisallow: /en/objects.inv",
        content_type="text/plain",
    )
    _, _, asked = await ask(client_of, SITE | {INDEX: index, "/robots.txt": robots})
    assert INDEX not in asked
    assert "/en/one.html" in asked


async def test_an_index_behind_a_redirect_to_another_host_is_none(client_of):
    async with FakeWeb(
        {"/x.js": sphinx(index="A", gates__far__skerry="Barrage of Skerry")}
    ) as other:
        away = FakePage(status=302, headers={"Location": other.url("/x.js")})
        async with FakeWeb(SITE | {INDEX: away}) as web:
            client = await client_of(web, other)
            await client.answer(QUESTION, url=web.url("/en/index.html"))
            assert [request.path for request in other.requests] == ["/x.js"]
            followed = {request.path for request in web.requests}
    _, _, without = await ask(client_of, SITE | {INDEX: FakePage(status=404)})
    assert followed == {*without}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/llms.txt", "# Works\n\n- [Barrage of Skerry](/en/gates/far/skerry.html): its gates\n"),
        ("/sitemap.xml", "<urlset><url><loc>{root}/en/gates/far/skerry.html</loc></url></urlset>"),
    ],
)
async def test_a_site_that_does_not_say_so_is_asked_where_indexes_are_by_agreement(
    client_of, path, body
):
    pages = {name: manual(name, ANSWER if "skerry" in name else FILLER, head="") for name in SITE}

    def index(request):
        root = f"http://{request.headers['Host']}"
        return FakePage(body.format(root=root), content_type="text/plain")

    _, text, asked = await ask(client_of, pages | {path: index})
    assert "3.4 metres" in text
    assert path in asked


async def test_of_an_index_in_many_files_two_are_read(client_of):
    files = [f"/skerry-{number}.xml" for number in range(1, 5)]
    index = f"<sitemapindex>{''.join(f'<loc>{file}</loc>' for file in files)}</sitemapindex>"
    pages = {"/en/index.html": manual("Harbour works", FILLER, head="")}
    _, _, asked = await ask(client_of, pages | {"/sitemap.xml": FakePage(index)})
    assert [path for path in asked if path in files] == files[:2]


async def test_an_index_on_another_host_counts_for_nothing_even_if_it_names_pages_of_the_site(
    client_of,
):
    roots: list[str] = []

    def index(_):
        line = f"- [Barrage of Skerry]({roots[0]}en/gates/far/skerry.html): its gates"
        return FakePage(f"# Works\n\n{line}\n", content_type="text/plain")

    pages = {name: manual(name, ANSWER if "skerry" in name else FILLER, head="") for name in SITE}
    async with FakeWeb({"/llms.txt": index}) as other:
        away = FakePage(status=302, headers={"Location": other.url("/llms.txt")})
        async with FakeWeb(pages | {"/llms.txt": away}) as web:
            roots.append(web.url("/"))
            client = await client_of(web, other)
            await client.answer(QUESTION, url=web.url("/en/index.html"))
            assert [request.path for request in other.requests] == ["/llms.txt"]
            assert not [request.path for request in web.requests if "skerry" in request.path]


async def test_a_page_that_answers_needs_no_guess(client_of):
    pages = {"/": manual("Barrage of Skerry", ANSWER, head="")}
    _, _, asked = await ask(client_of, pages, start="/")
    assert asked == ["/"]
