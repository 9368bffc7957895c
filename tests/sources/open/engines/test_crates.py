"""The search for Rust packages, and its answers."""

from searx_mcp.models.hits import Link, Package


def test_a_crate_has_its_stable_version_and_its_links(read, answer):
    parsed = read("crates", answer("crates.json"))
    first, second = parsed.hits
    assert first.url.endswith("/crates/red-panda")
    assert (first.title, first.description) == ("red-panda", "Counts red pandas in a Vec<Panda>.")
    assert (first.template, first.published_at) == ("packages", "2026-10-30T16:53:16+00:00")
    assert first.package == Package(
        name="red-panda",
        version="1.2.0",
        popularity="12,345 downloads in 90 days",
        homepage="https://pandas.example/",
        source_url="https://github.com/example/red-panda",
        links=(Link(title="Documentation", url="https://docs.pandas.example/red-panda"),),
    )
    assert second.package == Package(
        name="bamboo", version="0.0.1-alpha", tags=("plant",), popularity="0 downloads in 90 days"
    )
    assert (parsed.rows_seen, parsed.has_next) == (2, True)


def test_hostile_rows_become_text_or_nothing(read):
    crates = [
        {"name": "../../evil"},
        {"name": "<script>x</script>"},
        {"name": None},
        {
            "name": "panda",
            "description": "A\u202e\x1b[31m crate",
            "homepage": "javascript:alert(1)",
            "documentation": 7,
            "repository": "http://[::1",
            "max_stable_version": ["1"],
            "recent_downloads": "many",
        },
    ]
    parsed = read("crates", {"crates": crates})
    (hit,) = parsed.hits
    assert (hit.title, hit.description) == ("panda", "A crate")
    assert hit.package == Package(name="panda")
    assert parsed.rows_seen == 4
