"""A true certificate, and what somebody may have changed of it or of its files."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from pathlib import Path
from typing import Any

from esdedup.jobs.certifying import checksum_of


def rows_of(certificate: Path) -> list[dict[str, Any]]:
    """The rows beside a certificate."""
    held = json.loads(certificate.read_text("utf-8"))
    lines = certificate.with_name(held["rows"]["path"]).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


class Altering:
    """A copy of what was made, in which something is changed."""

    def __init__(self, made: Path, folder: Path, chance: random.Random) -> None:
        shutil.copytree(made, folder)
        self.path = folder / "out" / "cert.json"
        self.folder = folder
        self.held = json.loads(self.path.read_text("utf-8"))
        self.rows = rows_of(self.path)
        self._chance = chance

    def change(self, holder: Any, key: Any) -> None:
        value = holder[key]
        if isinstance(value, bool):
            holder[key] = not value
        elif isinstance(value, int | float):
            holder[key] = value + self._chance.choice([1, -1, 7])
        else:
            holder[key] = value + "x" if isinstance(value, str) else 1

    def save(self, *, signed: bool) -> None:
        """Write what was changed; `signed`, as a forger would who knows how hashes are made."""
        data = "".join(json.dumps(row) + "\n" for row in self.rows).encode()
        self.path.with_name(self.held["rows"]["path"]).write_bytes(data)
        if signed:
            self.held["rows"] |= {"sha256": hashlib.sha256(data).hexdigest(), "rows": len(self.rows)}
            self.held["checksum"] = checksum_of(self.held)
        self.path.write_text(json.dumps(self.held), "utf-8")


def a_count(held: Altering, chance: random.Random) -> None:
    source = chance.choice(held.held["sources"])
    holder, key = chance.choice([
        (held.held["records"], "in"), (held.held["records"], "kept"), (held.held["records"]["dropped"], "near"),
        (source, "kept"), (source, "compared"), (source["dropped"], "near"), (held.held["lost"], "sentences"),
        (held.held["lost"], "rows"),
    ])  # fmt: skip
    held.change(holder, key)


def a_survivor(held: Altering, chance: random.Random) -> None:
    row = chance.choice(held.rows)
    held.change(row, chance.choice(["kept", "kept_place", "kept_file", "id", "place", "file", "position"]))


def a_score(held: Altering, chance: random.Random) -> None:
    held.change(chance.choice(held.rows), "jaccard")


def a_loss(held: Altering, chance: random.Random) -> None:
    held.change(chance.choice([row for row in held.rows if row["lost"]]), "lost")


def a_row_left_out(held: Altering, chance: random.Random) -> None:
    del held.rows[chance.randrange(len(held.rows))]


def a_row_twice(held: Altering, chance: random.Random) -> None:
    held.rows.append(chance.choice(held.rows))


def a_byte(held: Altering, chance: random.Random) -> None:
    path = chance.choice([*held.folder.glob("*.jsonl"), *(held.folder / "out").glob("?.jsonl")])
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1
    path.write_bytes(data)


CHANGES = [a_count, a_survivor, a_score, a_loss, a_row_left_out, a_row_twice, a_byte]
