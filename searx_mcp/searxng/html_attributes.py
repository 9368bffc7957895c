"""Rows that show their fields as a list of labels and values: papers, packages, files.

Classes, links and the form of a value tell what is what wherever the theme allows it. Where it does
not, the English label does, since English is what instances are asked for; one that does not heed
that loses those fields only.
"""

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborNode

from searx_mcp.searxng.html_nodes import attribute, several, text

Fields = dict[str, object]

SIZE = re.compile(r"[0-9][0-9.,]*\s?(?:(?:[kmgtp]i?)?b|bytes?)(?![a-z])", re.IGNORECASE)
_MIMETYPE = re.compile(r"[a-z]+/[\w.+-]+")
_ISSN = re.compile(r"[0-9]{4}-[0-9]{3}[0-9X](?:, [0-9]{4}-[0-9]{3}[0-9X])*")
_PLACE_IN_JOURNAL = re.compile(r"[^\xa0]{1,500}\xa0[^\xa0]{1,100}(?:\xa0[^\xa0]{1,100})?")
_PAGES = re.compile(r"[0-9]+\s?[-\u2013]\s?[0-9]+")


def read_paper(article: LexborNode) -> Fields:
    """Read what a paper shows; `publishedDate` too, which stands among the attributes."""
    shown = _attributes(article)
    links = {
        text(link).strip().upper(): attribute(link, "href")
        for link in several(article, "p.altlink a")
    }
    return {
        "authors": shown.get("authors") or shown.get("author"),
        "publishedDate": shown.get("publisheddate") or shown.get("published date"),
        "editor": shown.get("editor"),
        "publisher": shown.get("publisher"),
        "type": shown.get("type"),
        "tags": shown.get("tags"),
        # The only value with a link.
        "doi": shown.get("doi") or text(article.css_first("div.attributes > div a[href]")),
        "issn": shown.get("issn") or _first(shown, _ISSN),
        "isbn": shown.get("isbn"),
        "comments": text(article.css_first("p.comments")),
        "pdf_url": links.get("PDF"),
        "html_url": links.get("HTML"),
        # With its place in it the only value whose spaces do not break.
        **_journal(shown.get("journal") or _first(shown, _PLACE_IN_JOURNAL)),
    }


def read_package(article: LexborNode) -> Fields:
    """Read what a software package shows."""
    shown = _attributes(article)
    fields: Fields = {
        "package_name": shown.get("package_name"),
        "version": shown.get("version"),
        "maintainer": shown.get("maintainer"),
        "tags": shown.get("tags"),
        "popularity": shown.get("popularity"),
        "license_name": shown.get("license"),
        "license_url": attribute(article.css_first(".result_license a"), "href"),
    }
    links: Fields = {}
    for link in several(article, ".result_project a"):
        name, url = text(link).strip(), attribute(link, "href")
        if name == "Project homepage":
            fields["homepage"] = url
        elif name == "Source code":
            fields["source_code_url"] = url
        else:
            links[name] = url
    return fields | {"links": links}


def read_file(article: LexborNode) -> Fields:
    """Read what a file shows; the description too, which has a class of its own until 2025-10."""
    shown = _attributes(article)
    # Until 2025-10 a table, in which labels have no colon.
    for row in several(article, "table.result-metadata tr"):
        label, value = (*several(row, "td", 2), None, None)[:2]
        shown.setdefault(text(label).strip(": \n").lower(), text(value))
    fields: Fields = {
        "author": shown.get("author"),
        "filename": shown.get("filename"),
        "size": shown.get("filesize") or _first(shown, SIZE),
        "time": shown.get("date"),
        "mimetype": shown.get("type") or _first(shown, _MIMETYPE),
        "abstract": text(article.css_first("p.abstract, p.result-abstract")),
        "embedded": attribute(article.css_first("audio source, video source"), "src")
        or attribute(article.css_first("p.altlink a[download]"), "href"),
    }
    description = article.css_first("p.result-content:not(.result-abstract)")
    return fields if description is None else fields | {"content": text(description)}


def _attributes(article: LexborNode) -> dict[str, str]:
    """The values of a list of attributes, by class where there is one, else by English label."""
    values: dict[str, str] = {}
    for entry in several(article, "div.attributes > div"):
        label, value = (*several(entry, "span", 2), None, None)[:2]
        name = text(label).strip(": \n").lower()
        for key in (attribute(entry, "class").removeprefix("result_").lower(), name):
            if key:
                values[key] = text(value)
    return values


def _first(shown: Mapping[str, str], form: re.Pattern[str]) -> str:
    """The first value of a form that no other value of such a row has."""
    return next((value for value in shown.values() if form.fullmatch(value.strip())), "")


def _journal(shown: str) -> Fields:
    """The journal, its volume and number with a dot between them, and the pages."""
    journal, *places = shown.strip(" \n").split("\xa0")
    fields: Fields = {"journal": journal}
    if places and (len(places) > 1 or not _PAGES.fullmatch(places[0])):
        volume, _, fields["number"] = places.pop(0).partition(".")
        fields["volume"] = volume
    if places:
        fields["pages"] = places[0]
    return fields
