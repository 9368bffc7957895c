"""Check what a reader of the repository would stumble over.

- Relative links in Markdown lead to files, and their anchors to headings.
- Modules that Markdown names by their path are there, from the top or from the package; `searx/` is SearXNG's.
- Pages that Markdown, code or settings name by their path are there; tests make up paths of their own.
- Every code block marked `python` compiles; `await` may stand at the top of one.
- No text names a directory of somebody's machine, or the host of a package registry.
- The pages of `docs/`, decisions apart, have at most `MOST_WORDS` words, the decisions `MOST_WORDS_OF_DECISIONS`.

    python scripts/check_docs.py
"""

import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import unquote

ROOT: Final = Path(__file__).resolve().parent.parent
TEXTS: Final = frozenset({".ini", ".json", ".md", ".py", ".toml", ".txt", ".yaml", ".yml"})
SKIPPED: Final = frozenset({"build", "dist", "htmlcov", "node_modules"})
MOST_WORDS: Final = 22_000
"""Words a reader of `docs/` may be asked to read; the reasons in `docs/decisions` are counted apart."""
MOST_WORDS_OF_DECISIONS: Final = 45_000

_WORD: Final = re.compile(r"\S*\w\S*")
_LINK: Final = re.compile(r"\]\((?:<([^>]+)>|([^)\s]+))(?:\s+[^)]*)?\)")
_BLOCK: Final = re.compile(
    r"^(?P<indent> *)(?P<fence>```+)(?P<language>[^\n`]*)\n(?P<code>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
_INLINE_CODE: Final = re.compile(r"`[^`\n]*`")
_MODULE: Final = re.compile(r"`(?!searx/)([a-z_]+(?:/[a-z_]+)+\.py)`")
_PAGE: Final = re.compile(r"(?:(?<![\w/.-])|(?<=}/blob/main/))(docs/[\w/-]+\.md)\b")
_PAGE_IN_CODE: Final = re.compile(r"`(docs/[\w/-]+\.md)\b")
_HEADING: Final = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_EXTERNAL: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_PRIVATE: Final = re.compile(r"(?<![\w.~}])/(?:home|Users|root|work)/\w")
# A bracket in each name keeps the pattern from finding itself.
_REGISTRY: Final = re.compile(
    r"python[h]osted\.org|(?<![a-z.])pyp[i]\.org|regis[t]ry\.npmjs|de[b]\.debian\.org"
)


def find_problems(root: Path) -> list[str]:
    """Give one line, `file:line: problem`, for each thing that is wrong under `root`."""
    problems: list[str] = []
    for file in sorted(_text_files(root)):
        text = file.read_text(encoding="utf-8")
        found = list(_place_problems(text))
        if file.suffix == ".md":
            found += [*_link_problems(file, text), *_block_problems(text)]
            found += _module_problems(root, text)
        if file.relative_to(root).parts[0] != "tests":
            found += _page_problems(root, file, text)
        name = file.relative_to(root).as_posix()
        for position, problem in sorted(found):
            line = text.count("\n", 0, position) + 1
            problems.append(f"{name}:{line}: {problem}")
    return problems


def count_words(root: Path) -> tuple[int, int]:
    """Count the words of `docs/`, tables and code included: those of the decisions come second."""
    pages, decisions = 0, 0
    for page in (root / "docs").rglob("*.md"):
        words = len(_WORD.findall(page.read_text(encoding="utf-8")))
        if root / "docs" / "decisions" in page.parents:
            decisions += words
        else:
            pages += words
    return pages, decisions


def _text_files(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name in SKIPPED:
            continue
        if path.is_dir():
            yield from _text_files(path)
        elif path.suffix in TEXTS:
            yield path


def _place_problems(text: str) -> Iterator[tuple[int, str]]:
    for match in _PRIVATE.finditer(text):
        yield match.start(), f"names a directory of one machine: {match[0]}"
    for match in _REGISTRY.finditer(text):
        yield match.start(), f"names a package registry: {match[0]}"


def _link_problems(file: Path, text: str) -> Iterator[tuple[int, str]]:
    for match in _LINK.finditer(_without_code(text)):
        target = match[1] or match[2]
        if _EXTERNAL.match(target):
            continue
        path, _, anchor = target.partition("#")
        linked = file.parent / unquote(path) if path else file
        if not linked.exists():
            yield match.start(), f"links to {target}, which is not there"
        elif anchor and linked.suffix == ".md" and anchor not in _anchors(linked):
            yield match.start(), f"links to {target}, which has no such heading"


def _module_problems(root: Path, text: str) -> Iterator[tuple[int, str]]:
    for match in _MODULE.finditer(text):
        if not any((folder / match[1]).is_file() for folder in (root, root / "searx_mcp")):
            yield match.start(), f"names {match[1]}, which is not there"


def _page_problems(root: Path, file: Path, text: str) -> Iterator[tuple[int, str]]:
    # In Markdown, other paths are links, or parts of addresses.
    for match in (_PAGE_IN_CODE if file.suffix == ".md" else _PAGE).finditer(text):
        if not (root / match[1]).is_file():
            yield match.start(), f"names {match[1]}, which is not there"


def _without_code(text: str) -> str:
    """Blank code out, keeping every position."""
    for pattern in (_BLOCK, _INLINE_CODE):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return text


def _anchors(file: Path) -> set[str]:
    """Give the anchors a forge makes of a page's headings; repeated headings are not numbered."""
    headings = _HEADING.findall(_BLOCK.sub("", file.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _block_problems(text: str) -> Iterator[tuple[int, str]]:
    for match in _BLOCK.finditer(text):
        if match["language"].strip() != "python":
            continue
        code = textwrap.dedent(match["code"])
        try:
            compile(code, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except (SyntaxError, ValueError) as exc:
            yield match.start(), f"has a python block that does not compile: {exc}"


def main() -> int:
    """Print the problems of the repository; returns the exit code."""
    problems = find_problems(ROOT)
    pages, decisions = count_words(ROOT)
    counted = (
        (f"{pages:,} words in docs/ without decisions/", pages, MOST_WORDS),
        (f"{decisions:,} in decisions/", decisions, MOST_WORDS_OF_DECISIONS),
    )
    problems += [
        f"{told}, {words - most:,} more than the limit of {most:,}"
        for told, words, most in counted
        if words > most
    ]
    in_order = ", ".join(told for told, _, _ in counted)
    print("\n".join(problems) or f"the docs are in order: {in_order}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
