"""The selectors of every template, on small pages with the class names of each time."""

import json
from collections.abc import Callable
from html import escape

import pytest

from searx_mcp.models.hits import (
    TEMPLATE_FIELDS,
    Code,
    Fact,
    File,
    Hit,
    Image,
    Infobox,
    Link,
    Media,
    Package,
    Paper,
    Place,
    Product,
    ResultPage,
    Torrent,
    Video,
)
from searx_mcp.sources.searxng.html_parser import parse_html
from searx_mcp.sources.searxng.json_parser import parse_json

BASE = "https://search.example/"
MAGNET = "magnet:?xt=urn:btih:00"

ReadPage = Callable[[str], ResultPage]


@pytest.fixture
def read_page(results_page: Callable[..., bytes]) -> ReadPage:
    """Read what stands in #urls."""

    def read(urls: str) -> ResultPage:
        page = parse_html(results_page(urls), base_url=BASE).page
        assert page is not None
        return page

    return read


GERMAN_PAPER = """<div class="attributes">
    <div><span>Autor:</span><span>A. One</span></div>
    <div><span>Zeitschrift:</span><span>J. Bench&nbsp;3.2&nbsp;1-9</span></div>
    <div><span>DOI-Nummer:</span><span><a href="https://oa.example/10.1/2">10.1/2</a></span></div>
    <div><span>ISS-Nummer:</span><span>1476-4687, 0028-083X</span></div>
    <div class="result_isbn"><span>ISB-Nummer:</span><span>978</span></div></div>"""


def _read_hit(read_page: ReadPage, template: str, markup: str) -> Hit:
    (hit,) = read_page(
        f'<article class="result result-{template} category-x">'
        f'<h3><a href="https://a.example/">A</a></h3>{markup}</article>'
    ).hits
    return hit


def _attributes(**values: str) -> str:
    rows = (
        f"<div><span>{label.replace('_', ' ')}:</span> <span>\n{value} </span></div>"
        for label, value in values.items()
    )
    return f'<div class="attributes">{"".join(rows)}</div>'


MAP = """
    <table><tr><th scope="row">address</th>
      <td itemscope itemtype="http://schema.org/PostalAddress">
        <strong itemprop="name" class="hidden">N</strong><span itemprop="streetAddress">{street}</span>
        <span itemprop="addressLocality">Town</span>, <span itemprop="postalCode">12345</span>
        <span itemprop="addressCountry">XX</span></td></tr>
      <tr><th scope="row">Phone</th><td>1 <a href="tel:1">call</a></td></tr><tr></tr>
      <tr><th scope="row">Wiki</th><td><a class="text-info" href="https://w.example/">w</a></td></tr>
    </table>
    <small><a class="{button}" data-map-lon="-72.5" data-map-lat="42"
      data-map-boundingbox="[&quot;42&quot;, 43, -73, -72]" data-map-geojson="{{}}">map</a></small>"""
PLACE = Place(
    latitude=42,
    longitude=-72.5,
    bounding_box=(42, 43, -73, -72),
    name="N",
    road="Main St",
    house_number="1",
    locality="Town",
    postcode="12345",
    country="XX",
    facts=(Fact(label="Phone", value="1 call"),),
    links=(Link(title="Wiki", url="https://w.example/"),),
)
PAPER = Paper(
    authors=("A. One", "B. Two"),
    journal="J. Bench",
    volume="3",
    number="2",
    pages="1-9",
    editor="E",
    publisher="P",
    doi="10.1/2",
    issn=("1476-4687",),
    isbn=("978", "979"),
    type="article",
    tags=("t1", "t2"),
    comments="c",
    pdf_url="https://p.example/a.pdf",
    html_url="https://p.example/a",
)
PAPER_BELOW = """<p class="content">text</p><p class="comments">c</p>
    <p class="altlink"><a href="https://p.example/a.pdf">PDF</a><a href="https://p.example/a">HTML</a
    ><a href="https://www.altmetric.com/details/doi/10.1/2">Altmetric</a></p>"""
