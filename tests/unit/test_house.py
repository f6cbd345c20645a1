"""The rules of the house: who may import whom, what is public, what the pages say."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import esdedup
from esdedup.analysis.names import KINDS
from esdedup.clustering.linkages import LINKAGES
from esdedup.engines import ENGINES
from esdedup.formats.protocol import FORMATS
from esdedup.keeping.protocol import POLICIES
from esdedup.matching.protocol import ACROSS, MATCHERS
from esdedup.matching.signers.protocol import SIGNERS
from esdedup.matching.verify.protocol import VERIFIERS
from esdedup.output.choices import OVERLAPS, TABLE_FORMATS
from esdedup.store.cluster_queries import ORDERS
from esdedup.text.wikitext.cleaning import CLEANERS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "esdedup"
ROOMS = [
    "_version", "errors", "plurals", "files", "terminal", "options", "resources", "columns", "text", "lookup",
    "keeping", "formats", "clustering", "matching", "engines", "papers", "store", "analysis", "evaluation", "output",
    "jobs", "api", "kibana", "node", "demo", "web", "cli", "__init__", "__main__",
]  # fmt: skip
"""Each room may import itself and those before it."""

PROTOCOLS = {f"{name}.py" for name in ("corpus", "engine", "ledger", "matcher", "protocol", "results", "store")}
PROTOCOLS |= {"changes.py", "lineage.py", "meanings.py"}

MODULES = sorted(PACKAGE.rglob("*.py"))


def imported_modules(path: Path) -> set[str]:
    """The modules of the package that a file imports, also inside functions and for types alone."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if is_module(name)}


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return name.startswith("esdedup.") and (path.with_suffix(".py").is_file() or (path / "__init__.py").is_file())


def room_of(module: str) -> int:
    return ROOMS.index(module.split(".")[1])


