"""Builds a release into dist/ and checks it; publishes nothing. `scripts/release` runs it; docs are in CONTRIBUTING.md.

The source distribution and the wheel are built twice, from two copies of the last commit, and must be the same bytes;
so must the wheel that is built of the source distribution. The wheel is installed with the pinned dependencies for each
Python that is here, and `esdedup demo` must run in an empty folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scripts.sbom import LICENCES, sbom

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
STRAY = re.compile(
    r"__pycache__|\.py[co]$|\.(hypothesis|pytest_cache|mypy_cache|ruff_cache|git|venv|env)(/|$)|\.nb[ci]$"
)
"""What no file of a release may be."""


class ReleaseError(Exception):
    """Why there is no release: what, where, and what to do."""


def main() -> None:
    out = ROOT / "dist"
    try:
        release(out)
    except ReleaseError as error:
        sys.exit(f"no release: {error}")
    except subprocess.CalledProcessError as error:
        said = f"{error.stdout or ''}{error.stderr or ''}".strip().splitlines()
        sys.exit(f"no release: {' '.join(map(str, error.cmd))} failed: {said[-1] if said else error.returncode}")


def release(out: Path) -> None:
    """Build and check everything, and say what was made."""
    version = version_of(ROOT)
    notes = changes((ROOT / "CHANGELOG.md").read_text("utf-8"), version)
    require_clean(version)
    here = pythons()
    if not here:
        raise ReleaseError(f"there is no Python {' or '.join(VERSIONS)} to try the wheel with; install one")
    seconds = int(git("log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        python = environment(sys.executable, place / "build", "-r", str(ROOT / "locks" / "build.txt"))
        made = build_twice(python, place, seconds)
        say(f"built twice, the same bytes: {', '.join(file.name for file in made)}")
        [wheel] = [file for file in made if file.suffix == ".whl"]
        licences: dict[str, Any] = {}
        for number in VERSIONS:
            if number not in here:
                say(f"Python {number}: not on this machine, so not tried")
        for number, name in here.items():
            licences |= try_wheel(name, place / f"python{number}", wheel, version)
            say(f"Python {number}: installed with pinned dependencies, and esdedup demo runs in an empty folder")
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        for file in made:
            shutil.copy(file, out)
    lock = (ROOT / "locks" / "run.txt").read_text("utf-8")
    bill = sbom(version, out / wheel.name, lock, licences, seconds)
    (out / "sbom.cdx.json").write_text(json.dumps(bill, indent=1) + "\n", "utf-8")
    (out / "CHANGES.md").write_text(notes, "utf-8")
    (out / "SHA256SUMS").write_text(sums(out), "utf-8")
    say(f"wrote {', '.join(sorted(file.name for file in out.iterdir()))} in {out}/")
    say(f"nothing is published; next: git tag -s v{version} && git push origin v{version}")


def say(line: str) -> None:
    print(line, flush=True)


def git(*words: str, cwd: Path = ROOT) -> str:
    return subprocess.run(["git", *words], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


def version_of(root: Path) -> str:
    return re.findall(r'^__version__ = "(.+)"$', (root / "esdedup" / "_version.py").read_text("utf-8"), re.MULTILINE)[0]


def changes(changelog: str, version: str) -> str:
    """Return the section of a version in the changelog."""
    found = re.search(rf"^## {re.escape(version)}( [^\n]*)?\n\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL)
    if found is None or not found[2].strip():
        raise ReleaseError(f"CHANGELOG.md has no section '## {version}' with text; write what has changed")
    if "unreleased" in (found[1] or ""):
        raise ReleaseError(f"CHANGELOG.md calls {version} unreleased; write its date")
    return found[2].strip() + "\n"


def require_clean(version: str) -> None:
    """Raise `ReleaseError` if the last commit is not what is here, or the version is another commit's."""
    if git("status", "--porcelain"):
        raise ReleaseError(f"{ROOT} has changes; commit them or put them away")
    if git("tag", "--list", f"v{version}") and git("rev-list", "-1", f"v{version}") != git("rev-parse", "HEAD"):
        raise ReleaseError(f"v{version} is the tag of another commit; raise __version__ in esdedup/_version.py")


