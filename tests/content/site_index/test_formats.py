"""Indexes as each generator writes them, and files that are none."""

import json
import zlib

import pytest

from searx_mcp.content.site_index.discovery import FORMATS, index_job
from searx_mcp.errors import ContentError

ROOT = "https://docs.ex.org/en/"


def packed(*lines: str) -> bytes:
    head = b"# Sphinx inventory version 2\n# Project: Reef\n# Version: 1.0\n# packed by zlib\n"
    return head + zlib.compress("\n".join(lines).encode())


SPHINX = {
    "docnames": ["index", "guide/index", "guide/tides"],
    "filenames": ["index.rst", "guide/index.rst", "guide/tides.rst"],
    "titles": ["Reef", "Guide", '<code class="x"><span>tides</span></code> &#8212; The sea'],
    "alltitles": {"Spring tides": [[2, "spring-tides"]], "Guide": [[1, "guide"]]},
    "objects": {"reef": [[2, 0, 1, "", "Tide"]], "": [[2, 0, 1, "", "reef"]]},
    "indexentries": {"ebb": [[2, "index-0"]]},
    "terms": {"harbour": 2, "sea": [0, 1, 2], "moon": [1, 2]},
}
OLD_SPHINX = """Search.setIndex({docnames:["index","guide/tides"],filenames:["index.rst","guide/tides.rst"],
objects:{"":{reef:[1,0,0,"-"]},reef:{Tide:[1,1,1,""]}},objtypes:{"0":"py:module",1:"py:class"},
terms:{"default":1,_low:[0,1],"2nd":1},titles:["Reef","Tid\\u00e9s"],titleterms:{tide:1}})"""
MDBOOK = {
    "doc_urls": ["intro.html#intro", "ch01.html#ports"],
    "index": {
        "documentStore": {
            "docs": {
                "0": {"body": "Hello", "breadcrumbs": "Intro", "id": "0", "title": "Intro"},
                "1": {
                    "body": 'Ships "moor" here',
                    "breadcrumbs": "One » Ports",
                    "id": "1",
                    "title": "Ports",
                },
            }
        }
    },
}
MINISEARCH = {
    "documentCount": 2,
    "documentIds": {"0": "/en/guide/tides.html#spring", "1": "/en/api"},
    "storedFields": {
        "0": {"title": "Spring", "titles": ["Tides"]},
        "1": {"title": "API", "titles": []},
    },
    "index": [["harbour", {"2": {"0": 1}}], ["ebb", {"0": {"1": 2}, "2": {"0": 1, "1": 1}}]],
}
RUSTDOC = {"reef": {
    "doc": "Tides of the sea.", "t": "DDFLAA", "n": ["Tide", "Ebb", "measure", "height", "coast", "inner"],
    "q": [[0, "reef"], [1, "reef::coast"], [4, "reef"]], "d": ["A tide.", "", "Measures.", "", "", ""],
}}  # fmt: skip
OLD_RUSTDOC = {"reef": {
    "doc": "", "t": [3, 11, 0], "n": ["Tide", "height", "coast"], "q": ["reef", "", ""], "d": ["", "", "The coast."],
}}  # fmt: skip
EASY = [{"documents": [{"i": 1, "t": "Tides", "u": "/docs/tides", "b": ["Guide"]},
                       {"i": 2, "t": "Spring", "u": "/docs/tides", "h": "#spring", "p": 1}], "index": {}}, {}]  # fmt: skip
ROUTES = {
    "documents": [
        {
            "id": 1,
            "pageTitle": "Tides",
            "sectionTitle": "Spring",
            "sectionRoute": "/docs/tides#spring",
        }
    ]
}
LUNR = {"searchDocs": [{"title": "Tides", "url": "/docs/tides", "content": "They come and go."}]}
DOXYGEN = r"""var searchData=
[
  ['solve_0',['solve',['../classTide.html#a1',1,'Tide::solve(int x) const &lt;T&gt;'],['../group__sea.html#g2',1,'sea']]],
  ['sea\x2dlevel_1',['sea level',['../level.html',1,'']]]
];
"""
LLMS = """# Reef

> Tides for programs.

## Guide

- [Tides](https://docs.ex.org/en/tides.md): how they come and go
* [Ports](/en/ports)

## Optional
- [Elsewhere](https://other.example/x): not here
"""
SITEMAP = """<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc> https://www.docs.ex.org/en/guide/spring-tides.html?a=1&amp;b=2 </loc></url>
<url><loc><![CDATA[https://docs.ex.org/en/]]></loc></url><url><loc>https://evil.example/</loc></url></urlset>"""


