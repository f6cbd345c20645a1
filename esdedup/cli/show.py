"""Answers as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import esdedup
from esdedup.files import as_word
from esdedup.output.record_counts import in_words
from esdedup.output.skips import COMPARED_OR_NOT
from esdedup.output.skips import in_words as meaning
from esdedup.plurals import plural
from esdedup.terminal import printable

if TYPE_CHECKING:
    from esdedup.jobs.extracting import LeftOut
    from esdedup.output.contents.comparisons import Cluster, Completion, Explanation, Hit, Overlap, Sentence
    from esdedup.output.contents.dedupe_answers import Written
    from esdedup.output.contents.job_answers import Added, Examined, Extracted, Indexed, Status, Summary

_WIDTH = 100
_BAR = 30
_SHOWN = 10
_MOST = 50  # reasons
_CONTEXT = 4  # words
_FILES = (
    "clusters.jsonl",
    "clusters.parquet",
    "clusters.txt",
    "pairs.jsonl",
    "pairs.parquet",
    "summary.json",
    "cluster-sizes.png",
    "report.html",
)


def checks_text(examined: Examined) -> str:
    """Every check in a line, and what mends what is wrong."""
    lines = []
    for check in examined["checks"]:
        if not check["made"]:
            lines.append(f"not made  {check['name']}: {printable(check['advice'])}")
            continue
        if check["problem"] is None:
            lines.append(f"ok        {check['name']}")
            continue
        lines.append(f"{'repaired' if check['repaired'] else 'wrong':10}{check['name']}: {printable(check['problem'])}")
        if not check["repaired"] and check["advice"]:
            lines.append(f"          {printable(check['advice'])}")
    return "\n".join(lines)


def summary_text(summary: Summary, out: Path | None, store: Path | str | None) -> str:
    """Counts, the largest clusters, the files and the next command. `store` is the one that has the results, if any."""
    parts = [counts_text(summary)]
    identical = summary["kinds"].get("identical", 0)
    if identical:
        every = summary["counts"]["clusters"]
        parts.append(f"{identical:,} of {every:,} clusters: only copies of one text, which are not counted as pairs")
    if summary["kinds"]:
        parts.append("Kinds: " + ", ".join(f"{kind} {count:,}" for kind, count in summary["kinds"].items()))
    largest = [] if store is None else list(islice(esdedup.clusters(store=store, limit=_SHOWN), _SHOWN))
    if largest:
        parts.append("\n".join(["Largest clusters:", *(cluster_line(cluster) for cluster in largest)]))
    if out is not None:
        parts.append(f"Files: {', '.join(name for name in _FILES if (out / name).exists())} in {out}/")
    if summary["counts"].get("clusters") and store is not None:
        parts.append(f"Next: esdedup clusters --store {as_word(store)}")
    return "\n\n".join(parts)


def count_lines(counts: Mapping[str, int | None], unit: str = "sentence") -> list[str]:
    """One line for each count; pages that are gone only where there are some."""
    counts = {name: count for name, count in counts.items() if count or name != "gone"}
    names = [name.replace("_", " ").replace("sentences", f"{unit}s") for name in counts]
    return [f"{_number(count):>15}  {name}" for name, count in zip(names, counts.values(), strict=True)]


def counts_text(done: Summary | Indexed | Status) -> str:
    """The counts, what was not compared and why, and what else was skipped."""
    unit = done["settings"]["unit"]
    lines = [*count_lines(done["counts"], unit), in_words(done["records"], unit)]
    if done["renamed"]:
        lines.append(f"renamed: {plural(done['renamed'], 'document')}, whose id was already read")
    other = {reason: count for reason, count in done["skipped"].items() if reason not in COMPARED_OR_NOT}
    return "\n".join([*lines, *_skipped_lines(other)])


def extracted_text(done: Extracted) -> str:
    """What was written, and what was skipped."""
    rows, name = (done["documents"], "documents") if "documents" in done else (done["sentences"], "sentences")
    lines = [f"{rows:,} {name} written to {printable(done['file'])}"]
    return "\n".join([*lines, *_skipped_lines(done["skipped"])])


def left_out_text(pages: int, found: Sequence[LeftOut]) -> str:
    """What is left out of pages, the most first."""
    lines = [f"{one.characters:>12,}  {one.times:>9,}  {printable(one.why)}" for one in found[:_MOST]]
    if len(found) > _MOST:
        rest = found[_MOST:]
        times, characters = sum(one.times for one in rest), sum(one.characters for one in rest)
        lines.append(f"{characters:>12,}  {times:>9,}  {plural(len(rest), 'other reason')}")
    return "\n".join([f"left out of {plural(pages, 'document')}:", f"{'characters':>12}  {'times':>9}  what", *lines])


def _skipped_lines(skipped: Mapping[str, int]) -> list[str]:
    return [f"skipped: {count:,} {printable(meaning(reason))}" for reason, count in skipped.items()]


def cluster_line(cluster: Cluster) -> str:
    """A cluster in one line: size, lowest similarity, kind, the beginning of its representative."""
    texts = {member["id"]: member["text"] for member in cluster["members"]}
    least = cluster["min_jaccard"]
    head = (
        f"{cluster['size']:>7,} × {'  –  ' if least is None else format(least, '.3f')}  {cluster['kind'] or '':<11}  "
    )
    return head + shortened(texts[cluster["representative"]], _WIDTH - len(head))


def cluster_text(cluster: Cluster, members: int = 5) -> str:
    """A cluster with its groups of identical sentences, the largest first."""
    least, texts = cluster["min_jaccard"], "text" if cluster["distinct"] == 1 else "texts"
    lines = [
        f"{cluster['id']}  {cluster['size']:,} members, {cluster['distinct']:,} distinct {texts}"
        + ("" if least is None else f", weakest pair {least:.3f}")
        + _changed(cluster)
    ]
    if cluster["kind"] is not None:
        sure, why = cluster["kind_confidence"], printable(cluster["kind_reason"])
        lines.append(f"  {cluster['kind']} ({sure:.2f}): {why}")
    groups: dict[str, list[dict[str, Any]]] = {}
    for member in cluster["members"]:
        groups.setdefault(member["text"], []).append(member)
    largest = sorted(groups.values(), key=len, reverse=True)[:members]
    for group in largest:
        copies = f" and {len(group) - 1:,} more" if len(group) > 1 else ""
        lines.append(f"  {where(group[0])}{copies}  {shortened(group[0]['text'], 240)}")
    if len(groups) > len(largest):
        lines.append(f"  … {len(groups) - len(largest):,} more")
    return "\n".join(lines)


def _changed(cluster: Cluster) -> str:
    """How a cluster has changed, if this was requested."""
    change = cluster.get("change", "")
    return f", grown from {cluster['before']:,}" if change == "grown" else change and f", {change}"


def added_text(summary: Added, *, complete: bool) -> str:
    """What an `add` added or, for a `complete` export, removed, and which of it matches stored sentences."""
    from esdedup.matching.verify.compare import diff_words

    added = summary["added"]
    lines = [f"documents: {added['new']:,} new, {added['replaced']:,} replaced, {added['unchanged']:,} unchanged"]
    if added["gone"]:
        what = "removed" if complete else "they stay, unless you give --complete"
        lines.append(f"pages of the store that are not in these sources: {added['gone']:,} ({what})")
    lines += [counts_text(summary), ""]
    lines.append(f"{summary['settings']['unit']}s that match another: {added['matched']:,}")
    for row in summary["matches"]:
        least = "    –" if row["jaccard"] is None else f"{row['jaccard']:.3f}"
        lines.append(f"  {least}  {printable(row['id'])}  {shortened(row['text'], _WIDTH)}")
        runs = diff_words(row["match_text"], row["text"])
        lines.append(
            f"         {printable(row['match'])}  {_difference(runs, _CONTEXT) if len(runs) > 1 else 'the same'}"
        )
    if added["matched"] > len(summary["matches"]):
        lines.append(f"  … {added['matched'] - len(summary['matches']):,} more")
    return "\n".join(lines)


def deduped_text(done: Written, out: Path | None) -> str:
    """What was written and what was dropped."""
    lines = [in_words(done["records"], done["unit"])]
    if done["unit"] != "record":
        lines.append(
            f"{plural(done['documents'], 'document')} written, {done['documents_dropped']:,} dropped as a whole"
        )
    for column, count in done["no_value"].items():
        lines.append(f"{plural(count, done['unit'])} of clusters without a {column} that can be compared: these lost")
    if done.get("other_of_source"):
        lines.append(f"{plural(done['other_of_source'], 'pair')} left out (--one-per-source)")
    if "contradictions" in done:
        lines.append(f"{plural(done['contradictions'], 'text')} of another fact stayed")
    if "merged" in done:
        lines.append(f"{plural(done['merged'], 'kept record')} got values of others")
    if "losses" in done:
        if done["losses"]:
            lines += ["", "Most would be lost by these clusters: sentences that the kept text does not have"]
        for loss in done["losses"]:
            dropped = plural(loss["dropped"], "dropped text")
            head = f"{plural(loss['lost'], 'sentence'):>15} of {dropped} (kept: {printable(loss['kept'])}):  "
            lines.append(head + shortened(" … ".join(loss["sentences"]), _WIDTH))
        return "\n".join([*lines, "", "nothing was written (--dry-run)"])
    lines += [
        "",
        *(f"wrote {path}" for path in done["files"]),
        f"wrote {(out or Path()) / 'drops.jsonl'}",
    ]
    return "\n".join(lines)


def similar_text(rows: Sequence[Hit]) -> str:
    """Two lines for each sentence: its scores and place, and what differs."""
    if not rows:
        return "nothing similar was found"
    lines = ["  similarity  jaccard  contained  words apart"]
    for row in rows:
        scores = (
            f"{row['similarity']:>10.3f} {row['jaccard']:>8.3f} {row['containment']:>10.3f} "
            f"{row['word_edit_distance']:>12}"
        )
        lines.append(f"{'*' if row['match'] else ' '} {scores}  {where(row)}")
        lines.append(f"    {_difference(row['diff'], _CONTEXT)}")
    return "\n".join([*lines, *(["* a match"] if any(row["match"] for row in rows) else [])])


def suggest_text(rows: Sequence[Completion]) -> str:
    """One line for each text."""
    if not rows:
        return "no completion was found"
    return "\n".join(f"{row['places']:>6,} ×  {where(row)}  {shortened(row['text'], _WIDTH)}" for row in rows)


def explain_text(found: Explanation) -> str:
    """Two sentences, their scores, the verdict, and the differences: [-only in the first-] {+only in the second+}. Of
    two records, what each field says.
    """
    if "fields" in found:
        return "\n".join(
            [f"A  {where(found['a'])}", f"B  {where(found['b'])}", *_weighed(found["fields"]), found["verdict"]]
        )
    limits = found["thresholds"]
    least = "" if limits["jaccard"] is None else f" (at least {limits['jaccard']})"
    most = "" if limits["word_edit_distance"] is None else f" (at most {limits['word_edit_distance']})"
    return "\n".join(
        [
            f"A  {where(found['a'])}",
            f"B  {where(found['b'])}",
            f"tokens shared       {found['shared_tokens']} of {found['tokens']} "
            f"(texts this similar share one with probability {found['chance']:.3f})",
            f"compared by         {found['shingle']}{_classes(found)}",
            f"Jaccard             {found['jaccard']:.6f}{least}",
            f"containment         {found['containment'][0]:.3f} of A in B, {found['containment'][1]:.3f} of B in A",
            f"word edit distance  {found['word_edit_distance']}{most}",
            *(_damage(name, terms) for name, terms in zip("AB", found.get("damage", ()), strict=False)),
            found["verdict"],
            "",
            _difference(found["diff"]),
        ]
    )


def _weighed(fields: Sequence[Mapping[str, Any]]) -> list[str]:
    """The fields of two records as a waterfall."""
    from esdedup.output.records_beside import bars_of

    shown = [
        (
            each["field"],
            f"{each['weight']:+.1f}",
            each["level"] or "",
            " · ".join(str(each[end]) for end in "ab" if each[end]),
        )
        for each in fields
    ]
    widths = [max(map(len, column)) for column in list(zip(*shown, strict=True))[:3]]
    lines = []
    for each, ends, words in zip(fields, bars_of([each["weight"] for each in fields]), shown, strict=True):
        first, last = (round(_BAR * end) for end in ends)
        bar = f"{' ' * first}{('▓' if each['weight'] >= 0 else '░') * (last - first)}".ljust(_BAR)
        name, weight, level, values = (word.ljust(width) for word, width in zip(words, [*widths, 0], strict=True))
        lines.append(f"{name}  {weight.strip():>6}  {bar}  {level}  {shortened(values, _WIDTH)}".rstrip())
    return lines


def _damage(name: str, terms: Mapping[str, float]) -> str:
    """The damage of a text, and what it comes from."""
    parts = ", ".join(f"{term} {value:+.3f}" for term, value in sorted(terms.items(), key=lambda item: -item[1]))
    return f"damage of {name}         {sum(terms.values()):.3f}" + (f": {parts}" if parts else "")


def _classes(found: Explanation) -> str:
    """The shingles of the two texts, if they are of different classes."""
    one, two = found["shingles"]
    return "" if one == two else f" (those of A are {one}, those of B {two})"


def _difference(runs: Sequence[tuple[str, str]], context: int | None = None) -> str:
    """Runs of words as [-only in the first-] {+only in the second+}, with `context` common words around them."""
    forms = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}
    parts = []
    for what, text in runs:
        words = printable(text).split(" ")
        if what == "=" and context is not None and len(words) > 2 * context:
            words = [*words[:context], "…", *words[-context:]]
        parts.append(forms[what].format(" ".join(words)))
    return " ".join(parts)


def overlap_text(found: Overlap) -> str:
    """One line for each pair: how many sentences of each are in the other, and their share."""
    from esdedup.output.overlap import COMMON

    lines = []
    for row in found.rows:
        a, b = (f"{row[one]}" + (f" [{row[f'{one}_title']}]" if row[f"{one}_title"] else "") for one in "ab")
        lines.append(
            f"{row['a_in_b']:>6,} of {row['a_sentences']:,} ({row['a_share']:.1%}) of {printable(a)} stand in "
            f"{printable(b)}, {row['b_in_a']:,} of {row['b_sentences']:,} ({row['b_share']:.1%}) the other way"
        )
    if not lines:
        lines.append("nothing in common")
    if found.common_texts:
        lines.append(
            f"left out: {plural(found.common_texts, 'text that stands', 'texts that stand')} in more than {COMMON} "
            "documents"
        )
    return "\n".join(lines)


def where(row: Mapping[str, Any] | Sentence) -> str:
    """A sentence's id, and the title of its document."""
    return printable(row["id"] + (f" [{row['title']}]" if row["title"] else ""))


def _number(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"


def shortened(text: str, width: int) -> str:
    """The text in at most `width` characters, control characters shown as spaces."""
    clean = printable(text)
    return clean if len(clean) <= width else clean[: width - 1] + "…"
