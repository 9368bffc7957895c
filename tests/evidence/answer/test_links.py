"""Links scored by what is asked."""

import pytest

from searx_mcp.evidence.answer.links import is_likely, is_promising, score_links
from searx_mcp.models.page import PageLink

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
