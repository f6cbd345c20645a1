"""A compared table, and which of its rows are dropped at a threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from esdedup.clustering.clusters import find_roots
from esdedup.clustering.stars import in_order
from esdedup.columns.arrays import Flags, Numbers
from esdedup.columns.cuts import roots, unite
from esdedup.columns.hashing import Hashes
from esdedup.columns.tables import ID, Table, column_at, ids_of, table_of, text_names, texts_of
from esdedup.errors import UsageError
from esdedup.jobs.against import read_references
from esdedup.jobs.preconditions import DropRules
from esdedup.jobs.table_dedupe import Compared, compare_rows, rows_of, settings_for, signing_of
from esdedup.keeping.many_texts import keys_of_texts
from esdedup.keeping.merge_rules import Copies, Rules
from esdedup.keeping.protocol import Policies, Policy, TextPolicy
from esdedup.keeping.ranking import counted_without, nothing_to_compare, rank_copies, reasons
from esdedup.matching.containment import MEMORY_SHARE, TEXTS_AT_ONCE, find_contained, find_containing
from esdedup.matching.lsh.collide import Similarities
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import Signing

if TYPE_CHECKING:
    from esdedup.keeping.protocol import Keys


class Drops(NamedTuple):
    """The dropped rows in their order, and the clusters: the cluster of each compared row, -1 without one."""

    row: Numbers
    kept: Numbers  # the row kept for each; -1 for none
    other: Numbers  # if none is kept: the row that each equals or resembles most; otherwise -1
    reference: Numbers  # the text of a reference that each stands in; -1 for none
    reason: list[str]
    jaccard: Similarities  # not a number where it is not known
    share: Similarities  # of its shingles, in what contains it; not a number for others
    cluster: Hashes
    cluster_of: Numbers
    by: list[dict[str, Any]]  # by which policy each lost, and against what value; empty if none is kept
    no_value: dict[str, int]  # rows of clusters whose column has no value that a policy can compare
    rank: Numbers  # of each dropped row, among all in the order of preference


def refuse_source_order(option: str, policies: Sequence[Policy]) -> None:
    """Raise `UsageError` for a policy that needs sources."""
    if any(policy.reads == "source" for policy in policies):
        raise UsageError(f"{option}: source-order needs sources, and a table in memory has none; prefer a column")


@dataclass(frozen=True)
class Preferred:
    """Policies, and the keys of all rows of a table by those that compare columns."""

    policies: Policies
    by_column: dict[str, Keys]

    @classmethod
    def of(cls, policies: Policies, table: Table) -> Preferred:
        """Read the columns. Raises `UsageError` for one that is not there."""
        refuse_source_order("keep", policies.deciding)
        keys = {policy.words: policy.keys(column_at(table, policy.column)) for policy in policies.columns}
        for policy in policies.columns:
            if len(keys[policy.words]) and np.isnan(keys[policy.words]).all():
                raise UsageError(nothing_to_compare(policy))
        return cls(policies, keys)

    def keys(self, compared: Compared, alike: Numbers, groups: Numbers) -> list[Keys]:
        """Return the keys of the compared rows by policy. Only texts that are `alike` others have one by their text."""
        wanted = [policy for policy in self.policies.deciding if isinstance(policy, TextPolicy)]
        of_texts = iter(keys_of_texts(wanted, groups[alike], lambda rows: compared.texts.take(pa.array(alike[rows]))))
        found = []
        for policy in self.policies.deciding:
            if isinstance(policy, TextPolicy):
                own = np.zeros(len(compared.hash))
                own[alike] = next(of_texts)
                found.append(own[compared.text])
            else:
                found.append(self.by_column[policy.words][compared.row])
        return found


Contradict: TypeAlias = "Callable[[Numbers, Numbers], Flags]"
"""Takes rows, and those that are kept instead. Returns which state another fact."""

Held: TypeAlias = "tuple[Numbers, Similarities]"
"""By text: the text of a reference of whose shingles it has enough, -1 for none, and the share that it has."""


@dataclass(frozen=True)
class Containing:
    """What is needed to find texts that stand inside longer ones."""

    texts: pa.LargeStringArray  # the distinct texts, as `Compared` numbers them
    signing: Signing
    share: float
    budget: int  # bytes
    threads: int

    def find(self, stay: Flags, there: Flags) -> tuple[Numbers, Similarities]:
        """Return for each text the one that contains it, -1 for none, and the share of its shingles.

        Only what would `stay` can be contained, in what stays or is `there`, in a reference.
        """
        order = np.concatenate([np.flatnonzero(stay), np.flatnonzero(there)])
        inner = int(stay.sum())
        found = find_contained(
            lambda: batches_of(self.texts, order),
            self.signing,
            len(order),
            inner,
            self.share,
            self.budget,
            self.threads,
        )
        outermost = found.outermost(inner)
        outer, share = np.full(len(stay), -1), np.full(len(stay), np.nan)
        held = np.flatnonzero(outermost >= 0)
        outer[order[held]], share[order[held]] = order[outermost[held]], found.share[held]
        return outer, share


def batches_of(texts: pa.LargeStringArray, order: Numbers) -> Iterator[pa.LargeStringArray]:
    """Yield texts in this order, in batches."""
    for begin in range(0, len(order), TEXTS_AT_ONCE):
        yield texts.take(pa.array(order[begin : begin + TEXTS_AT_ONCE]))


def decide(
    compared: Compared,
    keep: Preferred,
    threshold: float,
    containing: Containing | None,
    holds: Held | None,
    only: bool,
    contradict: Contradict | None,
) -> Drops:
    """Decide which rows are dropped: of each cluster, the row stays that is preferred.

    Texts that hold one of a reference go too; with `only`, nothing but what stands in a reference or holds one.
    """
    texts, rows = len(compared.hash), len(compared.row)
    near = (compared.reference >= 0) & (compared.reference_jaccard >= threshold)
    there, part = (np.full(texts, -1), np.full(texts, np.nan)) if holds is None else holds
    there = np.where(near, compared.reference, there)
    part = np.where(near, np.nan, part)
    referenced = there >= 0
    strong = (compared.jaccard >= threshold) & ~referenced[compared.a] & ~referenced[compared.b]
    a, b = compared.a[strong], compared.b[strong]
    none = keep.policies.none
    keys: list[Keys] = []
    if not none:
        parent = np.arange(texts, dtype=np.int32)
        unite(parent, a, b)
        connected = roots(parent, np.arange(texts))
        keys = keep.keys(compared, np.union1d(a, b), connected)
    rank = rank_copies(keys, np.arange(rows))
    best = np.full(texts, rows)
    np.minimum.at(best, compared.text, rank)
    if none:
        label = find_roots(texts, a, b, compared.jaccard[strong], compared.linkage)
    else:
        label = compared.linkage.roots(connected, lambda order: [in_order(a, b, order)], lambda: np.argsort(best))
    label[referenced] = np.flatnonzero(referenced)
    centre_rank = np.full(texts, rows)
    np.minimum.at(centre_rank, label, best)
    row_of_rank = np.argsort(rank)
    size = np.bincount(label[compared.text], minlength=texts)
    own = label[compared.text]
    clustered = size[own] > 1
    kept = row_of_rank[np.minimum(centre_rank[own], max(rows - 1, 0))]  # an index of compared rows
    centre = compared.text[kept]
    stays = ~clustered if none else compared.text == centre
    outer, share = np.full(texts, -1), np.full(texts, np.nan)
    if containing is not None:
        candidates = np.zeros(texts, np.bool_)
        candidates[compared.text[stays & ~referenced[compared.text]]] = True
        outer, share = containing.find(candidates, compared.there)
    apart = referenced | (outer >= 0)
    first_row = np.full(texts, rows)
    np.minimum.at(first_row, compared.text, np.arange(rows))
    if contradict is not None:
        asked = np.flatnonzero(clustered & ~apart[compared.text] & (compared.text != centre))
        asked = asked[np.unique(compared.text[asked], return_index=True)[1]]
        one = compared.text[asked]
        alone = np.zeros(texts, np.bool_)
        alone[one[contradict(compared.row[first_row[one]], compared.row[kept[asked]])]] = True
        stay = alone[compared.text]
        first_left = np.full(texts, texts)
        np.minimum.at(first_left, own[~stay], compared.text[~stay])
        own = np.where(stay, compared.text, first_left[own])
        kept = np.where(stay, row_of_rank[np.minimum(best[compared.text], max(rows - 1, 0))], kept)
        centre = compared.text[kept]
    first = (kept == np.arange(rows)) & (not none)
    dropped = np.flatnonzero((clustered & ~first & (not only)) | apart[compared.text])
    text, of_star = compared.text[dropped], ~apart[compared.text[dropped]]
    other = np.full(len(dropped), -1)
    if none:
        like = _closest(a, b, compared.jaccard[strong], label, first_row)
        copies = np.bincount(compared.text, minlength=texts)[text] > 1
        second_row = np.full(texts, rows)
        later = np.flatnonzero(np.arange(rows) != first_row[compared.text])
        np.minimum.at(second_row, compared.text[later], later)
        of_copies = np.where(dropped == first_row[text], second_row[text], first_row[text])
        other = np.where(copies, of_copies, first_row[like[text]])
        partner, identical = like[text], copies
    else:
        partner, identical = centre[dropped], text == centre[dropped]
    similarity = np.where(identical, 1.0, _similarity(compared, text, partner, threshold))
    similarity = np.where(near[text], compared.reference_jaccard[text], similarity)
    similarity[(outer[text] >= 0) | (part[text] > 0)] = np.nan
    why = np.where(identical, "identical", "near")
    ours = (outer[text] >= 0) & (first_row[outer[text]] < rows)
    why = np.where(outer[text] >= 0, "contained", why)
    why = np.where(referenced[text] | ((outer[text] >= 0) & ~ours), "in_reference", why)
    kept_rows = np.full(len(dropped), -1)
    by: list[dict[str, Any]] = [{} for _ in dropped]
    if not none:
        lost = dropped[of_star]
        kept_rows[of_star] = compared.row[kept[lost]]
        told = reasons(keep.policies, [each[lost] for each in keys], [each[kept[lost]] for each in keys], len(lost))
        for place, reason in zip(np.flatnonzero(of_star).tolist(), told, strict=True):
            by[place] = reason
    kept_rows[ours] = compared.row[first_row[outer[text[ours]]]]
    reference = np.where(referenced[text], there[text], np.where(ours, -1, outer[text]))
    return Drops(
        compared.row[dropped],
        kept_rows,
        np.where(of_star & (other >= 0), compared.row[np.minimum(other, rows - 1)], -1),
        reference,
        why.tolist(),
        similarity,
        np.where(part[text] > 0, part[text], share[text]),
        compared.hash[own[dropped]],
        np.where(clustered & ~referenced[compared.text], own, -1),
        by,
        counted_without(keep.policies, [each[clustered] for each in keys]),
        rank[dropped],
    )


def _closest(a: Numbers, b: Numbers, jaccard: Similarities, label: Numbers, first_row: Numbers) -> Numbers:
    """Return for each text the one of its cluster that it resembles most, and of several the first; itself if none."""
    among = label[a] == label[b]
    one, two = np.concatenate([a[among], b[among]]), np.concatenate([b[among], a[among]])
    order = np.lexsort((-first_row[two], np.tile(jaccard[among], 2)))  # the last assignment stays
    found = np.arange(len(label))
    found[one[order]] = two[order]
    return found


def _similarity(compared: Compared, one: Numbers, two: Numbers, threshold: float) -> Similarities:
    """Return the Jaccard of pairs of texts; not a number for those that are no pair at the threshold."""
    if len(compared.a) == 0:
        return np.full(len(one), np.nan)
    texts = len(compared.hash)
    known, asked = compared.a * texts + compared.b, np.minimum(one, two) * texts + np.maximum(one, two)
    order = np.argsort(known)
    at = order[np.minimum(np.searchsorted(known, asked, sorter=order), len(known) - 1)]
    return np.where((known[at] == asked) & (compared.jaccard[at] >= threshold), compared.jaccard[at], np.nan)


@dataclass(frozen=True)
class ComparedTable:
    """A table and what was found, kept so that other thresholds need no second comparison."""

    table: Table
    texts: pa.ChunkedArray
    ids: list[Any]
    old_ids: list[Any]  # of the texts of references, by number of the text
    old_texts: list[Any]
    compared: Compared
    containing: Containing | None
    holds: Held | None
    only: bool  # whether nothing is dropped but for a reference
    not_compared: dict[str, int]
    keep: Preferred
    threshold: float
    rules: Rules | None
    keep_contradictions: bool
    signing: Signing
    text_column: Any  # None if the text is made of several columns
    others: list[Any]  # names of the columns besides the id and, if it is one column, the text

    def contradict(self, one: Numbers, two: Numbers) -> Flags:
        """Return which rows `one` state another fact than the rows `two`."""
        from esdedup.analysis.other_facts import state_other_facts

        titles = column_at(self.table, "title") if "title" in self.table.names else pa.nulls(len(self.texts))
        texts = self.texts.combine_chunks()

        def side(rows: Numbers) -> pa.Table:
            ids = [str(self.ids[row]) for row in rows.tolist()]
            title = titles.take(pa.array(rows)).cast(pa.string())
            return pa.table({"text": texts.take(pa.array(rows)), "document": rows, "id": ids, "title": title})

        return state_other_facts(side(one), side(two))

    def other_values(self, rows: Numbers) -> list[dict[str, Any]]:
        """Return the values of the other columns in some rows."""
        taken = pa.array(rows)
        columns = {str(name): self.table.column(name).take(taken).to_pylist() for name in self.others}
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def merged(self, drops: Drops) -> tuple[dict[int, dict[str, Any]], dict[int, list[str]]]:
        """Return by row what its columns become, and by dropped row the columns that it gave something to."""
        if self.rules is None:
            return {}, {}
        lost = np.flatnonzero((drops.kept >= 0) & np.isin(drops.reason, ("identical", "near")))
        firsts, number = np.unique(drops.kept[lost], return_inverse=True)
        cluster = np.concatenate([np.arange(len(firsts)), number])
        rows = np.concatenate([firsts, drops.row[lost]])
        order = np.lexsort((np.concatenate([np.full(len(firsts), -1), drops.rank[lost]]), cluster))
        rows = rows[order]
        taken = pa.array(rows)
        columns = {name: column_at(self.table, name).take(taken).to_pylist() for name in self.rules.columns}
        found = list(self.rules.apply(Copies(cluster[order], np.zeros(len(rows), np.int64), columns)))
        gave = {int(rows[row]): names for *_, given in found for row, names in given.items()}
        return {int(rows[first]): values for first, values, _ in found}, gave


def compare_table(
    data: Any, old: Any, rules: DropRules, options: Mapping[str, Any], *, columns: str | Sequence[str] | None,
    id_column: str | None, quiet: bool,
) -> ComparedTable:  # fmt: skip
    """Compare the rows of a table with each other, with those of the table `old`, and with sources or stores.

    Raises `UsageError` for options that do not apply to tables.
    """
    old_files = [str(each) for each in rules.against]
    rules.check(references=bool(old_files) or old is not None)
    settings = settings_for(options, files=bool(old_files))
    old_ids: list[Any] = []
    old_texts: list[Any] = []
    if old_files:
        old_ids, old_texts, settings = read_references(old_files, settings, rules.against_text_column, quiet=quiet)
    elif old is not None:
        reference = table_of(old)
        old_ids, old_texts = (
            ids_of(reference, id_column),
            texts_of(reference, rules.against_text_column or columns, id_column).to_pylist(),
        )
    signing = signing_of(settings)
    signer = TextSigner(signing)
    table = table_of(data)
    texts = texts_of(table, columns, id_column)
    keep, merging = Preferred.of(rules.policies, table), rules.merging
    if merging is not None:
        refuse_source_order("merge", merging.policies)
        for name in merging.columns:
            column_at(table, name)  # or it is not there
    rows = rows_of(texts, signer)
    old_rows = rows_of(pa.chunked_array([old_texts], pa.large_string()), signer) if old_texts else None
    compared, first_old = compare_rows(rows, old_rows, settings, signing, quiet=quiet)
    if old_rows is not None:
        first_old = np.where(first_old < 0, -1, old_rows.number[first_old])
    ids_there, texts_there = (
        [None if row < 0 else column[row] for row in first_old.tolist()] for column in (old_ids, old_texts)
    )
    budget, threads = settings.resources.memory // MEMORY_SHARE, settings.resources.processes
    inside = None
    if rules.contained is not None:
        inside = Containing(compared.texts, signing, rules.contained, budget, threads)
    holds = None
    if rules.containing is not None:
        order = np.concatenate([np.flatnonzero(compared.there), np.arange(len(compared.texts))])
        inner = int(compared.there.sum())
        found, share = find_containing(
            lambda: batches_of(compared.texts, order), signing, len(order), inner, rules.containing, budget, threads
        )
        found = np.where(compared.there, -1, np.where(found < 0, -1, order[found]))
        holds = found, np.where(found < 0, np.nan, share)
    threshold = settings.scanning_of(signing.unit).rule.least  # 0 if something else than Jaccard decides
    named = text_names(table, columns, id_column)
    text_column = named[0] if len(named) == 1 else None
    return ComparedTable(
        table, texts, ids_of(table, id_column), ids_there, texts_there, compared, inside, holds, rules.against_only,
        rows.not_compared, keep, threshold, merging, rules.keep_contradictions, signing,
        text_column, [name for name in table.names if name not in (id_column or ID, text_column)],
    )  # fmt: skip
