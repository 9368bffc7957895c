from collections.abc import Callable

import pytest

from searx_mcp.models.hits import Hit, Image
from searx_mcp.sources.searxng.html_parser import parse_html

BASE = "https://search.example/"

ResultsPage = Callable[..., bytes]


@pytest.fixture
def read_hit(results_page: ResultsPage) -> Callable[[str], Hit]:
    """Read the one row of a page."""

    def read(row: str) -> Hit:
        page = parse_html(results_page(row), base_url=BASE).page
        assert page is not None
        (hit,) = page.hits
        return hit

    return read


def test_a_default_row_is_read(read_hit):
    hit = read_hit("""
    <article class="result result-default category-news">
      <a href="https://wrong.example/" class="url_header"><span>wrong</span></a>
      <a href="https://wrong.example/" class="thumbnail_link">
        <img class="thumbnail" src="/image_proxy?url=https%3A%2F%2Fi.example%2Ft.png&amp;h=0"></a>
      <h3><a href="https://a.example/?x=1&amp;y=2">Say <span class="highlight">hello</span>
        &amp; wave</a></h3>
      <time class="published_date" datetime="2026-02-01 00:46:35+0000">Feb 1</time>
      <div class="result_author">Author: A. Reporter: Jr.</div><div class="highlight">Times</div>
      <p class="content">A <span class="highlight">snippet</span>
        of text</p><p class="content">Repository: x</p>
      <div class="engines"><span>qwant</span><span>bing news</span><svg></svg>
        <a href="https://web.archive.org/" class="cache_link">cached</a></div>
    </article>""")

    assert hit == Hit(
        url="https://a.example/?x=1&y=2",
        title="Say hello & wave",
        description="A snippet of text",
        engines=("bing news", "qwant"),
        position=1,
        published_at="2026-02-01T00:46:35+00:00",
        thumbnail="https://i.example/t.png",
        category="news",
        author="A. Reporter: Jr.",
    )


def test_a_missing_description_is_empty_and_not_the_excuse(read_hit):
    hit = read_hit("""
    <article class="result"><h3><a href="https://a.example/">A</a></h3>
      <p class="content empty_element">This site did not provide any description.</p></article>""")

    assert (hit.description, hit.template, hit.category) == ("", "default", "")


def test_a_date_is_read_from_the_text_where_the_attribute_is_empty(read_hit):
    hit = read_hit("""
    <article class="result result-videos category-videos"><h3><a href="https://a.example/">A</a></h3>
      <time class="published_date" datetime="">2026-02-05 17:25:32</time></article>""")

    assert (hit.published_at, hit.template) == ("2026-02-05T17:25:32", "videos")


@pytest.mark.parametrize(
    ("classes", "category"),
    [
        pytest.param("category-general", "general", id="one word"),
        pytest.param("category-social media", "social media", id="two words"),
        pytest.param("category-social media duck duck bing", "social media", id="engines follow"),
        pytest.param("", "", id="none"),
    ],
)
def test_the_category_is_told_from_engines_in_the_class(read_hit, classes, category):
    hit = read_hit(f"""
    <article class="result result-default {classes}"><h3><a href="https://a.example/">A</a></h3>
      <div class="engines"><span>duck duck</span><span>bing</span></div></article>""")

    assert hit.category == category


def test_an_image_row_is_read(read_hit):
    hit = read_hit("""
    <article class="result result-images category-images">
      <a rel="noreferrer" href="https://i.example/full.png"><img class="image_thumbnail"
        src=" /image_proxy?url=https%3A%2F%2Fi.example%2Fsmall.png&amp;h=0 " alt="wrong">
        <span class="image_resolution">1920 x 1080</span><span class="title">A cat</span>
        <span class="source">a.example</span></a>
      <div class="detail"><a class="result-detail-close" href="#"></a>
        <a class="result-images-source" href="https://i.example/full.png"><img src=""></a>
        <p class="result-content">&nbsp;A snippet</p>
        <p class="result-author"><span>Auteur :</span>A. Painter</p>
        <p class="result-format"><span>Format:</span>PNG</p>
        <p class="result-source"><span>Source:</span>example.org</p>
        <p class="result-engines"><span>Engines:</span>qwant images, bing images</p>
        <p class="result-url"><span>View source:</span
          ><a href="https://a.example/page">https://a.example/page</a></p></div>
    </article>""")

    assert hit == Hit(
        url="https://a.example/page",
        title="A cat",
        description="A snippet",
        engines=("bing images", "qwant images"),
        position=1,
        thumbnail="https://i.example/small.png",
        category="images",
        template="images",
        author="A. Painter",
        image=Image(
            url="https://i.example/full.png",
            resolution="1920 x 1080",
            format="PNG",
            source="example.org",
        ),
    )


def test_an_image_row_that_links_formats_names_none(read_hit):
    hit = read_hit("""
    <article class="result result-images"><a href="https://i.example/full.png">
      <img class="image_thumbnail" src="https://i.example/small.png"></a>
      <p class="result-format"><span>Formats:</span><a href="x">original</a> | <a href="y">SVG</a></p>
      <p class="result-engine"><span>Engine:</span>bing images</p>
      <p class="result-url"><a href="https://a.example/page">x</a></p></article>""")

    assert (hit.image, hit.engines) == (Image(url="https://i.example/full.png"), ("bing images",))


def test_an_image_row_of_searx_1_1_is_usable(read_hit):
    hit = read_hit("""
    <article class="result result-images category-general">
      <a href="https://i.example/full.png"><img class="image_thumbnail"
        src="https://i.example/small.png" title="A cat" alt="A cat"/></a>
      <span class="url"><a href="https://a.example/page">https://a.example</a></span></article>""")

    assert hit == Hit(
        url="https://a.example/page",
        title="A cat",
        position=1,
        thumbnail="https://i.example/small.png",
        category="general",
        template="images",
        image=Image(url="https://i.example/full.png"),
    )


def test_a_default_row_of_searx_1_1_is_usable(read_hit):
    hit = read_hit("""
    <article class="result result-default category-general local two local all">
      <a href="https://a.example/"><img class="image" src="https://i.example/t.png"/></a>
      <h3><a href="https://a.example/" rel="noreferrer">A</a></h3><p class="content">text</p>
      <div class="engines"><span>local two</span><span>local all</span></div>
      <p class="url"><span class="url">a</span></p></article>""")

    assert (hit.title, hit.description, hit.category) == ("A", "text", "general")
    assert (hit.engines, hit.thumbnail) == (("local all", "local two"), "https://i.example/t.png")


def test_an_image_row_without_a_picture_still_has_its_page(read_hit):
    hit = read_hit("""
    <article class="result result-images"><span class="title">A</span>
      <p class="result-url"><a href="https://a.example/page">x</a></p></article>""")

    assert (hit.url, hit.image, hit.thumbnail) == ("https://a.example/page", None, None)