def script(value: object, *, around: str) -> str:
    return around % json.dumps(value)


def parsed(value: object, *, around: str) -> str:
    text = json.dumps(value).replace("\\", "\\\\").replace("'", "\\'")
    return around % text


def listed(format_: str, body: str | bytes) -> list[tuple[str, str, str]]:
    body = body if isinstance(body, bytes) else body.encode()
    found = index_job(body, {"format": format_, "url": f"{ROOT}index.js"})
    return [
        (link["url"].removeprefix(ROOT), link["text"], link["context"]) for link in found["links"]
    ]


ENTRIES = [
    pytest.param(
        "sphinx", script(SPHINX, around="Search.setIndex(%s)"),
        ("guide/tides.html", "tides — The sea", "Spring tides ebb reef.Tide reef harbour moon sea"), id="sphinx"),
    pytest.param(
        "sphinx-folders", script(SPHINX, around="Search.setIndex(%s);"),
        ("guide/", "Guide", "Guide moon sea"), id="sphinx folders"),
    pytest.param(
        "sphinx", OLD_SPHINX, ("guide/tides.html", "Tidés", "reef reef.Tide default 2nd _low"), id="sphinx 1"),
    pytest.param(
        "sphinx-inventory", packed("reef.Tide py:class 1 tides.html#$ -", "a b std:label -1 x.html#a-b Two words"),
        ("tides.html#reef.Tide", "reef.Tide", "reef.Tide"), id="inventory"),
    pytest.param(
        "sphinx-inventory", packed("a b std:label -1 x.html#a-b Two words"),
        ("x.html#a-b", "Two words", "a b"), id="inventory label"),
    pytest.param(
        "sphinx-inventory", b"# Sphinx inventory version 1\n# Project: x\n# Version: 1\nreef.Tide class tides.html\n",
        ("tides.html", "reef.Tide", ""), id="inventory 1"),
    pytest.param(
        "mdbook", script(MDBOOK, around="Object.assign(window.search, %s);"),
        ("ch01.html#ports", "Ports", 'One » Ports Ships "moor" here'), id="mdbook"),
    pytest.param(
        "mdbook", parsed(MDBOOK, around="window.search = Object.assign(window.search, JSON.parse('%s'));"),
        ("ch01.html#ports", "Ports", 'One » Ports Ships "moor" here'), id="mdbook parsed"),
    pytest.param("mdbook", json.dumps(MDBOOK), ("intro.html#intro", "Intro", "Intro Hello"), id="mdbook json"),
    pytest.param(
        # Its addresses are relative to the folder above the index.
        "mkdocs", json.dumps({"docs": [{"location": "guide/#spring", "title": "Spring", "text": "High water."}]}),
        ("https://docs.ex.org/guide/#spring", "Spring", "High water."), id="mkdocs"),
    pytest.param(
        "vitepress", parsed(MINISEARCH, around="const e='%s';export{e as default};"),
        ("guide/tides.html#spring", "Spring", "Tides harbour ebb"), id="vitepress"),
    pytest.param(
        "docusaurus", json.dumps(EASY), ("https://docs.ex.org/docs/tides", "Tides", "Guide"), id="docusaurus easyops"),
    pytest.param(
        "docusaurus", json.dumps(EASY), ("https://docs.ex.org/docs/tides#spring", "Spring", ""), id="docusaurus section"),
    pytest.param(
        "docusaurus", json.dumps(ROUTES), ("https://docs.ex.org/docs/tides#spring", "Spring", "Tides"), id="docusaurus 2"),
    pytest.param(
        "docusaurus", json.dumps(LUNR), ("https://docs.ex.org/docs/tides", "Tides", "They come and go."), id="docusaurus 3"),
    pytest.param(
        "javadoc", 'typeSearchIndex = [{"l":"All Classes","u":"all.html"},{"p":"org.reef","l":"Tide.Ebb"}];updateSearchResults();',
        ("org/reef/Tide.Ebb.html", "Tide.Ebb", "org.reef"), id="javadoc"),
    pytest.param(
        "javadoc", 'packageSearchIndex = [{"m":"reef.base","l":"org.reef"}];updateSearchResults();',
        ("reef.base/org/reef/package-summary.html", "org.reef", "reef.base"), id="javadoc modules"),
    pytest.param(
        "doxygen", DOXYGEN, ("https://docs.ex.org/group__sea.html#g2", "solve", "sea"), id="doxygen"),
    pytest.param(
        "doxygen", DOXYGEN, ("https://docs.ex.org/classTide.html#a1", "solve", "Tide::solve(int x) const <T>"), id="doxygen member"),
    pytest.param(
        "just-the-docs", json.dumps({"0": {"doc": "Tides", "title": "Spring", "content": "High.", "url": "/en/tides/#spring"}}),
        ("tides/#spring", "Spring", "Tides High."), id="just the docs"),
    pytest.param(
        "rustdoc", parsed([["reef", RUSTDOC["reef"]]], around="var searchIndex = new Map(JSON.parse('%s'));"),
        ("reef/coast/fn.measure.html", "measure", "fn reef::coast Measures."), id="rustdoc"),
    pytest.param(
        "rustdoc", parsed(OLD_RUSTDOC, around="var searchIndex = JSON.parse('%s');\nif (x) {}"),
        ("reef/coast/index.html", "coast", "module reef The coast."), id="rustdoc 1"),
    pytest.param("llms.txt", LLMS, ("tides.md", "Tides", "Guide how they come and go"), id="llms.txt"),
    pytest.param("llms.txt", LLMS, ("ports", "Ports", "Guide"), id="llms.txt relative"),
    pytest.param(
        "sitemap", SITEMAP,
        ("https://www.docs.ex.org/en/guide/spring-tides.html?a=1&b=2", "spring tides", "en guide"), id="sitemap"),
]  # fmt: skip


