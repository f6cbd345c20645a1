"""Spark gives the bytes of the local engine: on a real standalone cluster of a master and two workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

import esdedup
from esdedup.engines.spark import session
from esdedup.engines.spark.exchange import Exchange
from esdedup.errors import EngineError, UsageError
from esdedup.matching.protocol import Scanning
from esdedup.matching.signing import Signing
from esdedup.store.elasticsearch.corpus import ServerCorpus
from esdedup.store.schemas import mapping_text
from tests.support.collisions import collide
from tests.support.corpus import corpus, template
from tests.support.full import FULL
from tests.support.spark import Cluster, kill

STAGES = ("reading sources", "merging identical texts", "grouping texts by token", "comparing texts")
FILES = ("pairs.jsonl", "clusters.jsonl", "clusters.txt", "cluster-sizes.png")
ENGINE = "esdedup.engines.spark.engine"


@pytest.fixture
def running(spark_cluster: Cluster) -> Iterator[Any]:
    """The session of this process on the cluster, with the options of each test."""
    found = session.session_at(spark_cluster.address)
    yield found
    for name in ("spark.sql.adaptive.enabled", "spark.esdedup.partitions"):
        found.conf.unset(name)


SCANS: list[dict[str, Any]] = [
    {},
    {"verify": "none"},
    {"candidates": "exact", "jaccard": 0.6},
    {"word_edit_distance": 2},
]


@settings(
    max_examples=20 if FULL else 1,
    phases=[Phase.explicit, Phase.generate] if FULL else [Phase.explicit],
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 10**6), hot=st.sampled_from([10, 30, 2000]), scan=st.sampled_from(SCANS),
    groups=st.integers(0, 40), stale=st.integers(0, 3), budget=st.sampled_from([2**22, 2**28]),
    partitions=st.sampled_from([1, 7, 200]), adaptive=st.booleans(), unit=st.sampled_from(["sentence", "record"]),
)  # fmt: skip
@example(seed=2, hot=30, scan={}, groups=30, stale=2, budget=2**22, partitions=9, adaptive=False, unit="record")
def test_pairs_are_those_of_the_local_engine(
    running: Any, spark_cluster: Cluster, seed: int, hot: int, scan: dict[str, Any], groups: int, stale: int,
    budget: int, partitions: int, adaptive: bool, unit: str,
) -> None:  # fmt: skip
    running.conf.set("spark.sql.adaptive.enabled", str(adaptive).lower())
    running.conf.set("spark.esdedup.partitions", str(partitions))
    texts = corpus(seed, 250) + template(seed, 200, edits=2) + template(seed + 1, 90)
    options: dict[str, Any] = {
        "scanning": Scanning.of(**scan),
        "signing": Signing(unit=unit),
        "group_ids": [number % groups for number in range(len(texts))] if groups else None,
        "stale": texts[:: stale * 5] if stale else None,
        "hot_limit": hot,
    }
    expected = collide(texts, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{ENGINE}.RUN", 64)  # hot groups are in several runs
        shuffled = texts if groups or stale else texts[::-1]
        assert collide(shuffled, **options, budget=budget, engine=spark_cluster.address) == expected
    assert groups == 1 or len(expected[0]) > 10  # texts of one group are not compared


def rows(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(texts)), "utf-8")
    return path


def written(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = corpus(5, 1500) + template(6, 300, edits=2)
    inner = f"{texts[9]} {texts[10]} {texts[11]}"
    return rows(tmp_path_factory.mktemp("source") / "a.tsv", [*texts, inner])


RECORDS: dict[str, Any] = {"unit": "record", "min_chars": 0}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, source: Path) -> Path:
    out = tmp_path_factory.mktemp("expected") / "local"
    esdedup.run(source, out=out, **RECORDS)
    return out


@pytest.mark.parametrize(
    ("stage", "whole"),
    [(stage, whole) for stage in STAGES for whole in (True, False)] if FULL else [("grouping texts by token", True)],
    ids=str,
)
def test_what_is_lost_with_a_worker_is_made_again(
    running: Any, spark_cluster: Cluster, tmp_path: Path, source: Path, expected: Path,
    monkeypatch: pytest.MonkeyPatch, stage: str, whole: bool,
) -> None:  # fmt: skip
    killed: list[int] = []

    def lose() -> None:
        executors = spark_cluster.executors()
        killed.extend(process.pid for process in executors)
        if whole:
            spark_cluster.replace_worker()
        for process in [] if whole else executors:
            kill(process)

    collected = Exchange._collected

    def begun(self: Exchange, tasks: Any, note: str) -> dict[int, Any]:
        timer = Timer(0.02, lose)
        if note == stage:
            timer.start()
        found = collected(self, tasks, note)
        timer.cancel()
        return found

    monkeypatch.setattr(Exchange, "_collected", begun)
    esdedup.run(source, out=tmp_path / "out", engine=spark_cluster.address, **RECORDS)
    assert written(tmp_path / "out") == written(expected)
    assert killed


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "from esdedup.cli import main; main()", *map(str, arguments)]


def marks(folder: Path) -> dict[str, int]:
    """When the stages of a scan were done."""
    with suppress(FileNotFoundError):  # the scan has just ended
        return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.json")}
    return {}


@pytest.mark.full
def test_a_lost_driver_is_continued(has_spark: None, tmp_path: Path, source: Path, expected: Path) -> None:
    """The same command again does not repeat what is done."""
    asked = command(
        "run",
        source,
        "--out",
        tmp_path / "out",
        "--unit",
        "record",
        "--min-chars",
        0,
        "--engine",
        "local[1]",
    )
    folder = tmp_path / "out" / ".lake.scan" / "spark"
    with subprocess.Popen(asked, stderr=subprocess.DEVNULL, start_new_session=True) as first:
        while not (folder / "groups.json").exists():
            assert first.poll() is None
            time.sleep(0.02)
        os.killpg(first.pid, signal.SIGKILL)
    done = marks(folder)
    seen: dict[str, int] = {}
    with subprocess.Popen(asked, stderr=subprocess.PIPE, text=True) as second:
        while second.poll() is None:
            seen |= marks(folder)
            time.sleep(0.02)
        assert second.stderr is not None
        assert second.returncode == 0, second.stderr.read()
    assert {name: seen[name] for name in done} == done
    assert "compared.json" in seen
    assert written(tmp_path / "out") == written(expected)
    assert not folder.exists()


@pytest.mark.full
def test_dedupe_against_and_contained(running: Any, spark_cluster: Cluster, tmp_path: Path, source: Path) -> None:
    reference = rows(tmp_path / "old.tsv", corpus(5, 900)[::3])
    made: dict[str, dict[str, bytes]] = {}
    for engine in ("local", spark_cluster.address):
        out = tmp_path / engine[:5]
        esdedup.dedupe(source, out=out, against=[str(reference)], contained=0.8, engine=engine, **RECORDS)
        files = (
            path for path in sorted(out.rglob("*")) if path.is_file() and not {"lake", "store.duckdb"} & {*path.parts}
        )
        made[engine] = {path.name: path.read_bytes() for path in files if path.name != "summary.json"}
    assert made[spark_cluster.address] == made["local"]
    reasons = {json.loads(line)["reason"] for line in made["local"]["drops.jsonl"].splitlines()}
    assert reasons >= {"near", "in_reference", "contained"}


def test_sources_are_read_by_the_workers(
    running: Any, spark_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = corpus(9, 700)
    monkeypatch.chdir(tmp_path)
    folder = Path("folder")
    folder.mkdir()
    for part in range(3):
        pq.write_table(
            pa.table({"id": list(map(str, range(200))), "text": texts[part::3][:200]}), folder / f"{part}.parquet"
        )
    (tmp_path / "more.jsonl").write_text(
        "".join(json.dumps({"id": "x", "text": text}) + "\n" for text in texts) + "{\n"
    )
    sources = [folder, "more.jsonl"]
    expected = esdedup.run(*sources, out="local", **RECORDS)
    monkeypatch.setattr("esdedup.jobs.lakes.index_sources", None)  # the driver reads none of them
    found = esdedup.run(*sources, out="out", engine=spark_cluster.address, **RECORDS)
    assert written(tmp_path / "out") == written(tmp_path / "local")
    for name, how in {"local": {}, "out": {"engine": spark_cluster.address}}.items():
        esdedup.dedupe(*sources, out=Path("clean") / name, keep="lowest:id,clean", **how, **RECORDS)
    for name in ("1.parquet", "more.jsonl", "drops.jsonl"):
        one, two = ((tmp_path / "clean" / place / name).read_bytes() for place in ("local", "out"))
        assert one == two
    same = found.to_dict().keys() - {"seconds", "peak_memory_mb", "stages"}
    assert {name: found[name] for name in same} == {name: expected[name] for name in same}
    assert found["renamed"] == len(texts) - 1
    costs = {cost["stage"]: cost for cost in found["stages"]}
    assert costs.keys() >= {*STAGES}
    assert costs["grouping texts by token"]["shuffled_bytes"] > 10_000
    assert all(cost["task_seconds"] > 0 and cost["peak_memory_mb"] > 50 for cost in costs.values())


@pytest.mark.full
def test_a_store_on_a_server_is_read_by_the_workers(
    running: Any, spark_cluster: Cluster, elastic_url: str, elastic_prefix: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    source, store = rows(tmp_path / "b.tsv", corpus(8, 600)), f"{elastic_url}/{elastic_prefix}"
    esdedup.run(source, out=tmp_path / "local", across="documents", **RECORDS)
    esdedup.index(source, store=store, **RECORDS)
    for name in ("signatures", "texts"):
        monkeypatch.setattr(ServerCorpus, name, None)  # the driver reads none of them
    monkeypatch.setattr("esdedup.jobs.scanning.far_members", lambda *_: {})
    esdedup.scan(store=store, out=tmp_path / "out", engine=spark_cluster.address, across="documents")
    assert written(tmp_path / "out") == written(tmp_path / "local")


@pytest.mark.full
def test_properties_of_spark_are_kept(has_spark: None, tmp_path: Path) -> None:
    """What `spark-defaults.conf` sets is not replaced, and goes together with what esdedup adds."""
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.app.name mine\nspark.master local[1]\nspark.log.level FATAL\nspark.executorEnv.PYTHONPATH theirs\n"
    )
    script = (
        "from esdedup.engines.spark.session import session_at\n"
        "conf = session_at('spark').sparkContext.getConf()\n"
        "print(*(conf.get(f'spark.{name}') for name in ('app.name', 'master', 'log.level')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "SPARK_CONF_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["mine", "local[1]", "FATAL"], done.stderr


def test_the_package_travels(running: Any, spark_cluster: Cluster) -> None:
    """Workers run the version of the driver, with all of its files, whatever they have installed."""
    own = Exchange(running, 2).done(lambda _: (esdedup.__file__, mapping_text("embedded.sql")), [0], "looking")
    assert own[0][0].endswith("/esdedup-package/esdedup/__init__.py")
    assert own[0][1] == mapping_text("embedded.sql")


if FULL:

    def test_a_plan_for_a_cluster(running: Any, spark_cluster: Cluster, source: Path) -> None:
        how: dict[str, Any] = {"engine": spark_cluster.address, "sentences": 10**9, **RECORDS}
        here, large = (esdedup.plan(source, **how, cores=cores)["forecast"]["lake"] for cores in (None, 160))
        assert here["task_seconds"] > 1000
        assert here["shuffled_bytes"] > 10**10
        assert large["cores"] == 160
        assert large["seconds"] < here["seconds"]
        with pytest.raises(UsageError, match=r"cores is 3; .* --engine on a cluster"):
            esdedup.plan(source, sentences=10, cores=3, **RECORDS)

    def test_full_disk(running: Any, spark_cluster: Cluster, tmp_path: Path, source: Path, expected: Path) -> None:
        """One of the workers cannot write what a task makes: the other one does it."""
        for worker in [worker for worker in spark_cluster.workers if worker.poll() is None]:
            spark_cluster.kill_worker(worker)
        spark_cluster.add_worker(cores=1)
        spark_cluster.add_worker(cores=1, limit=100_000)
        spark_cluster.wait_for_workers()
        spark_cluster.wait_for_executor()
        esdedup.run(source, out=tmp_path / "out", engine=spark_cluster.address, **RECORDS)
        assert written(tmp_path / "out") == written(expected)
        spark_cluster.kill_worker(spark_cluster.workers[-1])
        spark_cluster.add_worker()


@pytest.mark.full
def test_a_session_of_the_caller_is_used(running: Any, tmp_path: Path, source: Path, expected: Path) -> None:
    esdedup.run(source, out=tmp_path / "out", engine=running, **RECORDS)
    assert written(tmp_path / "out") == written(expected)
    assert running.range(3).count() == 3  # it is still the caller's


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (
            "spark://127.0.0.1:9",
            "the engine spark://127.0.0.1:9 does not answer: Connection refused; start the cluster",
        ),
        ("spark://nowhere.invalid:7077", "does not answer: "),
    ],
)
def test_nobody_answers(has_spark: None, tmp_path: Path, source: Path, engine: str, words: str) -> None:
    for more in ({}, {"store": tmp_path / "out" / "store.duckdb"}):
        with pytest.raises(EngineError, match=words):
            esdedup.run(source, out=tmp_path / "out", engine=engine, **more, **RECORDS)
        assert not (tmp_path / "out").exists()


def test_an_early_interrupt_leaves_nothing(has_spark: None, tmp_path: Path, source: Path) -> None:
    """Ctrl-C while Java starts: it ends too, with its temporary files."""
    asked = command("run", source, "--out", tmp_path / "out", "--engine", "local[1]")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    where = {**os.environ, "TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(temporary)}
    where["SPARK_SUBMIT_OPTS"] = f"-Djava.io.tmpdir={temporary}"
    with subprocess.Popen(asked, env=where, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        started: list[psutil.Process] = []
        while not any("SparkSubmit" in " ".join(words(each)) for each in started):
            assert process.poll() is None
            time.sleep(0.01)
            started = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
    assert (process.returncode, said) == (130, "esdedup: interrupted; run the same command again to finish\n")
    assert not any(each.is_running() for each in started)
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "out").exists()


def words(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):  # it has just ended
        return process.cmdline()
    return []


def test_what_is_missing_is_said(tmp_path: Path, source: Path) -> None:
    asked = command("run", source, "--out", tmp_path / "out", "--engine", "local[2]")
    hidden = {**os.environ, "PYTHONPATH": str(tmp_path), "PATH": "/nowhere", "JAVA_HOME": ""}
    del hidden["JAVA_HOME"]
    said = subprocess.run(asked, env=hidden, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr.splitlines()[-1]) == (
        1,
        "esdedup: the engine local[2] needs Java 17 or newer, and there is none; install one (on Debian: apt install "
        "openjdk-17-jre-headless), and set JAVA_HOME to it if it is not the first",
    )
    (tmp_path / "pyspark.py").write_text("raise ImportError")
    said = subprocess.run(asked, env=hidden, capture_output=True, text=True, check=False)
    assert said.stderr.splitlines()[-1] == "esdedup: the engine local[2] needs PySpark: pip install 'esdedup[spark]'"


@pytest.mark.parametrize("candidates", ["projection", "queries"])
def test_other_matchers_are_refused_by_name(
    running: Any, spark_cluster: Cluster, tmp_path: Path, source: Path, candidates: str
) -> None:
    with pytest.raises(UsageError, match=f"candidates {candidates} .*local engine"):
        esdedup.run(
            source, out=tmp_path / "out", engine=spark_cluster.address, candidates=candidates, verify="none", **RECORDS
        )