CODE = """<div dir="ltr" class="codelines"><div class="code-highlight"><pre><span></span
    ><span class="linenos"> 9</span><span class="k">def</span> <span class="nf">f</span>():
<span class="hll"><span class="linenos">10</span>    <span class="k">return</span> 10
</span></pre></div>
    <div class="code-highlight"><pre><span class="linenos">20</span>20
</pre></div></div>"""
LINES = ((9, "def f():"), (10, "    return 10"), (20, "20"))


@pytest.mark.parametrize(
    ("template", "markup", "expected"),
    [
        pytest.param(
            "videos",
            """<a href="x"><img class="thumbnail" src="t"><span class="thumbnail_length">0:45:32</span>
            </a><div class="result_views">Views: 1.2K</div><div class="embedded-video">
            <iframe data-src="https://v.example/e"></iframe></div>""",
            Video(length="0:45:32", seconds=2732, views="1.2K", embed_url="https://v.example/e"),
            id="video",
        ),
        pytest.param(
            "videos",
            """<div class="result_length">Länge: 1:02:03</div><div class="invisible">
            <iframe src="https://v.example/e"></iframe></div>""",
            Video(length="1:02:03", seconds=3723, embed_url="https://v.example/e"),
            id="video without a thumbnail, embedded as in searx 1.1",
        ),
        pytest.param("videos", "", None, id="bare video"),
        pytest.param(
            "default",
            """<div class="result_length">Length: 3:46</div><div class="embedded-content">
            <iframe data-src="https://m.example/e"></iframe></div><div class="audio-control">
            <audio controls><source src="https://m.example/a.mp3"></audio></div>""",
            Media(
                length="3:46",
                seconds=226,
                embed_url="https://m.example/e",
                audio_url="https://m.example/a.mp3",
            ),
            id="music",
        ),
        pytest.param(
            "torrent",
            f"""<p class="altlink"><a href="{MAGNET}" class="magnetlink">m</a>
            <a href="https://t.example/a.torrent" class="torrentfile">t</a></p>
            <p class="stat"><span class="badge">1,244 Seeder </span><span class="badge">44 Leecher</span>
            </p><p class="stat"><span class="badge">1.5 GiB Taille du fichier</span>
            <span class="badge">3 Number of Files</span></p>""",
            Torrent(
                seeds=1244,
                leeches=44,
                size="1.5 GiB",
                files=3,
                magnet=MAGNET,
                torrent_url="https://t.example/a.torrent",
            ),
            id="torrent",
        ),
        pytest.param(
            "torrent",
            """<p class="stat"> &bull; Seeder <span class="badge">7</span> &bull; Leecher
            <span class="badge">1</span></p><p class="stat">Filesize<span class="badge">900 Bytes</span>
            </p><p class="stat">Number of Files <span class="badge">2</span></p>""",
            Torrent(seeds=7, leeches=1, size="900 Bytes", files=2),
            id="torrent until 2024",
        ),
        pytest.param(
            "torrent",
            """<p class="stat"></p><p class="stat"><span class="badge">3 Bestanden</span></p>""",
            Torrent(files=3),
            id="torrent of which only the files are known",
        ),
        pytest.param(
            "map", MAP.format(button="searxng_init_map", street="1, Main St"), PLACE, id="map"
        ),
        pytest.param(
            "map",
            MAP.format(button="searx_init_map", street="Main St, North"),
            PLACE.model_copy(update={"road": "Main St, North", "house_number": ""}),
            id="map of searx 1.1, road with a comma",
        ),
        pytest.param(
            "map", '<a data-map-lat="None" data-map-boundingbox="[[[">x</a>', None, id="no place"
        ),
        pytest.param(
            "paper",
            _attributes(
                Published_date="June 30, 2026",
                Author="A. One, B. Two",
                Journal="J. Bench&nbsp;3.2&nbsp;1-9",
                Editor="E",
                Publisher="P",
                Type="article",
                Tags="t1, t2",
                DOI='<a href="https://oadoi.org/10.1/2">10.1/2</a>',
                ISSN="1476-4687",
                ISBN="978, 979",
            )
            + PAPER_BELOW,
            PAPER,
            id="paper",
        ),
        pytest.param(
            "paper",
            """<div class="attributes">
            <div class="result_publishedDate"><span>Datum:</span><span><time class="published_date"
              datetime="">2026-06-30</time></span></div>
            <div class="result_authors"><span>Autor:</span><span>A. One, B. Two</span></div>
            <div class="result_journal"><span>Z:</span><span>J. Bench&nbsp;3.2&nbsp;1-9</span></div>
            <div class="result_editor"><span>H:</span><span>E</span></div>
            <div class="result_publisher"><span>V:</span><span>P</span></div>
            <div class="result_type"><span>Art:</span><span>article</span></div>
            <div class="result_tags"><span>T:</span><span>t1, t2</span></div>
            <div class="result_doi"><span>DOI:</span><span><a href="x">10.1/2</a></span></div>
            <div class="result_issn"><span>ISSN:</span><span>1476-4687</span></div>
            <div class="result_isbn"><span>ISBN:</span><span>978, 979</span></div></div>"""
            + PAPER_BELOW,
            PAPER,
            id="paper until 2025-09, in German",
        ),
        pytest.param(
            "paper",
            GERMAN_PAPER,
            Paper(
                journal="J. Bench",
                volume="3",
                number="2",
                pages="1-9",
                doi="10.1/2",
                issn=("1476-4687", "0028-083X"),
                isbn=("978",),
            ),
            id="paper in another language",
        ),
        pytest.param(
            "file",
            _attributes(Dateiname="a.pdf", Größe="1.2 MB", Typ="application/pdf"),
            File(size="1.2 MB", mimetype="application/pdf"),
            id="file in another language",
        ),
        pytest.param(
            "paper", _attributes(Journal="J&nbsp;1-9"), Paper(journal="J", pages="1-9"), id="pages"
        ),
        pytest.param(
            "paper", _attributes(Journal="J&nbsp;3"), Paper(journal="J", volume="3"), id="volume"
        ),
        pytest.param("paper", _attributes(Journal="J"), Paper(journal="J"), id="journal"),
        pytest.param("paper", '<div class="attributes"><div></div></div>', None, id="bare paper"),
        pytest.param(
            "packages",
            """<div class="attributes">
            <div class="result_package_name"><span>N:</span><span><code>pkg</code></span></div>
            <div class="result_version"><span>V:</span><span><strong>1.7.0</strong></span></div>
            <div class="result_maintainer"><span>M:</span><span>M</span></div>
            <div class="result_pubdate"><span>U:</span><span><time datetime="">2026-08-01</time></span>
            </div><div class="result_tags"><span>T:</span><span>a, b</span></div>
            <div class="result_popularity"><span>P:</span><span>37177</span></div>
            <div class="result_license"><span>L:</span><span><a href="https://l.example/">MIT</a></span>
            </div><div class="result_project"><span>P</span><span>
            <a href="https://h.example/">Project homepage</a> | <a href="https://s.example/">Source code</a>
            | <a href="https://d.example/"> Docs</a></span></div></div>""",
            Package(
                name="pkg",
                version="1.7.0",
                maintainer="M",
                licence="MIT",
                licence_url="https://l.example/",
                tags=("a", "b"),
                popularity="37177",
                homepage="https://h.example/",
                source_url="https://s.example/",
                links=(Link(title="Docs", url="https://d.example/"),),
            ),
            id="package",
        ),
        pytest.param(
            "code",
            f"""<p class="content">text</p><p class="content">Repository:
            <a href="https://g.example/r">https://g.example/r</a></p>
            <p class="content"> Dateiname: a.py </p>{CODE}""",
            Code(repository="https://g.example/r", filename="a.py", lines=LINES),
            id="code",
        ),
        pytest.param(
            "code",
            f'<p class="content">Filename: a.py</p>{CODE}',
            Code(filename="a.py", lines=LINES),
            id="code without a repository",
        ),
        pytest.param(
            "file",
            _attributes(
                Author="F", Filename="a.mp3", Filesize="4 MB", Date="2025", Type="audio/mpeg"
            )
            + """<p class="abstract">abs</p><div class="embedded-audio"><audio>
            <source src="https://f.example/a.mp3" type="audio/mpeg"></audio></div>""",
            File(
                filename="a.mp3",
                size="4 MB",
                time="2025",
                mimetype="audio/mpeg",
                abstract="abs",
                embed_url="https://f.example/a.mp3",
            ),
            id="file",
        ),
        pytest.param(
            "file",
            '<p class="altlink"><a href="https://f.example/a.bin" download>Download</a></p>',
            File(embed_url="https://f.example/a.bin"),
            id="file to load",
        ),
        pytest.param(
            "files",
            """<p class="result-content result-abstract">abs</p><p class="result-content">text</p>
            <table class="result-metadata result-content"><tr><td>Author</td><td>F</td></tr>
            <tr><td>Filename</td><td>a.pdf</td></tr><tr><td>Filesize</td><td>1.00 MiB</td></tr>
            <tr><td>Date</td><td>2022</td></tr><tr><td>Type</td><td>application/pdf</td></tr></table>""",
            File(
                filename="a.pdf",
                size="1.00 MiB",
                time="2022",
                mimetype="application/pdf",
                abstract="abs",
            ),
            id="file until 2025-10",
        ),
        pytest.param(
            "products",
            """<div class="result_price">12.99 EUR</div><br><div class="result_shipping">free</div>
            <br><div class="result_source_country">DE</div>""",
            Product(price="12.99 EUR", shipping="free", source_country="DE"),
            id="product",
        ),
    ],
)
def test_each_template_is_read(read_page, template, markup, expected):
    hit = _read_hit(read_page, template, markup)

    assert [value for name in TEMPLATE_FIELDS if (value := getattr(hit, name))] == (
        [expected] if expected else []
    )


