"""What is read of pip's configuration, and what uv is told of it."""

import os

import pytest

from searx_mcp.ops.own import packages
from searx_mcp.ops.own.packages import ForUv, for_uv


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setattr(packages, "_SYSTEM", (str(tmp_path / "etc" / "pip.conf"),))
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_where_pip_is_not_configured_uv_is_told_nothing(home):
    assert for_uv({"HOME": str(home)}) == ForUv({})


@pytest.mark.parametrize(
    ("line", "variables"),
    [
        ("index-url = https://a.example/simple", {"UV_INDEX_URL": "https://a.example/simple"}),
        (
            "extra-index-url =\n  https://a.example\n  file:///b",
            {
                "UV_EXTRA_INDEX_URL": "https://a.example file:///b",
                "UV_INDEX_STRATEGY": "unsafe-best-match",
            },
        ),
        ("find-links = /wheels  /more", {"UV_FIND_LINKS": "/wheels,/more"}),
        ("trusted-host = a.example b.example", {"UV_INSECURE_HOST": "a.example b.example"}),
        ("cert = /ca.pem", {"SSL_CERT_FILE": "/ca.pem"}),
        ("client_cert = /me.pem", {"SSL_CLIENT_CERT": "/me.pem"}),
        (
            "proxy = http://me:x@proxy.example:3128",
            {
                "HTTPS_PROXY": "http://me:x@proxy.example:3128",
                "HTTP_PROXY": "http://me:x@proxy.example:3128",
            },
        ),
        ("timeout = 60", {"UV_HTTP_TIMEOUT": "60"}),
        ("default-timeout = 60", {"UV_HTTP_TIMEOUT": "60"}),
        ("retries = 2", {"UV_HTTP_RETRIES": "2"}),
        ("index-url =", {}),
        ("no-cache-dir = true\nuser = true\nprogress-bar = off", {}),
    ],
    ids=[
        *("index", "extra", "links", "trusted", "cert", "client cert", "proxy", "timeout"),
        *("default timeout", "retries", "empty", "no matter"),
    ],
)
def test_uv_is_told_what_it_has_a_variable_for(home, line, variables):
    write(home / ".config" / "pip" / "pip.conf", f"[global]\n{line}\n")
    assert for_uv({"HOME": str(home)}) == ForUv(variables)


def test_uv_is_told_by_arguments_what_it_has_no_variable_for(home):
    told = for_uv({"HOME": str(home), "PIP_NO_INDEX": "1", "PIP_CONSTRAINT": "/a.txt /b.txt"})
    assert told.arguments == ("--no-index", "--constraint", "/a.txt", "--constraint", "/b.txt")
    assert for_uv({"HOME": str(home), "PIP_NO_INDEX": "0"}) == ForUv({})


@pytest.mark.parametrize(
    ("text", "untold"),
    [
        ("[global]\nkeyring-provider = import\n", ("keyring-provider",)),
        ("[install]\nrequire-hashes = true\n", ("require-hashes",)),
        ("[global]\nfind-links = /a,b\n", ("find-links",)),
        ("[download]\nrequire-hashes = true\n", ()),
        ("no section\n", None),
        ("[global]\ncert=a\ncert=b\n", None),
        ("[global]\ncert=\xe9", None),
    ],
    ids=["keyring", "hashes", "comma", "other command", "no section", "twice", "Latin-1"],
)
def test_what_uv_has_no_equal_for_is_named(home, text, untold):
    path = home / ".config" / "pip" / "pip.conf"
    write(path, "")
    path.write_bytes(text.encode("latin-1"))
    assert for_uv({"HOME": str(home)}).untold == ((str(path),) if untold is None else untold)


def test_the_stronger_place_of_pip_holds(home):
    def index(**environ):
        return for_uv({"HOME": str(home), **environ}).variables.get("UV_INDEX_URL")

    write(home / "etc" / "pip.conf", "[global]\nindex-url = system\n")
    assert index() == "system"
    write(home / ".pip" / "pip.conf", "[global]\nindex-url = legacy\n")
    assert index() == "legacy"
    write(home / ".config" / "pip" / "pip.conf", "[global]\nindex-url = user\n")
    assert index() == "user"
    elsewhere = write(home / "xdg" / "pip" / "pip.conf", "[global]\nindex-url = xdg\n")
    assert index(XDG_CONFIG_HOME=str(home / "xdg")) == "xdg"
    chosen = write(home / "chosen.conf", "[global]\nindex-url = chosen\n")
    assert index(PIP_CONFIG_FILE=chosen) == "chosen"
    write(home / "chosen.conf", "[global]\nextra-index-url = more\n")
    assert index(PIP_CONFIG_FILE=chosen) == "system"
    assert index(PIP_CONFIG_FILE=str(home / "missing.conf")) == "user"
    write(home / "etc" / "pip.conf", "[install]\nindex-url = install\n")
    assert index() == "install"
    assert index(PIP_INDEX_URL="variable") == "variable"
    assert index(PIP_CONFIG_FILE=os.devnull) is None
    assert elsewhere


@pytest.mark.parametrize(
    "variable", ["UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_FIND_LINKS", "UV_CONFIG_FILE"]
)
def test_who_has_told_uv_itself_where_packages_are_means_it(home, variable):
    environ = {"HOME": str(home), "PIP_INDEX_URL": "https://a.example", "PIP_PRE": "1"}
    assert for_uv(environ).untold == ("pre",)
    assert for_uv({**environ, variable: "x"}) == ForUv({})


def test_variables_that_uv_reads_itself_hold(home):
    environ = {
        "HOME": str(home),
        "PIP_PROXY": "http://pip.example",
        "https_proxy": "http://user.example",
        "PIP_CERT": "/pip.pem",
        "SSL_CERT_FILE": "/user.pem",
    }
    assert for_uv(environ).variables == {"HTTP_PROXY": "http://pip.example"}
