"""The image and the services around it, as far as they can be judged without building them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from searx_mcp.server.web.policy import Policy
from searx_mcp.settings.sources import DEFAULT, load

ROOT = Path(__file__).parents[1]
DOCKERFILE = ROOT / "Dockerfile"
COMPOSE = ROOT / "deploy" / "compose.yaml"


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile and their arguments, in one line each."""
    text = re.sub(r"\\\n\s*", "", DOCKERFILE.read_text("utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def services() -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    return found


def environment() -> dict[str, str]:
    """What the server is told, with a value for each variable of the shell."""
    told = services()["searx-mcp-1"]["environment"]
    assert isinstance(told, dict)
    return {name: re.sub(r"\$\{[^}]+\}", "x" * 16, text) for name, text in told.items()}


def test_the_image_runs_as_a_user_without_rights_and_says_whether_it_is_well():
    last = instructions()[[name for name, _ in instructions()].index("FROM", 1) :]
    assert ("USER", "10001") in last
    assert [rest for name, rest in last if name == "HEALTHCHECK" and "/healthz" in rest]
    assert last[-2:] == [("ENTRYPOINT", '["searx-mcp"]'), ("CMD", '["serve"]')]


def test_the_image_is_made_of_this_checkout_and_of_a_pinned_python():
    assert "ADD" not in dict(instructions())
    bases = [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    assert {*bases} == {"python:3.13-slim"}
    named = [part for name, rest in instructions() if name == "COPY" for part in rest.split()[:-1]]
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert "*" in ignored
    for part in (part for part in named if not part.startswith(("-", "/"))):
        assert (ROOT / part).exists()
        assert f"!{part}" in ignored


def test_no_layer_and_no_file_holds_a_secret():
    assert "ARG" not in dict(instructions())
    told = services()["searx-mcp-1"]["environment"]
    assert isinstance(told, dict)
    wanted = r"\$\{[A-Z_]+:\?[^}]+\}"
    secrets = {name: text for name, text in told.items() if re.search("TOKEN|SECRET|KEY", name)}
    assert len(secrets) == 2
    assert all(re.fullmatch(wanted, text) for text in secrets.values())
    assert re.search(f":{wanted}@", told["SEARX_MCP_POSTGRES_URL"])


def test_three_servers_are_behind_a_proxy_that_asks_them_whether_they_are_ready():
    servers = {name: each for name, each in services().items() if "build" in each}
    assert len(servers) == 3
    assert all(each == servers["searx-mcp-1"] for each in servers.values())
    proxy = yaml.safe_load(COMPOSE.read_text("utf-8"))["configs"]["proxy"]["content"]
    assert f"reverse_proxy {' '.join(f'{name}:8765' for name in servers)} {{" in proxy
    assert "health_uri /readyz" in proxy


def test_the_image_has_the_libraries_of_what_it_talks_to_and_is_watched_by():
    (installed,) = [rest for name, rest in instructions() if "pip install" in rest]
    assert '".[metrics,otel,pdf,postgres,redis]"' in installed


@pytest.mark.parametrize("origin", [*environment(), "MCP_TRANSPORT", "MCP_HOST", "DATA_DIR"])
def test_each_variable_of_the_image_and_of_its_services_is_a_setting(origin):
    (of_image,) = [rest for name, rest in instructions() if name == "ENV"]
    given = dict(pair.split("=", 1) for pair in of_image.split())
    known = {name: given[name] for name in ("MCP_TRANSPORT", "MCP_HOST", "MCP_PORT", "DATA_DIR")}
    loaded = load(environ={**known, **environment()})
    origins = {each for each in loaded.origins.values() if each != DEFAULT}
    assert f"environment {origin}" in origins


def test_nothing_but_the_proxy_is_reached_from_outside():
    assert [name for name, each in services().items() if "ports" in each] == ["proxy"]


def test_each_image_of_others_has_a_version_but_that_of_searxng_which_has_none():
    tags = {
        name: str(each["image"]).rpartition(":")[2]
        for name, each in services().items()
        if "image" in each and "build" not in each
    }
    assert tags.pop("searxng") == "latest"
    assert all(re.match(r"v?[0-9]+(-|\.|$)", tag) for tag in tags.values())


def test_prometheus_is_let_in_by_each_server_and_has_the_alerts():
    compose = yaml.safe_load(COMPOSE.read_text("utf-8"))
    own, configs = compose["services"]["prometheus"], compose["configs"]
    told = yaml.safe_load(configs["prometheus"]["content"])
    (job,) = told["scrape_configs"]
    (targets,) = (each["targets"] for each in job["static_configs"])
    assert targets == [f"{name}:8765" for name, each in services().items() if "build" in each]
    policy = Policy.of(load(environ={**environment(), "MCP_HOST": "0.0.0.0"}).settings.http)
    assert all(policy.allows_host(target.encode()) for target in targets)
    (secret,) = own["secrets"]
    assert job["authorization"] == {"credentials_file": f"/run/secrets/{secret['target']}"}
    assert compose["secrets"][secret["source"]] == {"environment": "MCP_AUTH_TOKEN"}
    mounted = {each["source"]: Path(each["target"]) for each in own["configs"]}
    assert told["rule_files"] == [mounted["alerts"].name]
    assert mounted["alerts"].parent == mounted["prometheus"].parent
    assert (COMPOSE.parent / configs["alerts"]["file"]).is_file()
    assert {*own["networks"]} & {*compose["services"]["searx-mcp-1"]["networks"]}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_prometheus_reads_what_it_is_told(tmp_path):
    configs = yaml.safe_load(COMPOSE.read_text("utf-8"))["configs"]
    (tmp_path / "prometheus.yml").write_text(configs["prometheus"]["content"])
    shutil.copy(COMPOSE.parent / configs["alerts"]["file"], tmp_path / "alerts.yaml")
    command = ["promtool", "check", "config", "--syntax-only", str(tmp_path / "prometheus.yml")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
