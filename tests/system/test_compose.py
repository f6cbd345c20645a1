"""docker-compose.yml: what it promises can be read from it, and its scripts are run against small servers."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from esdedup.kibana.saved_objects import saved_objects
from tests.support.small_server import Request, server

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
SERVICES = COMPOSE["services"]
ONE_SHOTS = ["kibana-password", "kibana-import"]
SECRETS = {
    # what a shell, curl and JSON each take for something else
    "ELASTIC_PASSWORD": 'elastic "x" \\ $HOME `id` é, ' + "long " * 20,
    "KIBANA_PASSWORD": "kibana \"y\" \\n $0 'z' %s",
    "KIBANA_ENCRYPTION_KEY": "k" * 32,
}
REFERENCE = re.compile(r"\$(?:(\$)|\{(\w+)(?:(:-|:\?)([^{}]*))?\}|)")


def example() -> dict[str, str]:
    lines = (ROOT / ".env.example").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def resolved(value: Any, variables: dict[str, str]) -> Any:
    """What docker compose makes of a value: `${NAME}`, `${NAME:-default}`, `${NAME:?what to do}`, `$$`."""

    def one(match: re.Match[str]) -> str:
        dollar, name, how, rest = match.groups()
        if dollar:
            return dollar
        assert name, f"a lone dollar in {match.string!r}"
        if variables.get(name):
            return variables[name]
        if how == ":-":
            return str(rest)
        raise KeyError(f"{name}: {rest}")

    if isinstance(value, dict):
        return {key: resolved(item, variables) for key, item in value.items()}
    if isinstance(value, list):
        return [resolved(item, variables) for item in value]
    return REFERENCE.sub(one, value) if isinstance(value, str) else value


FILLED = resolved(COMPOSE, example() | SECRETS)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, str):
        yield value


def references() -> dict[str, set[tuple[str, str]]]:
    """The variables that the file names, each with the ways in which it does."""
    found: dict[str, set[tuple[str, str]]] = {}
    for text in strings(COMPOSE):
        for _, name, how, rest in REFERENCE.findall(text):
            if name:
                found.setdefault(name, set()).add((how, rest))
    return found


def scripts() -> dict[str, str]:
    """Every shell text of the file, as a container gets it."""
    found = {name: FILLED["services"][name]["command"][-1] for name in ONE_SHOTS}
    for name, service in FILLED["services"].items():
        if "healthcheck" in service:
            how, text = service["healthcheck"]["test"]
            assert how == "CMD-SHELL"
            found[f"health of {name}"] = text
    return found


# ---- what can be read from it


def test_the_example_names_every_variable_and_no_other() -> None:
    assert set(references()) == set(example())


def test_defaults_are_those_of_the_example() -> None:
    for name, ways in references().items():
        assert {rest for how, rest in ways if how == ":-"} <= {example()[name]}, name


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_a_secret_has_no_default_and_says_what_to_do(name: str) -> None:
    assert example()[name] == ""
    with pytest.raises(KeyError, match=rf"{name}: put .+ into \.env, made by cp \.env\.example \.env"):
        resolved(COMPOSE, {**example(), **SECRETS, name: ""})


def test_without_a_copy_of_the_example_it_says_so() -> None:
    with pytest.raises(KeyError, match=r"STACK_VERSION: type cp \.env\.example \.env"):
        resolved(COMPOSE, {})


def test_git_ignores_the_copy_only() -> None:
    ignored = (ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert ".env" in ignored
    assert not {".env*", ".env.*", ".env.example"} & set(ignored)


def test_secrets_stand_in_environments_only() -> None:
    for name, service in FILLED["services"].items():
        for key, value in service["environment"].items():
            assert isinstance(value, str), f"{name}: {key}: a number or true, not a text"
            if re.search("PASSWORD|SECRET|TOKEN|KEY", key.upper()):
                assert value == SECRETS[key], f"{name}: {key} is not from .env"
            else:
                assert not any(secret in value for secret in SECRETS.values())
    elsewhere = {name: {**service, "environment": {}} for name, service in FILLED["services"].items()}
    for text in strings({**FILLED, "services": elsewhere}):
        assert not any(secret in text for secret in SECRETS.values())
    for text in scripts().values():
        assert not re.search(r"--user|\s-u\b|Basic [A-Za-z0-9]|elastic:[^%]", text)


def test_who_waits_for_whom_can_come_true() -> None:
    waiting = 0
    for name, service in SERVICES.items():
        for target, how in service.get("depends_on", {}).items():
            waiting += 1
            condition = how["condition"]
            if condition == "service_healthy":
                assert "healthcheck" in SERVICES[target], f"{name} waits for {target}"
            else:
                assert (condition, target in ONE_SHOTS) == ("service_completed_successfully", True)
    assert waiting == 4


def test_one_shots_end() -> None:
    for name, service in SERVICES.items():
        assert (service["restart"] == "no") == (name in ONE_SHOTS)
        assert ("healthcheck" in service) == (name not in ONE_SHOTS)


def test_everything_listens_on_this_machine_only() -> None:
    ports = {name: service["ports"] for name, service in FILLED["services"].items() if "ports" in service}
    assert ports == {"elasticsearch": ["127.0.0.1:9200:9200"], "kibana": ["127.0.0.1:5601:5601"]}
    assert not any("network_mode" in service for service in SERVICES.values())


def test_security_is_on_and_one_node_is_enough() -> None:
    settings = SERVICES["elasticsearch"]["environment"]
    assert settings["xpack.security.enabled"] == "true"
    assert settings["xpack.license.self_generated.type"] == "basic"
    assert settings["discovery.type"] == "single-node"
    assert settings["bootstrap.memory_lock"] == "true"
    assert SERVICES["elasticsearch"]["ulimits"]["memlock"] == {"soft": -1, "hard": -1}


def test_memory_is_limited_and_the_heap_is_half_of_it() -> None:
    assert all("mem_limit" in service for service in SERVICES.values())
    elasticsearch = FILLED["services"]["elasticsearch"]
    least, most = re.fullmatch(r"-Xms(\d+)g -Xmx(\d+)g", elasticsearch["environment"]["ES_JAVA_OPTS"]).groups()
    assert least == most
    assert int(most) * 2 == int(elasticsearch["mem_limit"].removesuffix("g"))


def test_volumes_are_declared_and_folders_are_there() -> None:
    named = set()
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source, _, *options = volume.split(":")
            if source.startswith("."):
                assert (ROOT / source).is_dir()
                assert options == ["ro,z"]  # z: SELinux would keep the container out
            else:
                named.add(source)
    assert named == set(COMPOSE["volumes"])


def test_versions_belong_together() -> None:
    images = {name: service["image"].rsplit(":", 1) for name, service in FILLED["services"].items()}
    assert {version for _, version in images.values()} == {example()["STACK_VERSION"]}
    assert {name for name, _ in images.values()} == {
        "docker.elastic.co/elasticsearch/elasticsearch",
        "docker.elastic.co/kibana/kibana",
    }
    major = example()["STACK_VERSION"].split(".")[0]
    [client] = re.findall(r'"(elasticsearch[<>=~][^"]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    assert f"{major}.0.0" in Requirement(client).specifier
    [pinned] = re.findall(r"(?m)^elasticsearch==(\d+)\.", (ROOT / "locks" / "run.txt").read_text("utf-8"))
    assert pinned == major


def test_kibana_is_told_its_secrets_by_its_environment() -> None:
    settings = yaml.safe_load(FILLED["configs"]["kibana"]["content"])
    environment = SERVICES["kibana"]["environment"]
    asked = re.findall(r"\$\{(\w+)\}", " ".join(strings(settings)))
    assert set(asked) == set(environment)
    assert settings["elasticsearch.password"] == "${KIBANA_PASSWORD}"
    assert settings["xpack.encryptedSavedObjects.encryptionKey"] == "${KIBANA_ENCRYPTION_KEY}"
    assert settings["elasticsearch.username"] == "kibana_system"
    [config] = SERVICES["kibana"]["configs"]
    assert config == {"source": "kibana", "target": "/usr/share/kibana/config/kibana.yml", "mode": 0o444}


@pytest.mark.parametrize("name", sorted(scripts()))
def test_the_shell_can_read_it(name: str) -> None:
    checked = subprocess.run(["/bin/sh", "-n"], input=scripts()[name], capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")


# ---- its scripts, run


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(params=["/bin/sh", "bash"])  # sh is dash here, and bash in the image
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Runs a one-shot as its container does, with a curl that notes its command line and a sleep that takes no time."""
    tools = tmp_path / "tools"
    tools.mkdir()
    path = os.environ["PATH"]
    (tools / "curl").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/argv\nPATH={path!r} exec curl "$@"\n')
    (tools / "sleep").write_text("#!/bin/sh\nexit 0\n")
    for tool in tools.iterdir():
        tool.chmod(0o755)

    def one_shot(name: str, **environment: str) -> subprocess.CompletedProcess[str]:
        service = FILLED["services"][name]
        shell, *arguments = service["entrypoint"]
        assert shell == "/bin/sh"
        known = {**service["environment"], **environment, "PATH": f"{tools}:{path}"}
        return subprocess.run(
            [request.param, *arguments, *service["command"]],
            env=known, cwd=tmp_path, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    return one_shot


def login(request: Request) -> str:
    scheme, code = request.headers["Authorization"].split(" ")
    assert scheme == "Basic"
    return base64.b64decode(code).decode()


def secret(request: Request, shown: str) -> None:
    for password in [*SECRETS.values(), request.headers["Authorization"].split(" ")[1]]:
        assert password not in shown
        assert json.dumps(password)[1:-1] not in shown


def seen_by_everybody(tmp_path: Path) -> str:
    argv = (tmp_path / "argv").read_text()
    assert "http://127.0.0.1" in argv
    return argv


def test_the_password_of_kibana_is_set(run: Run, tmp_path: Path) -> None:
    with server((200, "{}")) as (url, requests):
        done = run("kibana-password", ELASTICSEARCH_URL=url)
    assert done.returncode == 0, done.stderr
    [request] = requests
    assert (request.method, request.path) == ("POST", "/_security/user/kibana_system/_password")
    assert login(request) == f"elastic:{SECRETS['ELASTIC_PASSWORD']}"
    assert request.headers["Content-Type"] == "application/json"
    assert json.loads(request.body) == {"password": SECRETS["KIBANA_PASSWORD"]}
    secret(request, seen_by_everybody(tmp_path) + done.stdout + done.stderr)


def test_a_node_that_has_just_started_is_asked_again(run: Run) -> None:
    with server((503, "{}"), (401, "{}"), (200, "{}")) as (url, requests):
        done = run("kibana-password", ELASTICSEARCH_URL=url)
    assert done.returncode == 0
    assert len(requests) == 3


def test_a_wrong_password_is_told(run: Run) -> None:
    with server((401, '{"error":"no such 200 "}')) as (url, requests):
        done = run("kibana-password", ELASTICSEARCH_URL=url)
    assert done.returncode == 1
    assert len(requests) == 30
    assert '{"error":"no such 200 "} 401' in done.stderr
    assert "ELASTIC_PASSWORD in .env is not the password of the user elastic" in done.stderr


def test_nobody_there_is_told(run: Run) -> None:
    done = run("kibana-password", ELASTICSEARCH_URL="http://127.0.0.1:9")
    assert done.returncode == 1
    assert "could not be set:  000" in done.stderr


def dashboards(tmp_path: Path, *names: str) -> str:
    folder = tmp_path / "dash boards"
    folder.mkdir()
    for name in names:
        (folder / name).write_text(f'{{"id":"{name}"}}\n')
    return str(folder)


def test_no_dashboards_are_told(run: Run, tmp_path: Path) -> None:
    for folder in [dashboards(tmp_path, "notes.txt"), str(tmp_path / "missing")]:
        done = run("kibana-import", KIBANA_URL="http://127.0.0.1:9", DASHBOARDS=folder)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"no dashboards in {folder}: start docker compose where ")
        assert done.stderr.count("\n") == 1


