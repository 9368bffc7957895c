"""The links and images of a page: addresses are made absolute, and each is listed once while the page is read."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.addresses import MAX_LINKS, absolute, image_address
from searx_mcp.content.clean import clean_line
from searx_mcp.content.markdown import escape_words
from searx_mcp.content.writing.paragraphs import TextLink, TextRun
from searx_mcp.models.page import PageImage, PageLink
from searx_mcp.models.style import Links

_MAX_IMAGES: Final = 50
_ALT_CHARS: Final = 300
_TEXT_CHARS: Final = 200
"""Most characters of a link's text and context, and of an image's caption."""

_ABSOLUTE = re.compile(
    r"https?://[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*+(?::[0-9]{1,5})?"
    r"(?:/(?:[A-Za-z0-9_~!$'*,:@%+=-]|\.(?![./]|\Z))++)*+/?"
    r"(?:\?[A-Za-z0-9._~!$'*,:@%+=/&-]++)?+(?:\#[A-Za-z0-9._~!$'*,:@%+=/-]++)?+"
)
"""Addresses that `absolute` would return unchanged, recognised in a tenth of its time: nothing to resolve, to escape
or to clean."""

_ROOT = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?=[/?#]|\Z)")
"""Scheme and host, if nothing in them is unusual."""

_PLAIN = re.compile(r"[!#-%'*-;=?-\[\]^_a-z{}~]++")
"""Characters that `target` would not change; it only handles `&` and non-ASCII characters."""

_MAX_PLAIN: Final = 1_000
_UNSAFE: Final = str.maketrans({
    " ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "%5C", "|": "%7C", "`": "%60",
})  # fmt: skip
_AFTER = re.compile(r"[,;:.)]*(?:\s|\Z)")
"""What GFM does not read as a part of an address before it."""

_REFERENCE = re.compile(r"&(?=\#?[A-Za-z0-9]{1,32};)")
_SPACE = re.compile(r"\s")
_SIZES: Final = frozenset({"width", "height"})
_TINY = re.compile(r"\s*[0-9]?\s*(?:px)?\s*")
_NO_WORDS = re.compile(
    r"(?:(?:the |an? )?(?:image|photo|picture|icon|logo|avatar|thumbnail|placeholder|banner|img|bild|foto)s?"
    r"(?: of)?|[\w.%()-]*\.(?:jpe?g|png|gif|webp|svg|avif)|(?:img|dsc|dscn|dscf|pxl|screenshot)[-_ \d]*)[\W\d_]*",
    re.IGNORECASE,
)
"""Alternative texts without information: the kind of image, or the name of its file."""

_MAX_LOOKED_UP: Final = 500
"""Images whose alternative text is searched for in the text of the page; each costs a pass over it."""

_ALT_BRACKETS: Final = str.maketrans("[]", "()")


class Targets:
    """The addresses of a page while it is written.

    Args:
        base: against which they are resolved.
        links: where those of links are written.
        roots: elements whose text shows whether the alternative text of an image is a repetition.

    Attributes:
        links: those to other pages so far, by address.
        images: those so far, by address.
        numbers: of the links whose addresses are written at the end, by address.
        shown: the addresses of the images so far, with repetitions.
    """

    def __init__(self, base: str, links: Links, roots: Sequence[LexborNode] = ()) -> None:
        self.shown: list[str] = []
        self._roots = roots
        self._looked_up = 0
        self._base = base
        self._links = links
        self._here = base.partition("#")[0]
        root = _ROOT.match(base)
        self._root = root[0] if root else ""
        self._addresses: dict[str, str] = {}
        self.links: dict[str, PageLink] = {}
        self.images: dict[str, PageImage] = {}
        self.numbers: dict[str, int] = {}

    def resolve(self, href: str) -> str:
        """The absolute address of a link, or empty if it has no usable one; cached."""
        known = self._addresses.get(href)
        if known is None:
            known = self._addresses[href] = self._resolved(href)
        return known

    def is_here(self, address: str) -> bool:
        """Whether it is a position on the page itself."""
        here = self._here
        return address.startswith(here) and address[len(here) : len(here) + 1] in {"", "#"}

    def written(self, parts: list[TextRun]) -> dict[TextLink, str]:
        """List the new links in a paragraph.

        Returns:
            The suffix for the text of each; none for those that stay plain text.
        """
        texts: dict[TextLink, str] = {}
        places: dict[TextLink, int] = {}
        for place, (text, _, link) in enumerate(parts):
            if link is not None and not link.is_written:
                texts[link] = texts[link] + text if link in texts else text
                places[link] = place
        if not texts:
            return {}
        paragraph = "".join([part.text for part in parts])
        suffixes: dict[TextLink, str] = {}
        at = 0
        for link, words in texts.items():
            link.is_written = True
            text = words.strip()
            if link.address not in self.links:
                at = max(paragraph.find(text, at), 0)
            self.note(link.address, text, paragraph, at)
            if self._links is not Links.NONE and not (
                text == link.address and _says_itself(text, parts, places[link])
            ):
                suffixes[link] = self._suffix(link.address)
        return suffixes

    def note(self, address: str, text: str, paragraph: str = "", at: int = 0) -> None:
        """List a link.

        Args:
            address: absolute.
            text: its text, clean.
            paragraph: the text around it, clean.
            at: its offset in that.
        """
        known = self.links.get(address)
        if known is not None and (known.text or not text):
            return
        if not address.startswith("http") or self.is_here(address):
            return
        if known is None and len(self.links) >= MAX_LINKS:
            return
        context = ""
        if len(paragraph) > len(text) + 1:
            context = _line(_around(paragraph, at, len(text)))
        self.links[address] = PageLink(url=address, text=_line(text), context=context)

    def image(self, node: LexborNode, attributes: dict[str, str | None]) -> tuple[str, str] | None:
        """List an image.

        Returns:
            Its address and its alternative text, or `None` if there is nothing to show: it is a tracking pixel, or
            has no address.
        """
        image = self._image(node, attributes)
        if image is None:
            return None
        known = self.images.get(image.url)
        is_new = known is None and len(self.images) < _MAX_IMAGES
        if is_new or (known is not None and image.alt and not known.alt):
            self.images[image.url] = image
        self.shown.append(image.url)
        return image.url, image.alt.translate(_ALT_BRACKETS)

    @cached_property
    def _said(self) -> str:
        """All text of the page, reduced to its letters."""
        return _folded(" ".join(root.text(separator=" ") for root in self._roots))

    def is_news(self, words: str) -> bool:
        """Whether the alternative text of an image adds something to the text of the page.

        On product pages and lists of articles most images repeat the title next to them.
        """
        if _NO_WORDS.fullmatch(words):
            return False
        self._looked_up += 1
        return self._looked_up > _MAX_LOOKED_UP or _folded(words) not in self._said

    def caption(self, urls: list[str], text: str) -> None:
        """Give images the caption of their figure."""
        line = clean_line(text, _ALT_CHARS)
        for url in urls:
            image = self.images.get(url)
            if image is not None and not image.caption and line:
                self.images[url] = image.model_copy(update={"caption": line})

    def _suffix(self, address: str) -> str:
        if self._links is Links.INLINE:
            return f"({target(address)})"
        return f"[{self.numbers.setdefault(address, len(self.numbers) + 1)}]"

    def _resolved(self, href: str) -> str:
        if len(href) < _MAX_PLAIN:
            if _ABSOLUTE.fullmatch(href):
                return href
            if href[:1] == "/" and self._root and _ABSOLUTE.fullmatch(joined := self._root + href):
                return joined
        return absolute(self._base, href)

    def _image(self, node: LexborNode, attributes: dict[str, str | None]) -> PageImage | None:
        url = self.resolve(attributes.get("src") or "") if _is_plain(attributes) else ""
        if not url.startswith("http"):
            url = image_address(node, attributes, self._base)
        alt = clean_line(attributes.get("alt") or "", _ALT_CHARS)
        return PageImage(url=url, alt=alt) if url else None


def target(address: str) -> str:
    """Escape an address for Markdown, where brackets and spaces would end it."""
    if _PLAIN.fullmatch(address):
        return address
    shown = _REFERENCE.sub(r"\&", address.translate(_UNSAFE))
    return shown if shown.isascii() else _SPACE.sub("", shown)


def _says_itself(address: str, parts: Sequence[TextRun], place: int) -> bool:
    """Whether an address that is the text of its own link would be read as it without markup, too."""
    before, after = (
        "".join(part.text for part in parts[i : i + 1]) for i in (place - 1, place + 1)
    )
    begin, found, end = parts[place].text.partition(address)
    return (
        found == escape_words(address) == target(address)
        and not parts[place].formats
        and not (before + begin)[-1:].isalnum()
        and _AFTER.match(end + after) is not None
    )


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _line(text: str) -> str:
    """Clean text of one line, cut to the listed length."""
    if len(text) <= _TEXT_CHARS and "\n" not in text and "  " not in text:
        return text.strip()
    return clean_line(text, _TEXT_CHARS)


def _is_plain(attributes: dict[str, str | None]) -> bool:
    """Whether an image is the one in its `src`, at a visible size."""
    return bool(attributes.get("src")) and not any(
        name.startswith("data-") or (name in _SIZES and _TINY.fullmatch(value or "0"))
        for name, value in attributes.items()
    )


def _around(paragraph: str, at: int, length: int) -> str:
    """The words around a link, cut between words."""
    if len(paragraph) <= _TEXT_CHARS:
        return paragraph
    room = max(_TEXT_CHARS - length, 0)
    start = min(max(at - room // 2, 0), len(paragraph) - _TEXT_CHARS)
    shown = paragraph[start : start + _TEXT_CHARS]
    if start and " " in shown[: room // 2]:
        shown = shown.partition(" ")[2]
    if start + _TEXT_CHARS < len(paragraph) and " " in shown[-(room // 2) :]:
        shown = shown.rpartition(" ")[0]
    return shown
