"""What only the store in memory does."""

import random

from searx_mcp.models.attempt import Format
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.storage.state import Account, Window

HOST = "https://a.example/"
NOW = 1_000_000_000.0
WINDOWS = (Window(limit=2, seconds=60),)
ACCOUNT = Account(HOST, WINDOWS)
OTHER = Account("https://b.example/", WINDOWS)


async def test_it_shows_how_much_it_holds():
    store = MemoryStore()
    await store.reserve([ACCOUNT], Format.HTML, NOW)
    await store.reserve([ACCOUNT], Format.HTML, NOW + 80 * 86_400)
    assert repr(store) == "<MemoryStore [1 charges]>"


async def test_a_charge_made_elsewhere_counts():
    store = MemoryStore()
    store.charge([ACCOUNT, Account("https://own.example/")], Format.HTML, NOW)
    assert [budget.left for budget in await store.budgets([ACCOUNT], NOW)] == [1]
    assert repr(store) == "<MemoryStore [1 charges]>"


async def test_charges_made_elsewhere_are_forgotten_like_its_own():
    store = MemoryStore()
    for day in range(100):
        store.charge([ACCOUNT], Format.HTML, NOW + day * 86_400)
    assert repr(store) == "<MemoryStore [80 charges]>"


async def test_charges_of_another_store_take_the_place_of_its_own():
    store = MemoryStore()
    await store.reserve([ACCOUNT], Format.HTML, NOW)
    store.restore([(OTHER.name, NOW, Format.JSON), (HOST, NOW, "a newer format")])
    assert [budget.left for budget in await store.budgets([ACCOUNT, OTHER], NOW)] == [1, 1]


async def test_the_seed_comes_from_the_dice_or_from_another_store():
    stores = [MemoryStore(random.Random(7)) for _ in range(2)]
    one, same = [await store.installation_seed() for store in stores]
    assert one == same
    assert await MemoryStore().installation_seed() != await MemoryStore().installation_seed()
    stores[0].keep_seed(12)
    assert await stores[0].installation_seed() == 12