def test_dashboards_are_imported(run: Run, tmp_path: Path) -> None:
    with server((200, '{"successCount":1,"success":true,"warnings":[]}')) as (url, requests):
        done = run("kibana-import", KIBANA_URL=url, DASHBOARDS=dashboards(tmp_path, "b.ndjson", "a.ndjson", "c.txt"))
    assert done.returncode == 0, done.stderr
    assert re.findall(r"imported .*/(.+)", done.stdout) == ["a.ndjson", "b.ndjson"]
    for request, name in zip(requests, ["a.ndjson", "b.ndjson"], strict=True):
        assert (request.method, request.path) == ("POST", "/api/saved_objects/_import?overwrite=true")
        assert login(request) == f"elastic:{SECRETS['ELASTIC_PASSWORD']}"
        assert request.headers["kbn-xsrf"]
        assert request.headers["Content-Type"].startswith("multipart/form-data")
        assert f'name="file"; filename="{name}"'.encode() in request.body
        assert f'\r\n\r\n{{"id":"{name}"}}\n'.encode() in request.body
        secret(request, seen_by_everybody(tmp_path) + done.stdout + done.stderr)


def test_the_dashboard_of_this_checkout_is_imported(run: Run) -> None:
    """What `docker compose up` puts into Kibana is for the store that the file's own head speaks of."""
    with server((200, '{"successCount":7,"success":true}')) as (url, requests):
        done = run("kibana-import", KIBANA_URL=url, DASHBOARDS=str(ROOT / "mappings" / "kibana"))
    assert done.returncode == 0, done.stderr
    [request] = requests
    assert b"\r\n\r\n" + saved_objects("wiki") + b"\r\n--" in request.body
    head = (ROOT / "docker-compose.yml").read_text("utf-8").partition("\nname:")[0]
    assert "--store http://127.0.0.1:9200/wiki" in head
    assert FILLED["services"]["kibana-import"]["environment"]["DASHBOARDS"] == "/mappings/kibana"
    assert SERVICES["kibana-import"]["volumes"] == ["./mappings:/mappings:ro,z"]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, '{"successCount":0,"success":false,"errors":[{"title":"\\"success\\":true"}]}'),
        (200, "<html>a login page</html>"),
        (200, ""),
        (400, '{"statusCode":400,"success":true}'),
        (401, '{"statusCode":401}'),
    ],
)
def test_what_could_not_be_imported_is_told(run: Run, tmp_path: Path, status: int, body: str) -> None:
    with server((status, body), (200, '{"success":true}')) as (url, requests):
        done = run("kibana-import", KIBANA_URL=url, DASHBOARDS=dashboards(tmp_path, "a.ndjson", "b.ndjson"))
    assert done.returncode == 1
    assert f"a.ndjson: {body} {status}\n" in done.stderr
    assert re.findall(r"imported .*/(.+)", done.stdout) == ["b.ndjson"]  # one that fails does not stop the others
    assert len(requests) == 2


