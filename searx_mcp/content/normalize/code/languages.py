"""Which language a block of code says it is in.

Highlighters write it into classes and attributes of the block, of its child or of what is around
it; some only into a label above it. The page's own word is kept, in lower case: `py` stays `py`.
"""

import re
from typing import Final

from selectolax.lexbor import LexborNode

from searx_mcp.content.normalize.elements import ancestors, classes

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
KNOWN: Final = frozenset(_KNOWN_NAMES.split())
"""Names that are a language even where a page says them without a prefix: in a label, or in a class
next to one such as `hljs`. Collected from the lists of Pygments, Rouge, Prism, highlight.js and Shiki;
names that are also common words (`text`, `table`, `tip`) are left out."""

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
"""What labels say, where a class would say something else."""

_ATTRIBUTES: Final = (
    "data-lang", "data-language", "data-code-language", "data-code-lang", "data-highlight-language",
    "data-enlighter-language", "data-canonical-lang", "data-programming-language",
    "data-syntax-language", "language", "data-ext",
)  # fmt: skip
_NAME = re.compile(r"[a-z0-9][a-z0-9+#._-]{0,29}")
_PREFIXED = re.compile(
    r"(?:language|lang|highlight-source|highlight-text|highlight|brush|prism-code-language|source"
    r"|ltx_lst_language)"
    r"[-:_](.+)"
)
_MARKERS: Final = frozenset({
    "brush:", "sourcecode", "hljs", "highlight", "syntaxhighlighter", "chroma", "prettyprint",
    "prism-code", "codehilite", "hl", "shiki", "src", "rouge", "code", "listing", "codeblock",
})  # fmt: skip
"""Classes of highlighters: a known name among the classes beside one is the language."""

_LANGUAGES_OF_PEOPLE: Final = 2
"""Letters of a name that may be a natural language's: `lang-en`."""

_AROUND: Final = 3
"""Elements around a block that may say its language; Sphinx, Rouge and GitHub need two."""

_STOP: Final = frozenset({"article", "main", "section", "li", "td", "th", "dd", "blockquote"})


def language_of(block: LexborNode, inner: LexborNode | None = None) -> str:
    """The language of a block of code in lower case, or an empty string.

    Args:
        block: the element that holds the code.
        inner: an element in it that may say more, as `code` in `pre`; it is asked first.
    """
    for node in (inner, block) if inner is not None else (block,):
        if found := _said(node):
            return found
    for node in ancestors(block, _AROUND):
        if node.tag in _STOP:
            break
        if found := _said(node):
            return found
    return ""


def language_of_label(text: str) -> str:
    """The language that a label names, as `Python` over a block; empty if it names none."""
    word = text.strip().lower().rstrip(":")
    word = _LABELS.get(word, word)
    return word if word in KNOWN else ""


def is_language_label(text: str) -> bool:
    """Whether a text is nothing but the name of a language, or of none."""
    return bool(language_of_label(text)) or text.strip().lower() in _NO_LANGUAGE


def _said(node: LexborNode) -> str:
    attributes = node.attributes
    for name in _ATTRIBUTES:
        if (value := attributes.get(name)) and (found := _named(value)):
            return found
    if (value := attributes.get("lang")) and len(value) > _LANGUAGES_OF_PEOPLE:
        value = value.strip().lower()
        if value in KNOWN:
            return value
    return _of_classes(classes(node))


def _of_classes(words: list[str]) -> str:
    words = [word.rstrip(";") for word in words]
    for word in words:
        match = _PREFIXED.fullmatch(word)
        if match and (found := _named(match[1])):
            return found
    if _MARKERS.isdisjoint(words):
        return ""
    return next((word for word in words if word in KNOWN and word not in _MARKERS), "")


def _named(value: str) -> str:
    """A language from a place that is made for it."""
    name = value.strip().lower().rstrip(";")
    if not _NAME.fullmatch(name) or name in _NO_LANGUAGE:
        return ""
    if len(name) == _LANGUAGES_OF_PEOPLE and name not in KNOWN:
        return ""
    return name