@pytest.mark.parametrize(
    ("markup", "description"),
    [
        pytest.param(
            '<p class="content">text</p><p class="content">R: <a href="x">r</a></p>',
            "text",
            id="own",
        ),
        pytest.param('<p class="content">R: <a href="x">r</a></p>', "", id="none"),
        pytest.param('<p class="content">Filename: a.py</p>', "", id="file name only"),
        pytest.param(
            '<p class="content">text</p><p class="content">Dateiname: a.py</p>', "text", id="German"
        ),
        pytest.param(
            '<p class="content">\n    Dateiname: a.py\n  </p>', "", id="German file name only"
        ),
        pytest.param(
            'some <span class="highlight">text</span><p></p><p class="content"><a href="x">r</a></p>',
            "some text",
            id="until 2023",
        ),
    ],
)
def test_the_description_of_code_is_told_from_its_repository(read_page, markup, description):
    assert _read_hit(read_page, "code", markup + CODE).description == description


def test_a_file_until_2025_has_its_author_and_description_in_places_of_its_own(read_page):
    hit = _read_hit(
        read_page,
        "files",
        """<p class="result-content">text</p><table class="result-metadata">
        <tr><td>Author</td><td>F</td></tr><tr><td></td></tr></table>""",
    )

    assert (hit.template, hit.author, hit.description) == ("file", "F", "text")


