"""The language of a block of code: its names, where a page declares it, and the labels around the block."""

import re
from itertools import chain, takewhile
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.tree import (
    HEADINGS,
    RemovalRule,
    Removals,
    ancestors,
    classes,
    has_text,
    neighbour,
    short_text,
)

_KNOWN_NAMES: Final = """
    abap actionscript ada agda apache apex applescript arduino armasm asciidoc asm assembly astro
    autohotkey autoit awk bash basic bat batch bibtex bicep bison brainfuck c c++ c# caddy cfg
    clj clojure cmake cmd cobol coffee coffeescript conf console cpp crystal csharp css csv cuda
    cypher cython d dart delphi diff django dns docker dockerfile dos dot dotenv ebnf ejs elixir elm
    erb erlang ex exs f# fish forth fortran fsharp gcode gdscript gherkin git glsl gnuplot go
    golang gradle graphql groovy haml handlebars haskell haxe hbs hcl heex hlsl hs html htm http
    idris ini ini java javascript jinja jinja2 jl jq js json json5 jsonc jsonl jsonnet jsp jsx
    julia kotlin kt kusto latex lean lean4 less liquid lisp livescript llvm log lua luau make
    makefile markdown markup mathematica matlab md mdx mermaid mips mojo mongodb move mysql nasm nim
    nginx nix nunjucks objc objective-c objectivec ocaml octave odin openscad pascal patch perl
    pgsql php pip pl plantuml plsql postgres postgresql powershell prisma processing prolog
    properties protobuf proto ps ps1 psql pug puppet purescript py py3 pycon python python3 q qml
    r racket raku razor rb re reason reasonml regex rego restructuredtext rkt robot rs rst ruby
    rust sas sass sbt scala scheme scss sed sh shell shell-session shellsession smalltalk sml
    solidity sparql sql ssh stan stata svelte svg swift systemd systemverilog tcl terraform tex
    tf thrift toml ts tsql tsx turtle twig typescript typst v vala vb vba vbnet verilog vhdl vim
    viml vue wasm wgsl wolfram x86asm xaml xhtml xml xquery xsl xslt yaml yara yml zig zsh
    """
_KNOWN: Final = frozenset(_KNOWN_NAMES.split())
"""Names that are a language even without a prefix: in a label, or in a class next to one such as `hljs`. Collected
from the lists of Pygments, Rouge, Prism, highlight.js and Shiki; names that are also common words (`text`, `table`,
`tip`) are left out."""

_NO_LANGUAGE_NAMES: Final = (
    "none plain plaintext plain-text text txt nohighlight no-highlight default auto raw unknown"
    " undefined null code block html+plain plain_text"
)
_NO_LANGUAGE: Final = frozenset(_NO_LANGUAGE_NAMES.split())
_LABELS: Final = {
    "c++": "cpp", "c#": "csharp", "f#": "fsharp", "objective-c": "objectivec",
    "shell session": "shell-session", "visual basic": "vb", "plain text": "plaintext",
    "vb.net": "vbnet", "node.js": "javascript", "terminal": "console", "command line": "console",
}  # fmt: skip
"""The words on labels that differ from the names in classes."""

_ATTRIBUTES: Final = (
    "data-lang", "data-language", "data-code-language", "data-code-lang", "data-highlight-language",
    "data-enlighter-language", "data-canonical-lang", "data-programming-language",
    "data-syntax-language", "language", "data-ext",
)  # fmt: skip
_NAME = re.compile(r"[a-z0-9][a-z0-9+#._-]{0,29}")
_PREFIXED = re.compile(
    r"(?:language|lang|highlight-source|highlight-text|highlight|hl|brush|prism-code-language|source"
    r"|ltx_lst_language)"
    r"[-:_](.+)"
)
_MARKERS: Final = frozenset({
    "brush:", "sourcecode", "hljs", "highlight", "syntaxhighlighter", "chroma", "prettyprint",
    "prism-code", "codehilite", "hl", "shiki", "src", "rouge", "code", "listing", "codeblock", "makeup",
    "item-decl", "rust-example-rendered",
})  # fmt: skip
"""Classes of highlighters: a known name among the other classes is the language."""

_LANGUAGES_OF_PEOPLE: Final = 2
"""Letters of a name that may be a natural language: `lang-en`."""

_AROUND: Final = 3
"""Ancestors of a block that may declare its language; Sphinx, Rouge and GitHub need two."""

_STOP: Final = frozenset({"article", "main", "section", "li", "td", "th", "dd", "blockquote"})

_COPY = re.compile(
    r"(?:copy|copied!?|copy code|copy to clipboard|copy link|run|run code|wrap|expand|collapse|edit"
    r"|(?:in|out) ?\[[\d *]*\]|toggle (?:word|line) wrap|ask ai|explain|open in .{1,20}|raw|download|show more|try it)\W*",
    re.IGNORECASE,
)
"""The words on buttons around code."""

