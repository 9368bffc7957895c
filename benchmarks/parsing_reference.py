"""The selectors of our HTML parser, written for BeautifulSoup over lxml."""

from bs4 import BeautifulSoup, Tag

Row = dict[str, object]


def parse_with_soup(body: bytes) -> tuple[list[Row], dict[str, list[str]]]:
    """The rows of a result page and what stands around them."""
    soup = BeautifulSoup(body, "lxml")
    rows = [_row(article) for article in soup.select("#urls article.result")]
    around = {
        "suggestions": _values(soup, "#suggestions input[type=submit]"),
        "corrections": _values(soup, "#corrections input[type=submit]"),
        "answers": [_text(node) for node in soup.select("#answers > div.answer")],
        "infoboxes": [_text(node) for node in soup.select("aside.infobox h2")],
        "formats": _values(soup, "#apis input[name=format]"),
        "unresponsive": [_text(node) for node in soup.select("#engines_msg-table .response-error")],
        "next": [str(node.get("method")) for node in soup.select("form.next_page")],
        "generator": [str(node.get("content")) for node in soup.select("meta[name=generator]")],
        "tokens": [str(node.get("href")) for node in soup.select("link[rel=stylesheet]")],
    }
    return rows, around


def _row(article: Tag) -> Row:
    classes = article.get_attribute_list("class")
    template = next((str(name)[7:] for name in classes if str(name).startswith("result-")), "")
    if template == "images":
        return {
            "template": template,
            "url": _attribute(article.select_one("p.result-url a"), "href"),
            "title": _text(article.select_one("a > span.title")),
            "description": _text(article.select_one("p.result-content")),
            "image": _attribute(article.select_one("a"), "href"),
            "thumbnail": _attribute(article.select_one("img.image_thumbnail"), "src"),
            "resolution": _text(article.select_one("span.image_resolution")),
            "engines": _text(article.select_one("p.result-engines, p.result-engine")),
        }
    link = article.select_one("h3 a")
    return {
        "template": template,
        "url": _attribute(link, "href"),
        "title": _text(link),
        "description": _text(article.select_one("p.content:not(.empty_element)")),
        "engines": [_text(engine) for engine in article.select("div.engines span")],
        "published": _attribute(article.select_one("time.published_date"), "datetime"),
        "thumbnail": _attribute(article.select_one("img.thumbnail, img.image"), "src"),
        "author": _text(article.select_one(".result_author")),
        "length": _text(article.select_one(".thumbnail_length, .result_length")),
        "views": _text(article.select_one(".result_views")),
        "embedded": _attribute(article.select_one("iframe"), "data-src"),
    }


def _text(node: Tag | None) -> str:
    return " ".join(node.get_text().split()) if node is not None else ""


def _attribute(node: Tag | None, name: str) -> str:
    return str(node.get(name) or "") if node is not None else ""


def _values(soup: BeautifulSoup, selector: str) -> list[str]:
    return [str(node.get("value") or "") for node in soup.select(selector)]
