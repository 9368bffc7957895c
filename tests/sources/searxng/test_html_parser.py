import tracemalloc
from collections.abc import Callable

import pytest

from searx_mcp.models.hits import (
    Answer,
    Fact,
    Hit,
    Image,
    Infobox,
    Link,
    ResultPage,
    UnresponsiveEngine,
)
from searx_mcp.sources.searxng.html_parser import parse_html
from searx_mcp.sources.searxng.json_parser import BodyKind

BASE = "https://search.example/"
ROW = '<article class="result result-default"><h3><a href="https://a.example/">A</a></h3></article>'
NOTHING_FOUND = '<div class="dialog-error-block" role="alert"><p>No results were found.</p></div>'

ResultsPage = Callable[..., bytes]


def _read(body: bytes) -> ResultPage:
    reading = parse_html(body, base_url=BASE)
    assert reading.kind is BodyKind.RESULTS
    assert reading.page is not None
    return reading.page


def test_rows_are_found_in_groups_too_and_counted_in_order(results_page):
    urls = (
        f'{ROW}<div class="template_group_images">{ROW}{ROW.replace("https:", "ftp:")}{ROW}</div>'
    )

    page = _read(results_page(urls))

    assert [hit.position for hit in page.hits] == [1, 2, 4]
    assert page.rows_seen == 4


def test_a_table_without_an_address_is_no_row_that_was_lost(results_page):
    page = _read(results_page('<article class="result result-keyvalue"><table></table></article>'))

    assert (page.hits, page.rows_seen) == ((), 0)


def test_answers_are_read_in_four_shapes(results_page):
    page = _read(
        results_page(
            beside="""
            <div id="answers"><h4 class="title">Answers</h4>
              <div class="answer"><span>forty two</span
                ><a href="https://a.example/42" class="answer-url"rel="noreferrer">a.example</a></div>
              <div class="answer"><details class="answer-translations"><summary>Hallo</summary>
                <dl><dt>Hallo</dt><dd>x</dd><dt>Servus</dt><dd>y</dd></dl></details></div>
              <div class="answer"><details class="answer-weather">
                <summary>It is sunny</summary></details></div>
              <div class="answer"><a href="https://b.example/">linked itself</a></div>
              <div class="answer"></div>
            </div>"""
        )
    )

    assert page.answers == (
        Answer(text="forty two", url="https://a.example/42"),
        Answer(text="Hallo, Servus"),
        Answer(text="It is sunny"),
        Answer(text="linked itself", url="https://b.example/"),
    )


def test_an_infobox_is_read(results_page):
    page = _read(
        results_page(
            beside="""
            <aside class="infobox"><h2 class="title"><bdi>Rust</bdi></h2>
              <img src="/image_proxy?url=https%3A%2F%2Fi.example%2Flogo.png&amp;h=0">
              <p><bdi>A language.</bdi></p>
              <div class="attributes"><dl><dt><bdi>Born :</bdi></dt><dd><bdi>2006</bdi></dd></dl>
                <dl><dt>Flag :</dt><dd><img src="x.png" alt="flag"></dd></dl>
                <dl><dt>Site :</dt><dd>&lt;a href=&#34;x&#34;&gt;A&lt;/a&gt;</dd></dl>
                <dl><dt>Empty :</dt></dl></div>
              <div class="urls"><ul><li><a href="https://rust.example/"rel="x">Official</a></li>
                <li><a href="javascript:x">bad</a></li></ul></div>
              <div class="relatedTopics"><h3>Related</h3></div></aside>
            <aside class="infobox"><p>nameless</p></aside>"""
        )
    )

    assert page.infoboxes == (
        Infobox(
            title="Rust",
            content="A language.",
            image="https://i.example/logo.png",
            links=(Link(title="Official", url="https://rust.example/"),),
            attributes=(
                Fact(label="Born", value="2006"),
                Fact(label="Flag", value="flag"),
                Fact(label="Site", value="A"),
            ),
        ),
    )


def test_suggestions_and_corrections_are_the_labels_of_their_buttons(results_page):
    page = _read(
        results_page(
            ROW,
            beside="""
            <div id="suggestions"><form><input type="hidden" name="q" value="hidden">
              <input type="submit" value="first"></form>
              <form><input type="submit" value="&bull; second, until 2023"></form></div>
            <div id="corrections"><form><input type="submit" value="typo"></form></div>""",
        )
    )

    assert (page.suggestions, page.corrections) == (("first", "second, until 2023"), ("typo",))


