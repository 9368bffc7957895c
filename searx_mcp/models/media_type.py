"""Media types that may be named outside a fence: a site can put instructions in a type, too."""

from typing import Final

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
