"""Feeds of every kind, and documents that are none."""

import json
from typing import Any

import pytest

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.feeds import (
    Feed,
    ListedFeed,
    is_html,
    json_feed,
    listed_feed,
    plain_text,
    xml_feed,
)

URL = "https://ex.org/feed.xml"

RSS_2 = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom"
 xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><atom:link rel="self" href="https://ex.org/feed.xml"/><media:title>No title</media:title>
<title>News &amp;amp; more</title><link>https://ex.org/</link><description>All <![CDATA[<b>the</b> news]]></description>
<language>en-GB</language><lastBuildDate>Tue, 02 Jan 2024 03:04:05 GMT</lastBuildDate>
<item><title>First &lt;b&gt;one&lt;/b&gt;</title><link>/a?x=1&amp;y=2</link><dc:creator>Ann</dc:creator>
<pubDate>Mon, 01 Jan 2024 00:00:00 GMT</pubDate>
<description>&lt;p&gt;Hello &lt;a href="/b"&gt;there&lt;/a&gt; &lt;img src="https://t/x.gif" alt="pic"&gt;&lt;/p&gt;</description></item>
<item><guid>https://ex.org/2</guid><author>bob@ex.org (Bob)</author><content:encoded><![CDATA[<h2>Big</h2><p>Text]]></content:encoded></item>
</channel></rss>"""

RSS_1 = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="https://ex.org/"><title>Old news</title><link>https://ex.org/</link><dc:language>de</dc:language></channel>
<item rdf:about="https://ex.org/1"><title>One</title><dc:date>2024-01-02T03:04:05Z</dc:date></item></rdf:RDF>"""

RSS_09 = """<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/x.dtd">
<rss version="0.91"><channel><title>Older</title><item><title>One</title><link>https://ex.org/1</link></item></channel></rss>"""