TABLE = """
    <div id="sidebar"><div id="engines_msg"><table class="engine-stats" id="engines_msg-table">
    <tr><td class="engine-name"><a href="/stats?engine=a">bench a</a></td>
        <td class="response-error">Suspended: CAPTCHA</td></tr>
    <tr><td class="engine-name">fine</td>
        <td class="response-time"><div class="bar-chart-value">0.4</div></td></tr>
    </table></div></div>"""
TIMES = """
    <div id="sidebar"><table class="engine-stats" id="engines_msg-table">
    <tr><td class="engine-name"><a href="/stats?engine=a">bench a</a></td>
        <td class="response-time"><div class="bar-chart-value"> 0.4 </div></td></tr>
    <tr><td class="engine-name">b</td>
        <td class="response-time"><div class="bar-chart-value">nan</div></td></tr>
    <tr><td class="engine-name">c</td><td class="response-error">timeout</td></tr>
    </table></div>"""
DIALOG_2023 = """
    <div id="sidebar"><div id="engines_msg"><div class="dialog-error"><p><strong>Error!</strong>
    Engines cannot retrieve results:</p><p>bench a (<a href="/stats?engine=a">Suspended: CAPTCHA</a
    >)</p></div></div></div>"""
DIALOG_2022 = """
    <div id="sidebar"><div class="dialog-error" role="alert"><p><strong>Error!</strong> Engines
    cannot retrieve results:</p><p>bench a (Suspended: CAPTCHA)</p></div></div>"""


@pytest.mark.parametrize("beside", [TABLE, DIALOG_2023, DIALOG_2022], ids=["2024", "2023", "2022"])
def test_failed_engines_are_read_in_the_markup_of_every_year(results_page, beside):
    page = _read(results_page(beside=beside))

    assert page.unresponsive_engines == (
        UnresponsiveEngine(engine="bench a", reason="Suspended: CAPTCHA"),
    )


def test_the_seconds_of_each_engine_are_read(results_page):
    assert _read(results_page(ROW, beside=TIMES)).timings == {"bench a": 0.4}
    assert _read(results_page(ROW)).timings == {}


def test_failed_engines_among_missing_rows_are_read_without_the_advice(results_page):
    page = _read(
        results_page("""
        <div class="dialog-error" role="alert"><p><strong>Error!</strong></p>
        <p>bing (timeout), duck duck (HTTP error), (nameless)</p>
        <p><small>Please find another instance. (<a href="x">Public instances</a>)</small></p></div>
        """)
    )

    assert page.unresponsive_engines == (
        UnresponsiveEngine(engine="bing", reason="timeout"),
        UnresponsiveEngine(engine="duck duck", reason="HTTP error"),
    )


