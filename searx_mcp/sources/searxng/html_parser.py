"""Parses result pages of SearXNG's simple theme, and of the same theme in searx 1.1.

Public instances return only HTML. The kind of page is determined first: a home page or another program's page
must never count as "nothing found".

The selectors of rows (2022 to 2026) use classes and elements; `docs/decisions/searxng-answers.md` says since
when each is valid.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from searx_mcp.content.html.guards import guard, parse
from searx_mcp.models.hits import (
    Answer,
    Fact,
    Infobox,
    ResultPage,
    UnresponsiveEngine,
)
from searx_mcp.sources.searxng.fields import (
    MAX_DESCRIPTION,
    MAX_NAME,
    MAX_NAMES,
    MAX_ROWS,
    MAX_TITLE,
    image_address,
    line,
    lines,
    number,
    row_template,
    untagged,
    web_address,
)
from searx_mcp.sources.searxng.html_templates import (
    after_colon,
    attribute,
    labelled,
    read_details,
    read_table,
    several,
    text,
)
from searx_mcp.sources.searxng.json_parser import (
    FORECAST,
    BodyKind,
    ParsedBody,
    Row,
    forecast,
    page_of,
)
from searx_mcp.sources.searxng.template_fields import facts, links

_TEMPLATE_PREFIX: Final = "result-"
_CATEGORY_PREFIX: Final = "category-"


def read_row(node: LexborNode) -> Row:
    """Parse one `article.result` of any template, or a table in its place."""
    if node.tag == "table":
        return _table_row(node)
    template = row_template(
        next(
            (
                token.removeprefix(_TEMPLATE_PREFIX)
                for token in attribute(node, "class").split()
                if token.startswith(_TEMPLATE_PREFIX)
            ),
            None,
        )
    )
    if template == "images":
        return _image_row(node)
    return _default_row(node, template)


def _default_row(article: LexborNode, template: str) -> Row:
    # Not the first link of the row: a thumbnail or the header line may come before the title.
    link = article.css_first("h3 a[href]")
    engines = [text(span) for span in several(article, "div.engines > span")]
    details = read_details(article, template)
    # Some templates show the description or the date elsewhere.
    description = details.get("content")
    if description is None:
        description = text(article.css_first("p.content:not(.empty_element)"))
    return Row(
        url=attribute(link, "href"),
        title=text(link),
        description=description,
        engines=engines,
        published=_published(article) or details.get("publishedDate"),
        # `img.image` until 2023.
        thumbnail=attribute(article.css_first("img.thumbnail, img.image"), "src"),
        category=_category(article, engines),
        template=template,
        author=after_colon(text(article.css_first(".result_author"))) or details.get("author"),
        details=details,
    )


def _image_row(article: LexborNode) -> Row:
    picture = article.css_first("img.image_thumbnail")
    # In searx 1.1, only the picture has a title, and the page's address is below the picture.
    title = article.css_first("span.title")
    page = article.css_first("p.result-url a[href], span.url a[href]")
    # `p.result-engine` before 2026-06-26; searx 1.1 names no engines.
    engines = labelled(article.css_first("p.result-engines, p.result-engine")).split(",")
    details = read_details(article, "images")
    return Row(
        url=attribute(page, "href"),
        title=text(title) or attribute(picture, "alt"),
        description=details["content"],
        engines=engines,
        thumbnail=attribute(picture, "src"),
        category=_category(article, engines),
        template="images",
        author=labelled(article.css_first("p.result-author")),
        details=details,
    )


def _table_row(table: LexborNode) -> Row:
    # The engines follow the table.
    after = table.next
    while after is not None and after.tag == "-text":
        after = after.next
    named = several(after, "span") if after is not None and after.tag == "div" else []
    details = read_table(table)
    return Row(
        url=details.get("url"),
        title=details.get("title"),
        description=details.get("content"),
        engines=[text(span) for span in named],
        template="keyvalue",
        details=details,
    )


def _published(article: LexborNode) -> str:
    time = article.css_first("time.published_date, .result_pubdate time")
    # Since 2025-03 the attribute is empty for results of untyped engines; the text is then ISO.
    return attribute(time, "datetime") or text(time)


def _category(article: LexborNode, engines: list[str]) -> str:
    """Return the category from the class attribute, where it may contain a space.

    Until 2024-12 the names of the engines follow, in the order of the row's list.
    """
    category = attribute(article, "class").partition(_CATEGORY_PREFIX)[2]
    return category.removesuffix(" ".join(["", *engines]))


_MAX_TAGS: Final = 30_000
"""Maximum number of `<` in a page that is parsed. The largest result page measured has 4,700 tags."""

_ROWS: Final = (
    "#urls > article.result, #urls > * > article.result, #urls > table, #urls > div > table"
)
"""Rows of one type may be grouped in a `div`. Not deeper, so that rows inside rows cannot make every row a
search through the whole page. Until 2025-05, a table of labels and values was not an `article`."""

_LINK_TOKEN = re.compile(r"(?:^|/)client[\w-]+\.css$")
_FAILED_ENGINE = re.compile(r"([^(),]+)\(([^()]*)\)")
_MAX_SENTENCE: Final = 5_000
"""Maximum characters of the sentence about failed engines; the expression above needs their square."""
_BULLETS: Final = "•\xa0 "


def parse_html(body: bytes, *, base_url: str) -> ParsedBody:
    """Parse a body that should be a result page in HTML.

    Args:
        body: the body, possibly cut; SearXNG sends UTF-8.
        base_url: the instance, for addresses that point into it.

    Returns:
        `RESULTS` with the page; `SEARCH_ERROR`; `HOME`; `FOREIGN` for a page that is not SearXNG's;
        `MALFORMED` for a SearXNG page without results in the expected place, or with too many tags to parse.
        Never raises.
    """
    html = body.decode("utf-8", "replace")
    if html.count("<") > _MAX_TAGS:
        return ParsedBody(BodyKind.MALFORMED, detail="The page has too many tags.")
    try:
        document = parse(guard(html))
    except SelectolaxError:
        return ParsedBody(BodyKind.MALFORMED, detail="The page cannot be parsed.")
    kind = _page_kind(document)
    if kind is not BodyKind.RESULTS:
        return ParsedBody(kind, detail=_DETAILS[kind])
    rows = document.css_first("#urls")
    page = _page(document, base_url)
    if rows is None or _has_lost_its_rows(page, rows):
        return ParsedBody(BodyKind.MALFORMED, detail="The results are not where SearXNG puts them.")
    return ParsedBody(BodyKind.RESULTS, page=page)


_DETAILS: Final = {
    BodyKind.SEARCH_ERROR: "The instance could not search.",
    BodyKind.HOME: "The instance answered with its start page.",
    BodyKind.MALFORMED: "The answer is a SearXNG page, but not a result page.",
    BodyKind.FOREIGN: "The answer is a page from another program.",
}


def _page_kind(document: LexborHTMLParser) -> BodyKind:
    # The class of the body has shown the kind since 2022; an operator's theme may have removed it.
    classes = attribute(document.css_first("body"), "class").split()
    endpoint = attribute(document.css_first("meta[name='endpoint']"), "content")
    if "results_endpoint" in classes or endpoint == "results":
        return BodyKind.RESULTS
    if "index_endpoint" in classes or endpoint == "index":
        return BodyKind.HOME
    if "search_endpoint" in classes or endpoint == "search":
        # Without a message it is the start page that /search shows when it got no query.
        failed = document.css_first(".dialog-error") is not None
        return BodyKind.SEARCH_ERROR if failed else BodyKind.HOME
    generator = attribute(document.css_first("meta[name='generator']"), "content").lower()
    if not generator.startswith("searx"):
        return BodyKind.FOREIGN
    return BodyKind.MALFORMED if document.css_first("#urls") is None else BodyKind.RESULTS


def _page(document: LexborHTMLParser, base_url: str) -> ResultPage:
    return page_of(
        [read_row(article) for article in several(document, _ROWS, MAX_ROWS)],
        _infoboxes(document, base_url),
        base_url=base_url,
        answers=tuple(_answers(document)),
        suggestions=_submit_values(document, "#suggestions"),
        corrections=_submit_values(document, "#corrections"),
        unresponsive_engines=tuple(_unresponsive(document)),
        has_next=document.css_first("form.next_page, #pagination > form:not([class])") is not None,
        formats=lines(
            attribute(node, "value") for node in several(document, "#apis [name='format']")
        ),
        link_token=any(
            _LINK_TOKEN.search(attribute(node, "href"))
            for node in several(document, "link[rel='stylesheet']")
        ),
        timings=dict(_timings(document)),
    )


def _has_lost_its_rows(page: ResultPage, rows: LexborNode) -> bool:
    """Return whether there are neither rows nor an explanation for their absence.

    A page without results says so in a dialog among the rows, unless it has answers.
    """
    explained = page.rows_seen or page.is_useful or page.unresponsive_engines
    return (
        not explained
        and rows.css_first(".dialog-error-block, .dialog-error, article.result-keyvalue, table")
        is None
    )


def _answers(document: LexborHTMLParser) -> Iterator[Answer]:
    """Parse the direct answers above the results."""
    for node in several(document, "#answers .answer"):
        words, details = _shown(node)
        link = node.css_first("a[href]")
        if words := line(words, MAX_DESCRIPTION):
            yield Answer(text=words, url=web_address(attribute(link, "href")), details=details)


def _shown(node: LexborNode) -> tuple[str, tuple[Fact, ...]]:
    """Return an answer's visible text, and its parts."""
    if report := node.css_first("details.weather div.summary"):
        return text(report), facts(_shown_weather(node))
    if terms := several(node, ".answer-translations dt"):
        words = ", ".join(text(term).strip() for term in terms)
        return words, facts(_shown_translations(node.css_first(".answer-translations dl")))
    # A span names the source if it has no address; in searx 1.1 the answer is in the link itself.
    spoken = node.css_first("summary") or node.css_first("span") or node.css_first("a[href]")
    return text(spoken), ()


