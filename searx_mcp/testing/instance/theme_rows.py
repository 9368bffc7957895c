"""Rows and infoboxes of the simple theme."""

import re
from collections.abc import Iterable
from datetime import datetime
from urllib.parse import quote

from searx_mcp.models.hits import Hit, Infobox
from searx_mcp.models.templates import Image
from searx_mcp.testing.instance.markup import Markup, element, join
from searx_mcp.testing.instance.theme_details import above, below, length, length_inside, table

_MAX_DESCRIPTION = 1_024
"""Characters of a description the theme shows; JSON has them all."""


def result(hit: Hit, *, words: re.Pattern[str], proxy: str) -> Markup:
    """Return the article of one row.

    Args:
        hit: the row.
        words: matches, in one group, what is highlighted in title and description.
        proxy: path of the instance's image proxy; empty for pictures from where they are.
    """
    attributes = {"class": f"result result-{hit.template} category-{hit.category}"}
    if hit.image is not None:
        return element("article", attributes, *_picture(hit, hit.image, proxy))
    if hit.facts is not None and not hit.url:
        return element("article", attributes, table(hit.facts), _engines(hit))
    link = {"href": hit.url, "rel": "noreferrer"}
    return element(
        "article",
        attributes,
        element("a", link | {"class": "url_header"}, _host(hit.url)),
        _thumbnail(hit, proxy),
        element("h3", {}, element("a", link, _highlight(hit.title, words))),
        _published(hit),
        length(hit),
        element("div", {"class": "result_author"}, f"Author: {hit.author}") if hit.author else None,
        above(hit),
        _description(hit, words),
        below(hit),
        # Upstream's template for packages leaves them out.
        None if hit.package else _engines(hit),
        element("div", {"class": "break"}),
    )


def infobox(box: Infobox) -> Markup:
    """Return the box of facts beside the rows."""
    facts = (
        element("dl", {}, element("dt", {}, f"{fact.label} :"), element("dd", {}, fact.value))
        for fact in box.attributes
    )
    links = (
        element("li", {"class": "url"}, element("a", {"href": link.url}, link.title))
        for link in box.links
    )
    return element(
        "aside",
        {"class": "infobox", "aria-label": box.title},
        element("h2", {"class": "title"}, box.title),
        element("img", {"src": box.image, "alt": box.title}) if box.image else None,
        element("p", {}, box.content) if box.content else None,
        element("div", {"class": "attributes"}, *facts) if box.attributes else None,
        element("div", {"class": "urls"}, element("ul", {}, *links)) if box.links else None,
    )


def _engines(hit: Hit) -> Markup:
    archived = {"href": f"https://web.archive.org/web/{hit.url}", "class": "cache_link"}
    return element(
        "div",
        {"class": "engines"},
        *(element("span", {}, engine) for engine in hit.engines),
        element("a", archived, "cached") if hit.url else None,
    )


def _picture(hit: Hit, image: Image, proxy: str) -> Iterable[Markup]:
    link = {"rel": "noreferrer", "href": image.url}
    thumbnail = _proxied(hit.thumbnail or image.url, proxy)
    yield element(
        "a",
        link,
        element("img", {"class": "image_thumbnail", "src": thumbnail, "alt": hit.title}),
        element("span", {"class": "image_resolution"}, image.resolution)
        if image.resolution
        else None,
        element("span", {"class": "title"}, hit.title),
        element("span", {"class": "source"}, _host(hit.url)),
    )
    labelled = {
        "author": ("Author:", hit.author),
        "resolution": ("Resolution:", image.resolution),
        "format": ("Image formats:", image.format),
        "filesize": ("Filesize:", image.size),
        "source": ("Source:", image.source),
        "engines": ("Engines:", ", ".join(hit.engines)),
    }
    url = element("a", {"rel": "noreferrer", "href": hit.url}, hit.url)
    yield element(
        "div",
        {"class": "detail"},
        element("a", {"class": "result-images-source"} | link),
        element(
            "div",
            {"class": "result-images-labels"},
            element("h4", {}, hit.title),
            element("p", {"class": "result-content"}, hit.description[:_MAX_DESCRIPTION]),
            *(
                element("p", {"class": f"result-{name}"}, element("span", {}, label), f" {text}")
                for name, (label, text) in labelled.items()
                if text
            ),
            element("p", {"class": "result-url"}, element("span", {}, "View source:"), url),
        ),
    )


def _thumbnail(hit: Hit, proxy: str) -> Markup | None:
    if hit.thumbnail is None:
        return None
    picture = element("img", {"class": "thumbnail", "src": _proxied(hit.thumbnail, proxy)})
    # Stands before the heading: the first link of an article is not always its title.
    return element("a", {"href": hit.url, "class": "thumbnail_link"}, picture, length_inside(hit))


def _published(hit: Hit) -> Markup | None:
    # Papers and packages have theirs among their attributes.
    if hit.published_at is None or hit.paper or hit.package:
        return None
    when = datetime.fromisoformat(hit.published_at)
    # Video engines still hand over untyped rows, whose attribute upstream leaves empty.
    machine = "" if hit.template == "videos" else when.strftime("%Y-%m-%d %H:%M:%S%z")
    return element("time", {"class": "published_date", "datetime": machine}, str(when))


def _description(hit: Hit, words: re.Pattern[str]) -> Markup:
    if not hit.description:
        sentence = "This site did not provide any description."
        return element("p", {"class": "content empty_element"}, sentence)
    text = hit.description[:_MAX_DESCRIPTION]
    return element("p", {"class": "content"}, _highlight(text, words))


def _host(url: str) -> str:
    # Not urlsplit: a test may hand over an address that cannot be parsed.
    return url.partition("://")[2].partition("/")[0]


def _proxied(url: str, proxy: str) -> str:
    # Upstream signs the address; 64 hexadecimal digits stand for the signature here.
    return f"{proxy}?url={quote(url, safe='')}&h={'0' * 64}" if proxy else url


def _highlight(text: str, words: re.Pattern[str]) -> Markup:
    return join(
        *(
            element("span", {"class": "highlight"}, part) if n % 2 else part
            for n, part in enumerate(words.split(text))
        )
    )