@pytest.mark.parametrize(
    ("template", "markup", "published_at"),
    [
        pytest.param(
            "paper", _attributes(Published_date="June 30, 2026"), "2026-06-30", id="paper"
        ),
        pytest.param(
            "packages",
            '<div class="attributes"><div class="result_pubdate"><span>U:</span><span>'
            '<time datetime="">2026-08-01 05:39:37</time></span></div></div>',
            "2026-08-01T05:39:37",
            id="package",
        ),
    ],
)
def test_papers_and_packages_tell_their_date_among_their_attributes(
    read_page, template, markup, published_at
):
    assert _read_hit(read_page, template, markup).published_at == published_at


@pytest.mark.parametrize(
    ("line", "name"),
    [
        pytest.param("<a>PNG</a>&nbsp;| <a>SVG</a>", "PNG", id="format first"),
        pytest.param("<a>png 1920x1080</a>", "png 1920x1080", id="with more"),
        pytest.param("<a>original format</a> | <a>SVG</a>", "", id="in words"),
        pytest.param("JPEG", "JPEG", id="until 2026-06"),
    ],
)
def test_the_format_of_an_image_is_told_from_the_word_original(read_page, line, name):
    (hit,) = read_page(f"""
        <article class="result result-images"><a href="https://i.example/full.png">
        <img class="image_thumbnail" src="https://i.example/small.png"></a>
        <p class="result-format"><span>Format:</span>{line}</p>
        <p class="result-filesize"><span>Filesize:</span>1.2 MB</p></article>""").hits

    assert hit.image == Image(url="https://i.example/full.png", format=name, size="1.2 MB")


