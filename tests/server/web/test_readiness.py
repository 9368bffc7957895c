"""Whether a process takes calls while the servers that it shares with others are away."""

import asyncio
import logging

import httpx2
import pytest

from searx_mcp.server.app import build_server
from searx_mcp.settings.values import Settings
from tests.doubles.serving import DEADLINE, serving

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("goes", ["kill", "freeze"])
async def test_a_shared_server_that_is_away_takes_no_process_out_of_service(
    goes, start_redis, unused_port, tmp_path, pass_by, caplog
):
    caplog.set_level(logging.INFO, "searx_mcp")
    redis = start_redis()
    settings = Settings.model_validate({
        "redis": {"url": redis.url},
        "postgres": {"url": f"postgresql://127.0.0.1:{unused_port()}/corpus"},
        "storage": {"folder": str(tmp_path)},
        "http": {"port": 0},
    })  # fmt: skip
    async with (
        asyncio.timeout(DEADLINE),
        serving(build_server(settings), settings.http) as url,
        httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as http,
    ):
        path = url.replace("/mcp", "/readyz")
        answers = [await http.get(path)]
        assert caplog.records == []
        getattr(redis, goes)()
        for _ in range(4):
            pass_by(5)  # for which a result is used again
            answers.append(await http.get(path))
        if goes == "freeze":
            redis.thaw()
    assert [(answer.status_code, answer.json()) for answer in answers] == [
        (200, {"status": "ready"})
    ] * 5
    said = [record.getMessage().partition(" ")[0] for record in caplog.records]
    assert said == ["storage.redis_away"]