@pytest.mark.parametrize(("format_", "body", "entry"), ENTRIES)
def test_each_format_gives_the_pages_that_it_lists(format_, body, entry):
    assert entry in listed(format_, body)


def test_every_format_is_tried():
    assert {each.values[0] for each in ENTRIES} == FORMATS.keys()


def test_methods_of_rust_have_no_page():
    body = parsed(OLD_RUSTDOC, around="var searchIndex = JSON.parse('%s');")
    assert [title for _, title, _ in listed("rustdoc", body)] == ["reef", "Tide", "coast"]


@pytest.mark.parametrize(
    ("format_", "body", "part"),
    [
        pytest.param(
            "doxygen", 'var indexSectionsWithContent =\n{\n  0: "as~",\n  1: "s"\n};\n',
            {"format": "doxygen", "url": f"{ROOT}search/all_2.js", "label": "~"}, id="doxygen"),
        pytest.param(
            "sitemap", f"<sitemapindex><sitemap><loc>{ROOT}sitemap-guide.xml</loc></sitemap></sitemapindex>",
            {"format": "sitemap", "url": f"{ROOT}sitemap-guide.xml", "label": "sitemap guide xml"}, id="sitemap"),
    ],
)  # fmt: skip
def test_an_index_in_several_files_names_them(format_, body, part):
    found = index_job(body.encode(), {"format": format_, "url": f"{ROOT}search/searchdata.js"})
    assert part in found["indexes"]


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("", id="nothing"),
        pytest.param("<!doctype html><title>Not found</title><p>Sorry", id="a page in its place"),
        pytest.param("null", id="null"),
        pytest.param("[1e999, NaN]", id="numbers"),
        pytest.param('{"docs": [{"location": {"a": []}}, 7, null], "doc_urls": 5}', id="wrong types"),
        pytest.param('Search.setIndex({"docnames": [[], 3, null], "titles": 7, "terms": []})', id="sphinx types"),
        pytest.param('Search.setIndex({"docnames":["a"],', id="cut"),
        pytest.param("Search.setIndex(alert(1))", id="a call"),
        pytest.param("Search.setIndex({a: document.cookie})", id="an expression"),
        pytest.param("Search.setIndex({docnames: [`a`]})", id="a template"),
        pytest.param("Search.setIndex(" + "[" * 100_000, id="depth"),
        pytest.param("[" * 100_000 + "]" * 100_000, id="closed depth"),
        pytest.param('{"a":' * 50_000 + "1" + "}" * 50_000, id="objects inside objects"),
        pytest.param("var searchData=[" + "'" * 100_001, id="quotes"),
        pytest.param("searchIndex = JSON.parse('" + "\\" * 100_001, id="escapes"),
        pytest.param("<urlset>" + "<loc>" * 50_000, id="open places"),
        pytest.param("# x\n- [" + "[" * 100_000 + "](", id="open brackets"),
        pytest.param("# Sphinx inventory version 2\na\nb\nc\nnot packed", id="not packed"),
        pytest.param("# Sphinx inventory version 99\n", id="of the future"),
    ],
)  # fmt: skip
def test_what_is_no_index_is_refused(format_, body):
    with pytest.raises(ContentError, match="The index of the site cannot be read"):
        index_job(body.encode(), {"format": format_, "url": f"{ROOT}x.js"})


