"""The language of a file, by its name, as fences of Markdown call it."""

from pathlib import PurePosixPath
from typing import Final

MARKDOWN: Final = "markdown"
NOTEBOOK: Final = "notebook"
HTML: Final = "html"

_BY_SUFFIX: Final = {
    **dict.fromkeys(
        (".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx", ".qmd", ".rmd"), MARKDOWN
    ),
    ".ipynb": NOTEBOOK,
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx"), "cpp"),
    **dict.fromkeys((".yml", ".yaml"), "yaml"),
    **dict.fromkeys((".sh", ".bash", ".zsh"), "bash"),
    **dict.fromkeys((".ini", ".cfg", ".conf"), "ini"),
    **dict.fromkeys((".diff", ".patch"), "diff"),
    **dict.fromkeys((".adoc", ".asciidoc"), "asciidoc"),
    **dict.fromkeys((".ex", ".exs"), "elixir"),
    **dict.fromkeys((".hs", ".lhs"), "haskell"),
    **dict.fromkeys((".kt", ".kts"), "kotlin"),
    **dict.fromkeys((".pl", ".pm"), "perl"),
    **dict.fromkeys((".ps1", ".psm1"), "powershell"),
    **dict.fromkeys((".tf", ".tfvars", ".hcl"), "hcl"),
    **dict.fromkeys((".xml", ".xsd", ".xsl", ".svg", ".csproj"), "xml"),
    **dict.fromkeys((".clj", ".cljs", ".edn"), "clojure"),
    **dict.fromkeys((".jsonl", ".ndjson", ".json", ".geojson", ".webmanifest"), "json"),
    ".asm": "asm",
    ".bat": "batch",
    ".bib": "bibtex",
    ".cmake": "cmake",
    ".cs": "csharp",
    ".css": "css",
    ".csv": "csv",
    ".cu": "cuda",
    ".dart": "dart",
    ".el": "elisp",
    ".erl": "erlang",
    ".f90": "fortran",
    ".fish": "fish",
    ".fs": "fsharp",
    ".gd": "gdscript",
    ".glsl": "glsl",
    ".go": "go",
    ".gradle": "groovy",
    ".graphql": "graphql",
    ".groovy": "groovy",
    ".java": "java",
    ".jl": "julia",
    ".json5": "json5",
    ".jsx": "jsx",
    ".less": "less",
    ".lua": "lua",
    ".m": "objectivec",
    ".ml": "ocaml",
    ".nim": "nim",
    ".nix": "nix",
    ".org": "org",
    ".php": "php",
    ".proto": "protobuf",
    ".r": "r",
    ".rb": "ruby",
    ".rs": "rust",
    ".rst": "rst",
    ".sass": "sass",
    ".scala": "scala",
    ".scss": "scss",
    ".sol": "solidity",
    ".sql": "sql",
    ".svelte": "svelte",
    ".swift": "swift",
    ".tcl": "tcl",
    ".tex": "latex",
    ".toml": "toml",
    ".tsv": "tsv",
    ".tsx": "tsx",
    ".v": "verilog",
    ".vim": "vim",
    ".vue": "vue",
    ".wat": "wasm",
    ".zig": "zig",
}
_BY_NAME: Final = {
    "cmakelists.txt": "cmake",
    "containerfile": "dockerfile",
    "dockerfile": "dockerfile",
    "gemfile": "ruby",
    "gnumakefile": "makefile",
    "jenkinsfile": "groovy",
    "justfile": "makefile",
    "makefile": "makefile",
    "rakefile": "ruby",
    ".bashrc": "bash",
    ".gitconfig": "ini",
    ".editorconfig": "ini",
}
_MEDIA: Final = {
    "": "text/plain",
    MARKDOWN: "text/markdown",
    NOTEBOOK: "application/x-ipynb+json",
    HTML: "text/html",
    "css": "text/css",
    "csv": "text/csv",
    "json": "application/json",
    "toml": "application/toml",
    "xml": "application/xml",
    "yaml": "application/yaml",
}


def language_of(name: str) -> str:
    """The language of a file, or nothing if its name does not tell."""
    name = name.lower()
    return _BY_NAME.get(name) or _BY_SUFFIX.get(PurePosixPath(name).suffix, "")


def media_of(language: str) -> str:
    """A media type for text in a language."""
    return _MEDIA.get(language) or f"text/x-{language}"
