"""splink: the settings of its own demos for the tables that it has, and for others those that its guide advises."""

from serving import Arrays, serve, strings, use_cores

use_cores()

import json  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from itertools import combinations  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import pyarrow as pa  # noqa: E402
import splink.comparison_library as cl  # noqa: E402
from splink import DuckDBAPI, Linker, SettingsCreator, block_on  # noqa: E402

Rows = list[dict[str, str]]

SEED = 1
LONG, OFTEN, FEW = 20, 50, 50


class Model(NamedTuple):
    """What a person says: how values compare, which pairs are looked at, what is certain, what trains."""

    comparisons: list[Any]
    rules: list[Any]
    certain: list[Any]
    recall: float
    training: list[Any]
    sample: float = 1e6
    kept: float = 0.2
    threshold: float = 0.5
    plain: bool = False


def _febrl(numbers: list[Any], rules: list[Any], certain: list[Any], recall: float, often: bool, **more: Any) -> Model:
    names = [cl.NameComparison(column) for column in ("given_name", "surname")]
    compared = [
        *([name.configure(term_frequency_adjustments=True) for name in names] if often else names),
        cl.DateOfBirthComparison("date_of_birth", input_is_string=True, datetime_format="%Y%m%d"),
        cl.ExactMatch("street_number").configure(term_frequency_adjustments=True),
        *numbers,
    ]
    sure = [block_on("soc_sec_id"), block_on("given_name", "surname", "date_of_birth"), *certain]
    return Model(compared, rules, sure, recall, [block_on("date_of_birth"), block_on("postcode")], **more)


def febrl1() -> Model:
    return _febrl(
        [
            cl.DamerauLevenshteinAtThresholds("soc_sec_id", [2]),
            cl.ExactMatch("postcode").configure(term_frequency_adjustments=True),
        ],
        [block_on(column) for column in ("soc_sec_id", "given_name", "surname", "date_of_birth", "postcode")],
        ["l.given_name = r.surname and l.surname = r.given_name and l.date_of_birth = r.date_of_birth"],
        recall=0.9,
        often=False,
    )


def febrl4() -> Model:
    return _febrl(
        [
            cl.DamerauLevenshteinAtThresholds("soc_sec_id", [1, 2]),
            cl.DamerauLevenshteinAtThresholds("postcode", [1, 2]).configure(term_frequency_adjustments=True),
        ],
        [
            block_on("given_name", "surname"),
            "l.given_name = r.surname and l.surname = r.given_name",
            block_on("date_of_birth"),
            block_on("soc_sec_id"),
            block_on("state", "address_1"),
            block_on("street_number", "address_1"),
            block_on("postcode"),
        ],
        [],
        recall=0.8,
        often=True,
        plain=True,
    )


def fake_1000() -> Model:
    return Model(
        [
            cl.NameComparison("first_name"),
            cl.NameComparison("surname"),
            cl.DateOfBirthComparison("dob", input_is_string=True),
            cl.ExactMatch("city").configure(term_frequency_adjustments=True),
            cl.EmailComparison("email"),
        ],
        [block_on("first_name", "city"), block_on("surname"), block_on("dob")],
        [
            block_on("first_name", "dob"),
            "l.first_name = r.first_name and levenshtein(r.surname, l.surname) <= 2",
            block_on("email"),
        ],
        recall=0.7,
        training=[block_on("first_name", "surname"), block_on("dob")],
        sample=2e6,
        kept=0.1,
        threshold=0.2,
    )


