"""What the tasks of Spark read and say."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from esdedup.engines.spark.exchange import in_one_line
from esdedup.engines.spark.work_folder import WorkFolder, read_rows, write_rows
from esdedup.errors import EngineError


def test_a_file_that_a_worker_does_not_see(tmp_path: Path) -> None:
    work = WorkFolder(tmp_path / "spark")
    write_rows(work.file("texts", 3), pa.table({"hash": [1, 2]}))
    assert read_rows(work.file("texts", 3)).to_pydict() == {"hash": [1, 2]}
    assert [path.name for path in (tmp_path / "spark" / "texts").iterdir()] == ["3.arrow"]
    with pytest.raises(EngineError, match=r"a worker does not see .*/texts/4.arrow: it must be on storage that all"):
        read_rows(work.file("texts", 4))


ACCOUNT = """An error occurred while calling o87.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times, most recent
failure: Lost task 0.3 in stage 3.0 (TID 12) (10.0.0.7 executor 2): org.apache.spark.api.python.PythonException:
Traceback (most recent call last):
  File "/x/esdedup/engines/spark/work_folder.py", line 40, in read_rows
OSError: [Errno 28] No space left on device

Driver stacktrace:
Caused by: org.apache.spark.SparkException: something else
"""


@pytest.mark.parametrize(
    ("account", "line"),
    [
        (ACCOUNT, "OSError: [Errno 28] No space left on device, on 10.0.0.7"),
        (ACCOUNT.replace("OSError: [Errno 28]", "esdedup.errors.EngineError:"), "No space left on device, on 10.0.0.7"),
        ("java.io.IOException: No space left on device\n\tat x", "IOException: No space left on device"),
        ("nothing that is known\nat all", "nothing that is known"),
        ("", "no reason given"),
    ],
)
def test_an_account_of_spark_in_one_line(account: str, line: str) -> None:
    assert in_one_line(account) == line
