"""Wikipedia and Wikimedia Commons: the Action API of MediaWiki, `formatversion=2`."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from searx_mcp.testing.instance.replies import Json
from searx_mcp.testing.web import FakePage
from tests.doubles.open_sources.addresses import FILE_ENDINGS, address_of, wiki_slug
from tests.doubles.open_sources.call import Call, json_page, page_of
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.matching import by_all, ranked, words

_API: Final = "/w/api.php"
_UPLOADS: Final = "https://upload.wikimedia.org/wikipedia"

_STOP_WORDS: Final = frozenset(
    words(
        "a an and are as at be but by for if in into is it no not of on or such that the their then"
        " there these they this to was will with"
    )
)
"""The stop words of Lucene's English analyser (EnglishAnalyzer.ENGLISH_STOP_WORDS_SET)."""

_EVERYWHERE: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(words(text))
    for language, text in {
        "en": (
            "about above after all also another any anybody before between both can could did do does"
            " each even ever every few first from get had has have he her here him his how however i its"
            " just know last like long make many may me mean might more most much must my name need never"
            " new now off often one only other our out over own people same she should since so some"
            " somebody still take tell than them those through time today two under until up us use used"
            " very want way we were what when where whether which while who why without work would you"
            " your"
        ),
        "de": "am auf das dem den der des die ein eine für im in ist mit und von was wer wie wo zu",
        "es": "al como cual de del el en es fue la las lo los para por que quien se son un una y",
        "fr": "au ce comment d dans de des du en est et la le les l par pour qu que qui un une",
        "ru": "в и как какой когда кто на не о с такое такой у что это",  # noqa: RUF001 - Cyrillic letters
    }.items()
}
"""Articles have thousands of words, so that these, which questions are full of, leave none of them out: of
English those besides the stop words."""

_MIME: Final = {
    "bitmap": "image/jpeg",
    "drawing": "image/svg+xml",
    "video": "video/webm",
    "audio": "application/ogg",
    "office": "application/pdf",
    "3d": "application/sla",
    "archive": "application/zip",
}
_LICENCE_URLS: Final = {
    "CC BY 2.0": "https://creativecommons.org/licenses/by/2.0",
    "CC BY-SA 4.0": "https://creativecommons.org/licenses/by-sa/4.0",
    "CC0 1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
}
_FILETYPE = re.compile(r"\bfiletype:(\S+)")
_EXCLUDED = re.compile(r"-\S+")
_MAX_SENTENCES: Final = 10
_LONGEST: Final = 300
_SENTENCE = re.compile(r"[^.。]+[.。]?")

_Writer = Callable[[Call, Document], Json]


def wikipedia(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer a wiki of Wikipedia, which knows the articles of its own language."""
    language = call.host.partition(".")[0]
    mine = [document for document in documents if document.language == language]
    ignored = _EVERYWHERE.get(language, frozenset())
    return _search(call, mine, _article, ignored | _STOP_WORDS if language == "en" else ignored)


def commons(call: Call, documents: Sequence[Document]) -> FakePage:
    """Answer Commons: files, told apart by `filetype:` in the search."""
    asked = _FILETYPE.findall(call.text("gsrsearch"))
    types = {name for found in asked for name in found.split("|")}
    mine = [document for document in documents if not types or _types_of(document) & types]
    return _search(call, mine, _file, _STOP_WORDS)


def _search(
    call: Call, documents: Sequence[Document], write: _Writer, ignored: Collection[str]
) -> FakePage:
    asked = call.text("gsrsearch")
    if call.path != _API or call.text("generator") != "search":
        return json_page({"error": {"code": "badvalue"}})
    if not asked.strip():
        return json_page({"error": {"code": "missingparam"}})
    if len(asked) > _LONGEST:
        return json_page({"error": {"code": "cirrussearch-query-too-long"}})
    text = words(_EXCLUDED.sub(" ", _FILETYPE.sub(" ", asked)))
    found = ranked(documents, by_all([word for word in text if word not in ignored] or text))
    start, size = call.number("gsroffset", 0), call.number("gsrlimit", 10)
    part = page_of(found, start=start, size=size)
    answer: dict[str, object] = {}
    if start + size < len(found):
        answer["continue"] = {"gsroffset": start + size}
    if part:
        # Pages come by their numbers; `index` tells the order of the search.
        pages = [
            {**write(call, document), "index": start + place}
            for place, document in enumerate(part, start=1)
        ]
        answer["query"] = {"pages": sorted(pages, key=lambda page: str(page["pageid"]))}
    return json_page(answer)


def _article(call: Call, document: Document) -> Json:
    sentences = _SENTENCE.findall(document.text)
    wanted = min(call.number("exsentences", _MAX_SENTENCES), _MAX_SENTENCES)
    fields: dict[str, object] = {
        "pageid": document.number,
        "title": document.title,
        "extract": "".join(sentences[:wanted]).strip(),
        "fullurl": address_of(document),
    }
    if document.tags:
        fields["description"] = document.tags[0]
    if document.number % 2:
        fields["thumbnail"] = {
            "source": f"{_UPLOADS}/commons/thumb/{wiki_slug(document.title)}.jpg/320px-a.jpg"
        }
    return fields


def _types_of(document: Document) -> set[str]:
    if document.kind in {"video", "audio"}:
        return {document.kind, "multimedia"}
    return {document.kind}


def _file(call: Call, document: Document) -> Json:
    ending, mime = FILE_ENDINGS[document.kind], _MIME[document.kind]
    title = f"File:{document.title}.{ending}"
    name = wiki_slug(f"{document.title}.{ending}")
    width = call.number("iiurlwidth", 320)
    info: dict[str, object] = {
        "timestamp": document.stamp,
        "size": 1_000 * (document.number % 9_000 + 20),
        "width": document.width,
        "height": document.height,
        "url": f"{_UPLOADS}/commons/0/0a/{name}",
        "descriptionurl": address_of(document),
        "mime": mime,
        "extmetadata": _metadata(document),
    }
    if document.kind not in {"audio", "archive"}:
        info["thumburl"] = f"{_UPLOADS}/commons/thumb/0/0a/{name}/{width}px-{name}.jpg"
    if document.seconds:
        info["duration"] = float(document.seconds)
    return {"pageid": document.number, "title": title, "imageinfo": [info]}


def _metadata(document: Document) -> Json:
    artist = f'<a href="//commons.wikimedia.org/wiki/User:{wiki_slug(document.author)}">{document.author}</a>'
    values = {
        "ImageDescription": f"<p>{document.text}</p>",
        "Artist": artist,
        "LicenseShortName": document.licence,
        "LicenseUrl": _LICENCE_URLS.get(document.licence, ""),
    }
    return {name: {"value": value} for name, value in values.items() if value}
