import random

import pytest
from fake_useragent import FakeUserAgent, FakeUserAgentError

from searx_mcp.http import user_agents
from searx_mcp.http.user_agents import FALLBACK, desktop_user_agent


@pytest.fixture
def unread():
    """Forget the data, before and after, so that they are read in the test."""
    user_agents._desktop_agents.cache_clear()
    yield
    user_agents._desktop_agents.cache_clear()


def dice(seed: int) -> random.Random:
    return random.Random(seed)


def test_the_same_dice_give_the_same_agent():
    assert desktop_user_agent(dice(1)) == desktop_user_agent(dice(1))


def test_agents_are_of_desktop_browsers_and_ascii():
    rng = dice(7)
    drawn = {desktop_user_agent(rng) for _ in range(500)}
    assert len(drawn) > 10
    for agent in drawn:
        assert agent.startswith("Mozilla/5.0 (")
        assert agent.isascii()
        assert agent.isprintable()
        assert not any(word in agent for word in ("Mobile", "Android", "iPhone", "OPR/"))


@pytest.mark.parametrize("rows", [None, []], ids=["unreadable", "empty"])
def test_without_data_there_is_a_fixed_agent(monkeypatch, unread, rows):
    def start(self):
        if rows is None:
            raise FakeUserAgentError("no file")
        self.data_browsers = rows

    monkeypatch.setattr(FakeUserAgent, "__init__", start)
    assert desktop_user_agent(dice(1)) == FALLBACK