def test_a_kibana_that_is_busy_is_asked_again(run: Run, tmp_path: Path) -> None:
    with server((503, "Kibana server is not ready yet"), (200, '{"success":true}')) as (url, requests):
        done = run("kibana-import", KIBANA_URL=url, DASHBOARDS=dashboards(tmp_path, "a.ndjson"))
    assert done.returncode == 0, done.stderr
    assert len(requests) == 2


@pytest.mark.parametrize(
    ("name", "path", "healthy", "not_healthy"),
    [("elasticsearch", "/", 401, [200, 503]), ("kibana", "/api/status", 200, [302, 401, 503])],
)
def test_health_is_told_from_the_status(name: str, path: str, healthy: int, not_healthy: list[int]) -> None:
    script = scripts()[f"health of {name}"]
    [asked] = re.findall(r"http://127\.0\.0\.1:\d+", script)

    def health(url: str) -> int:
        environment = {"PATH": os.environ["PATH"]}
        return subprocess.run(["/bin/sh", "-c", script.replace(asked, url)], env=environment).returncode

    with server(*((status, "") for status in [healthy, *not_healthy])) as (url, requests):
        assert health(url) == 0
        assert all(health(url) for _ in not_healthy)
    assert [request.path for request in requests] == [path] * (1 + len(not_healthy))
    assert health("http://127.0.0.1:9") != 0
