"""Wikipedia's search, and its answers."""


def test_articles_come_in_the_order_of_their_rank(read, answer):
    parsed = read("wikipedia", answer("wikipedia.json"))
    first, second = parsed.hits
    assert (first.title, second.title) == ("Example panda", "Example bear")
    assert first.url == "https://en.wikipedia.org/wiki/Example_panda"
    assert first.description.startswith("The example panda (Ailurus exempli)")
    assert first.thumbnail == "https://upload.wikimedia.org/example-320px.jpg"
    assert first.engines == ("wikipedia",)
    assert (first.position, second.position, parsed.rows_seen, parsed.has_next) == (1, 2, 2, True)