TABLE_2025 = """
    <article class="result result-keyvalue category-x"><table><caption>Cap</caption>
    <thead><tr><th class="col-key" scope="col">K</th><th class="col-value" scope="col">V</th></tr></thead>
    <tr class="odd"><th class="col-key" scope="row">k1</th><td class="col-value">v1</td></tr>
    <tr class="even"><th class="col-key" scope="row">k2</th><td class="col-value">2</td></tr></table>
    <div class="engines"><span>db</span></div></article>"""
TABLE_2022 = """
    <div class="template_group_key-value"><table><tr><td><b>NAME</b>: n: m</td></tr>
    <tr><td><b>SIZE</b>: 5</td></tr><tr><td><b>OPEN_GROUP</b>: True</td></tr></table>
    <div class="engines"><span>db</span></div></div>"""


def test_a_table_becomes_a_box(read_page):
    page = read_page(TABLE_2025)

    assert (page.hits, page.rows_seen) == ((), 0)
    assert page.infoboxes == (
        Infobox(
            title="Cap",
            attributes=(
                Fact(label="k1", value="v1"),
                Fact(label="k2", value="2"),
            ),
            engine="db",
        ),
    )


def test_a_table_reads_alike_in_both_formats(read_page):
    values = {"text": "a  b", "n": 5, "f": 1.5, "flag": True, "list": ["x", 1], "map": {"k": None}}
    values |= {"missing": None, "empty": [], "word": "None"}
    row = {
        "template": "keyvalue.html",
        "url": None,
        "kvmap": values,
        "caption": "C",
        "engine": "db",
    }
    body = json.dumps({"results": [row]}).encode()
    cells = (
        f'<tr><th class="col-key" scope="row">{label}</th><td>{escape(str(value))}</td></tr>'
        for label, value in values.items()
    )
    markup = (
        '<article class="result result-keyvalue category-x"><table><caption>C</caption>'
        f'{"".join(cells)}</table><div class="engines"><span>db</span></div></article>'
    )

    from_json = parse_json(body, base_url=BASE).page

    assert from_json is not None
    assert read_page(markup).infoboxes == from_json.infoboxes
    assert {each.label: each.value for each in from_json.infoboxes[0].attributes} == {
        "text": "a b", "n": "5", "f": "1.5", "flag": "True", "list": "['x', 1]", "map": "{'k': None}",
    }  # fmt: skip


def test_a_table_until_2025_becomes_a_box_named_by_its_engine(read_page):
    page = read_page(TABLE_2022)

    assert (page.hits, page.rows_seen) == ((), 0)
    assert page.infoboxes == (
        Infobox(
            title="db",
            attributes=(
                Fact(label="name", value="n: m"),
                Fact(label="size", value="5"),
            ),
            engine="db",
        ),
    )


def test_a_table_until_2025_with_an_address_is_a_hit_and_a_row(read_page):
    page = read_page(
        "<table><tr><td><b>URL</b>: https://a.example/</td></tr>"
        "<tr><td><b>TITLE</b>: T</td></tr><tr><td><b>SIZE</b>: 5</td></tr></table>"
    )
    (hit,) = page.hits
    assert page.rows_seen == 1

    assert (hit.url, hit.title, hit.template) == ("https://a.example/", "T", "keyvalue")
    assert hit.facts == (Fact(label="size", value="5"),)


def test_tables_take_a_place_among_the_rows(read_page):
    row = '<article class="result"><h3><a href="https://a.example/">A</a></h3></article>'

    page = read_page(f"{TABLE_2022}{row}{TABLE_2025}{row}")

    assert [hit.position for hit in page.hits] == [2, 4]
    assert (page.rows_seen, len(page.infoboxes)) == (2, 2)


def test_lists_of_a_row_are_bounded(read_page):
    rows = "".join(f"<tr><th>{n}</th><td>{n}</td></tr>" for n in range(400))
    lines = "".join(f'<span class="linenos">{n}</span>x\n' for n in range(400))

    place = _read_hit(read_page, "map", f"<table>{rows}</table>").place
    code = _read_hit(read_page, "code", f'<div class="codelines"><pre>{lines}</pre></div>').code

    assert place is not None
    assert len(place.facts) == 100
    assert code is not None
    assert len(code.lines) == 50
