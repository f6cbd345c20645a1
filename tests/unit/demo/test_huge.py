"""A huge wiki is the same each time, its copies stand where the plan says, and a month changes pages as it should.

How like real dumps it is, `scripts/bench wikipedia` measures.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import esdedup
from scripts.wiki.huge.pages import HugeWiki
from scripts.wiki.huge.planted import EVERY, members_of, plan_of, planted_at


@pytest.mark.parametrize("sentences", [5_000, 400_000])
def test_each_place_is_that_of_one_copy(sentences: int) -> None:
    plan = plan_of(sentences)
    planted = {
        (cluster, member): sentence
        for sentence in range(sentences)
        for cluster, member, _ in [planted_at(sentence, plan)]
        if cluster >= 0
    }
    clusters = int(plan.clusters[-1])
    assert len(planted) == plan.starts[-1] > sentences // EVERY // 2
    assert {cluster for cluster, _ in planted} == {*range(clusters)}
    for cluster in {*range(0, clusters, 7), clusters - 1}:
        places = members_of(cluster, plan, 40_000)
        assert [planted[cluster, member] for member in range(len(places))] == places.tolist()
        assert (cluster, len(places)) not in planted


@pytest.mark.full
def test_what_is_written_is_read(tmp_path: Path) -> None:
    wiki = HugeWiki(4_000)
    first, second = (b"".join(map(bytes, HugeWiki(4_000, month=month).export())) for month in (0, 1))
    assert first == b"".join(map(bytes, wiki.export()))
    path = tmp_path / "wiki.xml"
    path.write_bytes(first)
    read = {row.text for row in esdedup.extract(path, sentences=True, quiet=True)}
    written = [wiki.sentence(number) for number in range(wiki.sentences)]
    assert np.mean([text in read for text in written]) > 0.98
    pages = [dump.split(b"<page>") for dump in (first, second)]
    changed = sum(one != two for one, two in zip(*pages, strict=True))
    assert 0 < changed < 0.08 * wiki.pages