_LABEL_CHARS: Final = 60
_LABEL_AROUND: Final = 4
"""Ancestors of a block that may contain its header; Mintlify and Prism need three."""

_LABEL_STOP: Final = _STOP | {"p"}
_CONTENT: Final = HEADINGS | {"pre", "p", "ul", "ol", "dl", "table", "hr", "br", "figcaption"}
_MOST_AROUND: Final = 200
"""Elements around a block in which another block is searched for; anything larger is not a frame."""


def language_of(block: LexborNode, inner: LexborNode | None = None) -> str:
    """The language of a block of code in lower case, or an empty string.

    Args:
        block: contains the code.
        inner: an element in it that may be more specific, such as `code` in `pre`; it is read first.
    """
    near = (block,) if inner is None else (inner, block)
    around = takewhile(lambda node: node.tag not in _STOP, ancestors(block, _AROUND))
    return next(filter(None, map(_said, chain(near, around))), "")


def take_labels(block: LexborNode, removals: Removals) -> str:
    """Remove the language label and the buttons around a block.

    Args:
        block: already rewritten, so that looking around it is cheap.
        removals: of the page.

    Returns:
        The language on a label.
    """
    language = ""
    node = block
    for around in (block, *ancestors(block, _LABEL_AROUND)):
        if around.mem_id != block.mem_id and (around.tag in _LABEL_STOP or not _holds_one(around)):
            break
        for forward in (False, True):
            beside = neighbour(node, forward=forward)
            if beside is not None and beside.is_element_node and _is_label(beside):
                language = language or _language_of_label(_without_buttons(beside))
                removals.remove(beside, RemovalRule.CODE)
        node = around
    return language


def label_inside(block: LexborNode, root: LexborNode) -> str:
    """The language inside a block above its code, such as in a header within `pre`."""
    if block.mem_id == root.mem_id:
        return ""
    for part in block.traverse(include_text=True):
        if part.mem_id == root.mem_id:
            break
        if part.is_text_node and (found := _language_of_label(part.text_content or "")):
            return found
    return ""


def _said(node: LexborNode) -> str:
    attributes = node.attributes
    for name in _ATTRIBUTES:
        if (value := attributes.get(name)) and (found := _named(value)):
            return found
    if (value := attributes.get("lang")) and len(value) > _LANGUAGES_OF_PEOPLE:
        value = value.strip().lower()
        if value in _KNOWN:
            return value
    words = [word.rstrip(";") for word in classes(node)]
    if node.tag == "pre" and len(words) == 1 and words[0] in _KNOWN:
        return words[0]
    return _of_classes(words)


def _of_classes(words: list[str]) -> str:
    for word in words:
        match = _PREFIXED.fullmatch(word)
        if match and (found := _named(match[1])):
            return found
    if _MARKERS.isdisjoint(words):
        return ""
    return next((word for word in words if word in _KNOWN and word not in _MARKERS), "")


def _named(value: str) -> str:
    """A language from an attribute or class that is made for it."""
    name = value.strip().lower().rstrip(";")
    if not _NAME.fullmatch(name) or name in _NO_LANGUAGE:
        return ""
    if len(name) == _LANGUAGES_OF_PEOPLE and name not in _KNOWN:
        return ""
    return name


def _holds_one(around: LexborNode) -> bool:
    """Whether a small element contains exactly one block of code."""
    count = 0
    for place, node in enumerate(around.traverse()):
        count += node.tag == "pre"
        if count > 1 or place > _MOST_AROUND:
            return False
    return True


def _is_label(node: LexborNode) -> bool:
    """Whether an element next to code is a button, a list of line numbers or the name of the language."""
    if node.tag == "button":
        return True
    if (
        node.tag in _CONTENT
        or node.tag == "summary"
        or node.css_first("pre,code,img,p,h1,h2,h3,h4,table") is not None
    ):
        return False
    text = short_text(node, _LABEL_CHARS)
    if not text:
        return node.css_first("button") is not None and not has_text(node)
    if text.replace(" ", "").isdigit():
        return any("line" in word and "num" in word for word in classes(node))
    said = _without_buttons(node)
    return not said or _is_language_label(said)


def _without_buttons(node: LexborNode) -> str:
    """The words of a header without those on its buttons."""
    words = []
    for part in node.traverse(include_text=True):
        if not part.is_text_node:
            continue
        text = " ".join((part.text_content or "").split())
        is_button = any(around.tag == "button" for around in ancestors(part, 6))
        if text and not is_button and not _COPY.fullmatch(text):
            words.append(text)
    return " ".join(words)


def _language_of_label(text: str) -> str:
    """The language on a label, such as `Python` above a block; empty if there is none."""
    word = text.strip().lower().rstrip(":")
    word = _LABELS.get(word, word)
    return word if word in _KNOWN else ""


def _is_language_label(text: str) -> bool:
    """Whether a text is only the name of a language, or of plain text."""
    return bool(_language_of_label(text)) or text.strip().lower() in _NO_LANGUAGE