def named(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_imports_point_one_way() -> None:
    upward = [
        f"{named(path)} imports {name}"
        for path in MODULES
        if path.relative_to(PACKAGE).parts != ("__init__.py",)
        for name in imported_modules(path)
        if room_of(name) > room_of(named(path))
    ]
    assert not upward


def test_no_import_is_a_circle() -> None:
    graph = {named(path): imported_modules(path) - {named(path)} for path in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' -> '.join(error.args[1])}")


def test_a_file_holds_one_idea() -> None:
    long = {named(path): len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert not {name: lines for name, lines in long.items() if lines > 420}


def test_no_two_files_have_one_name() -> None:
    """But for the implementations of a protocol."""
    names = Counter(path.name for path in MODULES)
    assert {name for name, count in names.items() if count > 1} <= {"__init__.py"} | PROTOCOLS


CHOICES = (MATCHERS, VERIFIERS, LINKAGES, SIGNERS, FORMATS, CLEANERS, ENGINES)
CHOSEN = {"name", "matcher", "verifier", "linkage", "signer", "format", *(registry.option for registry in CHOICES)}
"""What holds a choice, or its name."""

TYPES = {each.__name__ for registry in CHOICES for each in registry}


def held(node: ast.expr) -> str:
    """The name of the variable, attribute, key or parameter that an expression reads."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(name)), *_]):
            return name
    return ""


def test_nothing_branches_on_the_name_of_a_choice() -> None:
    names = {name for registry in CHOICES for name in registry.names}
    found = []
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Compare) and held(node.left) in CHOSEN:
                values = {
                    each.value for side in node.comparators for each in ast.walk(side) if isinstance(each, ast.Constant)
                }
                found += [f"{named(path)}:{node.lineno}: {value}" for value in values & names]
            if isinstance(node, ast.Match) and held(node.subject) in CHOSEN:
                found.append(f"{named(path)}:{node.lineno}: match")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                found += [
                    f"{named(path)}:{node.lineno}: isinstance" for each in ast.walk(node.args[1]) if held(each) in TYPES
                ]
    assert not found


def test_no_choice_is_declared_twice() -> None:
    choices = {frozenset(names) for names in (KINDS, ORDERS, POLICIES.names, ACROSS, TABLE_FORMATS, OVERLAPS)}
    places: dict[frozenset[str], list[str]] = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if path.name != "keywords.py" and isinstance(node, ast.Tuple | ast.List | ast.Set):
                values = frozenset(str(each.value) for each in node.elts if isinstance(each, ast.Constant))
                if values in choices and len(values) == len(node.elts) > 1:
                    places.setdefault(values, []).append(f"{named(path)}:{node.lineno}")
    assert {tuple(sorted(values)): found for values, found in places.items() if len(found) > 1} == {}


def test_every_choice_sets_what_its_protocol_leaves_open() -> None:
    """A flag that only one implementation sets would be a branch on its name."""
    for registry in CHOICES:
        for each in registry:
            for base in each.__mro__:
                for name, kind in vars(base).get("__annotations__", {}).items():
                    if str(kind).startswith("ClassVar"):
                        assert hasattr(each, name), f"{each.__name__} does not say {name}"


TESTS = sorted((ROOT / "tests").rglob("*.py"))
TEST_MODULE = re.compile(r"(?:from|import) tests[\w.]*(?:\.| import \(?\s*(?:\w+, )*)test_\w+")
"""What names a module of tests in an import, also in the code of a child process."""


def test_no_test_imports_from_another() -> None:
    """What two of them need is in tests/support, or in a module beside them that holds no tests."""
    assert TEST_MODULE.match("from tests.unit.test_house import ROOT")
    assert TEST_MODULE.match("from tests.unit import test_house")
    assert TEST_MODULE.match("import tests.unit.test_house")
    found = {
        f"{named(path)}: {line}"
        for path in TESTS
        if path != Path(__file__)
        for line in TEST_MODULE.findall(path.read_text("utf-8"))
    }
    assert len(TESTS) > 100
    assert not found


def test_pages_for_strangers_are_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 130
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    assert len(text.split()) <= 2500
    assert len(text.splitlines()) <= 200
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings
    assert all(line.endswith("?") for line in headings), headings


def test_links_in_pages_lead_somewhere() -> None:
    links = 0
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
            links += 1
    assert links > 20


def test_rooms_say_what_question_they_answer() -> None:
    assert len(MODULES) > 100
    empty = [named(path) for path in MODULES if path.name == "__init__.py" and not path.read_text("utf-8").strip()]
    assert not empty


def test_public_names_are_sorted_and_there() -> None:
    assert esdedup.__all__ == sorted(esdedup.__all__)
    for name in esdedup.__all__:
        assert getattr(esdedup, name) is not None
    with pytest.raises(AttributeError):
        _ = esdedup.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "code", "most"),
    [
        ("--help", 0, 50),
        ("run x --out y --jacard 0.9", 2, 95),
        ("run x --out y --jaccard 2", 2, 98),
        ("dedupe x -o y --keep some", 2, 98),
        ("status --store nowhere.duckdb", 1, 45),
        ("clusters --store nowhere.duckdb", 1, 55),
        ("similar text --store nowhere.duckdb", 1, 55),
    ],
)
def test_what_answers_at_once_loads_nothing_heavy(words: str, code: int, most: int) -> None:
    run = (
        "import sys, esdedup\n"
        "from esdedup.cli import main\n"
        f"try: main({words.split()})\n"
        f"except SystemExit as end: assert end.code == {code}\n"
        "heavy = {'numpy', 'numba', 'pyarrow', 'duckdb', 'lxml', 'PIL', 'tqdm'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "print(sum(name.split('.')[0] == 'esdedup' for name in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", run], check=True, capture_output=True, text=True)
    assert int(done.stdout.split()[-1]) <= most


def test_status_loads_what_it_uses(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One text here.")
    esdedup.index(tmp_path / "a.txt", store=tmp_path / "s.duckdb", lookup=False)
    run = (
        "import sys, esdedup\n"
        "esdedup.status(store=sys.argv[1])\n"
        "assert not {'numba', 'jinja2', 'PIL', 'tqdm', 'rapidfuzz'} & set(sys.modules)\n"
        "print(sum(name.split('.')[0] == 'esdedup' for name in sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", run, tmp_path / "s.duckdb"], check=True, capture_output=True, text=True
    )
    assert int(done.stdout) <= 115


def test_changelog_names_this_version() -> None:
    assert f"## {esdedup.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_locks_are_hashed_and_name_no_address() -> None:
    locks = sorted((ROOT / "locks").glob("*.txt"))
    assert {"dev.txt", "versions.txt"} <= {lock.name for lock in locks}
    for lock in locks:
        text = lock.read_text("utf-8")
        assert "://" not in text
        if lock.name in ("node.txt", "opensearch.txt"):  # of Java, each line as sha256sum writes it
            comment, *jars = text.splitlines()
            assert comment.startswith("# ")
            assert all(re.fullmatch(r"[0-9a-f]{64}  [\w.-]+:[\w.-]+:[\w.-]+", jar) for jar in jars)
            continue
        pins = [line for line in text.splitlines() if "==" in line]
        assert pins
        assert text.count("--hash=sha256:") >= len(pins)
