"""What only the store in memory does."""

from searx_mcp.models.attempt import Format
from searx_mcp.search.state.interface import Window
from searx_mcp.search.state.memory import MemoryStore

HOST = "https://a.example/"
NOW = 1_000_000_000.0
WINDOWS = [Window(limit=2, seconds=60)]


async def test_it_shows_how_much_it_holds():
    store = MemoryStore()
    await store.reserve(HOST, Format.HTML, WINDOWS, NOW)
    await store.reserve(HOST, Format.HTML, WINDOWS, NOW + 40 * 86_400)
    assert repr(store) == "<MemoryStore [1 charges]>"


async def test_a_charge_made_elsewhere_counts():
    store = MemoryStore()
    store.charge(HOST, Format.HTML, WINDOWS, NOW)
    assert (await store.budget(HOST, WINDOWS, NOW)).left == 1


async def test_charges_of_another_store_take_the_place_of_its_own():
    store = MemoryStore()
    await store.reserve(HOST, Format.HTML, WINDOWS, NOW)
    store.restore([("https://b.example/", NOW, Format.JSON), (HOST, NOW, Format.HTML)])
    assert (await store.budget(HOST, WINDOWS, NOW)).left == 1
    assert (await store.budget("https://b.example/", WINDOWS, NOW)).left == 1
