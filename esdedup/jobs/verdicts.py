"""Why two sentences are, or are not, a pair of the last scan: in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esdedup.matching.lsh.collide import HOT_LIMIT
from esdedup.papers.agreement import least_agreeing
from esdedup.settings import Scanning


def verdict(found: Mapping[str, Any], scanning: Scanning, one_home: bool, limited: bool, paired: bool) -> str:
    """The verdict on what `explain` has found of two sentences.

    `one_home`: both texts stand in one document, or source, alone, and that is left out; `limited`: all tokens they
    share are hot; `paired`: the last scan has made them a pair (asked where nothing else can tell).
    """
    home = scanning.across.removesuffix("s")
    if one_home and not found["identical"]:
        return f"not a pair: both stand in one {home} alone, and the scan was across {scanning.across}"
    if one_home:
        return f"identical texts in one {home} alone, and the scan was across {scanning.across}"
    if found["identical"]:
        return "identical texts: members of one cluster"
    if scanning.candidates == "exact":
        return _too_different(found, scanning) or f"a pair: {_reached(found, scanning)}"
    if scanning.candidates == "agreement":
        return _by_agreement(found, scanning)
    if scanning.candidates == "projection":
        return _by_projection(found, scanning, paired)
    if scanning.candidates == "queries":
        return _by_queries(found, scanning, paired)
    return _by_tokens(found, scanning, limited)


def _by_tokens(found: Mapping[str, Any], scanning: Scanning, limited: bool) -> str:
    if not found["shared_tokens"]:
        missed = "" if found["jaccard"] < scanning.jaccard else f", although {_reached(found, scanning)}"
        return f"not a pair: no token in common{missed} (at this similarity {found['chance']:.1%} have one)"
    if scanning.verify == "none":
        return "a pair: they share a token, and nothing was verified"
    if different := _too_different(found, scanning, "candidates, but "):
        return different
    if limited:
        return (
            f"similar enough (Jaccard {found['jaccard']:.3f}), but a pair only if they are neighbours: each token they "
            f"share is held by more than {HOT_LIMIT:,} texts"
        )
    return f"a pair: they share tokens, and {_reached(found, scanning)}"


def _by_agreement(found: Mapping[str, Any], scanning: Scanning) -> str:
    agree = f"{found['values_agreeing']} of {scanning.signature} values of their signatures agree"
    if found["values_agreeing"] < least_agreeing(scanning):
        return f"not a pair: {agree}, and it takes {least_agreeing(scanning)}"
    if scanning.verify == "none":
        return f"a pair: {agree}, and nothing was verified"
    return _too_different(found, scanning, "candidates, but ") or f"a pair: {agree}, and {_reached(found, scanning)}"


def _by_projection(found: Mapping[str, Any], scanning: Scanning, paired: bool) -> str:
    """The bits of the signatures are not kept."""
    bits = f"{scanning.hamming} of {scanning.signature_bits} bits"
    if paired:
        return f"a pair: by projection, their signatures differ in at most {bits}, and {_verified(found, scanning)}"
    verified = f", or the cosine of their vectors is below {scanning.cosine}" if scanning.verify == "cosine" else ""
    return _too_different(found, scanning) or (
        f"not a pair: by projection, their signatures differ in more than {bits}, or were in no order neighbours"
        f"{verified}, or one has no word that counts"
    )


def _by_queries(found: Mapping[str, Any], scanning: Scanning, paired: bool) -> str:
    if paired:
        return f"a pair: one was among the {scanning.top} best matches of the other, and {_verified(found, scanning)}"
    reasons = [f"neither was among the {scanning.top} best matches of the other"]
    if scanning.same_first_word:
        reasons.append("their first words differ")
    if scanning.verify == "cosine":
        reasons.append(f"the cosine of their shingles is below {scanning.cosine}")
    if scanning.reciprocal:
        reasons.append("one has a closer match")
    return _too_different(found, scanning) or f"not a pair: {', or '.join(reasons)}"


def _verified(found: Mapping[str, Any], scanning: Scanning) -> str:
    """What has made a pair of candidates."""
    what = "vectors" if scanning.candidates == "projection" else "shingles"
    return {
        "none": "nothing was verified",
        "words": f"{found['word_edit_distance']} words differ",
        "cosine": f"the cosine of their {what} reaches {scanning.cosine}",
        "exact": _reached(found, scanning),
    }[scanning.verify]


def _reached(found: Mapping[str, Any], scanning: Scanning) -> str:
    return f"Jaccard {found['jaccard']:.3f} reaches {scanning.jaccard}"


def _too_different(found: Mapping[str, Any], scanning: Scanning, although: str = "") -> str:
    """Why two texts are no pair whatever else they are; empty if they may be one."""
    if scanning.verify == "exact" and found["jaccard"] < scanning.jaccard:
        return f"not a pair: {although}Jaccard {found['jaccard']:.3f} is below {scanning.jaccard}"
    most = scanning.word_edit_distance
    if most is not None and found["word_edit_distance"] > most:
        return f"not a pair: {found['word_edit_distance']} words differ, and at most {most} may"
    return ""
