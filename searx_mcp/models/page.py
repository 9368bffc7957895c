"""One fetched page, with the field names of the specification, and the media types that may be named outside a fence."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from searx_mcp.models.base import Frozen

INCOMPLETE: Final = "The page is incomplete: "
"""Beginning of the note of a page that was cut off while it was fetched."""
CUT_BY_SIZE: Final = "cut off at the size limit"
"""End of that note if a larger limit gets more."""


class PageKind(StrEnum):
    """The kind of a page, which decides what counts as its content.

    In a `FORUM`, replies are content, not comments. A `COLLECTION` shows things and a `LISTING`
    texts; their links are content. A `SERVICE` presents an organisation or what it offers.
    """

    ARTICLE = "article"
    DOCUMENTATION = "documentation"
    FORUM = "forum"
    LISTING = "listing"
    COLLECTION = "collection"
    PRODUCT = "product"
    SERVICE = "service"


class Heading(Frozen):
    """One heading of a page.

    Attributes:
        level: 1 to 6.
        title: plain text, one line.
        offset: code points before it in the whole Markdown.
        anchor: its fragment on the page, without `#`; empty if it has none.
    """

    level: int
    title: str
    offset: int
    anchor: str = ""


class PageImage(Frozen):
    """One image of a page; never fetched.

    Attributes:
        url: absolute.
        alt: its alternative text, one line; may be empty.
        caption: the caption of its figure, one line; may be empty.
    """

    url: str
    alt: str = ""
    caption: str = ""


class PageLink(Frozen):
    """One link of a page to another one.

    Attributes:
        url: absolute, http or https.
        text: its words, one line; may be empty if the link is an image.
        context: the words around it in the same paragraph, one line; may be empty.
    """

    url: str
    text: str = ""
    context: str = ""


class SiteIndex(Frozen):
    """An index that a site publishes of its own pages.

    Attributes:
        format: by name, as in `content.site_index`.
        url: of its file.
        label: what its entries have in common, if it is one of several; one letter means their first letter.
    """

    format: str
    url: str
    label: str = ""


class CodeBlock(Frozen):
    """One fenced block of code of a page.

    Attributes:
        language: as the page names it, in lower case; empty if it does not.
        offset: code points before its opening fence in the whole Markdown.
        length: code points from its opening fence to the end of its closing one.
    """

    language: str
    offset: int
    length: int


class Passage(Frozen):
    """A part of a page that is meaningful by itself.

    Attributes:
        path: the headings above it, outermost first, without the title of the page.
        offset: code points before it in the whole Markdown.
        text: as in the Markdown.
        head: what a text from within a table or code begins with, to be understood: the header of the table, or the
            opening fence; empty for others.
    """

    path: tuple[str, ...]
    offset: int
    text: str
    head: str = ""

    @property
    def end(self) -> int:
        """The end offset in code points of the whole Markdown."""
        return self.offset + len(self.text)


class Page(Frozen):
    """One page as Markdown, or part of one.

    Attributes:
        url: as requested.
        final_url: after redirects.
        title: plain text; empty if the page has none.
        description: the page's own description; empty if it has none.
        author: as the page names it; may be empty.
        published: when the page says it was published: ISO 8601, or as the page writes it if the order
            of day and month is unknown; may be empty.
        modified: when it was last changed, likewise.
        language: BCP 47 tag that the page declares; may be empty.
        site: name of the site, as the page gives it; may be empty.
        canonical_url: the address that the page declares as its own; may be empty.
        kind: the kind of page; `None` if unknown.
        is_protected: whether the page says that it is not free to read.
        sources: where on the page each of these values was found, by field: `json-ld`, the name of a
            `<meta>`, or the element that shows it.
        content_type: media type in lower case, without parameters.
        content_length: decoded bytes read.
        status_code: of the last hop.
        response_time_ms: from the call to the last byte; near 0 for a cached page.
        markdown_content: the main content, or the requested part of it.
        word_count: words in the whole Markdown.
        summary: whole sentences of the whole page; empty if switched off.
        key_points: up to five sentences of the whole page; none if summaries are switched off.
        headers: `server`, `content-encoding`, `content-language` and `last-modified`, if sent.
        redirect_count: hops after the first address.
        redirect_chain: `url -> status`, one entry per hop, the last page included.
        redirect_target: where a redirect that was not followed leads; empty for a page.
        truncated: whether `markdown_content` stops before the end of the page: there is more at
            `next_offset`, or the page was cut off while it was fetched (`notes` say why).
        cursor: identifies this copy of the page in later calls; empty if none was kept.
        offset: code points of the whole Markdown before `markdown_content`.
        next_offset: where to read on with `cursor`, in code points; `None` at the end of the page.
        total_chars: code points in the whole Markdown.
        section: the headings that lead to the requested section, outermost first.
        outline: headings of the whole page, in order.
        images: images of the main content, in order.
        links: links of the main content to other pages, in order, each address once.
        code_blocks: where the code is in the whole Markdown, in order.
        tier: where the text comes from: `native` for the page itself; see `docs/explanation/reading-pages.md`.
        fetched_at: when it was fetched or last found unchanged, ISO 8601 in UTC.
        from_cache: whether the page came from the cache, without downloading it.
        age_seconds: seconds since `fetched_at`.
        robots: what the site's robots.txt says: `allowed`, `absent`, `ignored` (a person or the operator
            chose to), or empty if the site was not asked.
        provenance: where this process learned the address: `search`, `link`, `person` or `unknown`.
        hidden_chars_removed: invisible and control characters removed from the text.
        removed: number of blocks of the page that are not in the Markdown, by the rule that removed them;
            empty for anything but an HTML page.
        notes: sentences the caller should know.
        quoted_notes: those with words of the page or of a remote service.
        answered: with a prompt, whether a passage supports it well enough to answer it; otherwise `None`.
        support: 0 to 1, how far the best passage does.
        missing_terms: words of the prompt that it lacks, the most significant first, five at most.
        passages: with a prompt, all of `markdown_content` in parts, the best match for the prompt first;
            otherwise none. Left out when serialized.
    """

    url: str
    final_url: str
    title: str = ""
    description: str = ""
    author: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    site: str = ""
    canonical_url: str = ""
    kind: PageKind | None = None
    is_protected: bool = False
    sources: Mapping[str, str] = {}
    content_type: str
    content_length: int
    status_code: int
    response_time_ms: int
    markdown_content: str
    word_count: int
    summary: str = ""
    key_points: tuple[str, ...] = ()
    headers: Mapping[str, str] = {}
    redirect_count: int = 0
    redirect_chain: tuple[str, ...] = ()
    redirect_target: str = ""
    truncated: bool = False
    cursor: str = ""
    offset: int = 0
    next_offset: int | None = None
    total_chars: int = 0
    section: tuple[str, ...] = ()
    outline: tuple[Heading, ...] = ()
    images: tuple[PageImage, ...] = ()
    links: tuple[PageLink, ...] = ()
    code_blocks: tuple[CodeBlock, ...] = ()
    tier: str = "native"
    fetched_at: str = ""
    from_cache: bool = False
    age_seconds: int = 0
    robots: str = ""
    provenance: str = ""
    hidden_chars_removed: int = 0
    removed: Mapping[str, int] = {}
    notes: tuple[str, ...] = ()
    quoted_notes: tuple[str, ...] = ()
    answered: bool | None = None
    support: float | None = None
    missing_terms: tuple[str, ...] = ()
    passages: SkipJsonSchema[tuple[Passage, ...]] = Field(default=(), exclude=True, repr=False)


_KNOWN: Final = frozenset(
    f"{kind}/{name}"
    for kind, names in {
        "text": "html plain markdown xml css csv tab-separated-values javascript calendar vtt x-python"
        " x-rst x-c x-rust x-go x-java x-diff x-patch yaml x-yaml",
        "application": "xhtml+xml xml json ld+json feed+json geo+json activity+json rss+xml atom+xml rdf+xml"
        " pdf zip gzip zstd x-bzip2 x-xz x-7z-compressed x-tar vnd.rar wasm ogg octet-stream"
        " x-executable x-ole-storage javascript ecmascript typescript graphql json5 jsonl jsonlines"
        " ndjson x-ndjson sql toml yaml x-yaml x-sh x-python x-tex x-latex x-bibtex x-javascript msword"
        " rtf epub+zip vnd.ms-excel vnd.ms-powerpoint"
        " vnd.openxmlformats-officedocument.wordprocessingml.document"
        " vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        " vnd.openxmlformats-officedocument.presentationml.presentation"
        " vnd.oasis.opendocument.text",
        "image": "png jpeg gif webp avif svg+xml bmp tiff x-icon vnd.microsoft.icon",
        "audio": "mpeg mp4 ogg flac wav webm aac",
        "video": "mp4 mpeg ogg webm quicktime",
        "font": "woff woff2 ttf otf",
    }.items()
    for name in names.split()
)
_KINDS: Final = frozenset({
    "application", "audio", "example", "font", "image", "message", "model", "multipart", "text",
    "video",
})  # fmt: skip
"""The registered top-level types (RFC 6838, section 4.2)."""


def type_shown(media_type: str) -> str:
    """Name a media type without untrusted words: in full if it is well known, else only its kind.

    Args:
        media_type: type and subtype in lower case.

    Returns:
        Text such as `text/html`, or `text/*` for one that is not well known; empty for none.
    """
    if media_type in _KNOWN:
        return media_type
    kind = media_type.partition("/")[0]
    return f"{kind}/*" if kind in _KINDS else ""