def _shown_weather(node: LexborNode) -> Iterator[tuple[str, str]]:
    # A summary precedes each table; the first pair is for now.
    summaries, tables = several(node, "div.summary"), several(node, "table")
    for place, (summary, table) in enumerate(zip(summaries, tables, strict=False)):
        if place:
            yield FORECAST, forecast(line(text(summary), MAX_DESCRIPTION), _cells(table))
        else:
            yield from _cells(table)


def _cells(table: LexborNode) -> Iterator[tuple[str, str]]:
    """Return the labels and values of a table, two pairs in each row."""
    for row in several(table, "tr"):
        words = [line(text(cell), MAX_DESCRIPTION) for cell in several(row, "td")]
        for label, value in zip(words[::2], words[1::2], strict=False):
            yield label.rstrip(": "), value


def _shown_translations(terms: LexborNode | None) -> Iterator[tuple[str, str]]:
    term = ""
    for child in _children(terms):
        if child.tag == "dt":
            term = text(child)
        elif child.tag == "dd":
            yield term, "; ".join(filter(None, _shown_parts(child)))


def _shown_parts(entry: LexborNode) -> Iterator[str]:
    label = ""
    for child in _children(entry):
        words = line(text(child), MAX_DESCRIPTION)
        if child.tag == "ul":
            items = lines([text(item) for item in several(child, "li")], max_chars=MAX_DESCRIPTION)
            yield f"{label}: {' / '.join(items)}" if items else ""
        elif attribute(child, "class") == "item-transliteration":
            yield words
        else:
            label = words


