"""Pages of npm packages."""

from typing import Any

import pytest

from searx_mcp.fetch.site_adapters.npm import MAX_DEPENDENCIES

URL = "https://www.npmsite.example/package/@scope/tool/v/1.2.3"
LATEST = "https://www.npmsite.example/package/@scope/tool"

MANIFEST: dict[str, Any] = {
    "name": "@scope/tool",
    "version": "1.2.3",
    "description": "Does *things*",
    "keywords": ["a", "b"],
    "homepage": "https://tool.example/",
    "repository": {"type": "git", "url": "git+https://github.com/scope/tool.git", "directory": "x"},
    "bugs": {"url": "https://github.com/scope/tool/issues"},
    "license": "MIT",
    "author": {"name": "Ann", "email": "ann@example.com"},
    "type": "module",
    "bin": {"tool": "bin.js"},
    "engines": {"node": ">=18"},
    "dependencies": {"left-pad": "^1.0.0"},
    "peerDependencies": {"react": "*"},
}
README = "# Tool\n\n[a](docs/a.md) ![i](u)"


def test_a_package_is_shown_with_its_facts(read):
    page = read(URL, MANIFEST, README, None)
    assert page.markdown == (
        "# @scope/tool 1.2.3\n\nDoes \\*things\\*\n\n- Licence: MIT\n- Author: Ann\n"
        "- Engines: node >=18\n- Modules: ECMAScript\n- Commands: tool\n- Keywords: a, b\n"
        "- Homepage: [https://tool.example/](https://tool.example/)\n"
        "- Repository: [https://github.com/scope/tool](https://github.com/scope/tool)\n"
        "- Issues: [https://github.com/scope/tool/issues](https://github.com/scope/tool/issues)\n\n"
        "## Dependencies\n\n- left-pad ^1.0.0\n\n## Peer dependencies\n\n- react \\*\n\n## Tool\n\n"
        "[a](https://www.npmsite.example/package/@scope/tool/v/docs/a.md) [image: i]"
    )
    assert (page.title, page.description) == ("@scope/tool 1.2.3", "Does *things*")
    assert (page.author, page.notes) == ("Ann", ())


def test_the_latest_version_may_be_old(read):
    assert "up to 7 days late" in read(LATEST, MANIFEST, README, None).notes[0]


@pytest.mark.parametrize(
    ("upper", "lower", "shown"),
    [("# Upper", None, "Upper"), (None, "# Lower", "Lower"), ("# Upper", "# Lower", "Upper")],
)
def test_one_readme_is_shown(read, upper, lower, shown):
    page = read(URL, MANIFEST, upper, lower)
    assert page.markdown.endswith(f"## {shown}")


def test_a_package_without_a_readme_says_so(read):
    assert read(URL, MANIFEST, None, None).notes == ("The package has no README.md.",)


def test_a_readme_that_was_cut_is_marked(read, answer):
    assert read(URL, MANIFEST, answer(README, is_truncated=True), None).truncated


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("license", {"type": "ISC", "url": "x"}, "- Licence: ISC"),
        ("license", None, None),
        ("author", "Bob <b@example.com>", "- Author: Bob \\<b@example.com>"),
        ("bugs", "https://b.example/", "- Issues: [https://b.example/](https://b.example/)"),
        ("repository", "o/r", "- Repository: [https://github.com/o/r](https://github.com/o/r)"),
        (
            "repository",
            "github:o/r",
            "- Repository: [https://github.com/o/r](https://github.com/o/r)",
        ),
        (
            "repository",
            "git://github.com/o/r.git#main",
            "- Repository: [https://github.com/o/r](https://github.com/o/r)",
        ),
        (
            "repository",
            {"url": "git+ssh://git@gitlab.com/o/r.git"},
            "- Repository: [https://gitlab.com/o/r](https://gitlab.com/o/r)",
        ),
        ("repository", "javascript:alert(1)", None),
        ("repository", "https://user:word@site.example/x", None),
        ("bin", "cli.js", None),
        ("homepage", "javascript:alert(1)", "- Homepage: javascript:alert(1)"),
        ("keywords", "one", "- Keywords: one"),
    ],
)
def test_what_old_packages_wrote_is_understood(read, name, value, line):
    lines = read(URL, {**MANIFEST, name: value}, None, None).markdown.split("\n")
    label = {"license": "Licence", "bugs": "Issues", "bin": "Commands"}.get(name, name.capitalize())
    assert [found for found in lines if found.startswith(f"- {label}:")] == ([line] if line else [])


def test_licences_may_be_a_list(read):
    manifest = {**MANIFEST, "license": None, "licenses": [{"type": "MIT"}, {"type": "GPL"}]}
    assert "- Licence: MIT, GPL" in read(URL, manifest, None, None).markdown


def test_dependencies_are_capped(read):
    wanted = {f"d{n}": "1" for n in range(100)}
    page = read(URL, {**MANIFEST, "dependencies": wanted}, None, None)
    assert f"\n- and {100 - MAX_DEPENDENCIES} more\n" in page.markdown


@pytest.mark.parametrize(
    "value", [None, True, 3, 1.5, "![x](y)", [], [None], {}, {"![x](y)": "![x](y)"}, {"a": {}}]
)
@pytest.mark.parametrize("name", [name for name in MANIFEST if name not in {"name", "version"}])
def test_a_member_of_another_type_is_a_missing_one(read, name, value):
    page = read(URL, {**MANIFEST, name: value}, None, None)
    assert page.title == "@scope/tool 1.2.3"
    assert "![x](" not in page.markdown