def test_a_row_of_another_length_is_left_out():
    rows = "['a',['a',['../a.html',1,'']],3],['b'],['c',['c',['../c.html',1,'']]]"
    assert [title for _, title, _ in listed("doxygen", f"var searchData=[{rows}]")] == ["c"]


def test_a_literal_with_too_many_parts_is_refused():
    with pytest.raises(ContentError):
        listed("docusaurus", '{"documents": [' + "[]," * 1_500_000 + "1]}")


def test_an_inventory_that_unpacks_without_end_is_cut():
    line = "reef.Tide py:class 1 tides.html#$ -\n"
    found = listed("sphinx-inventory", packed(line, "x" * (40 << 20)))
    assert found == [("tides.html#reef.Tide", "reef.Tide", "reef.Tide")]


def test_enormous_numbers_name_no_document():
    body = 'Search.setIndex({"docnames":["a"],"titles":["A"],"alltitles":{"B":[[%s,""]]},"terms":{"c":[-1,true,0.0]}})'
    for number in ("9" * 4_000, "-1", "1e400", "true", "1"):
        assert listed("sphinx", body % number) == [("a.html", "A", "")]


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "http://docs.ex.org.evil.example/",
     "https://docs.ex.org:8443/", "https://docs.ex.org@evil.example/", "file:///etc/passwd", "http://[::1]/", "https://" + "a" * 3_000],
)  # fmt: skip
def test_addresses_of_other_places_are_left_out(address):
    body = {"0": {"title": "Here", "url": "/en/here"}, "1": {"title": "There", "url": address}}
    assert [title for _, title, _ in listed("just-the-docs", json.dumps(body))] == ["Here"]


def test_what_strangers_write_is_cleaned_and_cut():
    section = {
        "title": "A\u202e\u200b  <b>tide</b>\n&amp; more",
        "content": "x\u0000y " * 5_000,
        "url": "/en/a",
    }
    ((_, title, words),) = listed("just-the-docs", json.dumps({"0": section}))
    assert title == "A tide & more"
    assert len(words) <= 7_000
    assert words.endswith("…")
    assert "\u0000" not in words


def test_the_entries_and_the_words_of_all_are_bounded():
    rows = {
        str(n): {"title": "T", "content": "word " * 400, "url": f"/en/{n}"} for n in range(2_100)
    }
    found = listed("just-the-docs", json.dumps(rows))
    assert len(found) == 2_100
    assert sum(len(words) for *_, words in found) <= 4_010_000
    lines = "\n".join(f"- [T{n}](/en/{n})" for n in range(20_001))
    assert len(listed("llms.txt", f"# All\n{lines}")) == 20_000
