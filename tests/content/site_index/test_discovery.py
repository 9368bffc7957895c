"""The indexes that a page's files point to."""

import pytest

from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert

URL = "https://docs.ex.org/en/guide/tides.html"
ROOT = "https://docs.ex.org/en/"


def told(head: str) -> list[tuple[str, str]]:
    html = f"<!doctype html><html><head><title>Tides</title>{head}</head><body><p>They come and go.</p></body></html>"
    page = convert(
        html.encode(), media_type="text/html", charset=None, url=URL, config=ContentConfig()
    )
    return [(index.format, index.url.removeprefix(ROOT)) for index in page.indexes]


@pytest.mark.parametrize(
    ("head", "indexes"),
    [
        pytest.param(
            '<script data-url_root="../" id="documentation_options" src="../_static/documentation_options.js?v=5"></script>'
            '<link rel="search" href="../search.html">',
            [("sphinx", "searchindex.js"), ("sphinx-inventory", "objects.inv")], id="sphinx"),
        pytest.param(
            '<script src="../_static/doctools.js"></script><link rel="index" href="../genindex/">',
            [("sphinx-folders", "searchindex.js"), ("sphinx-inventory", "objects.inv")], id="sphinx folders"),
        pytest.param(
            '<meta name="generator" content="mkdocs-1.6.1, mkdocs-material-9.5"><link rel="stylesheet" href="../assets/stylesheets/main.0253249f.min.css">',
            [("mkdocs", "search/search_index.json")], id="material"),
        pytest.param('<script src="../search/main.js" defer></script>', [("mkdocs", "search/search_index.json")], id="mkdocs"),
        pytest.param('<script src="../searcher.js"></script>', [("mdbook", "searchindex.js")], id="mdbook"),
        pytest.param(
            '<script>window.path_to_searchindex_js = "../searchindex-3f09ab.js";</script><script src="../searcher-11.js"></script>',
            [("mdbook", "searchindex-3f09ab.js"), ("mdbook", "searchindex.js")], id="mdbook 0.5"),
        pytest.param(
            '<link rel="modulepreload" href="/en/assets/chunks/@localSearchIndexroot.Bx1_z.js">',
            [("vitepress", "assets/chunks/@localSearchIndexroot.Bx1_z.js")], id="vitepress"),
        pytest.param(
            '<meta name="generator" content="Docusaurus v3.4.0"><script src="/en/assets/js/runtime~main.5f2b.js" defer></script>'
            '<script src="/en/assets/js/main.aa01.js" defer></script>',
            [("docusaurus", "search-index.json"), ("docusaurus", "search-doc.json")], id="docusaurus"),
        pytest.param(
            '<meta name="generator" content="javadoc/ClassWriterImpl"><script src="../script-dir/jquery-ui.min.js"></script>',
            [("javadoc", "type-search-index.js")], id="javadoc"),
        # The types of a class in a module have no address, so packages are read.
        pytest.param('<script src="../script-dir/jquery.js"></script><a href="../module-summary.html">reef.base</a>',
            [("javadoc", "package-search-index.js")], id="javadoc modules"),
        pytest.param('<script src="../search/searchdata.js"></script><script src="../search/search.js"></script>',
            [("doxygen", "search/searchdata.js")], id="doxygen"),
        pytest.param('<script src="/en/assets/js/just-the-docs.js"></script>',
            [("just-the-docs", "assets/js/search-data.json")], id="just the docs"),
        pytest.param('<meta name="generator" content="rustdoc"><meta name="rustdoc-vars" data-root-path="../" data-resource-suffix="1.75.0">',
            [("rustdoc", "search-index1.75.0.js")], id="rustdoc"),
        pytest.param('<link rel="alternate" type="text/plain" href="/en/llms.txt"><link rel="sitemap" href="/en/sitemap.xml">',
            [("llms.txt", "llms.txt"), ("sitemap", "sitemap.xml")], id="links"),
    ],
)  # fmt: skip
def test_a_page_tells_of_the_index_of_its_site(head, indexes):
    assert told(head) == indexes


@pytest.mark.parametrize(
    "head",
    [
        pytest.param("<meta name=generator content='WordPress 6.5'>", id="another generator"),
        pytest.param('<script src="https://cdn.example/_static/doctools.js"></script>', id="another host"),
        pytest.param('<script src="/my_static/doctools.js"></script>', id="part of a name"),
        pytest.param('<script src="/assets/js/main.aa.js"></script>', id="no generator"),
        pytest.param(f'<script src="{"a/" * 5_000}_static/doctools.js"></script>', id="long"),
        pytest.param('<base href="https://evil.example/"><script src="_static/doctools.js"></script>', id="base elsewhere"),
    ],
)  # fmt: skip
def test_other_pages_tell_of_none(head):
    assert told(head) == []


def test_a_page_cannot_name_more_than_a_few():
    scripts = "".join(f'<script src="{n}/searcher.js"></script>' for n in range(200))
    assert len(told(scripts)) == 4
