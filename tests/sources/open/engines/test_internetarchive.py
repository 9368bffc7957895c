"""The Internet Archive's search, and its answers."""

import pytest

ITEMS = "(texts OR software OR data)"


def test_a_further_page_is_asked_by_its_number(ask, engine):
    assert engine("internetarchive").ask(ask(page=3)).parameters["page"] == "3"


def test_items_are_read_by_their_kind(read, answer):
    parsed = read("internetarchive", answer("internetarchive.json"))
    film, talk, book, pictures = parsed.hits
    assert film.url == "https://archive.org/details/example-panda-1967"
    assert film.thumbnail == "https://archive.org/services/img/example-panda-1967"
    assert film.description == "A film about a red panda. It is invented."
    assert (film.template, film.author, film.published_at) == (
        "videos",
        "Example Film Board",
        "1967-01-01T00:00:00+00:00",
    )
    assert film.video
    assert (film.video.views, film.video.embed_url) == (
        "1234",
        "https://archive.org/embed/example-panda-1967",
    )
    assert film.attribution == (
        "The Red Panda: An Example by Example Film Board, CC BY-NC 3.0 "
        "(http://creativecommons.org/licenses/by-nc/3.0/us/)"
    )
    assert (talk.title, talk.author) == ("Panda talk", "Ada Example, Bob Sample, Carla Instance")
    assert talk.media
    assert talk.description == "Part one. Part two."
    assert ", CC0 1.0 (" in talk.attribution
    assert book.file
    assert (book.template, book.file.size, book.file.embed_url) == ("file", "10.00 MiB", None)
    assert book.published_at == "2001-05-01T00:00:00+00:00"
    assert (pictures.template, pictures.image, pictures.attribution) == ("images", None, "")
    assert (parsed.rows_seen, parsed.has_next) == (4, True)


@pytest.mark.parametrize(
    ("url", "licence"),
    [
        ("https://creativecommons.org/licenses/by-sa/4.0/", "CC BY-SA 4.0"),
        ("http://creativecommons.org/publicdomain/mark/1.0/", "Public Domain Mark 1.0"),
        ("https://licences.example/mine", None),
        ("https://evil.example/creativecommons.org/licenses/by/4.0/", None),
        (["http://creativecommons.org/licenses/by/3.0/"], "CC BY 3.0"),
        (5, None),
    ],
)
def test_a_licence_is_told_by_its_address(read, url, licence):
    docs = [{"identifier": "a", "title": "A", "licenseurl": url}]
    attribution = read("internetarchive", {"response": {"docs": docs}}).hits[0].attribution
    assert attribution.startswith(f"A, {licence} (") if licence else not attribution


def test_hostile_values_are_text_or_nothing(read):
    docs = [
        {"identifier": "../account", "title": "A"},
        {"identifier": ["b"], "title": "B"},
        {"identifier": "c?x=1#y", "title": "C"},
        {
            "identifier": "d", "title": [5, "D"], "mediatype": ["movies"], "creator": {"x": 1},
            "description": ["<script>x()</script>", "<p>A <b>panda", 5], "item_size": "big",
        },
    ]  # fmt: skip
    parsed = read("internetarchive", {"response": {"docs": docs}})
    (hit,) = parsed.hits
    assert (hit.title, hit.description, hit.author, hit.file) == ("D", "A panda", "", None)
    assert parsed.rows_seen == 4