def environment(python: str, folder: Path, *packages: str) -> str:
    """Make an environment with pinned packages, and return its Python."""
    run([python, "-m", "venv", folder])
    made = str(folder / ("Scripts" if os.name == "nt" else "bin") / "python")
    run([made, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", *packages])
    return made


def run(command: Iterable[str | Path], **more: Any) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environ = clean | more.pop("env", {})
    return subprocess.run(list(command), check=True, capture_output=True, text=True, env=environ, **more).stdout


def build_twice(python: str, place: Path, seconds: int) -> list[Path]:
    """Build the last commit twice, and the wheel once more of the source distribution; return the first two files."""
    first, second = (built(python, checkout(place / name), seconds) for name in ("one", "two"))
    [source] = [file for file in first if file.suffix == ".gz"]
    with tarfile.open(source) as archive:
        archive.extractall(place / "unpacked", filter="data")
    [inside] = (place / "unpacked").iterdir()
    again = built(python, inside, seconds, "wheel")
    for one, two in zip([*first, first[-1]], [*second, *again], strict=True):
        if (one.name, one.read_bytes()) != (two.name, two.read_bytes()):
            raise ReleaseError(f"{one.name} is not the same bytes when it is built again; compare {one} and {two}")
    for file in first:
        if stray := [name for name in names_in(file) if STRAY.search(name)]:
            raise ReleaseError(f"{file.name} holds {stray[0]}; leave it out in pyproject.toml")
    return first


def checkout(folder: Path) -> Path:
    """Write the files of the last commit to a new folder."""
    folder.mkdir()
    packed = folder.with_suffix(".tar")
    git("archive", "--output", str(packed), "HEAD")
    with tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
    return folder


def built(python: str, source: Path, seconds: int, *targets: str) -> list[Path]:
    """Build in a folder; return the source distribution, if it is a target, and then the wheel."""
    chosen = [word for target in targets for word in ("-t", target)]
    run(
        [python, "-m", "hatchling", "build", *chosen, "-d", "made"], cwd=source, env={"SOURCE_DATE_EPOCH": str(seconds)}
    )
    return sorted((source / "made").iterdir(), key=lambda file: file.suffix == ".whl")


def names_in(file: Path) -> list[str]:
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return wheel.namelist()
    with tarfile.open(file) as archive:
        return archive.getnames()


def pythons() -> dict[str, str]:
    """Return the Pythons that are here, one of each version."""
    found = {}
    for version in VERSIONS:
        own = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        for name in (*map(str, own[-1:]), f"python{version}"):
            asked = [name, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
            if shutil.which(name) and subprocess.run(asked, capture_output=True, text=True).stdout.strip() == version:
                found[version] = name
                break
    return found


def try_wheel(python: str, folder: Path, wheel: Path, version: str) -> dict[str, Any]:
    """Install a wheel and use it; return what the packages say of their licences."""
    made = environment(python, folder, "-r", str(ROOT / "locks" / "run.txt"))
    run([made, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel])
    run([made, "-m", "pip", "check"])
    command = Path(made).with_name("esdedup")
    empty = folder / "empty"
    empty.mkdir()
    if version not in run([command, "--version"], cwd=empty):
        raise ReleaseError(f"{wheel.name} does not say that it is {version}; see esdedup --version")
    run([command, "demo"], cwd=empty)
    told: dict[str, Any] = json.loads(run([made, "-c", LICENCES], cwd=empty))
    return told


def sums(folder: Path) -> str:
    """Return what `sha256sum --check` reads."""
    files = sorted(file for file in folder.iterdir() if file.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)


if __name__ == "__main__":
    main()
