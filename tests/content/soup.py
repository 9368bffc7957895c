"""Active markup, and what is active in Markdown.

What acts is found by a parser of Markdown (CommonMark with tables and strikethrough), told to take
any address for a link.
"""

from collections.abc import Container
from urllib.parse import urlsplit

from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

SCHEMES = frozenset({"http", "https", "mailto", "tel", "ftp"})
TARGETS = st.sampled_from(
    ["javascript:alert(1)", "JaVaScRiPt:x", "java\tscript:x", "java&#10;script:x", "&#106;avascript:x",
     "&#x6A;avascript&colon;x", "&amp;#106;avascript:x", " javascript:x", "\x01javascript:x",
     "jav\u200bascript:x", "javascript&#58;x", "javascript\\:x", "%6aavascript:x", "data:text/html,x",
     "data:image/png;base64,AAAA", "DATA:x", "vbscript:x", "file:///etc/passwd", "blob:https://a.example/x",
     "view-source:javascript:x", "//evil.example/x.png", "https://evil.example/i.png?q=1",
     "https://evil.example/)(", "https://evil.example/<x>", "https://evil.example/`x",
     "https://a.example/a\u3000b", "https://site.example/folder/page.html#x", "https://[", "about:blank",
     "http:javascript:x", "#javascript:x", "?javascript:x", "mailto:a@b.example", "x:y", "a b", "a&lt;b",
     "../c", "/d.e/f", "1", ""]
)  # fmt: skip
MARKUP = st.one_of(
    st.builds("![a]({})".format, TARGETS),
    st.builds("[a]({})".format, TARGETS),
    st.builds("[a]: {}\n".format, TARGETS),
    st.builds("<{}>".format, TARGETS),
    st.builds("&lt;{}&gt;".format, TARGETS),
    st.sampled_from(
        ["!", "[", "]", "](", ")", "(", "![", "!\u200b[", "![a][b]", "[b]: ", "[1]", "[^1]", "`", "``", "```", "~~~\n",
         "~", "~~", "    ", "\n", "\n\n", " ", "\\", "\\!", "|", "| a |\n|---|\n", "|---|", "> ", "&gt;", "- ", "-", "+ ",
         "1. ", "1)", "# ", "#", "\n===\n", "=", "---", "*", "**", "_", "__", "<!--", "-->", "<![CDATA[", "&lt;", "&amp;lt;",
         "&lt;b&gt;", "&lt;img src=x&gt;", "&#33;&#91;a](//e.example)", "&#x21;", "&excl;", "&#0;", "&#xD800;", "&amp;", "$",
         "$$", "$a_1$", "\\(x\\)", "\\[", "\\]", "x", "y z", "word ", "Some more text. ", "é", "\u0301", "漢字", "\uff0c",
         "“", "😀", "a\nb", "\u200d", "\ufe0f", "\u00a0", "\u3000", "\ud800", "\x00", "\x1b[31m", "\u202e", "\u00ad",
         "\r", "\u2028", "\ufeff", ":", "[x] ", "€", "%", "\t"]
    ),
)  # fmt: skip

_READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
_READER.validateLink = lambda _: True  # type: ignore[assignment] # - to see what others would let through


def tokens(markdown: str) -> list[Token]:
    """The tokens of a parser, including those within lines."""
    found: list[Token] = []
    for token in _READER.parse(markdown):
        found.append(token)
        found += token.children or ()
    return found


def acts(
    markdown: str, *, links: Container[str] = SCHEMES, images: Container[str] = ()
) -> list[str]:
    """What a host would run or offer without being asked: tags, and images and links of other schemes."""
    found = []
    for token in tokens(markdown):
        if token.type in {"html_inline", "html_block"}:
            found.append(f"{token.type}: {token.content}")
        elif token.type in {"image", "link_open"}:
            is_link = token.type == "link_open"
            address = str(token.attrs["href" if is_link else "src"])
            scheme = urlsplit(address.replace("[", "%5B")).scheme
            if scheme not in (links if is_link else images):
                found.append(f"{token.type}: {address}")
    return found
