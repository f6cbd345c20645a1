"""What `scripts/release` makes, and what is published with it. It runs whole where a release is made."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from esdedup import __version__
from scripts import releasing
from scripts.sbom import LICENCES, PIN, sbom

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "locks" / "run.txt").read_text("utf-8")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The source distribution and the wheel of the last commit."""
    return releasing.build_twice(sys.executable, tmp_path_factory.mktemp("release"), 1_700_000_000)


def test_both_files_are_the_same_bytes_twice(files: list[Path]) -> None:
    source, wheel = files
    assert (source.name.endswith(".tar.gz"), wheel.name.endswith("-py3-none-any.whl")) == (True, True)
    names = releasing.names_in(wheel)
    assert {name.split("/")[0] for name in names} == {
        "esdedup",
        wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info",
    }
    assert {"esdedup/locks/node.txt", "esdedup/mappings/sentences.json", "esdedup/demo/data/wiki.xml.bz2"} <= set(names)
    inside = {name.partition("/")[2] for name in releasing.names_in(source)}
    assert {"tests/conftest.py", "scripts/lock", "locks/run.txt", "CHANGELOG.md", "SECURITY.md"} <= inside
    with tarfile.open(source) as archive:
        assert {int(member.mtime) for member in archive} == {1_700_000_000}


def test_a_difference_and_a_stray_file_are_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = iter(range(9))

    def built(python: str, source: Path, seconds: int, *targets: str) -> list[Path]:
        folder = source / "made"
        folder.mkdir()
        with tarfile.open(folder / "a-1.tar.gz", "w:gz") as archive:
            archive.add(source / "README.md", "a-1/README.md")
        (folder / "a-1.whl").write_bytes(bytes([next(made)]))
        return [folder / "a-1.tar.gz", folder / "a-1.whl"][bool(targets) :]

    monkeypatch.setattr(releasing, "built", built)
    with pytest.raises(
        releasing.ReleaseError, match=r"^a-1\.\S+ is not the same bytes when it is built again; compare /"
    ):
        releasing.build_twice(sys.executable, tmp_path, 0)
    for name in ("a/__pycache__/x.py", "a/x.pyc", "a/.hypothesis/x", ".git/config", "a/.env", "x.nbi"):
        assert releasing.STRAY.search(name), name
    assert not releasing.STRAY.search("a/.env.example")


def test_the_section_of_the_changelog() -> None:
    text = "# Changelog\n\n## 1.1.0 (2030-01-02)\n\n- New.\n\n## 1.0.0 (unreleased)\n\n- Old.\n\n## 0.9.0\n\n"
    assert releasing.changes(text, "1.1.0") == "- New.\n"
    for version, line in (("1.0.0", "calls 1.0.0 unreleased"), ("0.9.0", "no section '## 0.9.0'"), ("1.1", "'## 1.1'")):
        with pytest.raises(releasing.ReleaseError, match=line):
            releasing.changes(text, version)
    assert releasing.changes((ROOT / "CHANGELOG.md").read_text("utf-8"), __version__)
    assert releasing.version_of(ROOT) == __version__


def test_the_bill_of_materials(tmp_path: Path) -> None:
    wheel = tmp_path / "esdedup.whl"
    wheel.write_bytes(b"wheel")
    installed = subprocess.run([sys.executable, "-c", LICENCES], check=True, capture_output=True, text=True).stdout
    bill = sbom(__version__, wheel, LOCK, json.loads(installed), 1_700_000_000)
    assert bill == sbom(__version__, wheel, LOCK, json.loads(installed), 1_700_000_000)
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"
    found = {component["name"]: component for component in bill["components"]}
    assert set(found) == set(re.findall(r"^([\w.-]+)==", LOCK, re.MULTILINE))
    assert sum(len(component["hashes"]) for component in bill["components"]) == LOCK.count("--hash=sha256:")
    assert found["duckdb"]["purl"] == f"pkg:pypi/duckdb@{found['duckdb']['version']}"
    assert found["duckdb"]["licenses"]
    assert sum("licenses" in component for component in found.values()) > 0.8 * len(found)
    needs = {each["ref"]: each["dependsOn"] for each in bill["dependencies"]}
    assert found["duckdb"]["bom-ref"] in needs[f"pkg:pypi/esdedup@{__version__}"]
    assert {each for some in needs.values() for each in some} <= set(needs)
    assert len(needs) == len(PIN.findall(LOCK)) + 1  # some packages have two versions, for different Pythons


def test_checksums_are_as_sha256sum_reads_them(tmp_path: Path) -> None:
    (tmp_path / "b.whl").write_bytes(b"two")
    (tmp_path / "a.tar.gz").write_bytes(b"one")
    (tmp_path / "SHA256SUMS").write_text(releasing.sums(tmp_path))
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path, check=True, capture_output=True)


def test_publishing_needs_an_approval_and_no_secret() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    told: dict[str, Any] = yaml.safe_load(text)
    jobs = told["jobs"]
    assert told["permissions"] == {}
    assert "secrets." not in text
    assert "://" not in text
    assert jobs["publish"]["environment"] == "release"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["needs"] == "build"
    assert [step for step in jobs["build"]["steps"] if step.get("run") == "scripts/release"]
    used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert {"actions/attest-build-provenance", "actions/attest-sbom", "pypa/gh-action-pypi-publish"} <= {
        each.partition("@")[0] for each in used
    }


def test_the_container_runs_esdedup_without_rights() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", "").splitlines()
    last = lines[max(at for at, line in enumerate(lines) if line.startswith("FROM ")) :]
    told = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in last if line and line[0] != "#"}
    assert told["USER"] == "10001:10001"
    assert json.loads(told["ENTRYPOINT"]) == ["esdedup"]
    assert told["WORKDIR"] == "/data"
    assert not re.search(r"pip install(?!.*(--require-hashes|--no-index))", "\n".join(lines))
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    copied = {
        word for line in lines if line.startswith("COPY ") and "--from" not in line for word in line.split()[1:-1]
    }
    assert all((ROOT / name).exists() for name in copied)
    assert ignored[0] == "*"
    assert {name.split("/")[0] for name in copied} == {line[1:] for line in ignored if line.startswith("!")}


def test_issue_forms_ask_for_what_helps() -> None:
    forms = {
        path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")
    }
    assert forms.keys() == {"bug", "wrong-result", "feature", "config"}
    assert forms.pop("config") == {"blank_issues_enabled": False}
    asked = {name: {part.get("id") for part in form["body"]} - {None} for name, form in forms.items()}
    assert {"command", "doctor"} <= asked["bug"]
    assert {"texts", "explain", "doctor"} <= asked["wrong-result"]
    for form in forms.values():
        assert form["name"]
        assert form["description"]
        assert all(part["attributes"].get("label") or part["type"] == "markdown" for part in form["body"])
