"""`--ignore`: known texts and clusters that should not be reported."""

from __future__ import annotations

import re
from pathlib import Path

from esdedup.columns.arrays import text_buffers
from esdedup.columns.hashing import content_hashes
from esdedup.errors import UsageError
from esdedup.text.segment import segment
from esdedup.text.splitting import Splitting

_CLUSTER_ID = re.compile(r"[0-9a-fA-F]{16}")


def ignored_texts(path: Path) -> tuple[int, ...]:
    """Return the content hashes of the file's lines, each a text or the id of a cluster.

    A cluster's id is the content hash of one of its texts, so both mean the same: omit the cluster with this text.
    Raise `UsageError` if the file cannot be read.
    """
    try:
        lines = [line.strip() for line in path.read_text("utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--ignore {path}: {error}; use a file with one text or cluster id on each line") from error
    ids = {int(line, 16) for line in lines if _CLUSTER_ID.fullmatch(line)}  # as printed, or in upper case
    units = segment([line for line in lines if line and not _CLUSTER_ID.fullmatch(line)], Splitting("record", "en"))
    return tuple(sorted(ids | set(content_hashes(*text_buffers(units.texts)).tolist())))
