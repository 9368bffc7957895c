"""What the result templates of the simple theme add to a row."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime

from searx_mcp.models.hits import Hit
from searx_mcp.models.templates import Code, Fact, File, Package, Paper, Place, Product, Torrent
from searx_mcp.testing.instance.markup import Markup, element, join

_GAP = "\xa0"


def above(hit: Hit) -> Markup | None:
    """Return what stands between the heading and the description."""
    if hit.video and hit.video.views:
        return element("div", {"class": "result_views"}, f"Views: {hit.video.views}")
    if hit.torrent:
        return _torrent(hit.torrent)
    if hit.paper:
        return _attributes(_paper(hit, hit.paper))
    if hit.file and hit.file.abstract:
        return element("p", {"class": "abstract"}, hit.file.abstract)
    return _product(hit.product) if hit.product else None


def below(hit: Hit) -> Markup | None:
    """Return what stands under the description."""
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


def length(hit: Hit) -> Markup | None:
    """Return the length of what has no thumbnail to show it on."""
    player = hit.video or hit.media
    if player is None or not player.length or hit.thumbnail:
        return None
    return element("div", {"class": "result_length"}, f"Length: {player.length}")


def length_inside(hit: Hit) -> Markup | None:
    """Return the length of what is played, for its thumbnail."""
    player = hit.video or hit.media
    if player is None or not player.length:
        return None
    return element("span", {"class": "thumbnail_length"}, player.length)


def table(facts: Iterable[Fact]) -> Markup:
    """Return the table of a row that has no address."""
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