RDF_09 = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/">
<channel><title>Oldest</title></channel><item><title>One</title><link>https://ex.org/1</link></item></rdf:RDF>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="fr"><title type="html">Bl&amp;eacute;</title>
<link rel="self" href="https://ex.org/atom"/><link href="https://ex.org/blog/"/><updated>2024-01-03T00:00:00Z</updated>
<author><name>Zoé</name></author>
<entry><title>1 &lt; 2</title><link rel="alternate" href="one"/><published>2024-01-02T00:00:00Z</published>
<author><name>Ann</name></author><summary>a &lt;b&gt; &amp; c</summary></entry>
<entry><title>Two</title><link href="https://ex.org/2"/><updated>2024-01-01T00:00:00Z</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Some <em>text</em></p><script>x</script></div></content></entry>
</feed>"""

ATOM_03 = """<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>Old Atom</title>
<entry><title>One</title><link rel="alternate" href="https://ex.org/1"/><issued>2003-12-13T08:29:29-04:00</issued></entry></feed>"""

PREFIXED = """<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>Prefixed</a:title>
<a:entry><a:title>One</a:title><a:link href="https://ex.org/1"/></a:entry></a:feed>"""

JSON_FEED: dict[str, Any] = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "A feed",
    "home_page_url": "https://ex.org/",
    "language": "en",
    "authors": [{"name": "Ann"}, {"url": "x"}, "y"],
    "items": [
        {"id": "1", "url": "/1", "title": "One", "content_html": "<p>Hi <b>you</b>", "date_published": "2024-01-02"},
        {"id": "2", "external_url": "https://b.org/", "content_text": "1 < 2 & <i>x</i>"},
        7,
    ],
}  # fmt: skip


def feed_of(text: str) -> Feed:
    found = xml_feed(text)
    assert found is not None
    return found


def listed(feed: Feed) -> ListedFeed:
    return listed_feed(feed, url=URL, config=ContentConfig())


def rss(*items: str) -> str:
    return f"<rss><channel><title>T</title>{''.join(f'<item>{item}</item>' for item in items)}</channel></rss>"


def markdown(*items: str) -> str:
    return listed(feed_of(rss(*items))).markdown.removeprefix("# T\n\n")


def test_rss_2_is_a_list_of_linked_titles_with_dates_authors_and_summaries():
    shown = listed(feed_of(RSS_2))
    assert shown.markdown == (
        "# News & more\n\nAll the news\n\nFeed of <https://ex.org/>.\n\n"
        "- [First one](https://ex.org/a?x=1&y=2), 2024-01-01T00:00:00+00:00, Ann\n\n"
        "  Hello [there](https://ex.org/b) [image: pic]\n\n"
        "- **Big**\n\n  Text [link](https://ex.org/2), Bob"
    )
    assert shown.links == ("https://ex.org/", "https://ex.org/a?x=1&y=2", "https://ex.org/2")
    assert not shown.is_cut


@pytest.mark.parametrize(
    ("text", "title", "entry"),
    [
        (RSS_1, "Old news", "- [One](https://ex.org/1), 2024-01-02T03:04:05+00:00"),
        (RSS_09, "Older", "- [One](https://ex.org/1)"),
        (RDF_09, "Oldest", "- [One](https://ex.org/1)"),
        (ATOM_03, "Old Atom", "- [One](https://ex.org/1), 2003-12-13T08:29:29-04:00"),
        (PREFIXED, "Prefixed", "- [One](https://ex.org/1)"),
        ("\ufeff<!-- x --><?x y?> <RSS><channel><title>Upper</title><item/></channel></RSS>", "Upper", "- Untitled"),
    ],
)  # fmt: skip
def test_other_versions_are_read_too(text: str, title: str, entry: str):
    assert listed(feed_of(text.removeprefix("\ufeff"))).markdown.startswith(f"# {title}\n")
    assert entry in listed(feed_of(text.removeprefix("\ufeff"))).markdown


def test_atom_has_its_own_kinds_of_text():
    feed = feed_of(ATOM)
    assert (feed.language, feed.author, feed.updated) == ("fr", "Zoé", "2024-01-03T00:00:00Z")
    assert listed(feed).markdown == (
        "# Blé\n\nFeed of <https://ex.org/blog/>.\n\n"
        "- [1 < 2](https://ex.org/blog/one), 2024-01-02T00:00:00+00:00, Ann\n\n  a \\<b> & c\n\n"
        "- [Two](https://ex.org/2), 2024-01-01T00:00:00+00:00\n\n  Some *text*"
    )


def test_json_feed_is_read():
    feed = json_feed(json.dumps(JSON_FEED))
    assert feed is not None
    assert (feed.title, feed.author, feed.language, feed.count) == ("A feed", "Ann", "en", 2)
    assert listed(feed).markdown.endswith(
        "- [One](https://ex.org/1), 2024-01-02\n\n  Hi **you**\n\n"
        "- 1 < 2 & \\<i>x\\</i> [link](https://b.org/)"
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", '"jsonfeed.org/version/1"', "[" * 5_000 + '"jsonfeed.org/version/"'),
        '{"version": "https://other.org/1", "x": "jsonfeed.org/version/1"}',
        '{"version": 1, "x": "jsonfeed.org/version/1"}',
    ],
)
def test_other_json_is_no_feed(text: str):
    assert json_feed(text) is None


@pytest.mark.parametrize("change", [{"items": 5}, {"items": [None]}, {"authors": 5}, {"title": []}])
def test_odd_json_feeds_are_read_as_far_as_they_go(change: dict[str, Any]):
    feed = json_feed(json.dumps(JSON_FEED | change))
    assert feed is not None
    listed(feed)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            "x",
            "<",
            "<html></html>",
            "<opml/>",
            "<rss",
            "<rss>",
            "<rss/>",
            "<feed>x</feed>",
        ),
        *("text <rss><channel/></rss>", "<a><rss><channel/></rss></a>", "<rssx><channel/></rssx>"),
        *("<!-- <rss><channel/></rss> -->", "<rdf:RDF xmlns:rdf='x'><a/></rdf:RDF>", "<svg/>"),
    ],
)
def test_other_documents_are_no_feed(text: str):
    assert xml_feed(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<?xml version='1.0'?><!DOCTYPE html [<!ENTITY a 'b'>]>\n<html xmlns='x'>", True),
        ("<HTML>", True),
        ("<rss><html/></rss>", False),
        ("", False),
    ],
)
def test_html_in_xml_is_told_by_its_root(text: str, *, expected: bool):
    assert is_html(text) is expected


SECRET = "<!DOCTYPE rss [<!ENTITY x SYSTEM 'file://{path}'><!ENTITY % y SYSTEM 'http://127.0.0.1:9/'> %y;]>"
BOMB = "<!DOCTYPE rss [<!ENTITY a0 'boom'>{}]>".format(
    "".join(f"<!ENTITY a{level} '{f'&a{level - 1};' * 10}'>" for level in range(1, 10))
)


@pytest.mark.parametrize("prolog", ["", "<?xml version='1.0'?>", "<!-- - -- > -->"])
def test_entities_of_the_document_are_never_expanded(prolog: str, tmp_path: Any):
    secret = tmp_path / "secret"
    secret.write_text("SECRET")
    item = "<title a='&x;&a9;'>before &x; &a9; after</title>"
    for doctype in (SECRET.format(path=secret), BOMB, "<!DOCTYPE rss [<!ENTITY x 'SECRET]>'>]>"):
        feed = xml_feed(prolog + doctype + rss(item))
        shown = listed(feed).markdown if feed else ""
        assert "SECRET" not in shown
        assert "boom" not in shown
        assert len(shown) < 1_000


ITEMS = {
    "<title>a&nbsp;b</title>": "a b",
    "<title>caf&eacute; &amp; bar</title>": "café & bar",
    "<title>a &unknown; b</title>": "a &unknown; b",
    "<title>R&D and x&y=1</title>": "R&D and x&y=1",
    "<title>a\x01\x02b</title>": "ab",
    "<title><![CDATA[a & b &copy; <b>c</b>]]></title>": "a & b © c",
    "<title>a &#0; &#xD800; b</title>": "a b",
    "<title>&amp;lt;b&amp;gt;</title>": "\\<b>",
    "<title>&lt;b&gt;bold&lt;/b&gt;</title>": "bold",
    "<title><i>nested</i> tags</title>": "nested tags",
    "<title>T</title><link>https://ex.org/a b</link>": "[T](https://ex.org/a%20b)",
    "<title>T</title><link href='/a'/>": "[T](https://ex.org/a)",
    "<title>T</title><link><![CDATA[https://ex.org/?a=1&b=2]]></link>": "[T](https://ex.org/?a=1&b=2)",
    "<title>T</title><guid isPermaLink='true'>https://ex.org/g</guid>": "[T](https://ex.org/g)",
    "<title>T</title><guid isPermaLink='false'>https://ex.org/g</guid>": "T",
    "<title>T</title><guid>tag:ex.org,2024:1</guid>": "T",
    "<title>T</title><link>javascript:alert(1)</link>": "T",
    "<title>T</title><link>data:text/html,x</link>": "T",
    "<title>T</title><link> file:///etc/passwd</link>": "T",
    f"<title>T</title><link>https://ex.org/{'x' * 3_000}</link>": "T",
    "<title>T</title><link>http://[</link>": "T",
    "<title>T</title><description><![CDATA[<script>alert(1)</script>]]></description>": "T",
    "<title>T</title><description><![CDATA[<img src=https://evil/b.png onerror=x>]]></description>": "T",
    "<title>T</title><description><![CDATA[<a href='javascript:x'></a>]]></description>": "T",
    "<title>T</title><description><![CDATA[<p hidden>x</p><p style='display:none'>y</p>]]></description>": "T",
    "<title>T</title><description><![CDATA[<!-- x -->]]></description>": "T",
    "<title>T</title><description><![CDATA[<iframe src=x></iframe>]]></description>": "T",
    "<title>![x](https://evil/b.png)</title><link>https://e.org</link>": "[!\\[x\\]\\(https://evil/b.png)](https://e.org)",
    "<title>a](https://evil) [b</title><link>https://e.org</link>": "[a\\]\\(https://evil) \\[b](https://e.org)",
    "<title>`code` *em* # x</title><link>https://e.org</link>": "[\\`code\\` \\*em\\* # x](https://e.org)",
    "<title>a\n- b\u200b\u202e</title><link>https://e.org</link>": "[a - b](https://e.org)",
}  # fmt: skip
"""Broken text, addresses that lead nowhere, what a reader does not see, and markup in a title."""


@pytest.mark.parametrize(("item", "shown"), ITEMS.items(), ids=map(str, range(len(ITEMS))))
def test_an_item_is_listed_as_text_with_a_link_to_the_web(item: str, shown: str):
    assert markdown(item) == f"- {shown}"


def test_a_summary_is_cut_at_a_good_place_and_leaves_nothing_open():
    link = "<p>" + "word " * 117 + "<a href=/x>" + "label " * 50 + "</a>"
    code = "<p>" + "word " * 20 + "<pre>" + "line\n" * 200 + "</pre>"
    for html in (link, code):
        shown = markdown(
            f"<title>T</title><description><![CDATA[{html}]]></description>", "<title>Next</title>"
        )
        assert shown.endswith("\n\n- Next")
        assert shown.count("```") % 2 == 0
        assert "label" not in shown
        assert "](" not in shown
        assert " …\n" in shown


def test_only_so_many_entries_are_listed():
    feed = feed_of(rss(*["<title>x</title>"] * 150))
    assert listed(feed).is_cut
    assert (feed.count, listed(feed).markdown.count("- x")) == (150, 100)


def test_only_so_much_of_a_feed_is_parsed():
    items = rss(*[f"<title>{'x' * 1_000}</title>"] * 5_000)
    assert 3_500 < feed_of(items).count < 4_000


HOSTILE = {
    "many entries": rss(*["<title>x</title><description>y</description>"] * 300_000),
    "deep": "<rss><channel>" + "<a>" * 100_000,
    "deep entry": rss("<description>" + "<b>" * 5_000 + "x"),
    "deep html": rss("<description>" + "&lt;div&gt;" * 5_000 + "x</description>"),
    "worst html": rss(*["<description>" + "&lt;li&gt;x" * 2_000 + "</description>"] * 100),
    "attributes": "<rss "
    + " ".join(f"a{number}='1'" for number in range(5_000))
    + "><channel/></rss>",
    "long text": rss(f"<title>{'x' * 3_000_000}</title>"),
    "names of many letters": f"<rss><channel><{'a' * 100_000}/></channel></rss>",
    "ampersands": rss("<title>" + "&" * 50_000 + "</title>"),
    "entities": rss("<title>" + "&nbsp;" * 50_000 + "</title>"),
    "comments": "<!--" * 50_000 + rss(),
    "comments in comments": "<!-- - -->" * 20_000 + rss("<title>x</title>"),
    "instructions": "<?" * 50_000,
    "doctypes": "<!DOCTYPE x [" * 20_000 + "]" * 20_000,
    "cut in CDATA": "<rss><channel><item><title><![CDATA[x",
    "another root": rss("<title>a</title>") + rss("<title>b</title>"),
    "namespaces": "<rss xmlns='x' xmlns:y='x'><y:channel/><channel xmlns=''/></rss>",
    "surrogates": rss("<title>a\ud800b\ufffe</title>"),
    "declared as another encoding": "<?xml version='1.0' encoding='utf-16'?>"
    + rss("<title>é</title>"),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_feeds_become_a_list_of_bounded_size(text: str):
    feed = xml_feed(text)
    if feed is not None:
        shown = listed(feed)
        shown.markdown.encode()
        assert len(shown.markdown) < 100_000


def test_plain_text_of_a_feed_is_a_short_line():
    assert plain_text("<b>A</b>\n &amp; &lt;i&gt;b", 100) == "A & <i>b"
    assert len(plain_text("x" * 500, 100)) == 100
