"""Europe PMC's search and look-up, and their answers."""


def test_results_are_papers(read, answer):
    parsed = read("europepmc", answer("europepmc.json"))
    first, second = parsed.hits
    assert (first.url, second.url) == (
        "https://europepmc.org/article/MED/90000001",
        "https://europepmc.org/article/PPR/PPR900002",
    )
    assert first.title == "A gene of the example panda"
    assert first.description == "Background Pandas have genes. Results We invented one."
    assert (first.template, first.published_at) == ("paper", "2026-03-18")
    assert first.paper
    assert first.paper.authors == ("Example A", "Sample BC", "Example Study Group")
    assert (first.paper.journal, first.paper.volume, first.paper.number, first.paper.pages) == (
        "Example genetics", "8", "4", "55-67",
    )  # fmt: skip
    assert (first.paper.doi, first.paper.issn) == ("10.5555/example.2026.3", ("0000-0001",))
    assert (first.paper.type, first.paper.tags) == ("research-article", ("Genes", "Ailurus"))
    assert first.paper.comments == "cited 5 times"
    assert first.paper.pdf_url == "https://europepmc.org/articles/PMC9000001?pdf=render"
    assert first.paper.html_url == "https://europepmc.org/articles/PMC9000001"
    assert second.paper
    assert (second.paper.publisher, second.paper.type) == ("exRxiv", "preprint")
    assert parsed.rows_seen == 2


def test_hostile_values_are_text_or_nothing(read):
    texts = [{"availabilityCode": "OA", "documentStyle": "pdf", "url": "javascript:alert(1)"}]
    results = [
        {"source": "../x", "id": "1", "title": "A"},
        {"source": "MED", "id": 5, "title": "B"},
        {
            "source": "PAT", "id": "US/../1?x#y", "title": "<script>x</script><b>C</b>",
            "fullTextUrlList": {"fullTextUrl": texts}, "journalInfo": [], "authorString": ["x"],
        },
    ]  # fmt: skip
    parsed = read("europepmc", {"resultList": {"result": results}})
    assert [(hit.title, hit.url) for hit in parsed.hits] == [
        ("C", "https://europepmc.org/article/PAT/US%2F..%2F1%3Fx%23y")
    ]
    assert parsed.hits[0].paper
    assert parsed.hits[0].paper.pdf_url is None
    assert parsed.rows_seen == 3