def _children(node: LexborNode | None) -> list[LexborNode]:
    return list(islice(node.iter(), 2 * MAX_NAMES)) if node is not None else []


def _infoboxes(document: LexborHTMLParser, base_url: str) -> Iterator[Infobox]:
    for box in several(document, "aside.infobox"):
        title = line(text(box.css_first("h2")), MAX_TITLE)
        if not title:
            continue
        children = list(box.iter())
        content = " ".join(text(child) for child in children if child.tag == "p")
        image = next((child for child in children if child.tag == "img"), None)
        yield Infobox(
            title=title,
            content=line(content, MAX_DESCRIPTION),
            image=image_address(attribute(image, "src"), base_url),
            links=links(
                (text(link), attribute(link, "href")) for link in several(box, ".urls a[href]")
            ),
            attributes=tuple(_attributes(box)),
        )


def _attributes(box: LexborNode) -> Iterator[Fact]:
    for entry in several(box, ".attributes dl"):
        label = line(text(entry.css_first("dt")).rstrip(": \n"), MAX_NAME)
        value = text(entry.css_first("dd")) or attribute(entry.css_first("dd img"), "alt")
        # The theme escapes what is HTML in JSON.
        cleaned = untagged(value, MAX_DESCRIPTION)
        if label and cleaned:
            yield Fact(label=label, value=cleaned)


def _submit_values(document: LexborHTMLParser, container: str) -> tuple[str, ...]:
    # Until 2023 a bullet precedes each suggestion.
    buttons = several(document, f"{container} input[type='submit']")
    return lines(
        [attribute(button, "value").lstrip(_BULLETS) for button in buttons], max_chars=MAX_TITLE
    )


def _timings(document: LexborHTMLParser) -> Iterator[tuple[str, float]]:
    """Return seconds by engine, to a tenth of a second; since 2024-09."""
    for row in several(document, "#engines_msg-table tr"):
        engine = line(text(row.css_first("td.engine-name")), MAX_NAME)
        seconds = number(text(row.css_first("td.response-time .bar-chart-value")).strip())
        if engine and seconds is not None:
            yield engine, seconds


def _unresponsive(document: LexborHTMLParser) -> Iterator[UnresponsiveEngine]:
    for row in several(document, "#engines_msg-table tr", MAX_ROWS):
        reason = row.css_first("td.response-error")
        engine = line(text(row.css_first("td.engine-name")), MAX_NAME)
        if reason is not None and engine:
            yield UnresponsiveEngine(engine=engine, reason=line(text(reason), MAX_NAME))
    yield from _unresponsive_in_words(document)


def _unresponsive_in_words(document: LexborHTMLParser) -> Iterator[UnresponsiveEngine]:
    """Parse the sentence in older pages: `bing (timeout), qwant (CAPTCHA)`."""
    for sentence in several(document, "#sidebar .dialog-error p, #urls > .dialog-error p"):
        # The last sentence recommends other instances, with a link in brackets, in small print.
        if sentence.css_first("small") is not None:
            continue
        for name, reason in _FAILED_ENGINE.findall(text(sentence)[:_MAX_SENTENCE])[:MAX_NAMES]:
            engine = line(name, MAX_NAME)
            if engine:
                yield UnresponsiveEngine(engine=engine, reason=line(reason, MAX_NAME))