def any_table(sides: list[Rows]) -> Model:
    """Every column compared; blocks by each value that is rare, or by the first letters of long texts."""
    columns = _names(sides)
    compared, pairs = [], {}
    for column in columns:
        values = [row[column] for side in sides for row in side if row.get(column)]
        few = len(set(values)) <= FEW
        exact = cl.ExactMatch(column).configure(term_frequency_adjustments=True)
        compared.append(exact if few else cl.JaroWinklerAtThresholds(column, [0.9, 0.7]))
        long = sum(map(len, values)) > LONG * len(values)
        key = f"substr({column}, 1, 6)" if long else column
        count = _pairs(sides, column, 6 if long else None)
        if 0 < count <= OFTEN * sum(map(len, sides)):
            pairs[key] = count
    keys = sorted(pairs, key=pairs.__getitem__)
    certain = [block_on(*two) for two in combinations(keys, 2)] or [block_on(column) for column in columns]
    rules = [block_on(key) for key in keys]
    training = rules[-2:] if len(columns) > 1 else []
    return Model(compared, rules, certain, 0.7, training, kept=0.5)


def _names(sides: list[Rows]) -> list[str]:
    """The columns that all tables have."""
    names = [dict.fromkeys(name for row in side for name in row if name != "id") for side in sides]
    return [name for name in names[0] if all(name in other for other in names)]


def _pairs(sides: list[Rows], column: str, letters: int | None) -> int:
    counts = [Counter(row[column][:letters] for row in side if row.get(column)) for side in sides]
    if len(counts) == 1:
        return sum(count * (count - 1) // 2 for count in counts[0].values())
    return sum(count * counts[1][value] for value, count in counts[0].items())


MODELS = {"febrl1": febrl1, "febrl3": febrl1, "febrl4": febrl4, "fake_1000": fake_1000}


def link(texts: list[str]) -> Arrays:
    task = json.loads(texts[0])
    sides = [side for side in (task["left"], task["right"]) if side is not None]
    names = ["id", *_names(sides)]
    tables = [pa.table({name: [row.get(name) or None for row in side] for name in names}) for side in sides]
    model = MODELS[task["name"]]() if task["name"] in MODELS else any_table(sides)
    began = time.process_time()
    linker = _trained(model, tables)
    found = linker.inference.predict(threshold_match_probability=model.kept)
    grouped = None
    if len(tables) == 1:
        grouped = linker.clustering.cluster_pairwise_predictions_at_threshold(found, model.threshold)
    took = time.process_time() - began
    pairs = _read(found, "id_l", "id_r", "match_probability")
    if grouped is None:
        pairs = [pair for pair in pairs if pair[2] >= model.threshold]
    else:
        pairs = _within(_read(grouped, "cluster_id", "id"), {(min(a, b), max(a, b)): said for a, b, said in pairs})
    return {"seconds": took, "processor": took, **strings(pairs)}


def _trained(model: Model, tables: list[pa.Table]) -> Linker:
    settings = SettingsCreator(
        link_type="dedupe_only" if len(tables) == 1 else "link_only",
        unique_id_column_name="id",
        comparisons=model.comparisons,
        blocking_rules_to_generate_predictions=model.rules,
    )
    database = DuckDBAPI()
    sides = [database.register(table, dataset_display_name=side) for table, side in zip(tables, "ab", strict=False)]
    linker = Linker(sides, settings)
    training = linker.training
    training.estimate_probability_two_random_records_match(model.certain, recall=model.recall)
    training.estimate_u_using_random_sampling(max_pairs=model.sample, seed=SEED)
    for rule in model.training:
        training.estimate_parameters_using_expectation_maximisation(rule, estimate_without_term_frequencies=model.plain)
    return linker


def _read(frame: Any, *columns: str) -> list[Any]:
    return frame.as_duckdbpyrelation().select(*columns).fetchall()  # type: ignore[no-any-return]


def _within(members: list[tuple[Any, str]], said: dict[tuple[str, str], float]) -> list[tuple[str, str, float]]:
    """The pairs of each cluster; those that were not predicted have no probability of their own."""
    groups: dict[Any, list[str]] = {}
    for cluster, member in members:
        groups.setdefault(cluster, []).append(member)
    pairs = (pair for group in groups.values() for pair in combinations(sorted(group), 2))
    return [(*pair, said.get(pair, 0.0)) for pair in pairs]


serve({"link": link})
