"""Rows and infoboxes of the simple theme, with the additions of its result templates."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from urllib.parse import quote

from searx_mcp.models.hits import (
    Code,
    Fact,
    File,
    Hit,
    Image,
    Infobox,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
)
from searx_mcp.testing.instance.markup import Markup, element, join

_GAP = "\xa0"


def _above(hit: Hit) -> Markup | None:
    """Return the content between the heading and the description."""
    if hit.video and hit.video.views:
        return element("div", {"class": "result_views"}, f"Views: {hit.video.views}")
    if hit.torrent:
        return _torrent(hit.torrent)
    if hit.paper:
        return _attributes(_paper(hit, hit.paper))
    if hit.file and hit.file.abstract:
        return element("p", {"class": "abstract"}, hit.file.abstract)
    return _product(hit.product) if hit.product else None


def _below(hit: Hit) -> Markup | None:
    """Return the content below the description."""
    player = hit.video or hit.media
    if player:
        sound = hit.media.audio_url if hit.media else None
        return join(
            element("iframe", {"data-src": player.embed_url}) if player.embed_url else None,
            element("audio", {}, element("source", {"src": sound})) if sound else None,
        )
    if hit.place:
        return _place(hit.place)
    if hit.paper:
        return _full_texts(hit.paper)
    if hit.package:
        return _package(hit, hit.package)
    if hit.code:
        return _code(hit.code)
    return _file(hit, hit.file) if hit.file else None


def _length(hit: Hit) -> Markup | None:
    """Return the length of media, for its thumbnail, or for its row if it has none."""
    player = hit.video or hit.media
    if player is None or not player.length:
        return None
    if hit.thumbnail:
        return element("span", {"class": "thumbnail_length"}, player.length)
    return element("div", {"class": "result_length"}, f"Length: {player.length}")


def _table(facts: Iterable[Fact]) -> Markup:
    """Return the table of a row without an address."""
    rows = (
        element(
            "tr",
            {},
            element("th", {"class": "col-key", "scope": "row"}, fact.label),
            element("td", {"class": "col-value"}, fact.value),
        )
        for fact in facts
    )
    return element("table", {}, *rows)


def _torrent(torrent: Torrent) -> Markup:
    links = {"magnetlink": torrent.magnet, "torrentfile": torrent.torrent_url}
    swarm = [(torrent.seeds, "Seeder"), (torrent.leeches, "Leecher")]
    known = torrent.seeds is not None
    content = [(torrent.size, "Filesize"), (torrent.files, "Number of Files")]
    return join(
        element(
            "p",
            {"class": "altlink"},
            *(
                element("a", {"href": href, "class": name}, name)
                for name, href in links.items()
                if href
            ),
        ),
        _badges(f"{value} {word}" for value, word in swarm if known),
        _badges(f"{value} {word}" for value, word in content if value),
    )


def _badges(texts: Iterable[str]) -> Markup:
    return element(
        "p", {"class": "stat"}, *(element("span", {"class": "badge"}, text) for text in texts)
    )


def _place(place: Place) -> Markup:
    street = ", ".join(filter(None, (place.house_number, place.road)))
    address = {
        "name": place.name,
        "streetAddress": street,
        "addressLocality": place.locality,
        "postalCode": place.postcode,
        "addressCountry": place.country,
    }
    lines = (element("span", {"itemprop": name}, text) for name, text in address.items() if text)
    kind = {"itemscope": "", "itemtype": "http://schema.org/PostalAddress"}
    rows = [_table_row("address", element("td", kind, *lines))]
    rows += [_table_row(fact.label, element("td", {}, fact.value)) for fact in place.facts]
    rows += [
        _table_row(
            link.title,
            element("td", {}, element("a", {"class": "text-info", "href": link.url}, link.url)),
        )
        for link in place.links
    ]
    box = json.dumps([str(edge) for edge in place.bounding_box]) if place.bounding_box else ""
    button = {
        "class": "btn-collapse searxng_init_map",
        "data-map-lon": str(place.longitude),
        "data-map-lat": str(place.latitude),
        "data-map-boundingbox": box,
    }
    return join(element("table", {}, *rows), element("small", {}, element("a", button, "show map")))


def _table_row(label: str, cell: Markup) -> Markup:
    return element("tr", {}, element("th", {"scope": "row"}, label), cell)


def _attributes(values: Mapping[str, str | None]) -> Markup:
    entries = (
        element("div", {}, element("span", {}, f"{label}:"), element("span", {}, value))
        for label, value in values.items()
        if value
    )
    return element("div", {"class": "attributes"}, *entries)


def _paper(hit: Hit, paper: Paper) -> Mapping[str, str | None]:
    when = datetime.fromisoformat(hit.published_at) if hit.published_at else None
    issue = ".".join(filter(None, (paper.volume, paper.number)))
    return {
        "Published date": f"{when:%B} {when.day}, {when.year}" if when else None,
        "Author": ", ".join(paper.authors),
        "Journal": _GAP.join(filter(None, (paper.journal, issue, paper.pages))),
        "Editor": paper.editor,
        "Publisher": paper.publisher,
        "Type": paper.type,
        "Tags": ", ".join(paper.tags),
        "DOI": paper.doi,
        "ISSN": ", ".join(paper.issn),
        "ISBN": ", ".join(paper.isbn),
    }


def _full_texts(paper: Paper) -> Markup:
    links = {"PDF": paper.pdf_url, "HTML": paper.html_url}
    return join(
        element("p", {"class": "comments"}, paper.comments) if paper.comments else None,
        element(
            "p",
            {"class": "altlink"},
            *(element("a", {"href": href}, name) for name, href in links.items() if href),
        ),
    )


def _package(hit: Hit, package: Package) -> Markup:
    licence: Markup | str = package.licence
    if package.licence_url:
        licence = element("a", {"href": package.licence_url}, package.licence)
    links = {"Project homepage": package.homepage, "Source code": package.source_url}
    links |= {link.title: link.url for link in package.links}
    values: dict[str, Markup | str] = {
        "package_name": package.name,
        "version": package.version,
        "maintainer": package.maintainer,
        "pubdate": element("time", {"datetime": ""}, hit.published_at) if hit.published_at else "",
        "tags": ", ".join(package.tags),
        "popularity": package.popularity,
        "license": licence,
        "project": join(
            *(element("a", {"href": href}, name) for name, href in links.items() if href)
        ),
    }
    entries = (
        element(
            "div",
            {"class": f"result_{name}"},
            element("span", {}, f"{name}:"),
            element("span", {}, value),
        )
        for name, value in values.items()
        if value
    )
    return element("div", {"class": "attributes"}, *entries)


def _code(code: Code) -> Markup:
    link = element("a", {"href": code.repository}, code.repository)
    lines = (
        join(element("span", {"class": "linenos"}, str(number)), f"{text}\n")
        for number, text in code.lines
    )
    return join(
        element("p", {"class": "content"}, "Repository: ", link) if code.repository else None,
        element("p", {"class": "content"}, f"Filename: {code.filename}") if code.filename else None,
        element("div", {"class": "codelines"}, element("pre", {}, *lines)),
    )


def _file(hit: Hit, file: File) -> Markup:
    values = {
        "Author": hit.author,
        "Filename": file.filename,
        "Filesize": file.size,
        "Date": file.time,
        "Type": file.mimetype,
    }
    source = {"href": file.embed_url or "", "download": ""}
    return join(
        _attributes(values),
        element("p", {"class": "altlink"}, element("a", source, "Download"))
        if file.embed_url
        else None,
    )


def _product(product: Product) -> Markup:
    values = {
        "price": product.price,
        "shipping": product.shipping,
        "source_country": product.source_country,
    }
    return join(
        *(
            element("div", {"class": f"result_{name}"}, text)
            for name, text in values.items()
            if text
        )
    )


_MAX_DESCRIPTION = 1_024
"""Characters of a description that the theme shows; JSON has all of them."""


def result(hit: Hit, *, words: re.Pattern[str], proxy: str) -> Markup:
    """Return the article of one row.

    Args:
        hit: the row.
        words: matches, in one group, the text to highlight in title and description.
        proxy: path of the instance's image proxy; empty to link images directly.
    """
    attributes = {"class": f"result result-{hit.template} category-{hit.category}"}
    if hit.image is not None:
        return element("article", attributes, *_picture(hit, hit.image, proxy))
    if hit.facts is not None and not hit.url:
        return element("article", attributes, _table(hit.facts), _engines(hit))
    link = {"href": hit.url, "rel": "noreferrer"}
    return element(
        "article",
        attributes,
        element("a", link | {"class": "url_header"}, _host(hit.url)),
        _thumbnail(hit, proxy),
        element("h3", {}, element("a", link, _highlight(hit.title, words))),
        _published(hit),
        None if hit.thumbnail else _length(hit),
        element("div", {"class": "result_author"}, f"Author: {hit.author}") if hit.author else None,
        _above(hit),
        _description(hit, words),
        _below(hit),
        # Upstream's template for packages omits them.
        None if hit.package else _engines(hit),
        element("div", {"class": "break"}),
    )


def infobox(box: Infobox) -> Markup:
    """Return the box of facts next to the rows."""
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
    # Comes before the heading: the first link of an article is not always its title.
    return element("a", {"href": hit.url, "class": "thumbnail_link"}, picture, _length(hit))


def _published(hit: Hit) -> Markup | None:
    # Papers and packages have it among their attributes.
    if hit.published_at is None or hit.paper or hit.package:
        return None
    when = datetime.fromisoformat(hit.published_at)
    # Video engines still return untyped rows, for which upstream leaves the attribute empty.
    machine = "" if hit.template == "videos" else when.strftime("%Y-%m-%d %H:%M:%S%z")
    return element("time", {"class": "published_date", "datetime": machine}, str(when))


def _description(hit: Hit, words: re.Pattern[str]) -> Markup:
    if not hit.description:
        sentence = "This site did not provide any description."
        return element("p", {"class": "content empty_element"}, sentence)
    text = hit.description[:_MAX_DESCRIPTION]
    return element("p", {"class": "content"}, _highlight(text, words))


def _host(url: str) -> str:
    # Not urlsplit: a test may pass an address that cannot be parsed.
    return url.partition("://")[2].partition("/")[0]


def _proxied(url: str, proxy: str) -> str:
    # Upstream signs the address; 64 hexadecimal digits replace the signature here.
    return f"{proxy}?url={quote(url, safe='')}&h={'0' * 64}" if proxy else url


def _highlight(text: str, words: re.Pattern[str]) -> Markup:
    return join(
        *(
            element("span", {"class": "highlight"}, part) if n % 2 else part
            for n, part in enumerate(words.split(text))
        )
    )