@pytest.mark.parametrize(
    ("navigation", "has_next"),
    [
        pytest.param('<form class="next_page"></form>', True, id="next"),
        pytest.param('<form class="previous_page"></form>', False, id="previous only"),
        pytest.param("<form></form>", True, id="searx 1.1"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_a_further_page_is_seen(results_page, navigation, has_next):
    body = results_page(ROW, beside=f'<nav id="pagination">{navigation}</nav>')

    assert _read(body).has_next is has_next


def test_offered_formats_are_told(results_page):
    form = '<form><input type="hidden" name="q"><input name="format" value="{}"></form>'
    apis = f'<div id="apis">{form.format("json")}{form.format("csv")}</div>'

    assert _read(results_page(ROW, beside=apis)).formats == ("json", "csv")
    assert _read(results_page(ROW)).formats == ()


@pytest.mark.parametrize(
    ("href", "link_token"),
    [
        pytest.param("/client1od9tgi9mps9a281.css", True, id="root"),
        pytest.param("/searx/client1od9tgi9mps9a281.css", True, id="prefix"),
        pytest.param("/static/themes/simple/sxng-ltr.min.css", False, id="theme"),
    ],
)
def test_the_limiters_token_is_noticed_and_never_fetched(results_page, href, link_token):
    head = f'<link rel="stylesheet" href="{href}" type="text/css">'

    assert _read(results_page(ROW, head=head)).link_token is link_token


GENERATOR = '<meta name="generator" content="searxng/2026.8.22">'


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        pytest.param('<body class="index_endpoint">', BodyKind.HOME, id="home by class"),
        pytest.param('<meta name="endpoint" content="index">', BodyKind.HOME, id="home by meta"),
        pytest.param('<body class="search_endpoint">', BodyKind.HOME, id="search without query"),
        pytest.param(
            '<body class="search_endpoint"><div class="dialog-error"><li>search error</li></div>',
            BodyKind.SEARCH_ERROR,
            id="search error",
        ),
        pytest.param(
            f'<meta name="endpoint" content="results"><div id="urls">{ROW}</div>',
            BodyKind.RESULTS,
            id="results by meta",
        ),
        pytest.param(
            f'{GENERATOR}<div id="urls">{ROW}</div>', BodyKind.RESULTS, id="results by generator"
        ),
        pytest.param(
            f'<div id="urls">{ROW}</div>', BodyKind.FOREIGN, id="no sign of SearXNG at all"
        ),
        pytest.param(GENERATOR, BodyKind.MALFORMED, id="another page of SearXNG"),
        pytest.param("<h1>It works!</h1>", BodyKind.FOREIGN, id="web server"),
        pytest.param("", BodyKind.FOREIGN, id="empty"),
        pytest.param(f"{GENERATOR}{'<div>' * 6_000}", BodyKind.MALFORMED, id="deep"),
        pytest.param("<br>" * 31_000, BodyKind.MALFORMED, id="too many tags"),
    ],
)
def test_the_kind_of_a_page_comes_first(html, kind):
    reading = parse_html(html.encode(), base_url=BASE)

    assert reading.kind is kind
    assert (reading.page is not None) == (kind is BodyKind.RESULTS)


@pytest.mark.parametrize(
    ("urls", "kind"),
    [
        pytest.param(NOTHING_FOUND, BodyKind.RESULTS, id="said so since 2023"),
        pytest.param(
            '<div class="dialog-error"><p>Sorry!</p></div>', BodyKind.RESULTS, id="said so before"
        ),
        pytest.param(
            '<div class="hit"><a href="https://a.example/">A</a></div>',
            BodyKind.MALFORMED,
            id="other markup",
        ),
        pytest.param("", BodyKind.MALFORMED, id="nothing at all"),
    ],
)
def test_a_page_without_rows_must_say_why(results_page, urls, kind):
    assert parse_html(results_page(urls), base_url=BASE).kind is kind


def test_a_page_without_the_list_of_rows_is_malformed():
    body = b'<body class="results_endpoint"><div id="answers"><p class="answer"><span>a</span></p>'

    assert parse_html(body, base_url=BASE).kind is BodyKind.MALFORMED


def _nested(*openings: str) -> str:
    return "".join(openings) * 120 + "words " * 20_000


@pytest.mark.parametrize(
    ("urls", "beside"),
    [
        pytest.param(_nested("<div id=urls>", '<article class="result">'), "", id="rows"),
        pytest.param(
            _nested(
                "<div id=urls>", '<article class="result result-images">', "<span class=title>"
            ),
            "",
            id="pictures",
        ),
        pytest.param(
            '<article class="result">' + _nested("<div class=engines>", "<span>"), "", id="engines"
        ),
        pytest.param(_nested("<table><tr><td>", "<div id=urls>"), "", id="tables"),
        pytest.param("", "<div id=answers>" + _nested("<div class=answer><span>"), id="answers"),
        pytest.param("", _nested("<aside class=infobox><h2>"), id="infoboxes"),
        pytest.param("", _nested('<table id="engines_msg-table"><tr><td>'), id="failed engines"),
    ],
)
def test_what_is_nested_in_itself_is_read_once(results_page, urls, beside):
    tracemalloc.start()
    try:
        parse_html(results_page(urls, beside=beside), base_url=BASE)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    # The page has 0.12 MB of text; read once for each element around it, it would be 14.
    assert peak < 4_000_000


def test_answers_inside_an_answer_are_none(results_page):
    answers = "<div class=answer><span>a</span>" * 3

    assert len(_read(results_page(beside=f"<div id=answers>{answers}")).answers) == 1


def test_formatting_of_an_instance_does_not_multiply():
    page = "<div id=urls>" + "".join(f"<div><b id={number}>x</div>" for number in range(4_900))

    assert parse_html(f"{GENERATOR}{page}".encode(), base_url=BASE).kind is BodyKind.MALFORMED


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
