"""Damage of a text that can be named and counted, in any language, without a look at its copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from ftfy.badness import badness

from esdedup.columns.arrays import text_buffers
from esdedup.columns.kernels import compiled

if TYPE_CHECKING:
    from esdedup.columns.arrays import Numbers
    from esdedup.columns.hashing import Bytes, Hashes, Offsets
    from esdedup.keeping.protocol import Keys

_MORE = (
    "read more|continue reading|weiterlesen|mehr lesen|lire la suite|leer más|sigue leyendo|continua a leggere|"
    "leggi tutto|читать далее|подробнее|続きを読む|阅读全文|閱讀全文|阅读更多"
)
_AROUND = (
    "©|you are here|sie sind hier|vous êtes ici|está usted en|se encuentra en|sei in|вы здесь|previous post|next post|"
    "related articles|tags:|terms of|impressum|cookie|all rights reserved|copyright|subscribe|newsletter|share this|"
    "share on|facebook|twitter|tweet|log ?in|sign up|alle rechte|tous droits|derechos reservados|все права|版权所有|"
    "シェア|ツイート|分享|订阅|登录|поделиться|compartir|partager|teilen|anmelden|abonn|iscriviti|condividi|wrote:|"
    "schrieb|écrit|https?://|www\\."
)
_PAGE = "page|p\\.|seite|página|pagina|стр\\.?|страница|頁|页|ページ|第"

_ALPHABETS = r"\p{Latin}\p{Cyrillic}\p{Greek}"

COUNTED = {
    "replacement": r"\x{FFFD}|ï¿½",
    "control": r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x{9f}\x{E000}-\x{F8FF}]",
    "invisible": r"[\x{ad}\x{200b}-\x{200f}\x{2060}\x{feff}\x{202a}-\x{202e}]",
    "glyph numbers": r"\(cid:\d+\)|\?{2,}",
    "question marks": r"\p{L}\?+\p{L}",
    "hyphens of line ends": r"\p{L}[-\x{ac}\x{2010}]\s+\p{Ll}",
    "lines in the middle": r"[^\s.!?…。！？」』:;»\"“”)\]*]\n[\p{Ll}\p{Lo}]",
    "letters spaced out": r"(?:^|\s)(?:\p{L} ){3,}",
    "tags and entities": r"</?[A-Za-z][^<>\n]{0,200}>|<!--|&(?:[a-zA-Z]{2,8}|#x?[0-9a-fA-F]{1,6});",
    "markup": r"\[\[|\]\]|\{\{|\}\}|'''?|\[https?:|\]\(http|\*\*|__|(?m:^#{1,6} )|(?m:^=+ ?[^=\n]+=+$)|\\[a-zA-Z]+\{",
    "page breaks": r"\f|<<<+|>>>+|(?m:^[-=*_#~ ]{4,}$)|(?mi:^[^\pL\pN\n]*(?:" + _PAGE + r")?[^\pL\pN\n]*\d{1,4}"
                   r"(?:\s*(?:/|of|von|de|sur|из)\s*\d{1,4})?[^\pL\pN\n]*$)|(?m:^\d{1,4}\s{2,}\S[^\n]{0,40}$)|"
                   r"(?m:^[^\n]{1,40}\S\s{2,}\d{1,4}$)",
    "quoted": r"(?m:^\s*>+)|=[0-9A-F]{2}|=\n",
    "frames of mail": r"(?m:^_{4,}$)|(?m:^-- ?$)|<[^<>@\s]+@[^<>\s]+>",
    "words run together": r"\p{Ll}\p{Lu}|[.!?;,]\p{L}",
    "small letters after a full stop": r"[.!?]\s+\p{Ll}",
    "figures in words": rf"[{_ALPHABETS}]\d|\d[{_ALPHABETS}]",
    "signs in words": rf"[{_ALPHABETS}][^\pL\pN\pM\s'’ʼ‘`\-‐-―_.,:;/@&+=()\[\]{{}}<>|\"«»„“”…!?*#][{_ALPHABETS}]",
    "short lines": r"(?m:^[^\n]{1,45}[^\s.!?…。！？」』:;,、，\pN\pP\n]$)",
    "specks": r"[~^|\\•·¦§¬`´*_]",
    "very long words": rf"[{_ALPHABETS}]{{26,}}",
    "capitals": r"\p{Lu}{3,}",
    "boilerplate": f"(?i){_AROUND}",
    "paths of pages": r"(?m:^[^\n.!?]{1,60}?(?: [/>»›|·→] [^\n.!?/>»›|·→]{1,40}){2,}$)",
}  # fmt: skip
"""What is counted, as expressions of RE2."""

_ANY = "\x7f"
"""Stands for all characters that are not ASCII."""

NEEDED = {
    "replacement": _ANY,
    "control": "".join(map(chr, range(32))) + _ANY,
    "invisible": _ANY,
    "glyph numbers": "(?",
    "question marks": "?",
    "hyphens of line ends": f"-{_ANY}",
    "lines in the middle": "\n",
    "tags and entities": "<&",
    "markup": "[]{}'(*_#=\\",
    "quoted": ">=",
    "frames of mail": "_-<",
    "small letters after a full stop": ".!?",
    "figures in words": "0123456789",
    "signs in words": f"{''.join(map(chr, range(32)))}$%^~\\{_ANY}",
    "specks": f"~^|\\`*_{_ANY}",
    "figures": f"0123456789{_ANY}",
    "paragraphs": "\n",
    "wrong encoding": _ANY,
}
"""Of some expressions: a text in which none of these characters stands has no match, and is not searched."""

_DOTS = r"…|\.\.\.|\[[…. ]+\]"
AT_BEGIN = {
    "begins with dots": rf"^\W*(?:{_DOTS})",
    "begins with a small letter": r"^[^\pL\pN]*\p{Ll}",
}
AT_END = {
    "ends with dots": rf"(?:{_DOTS})[^\pL\pN]*(?:\(?[\p{{L}} ]{{0,25}}\)?)[^\pL\pN]*$",
    "ends with more": f"(?i)(?:{_MORE})[^\\pL\\pN]*$",
    "ends in a sentence": r"[^\p{Pf}\p{Pe}\"'»”’)\]…。！？」』.!?:;]\s*$",
}  # fmt: skip
"""What a text begins or ends with, in so many characters:"""
_LOOKED_AT = 60

LESS = {
    "figures": r"\d+",
    "capital letters": r"\p{Lu}\p{Ll}",
    "paragraphs": r"[.!?…。！？”\"»」』]\s*\n",
    "punctuation": r"[.,;:!?。、，；：！？]",
    "hyphens and brackets": r"\pL[-\x{2010}]\pL|[()\[\]«»„“”「」『』（）]",
}
"""What a text loses when it is flattened: fewer are worse."""

_WESTERN = (
    r"\x{80}-\x{ff}\x{152}\x{153}\x{160}\x{161}\x{178}\x{17d}\x{17e}\x{192}\x{2c6}\x{2dc}\x{2013}-\x{203a}"
    r"\x{20ac}\x{2122}\x{2500}-\x{259f}"
)
_MISREAD = rf"[{_WESTERN}]{{2}}|\p{{Cyrillic}}[\x{{80}}-\x{{bf}}\x{{2013}}-\x{{203a}}\x{{20ac}}\x{{2122}}]|[√┬├╬╨]"
"""Texts that may hold UTF-8 that was read as something else: two signs of western encodings in a row."""

_PERIODS = 16  # bytes of the longest part of a word that is looked for again behind it


class Signs(NamedTuple):
    """What is found in texts: by name, one value for each."""

    counts: dict[str, Keys]  # of a longer text, more
    ends: dict[str, Keys]  # 0 or 1
    less: dict[str, Keys]
    scripts: Keys  # letters that are Latin, Greek, Cyrillic or of East Asia, shape (4, n)


def signs_of(texts: pa.LargeStringArray) -> Signs:
    """Count what is damaged in each text."""
    data, offsets = text_buffers(texts)
    there = np.zeros((2, len(texts)), np.uint64)
    _characters_there(data, offsets, there)
    counts = {name: _count(texts, there, name, pattern) for name, pattern in COUNTED.items()}
    suspect = np.flatnonzero(_count(texts, there, "wrong encoding", _MISREAD))
    counts["wrong encoding"] = np.zeros(len(texts))
    counts["wrong encoding"][suspect] = [badness(text) for text in texts.take(pa.array(suspect)).to_pylist()]
    stutters, scripts = np.zeros(len(texts), np.int64), np.zeros((4, len(texts)), np.int64)
    _look_at_bytes(data, offsets, stutters, scripts)
    counts["doubled inside words"] = stutters.astype(np.float64)
    begin = pc.utf8_slice_codeunits(texts, 0, _LOOKED_AT)
    end = pc.utf8_slice_codeunits(texts, -_LOOKED_AT)
    ends = {name: _has(begin, pattern) for name, pattern in AT_BEGIN.items()}
    with_dots = pc.if_else(pc.match_substring_regex(end, _DOTS), end, "")  # the whole expression takes long
    ends |= {name: _has(with_dots if "dots" in name else end, pattern) for name, pattern in AT_END.items()}
    less = {name: _count(texts, there, name, pattern) for name, pattern in LESS.items()}
    return Signs(counts, ends, less, scripts.astype(np.float64))


def _count(texts: pa.LargeStringArray, there: Hashes, name: str, pattern: str) -> Keys:
    """Count the matches of a pattern in the texts that may have one."""
    found = np.zeros(len(texts))
    asked: Any = slice(None)
    if name in NEEDED:
        low, high = _bits(NEEDED[name])
        asked = np.flatnonzero((there[0] & low) | (there[1] & high))
        texts = texts.take(pa.array(asked))
    found[asked] = pc.count_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
    return found


def _bits(characters: str) -> tuple[np.uint64, np.uint64]:
    """Return characters as bits, as `_characters_there` does."""
    bits = sum(1 << ord(sign) for sign in set(characters) if ord(sign) < 128)
    return np.uint64(bits & (1 << 64) - 1), np.uint64(bits >> 64)


@compiled
def _characters_there(data: Bytes, offsets: Offsets, there: Hashes) -> None:
    """Write which characters of ASCII each text has, a bit for each, 64 a row. The last is for all others, too."""
    one = np.uint64(1)
    for text in range(there.shape[1]):
        for at in range(offsets[text], offsets[text + 1]):
            byte = min(data[at], 127)
            there[byte >> 6, text] |= one << np.uint64(byte & 63)


def _has(texts: pa.LargeStringArray, pattern: str) -> Keys:
    found: Keys = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False).astype(np.float64)
    return found


@compiled
def _repeats(data: Bytes, at: int, period: int) -> bool:
    """Whether a letter stands again behind so many bytes."""
    byte = data[at]
    return bool(byte == data[at + period] and (byte >= 128 or 97 <= byte <= 122 or 65 <= byte <= 90))


@compiled
def _look_at_bytes(data: Bytes, offsets: Offsets, stutters: Numbers, scripts: Numbers) -> None:
    """Count parts of words that follow themselves ("wintwint") or whose letters are all doubled ("mmoonn"), and letters
    by script.
    """
    for text in range(len(stutters)):
        start, end = offsets[text], offsets[text + 1]
        for period in range(3, _PERIODS + 1):
            last = end - period  # a run that is long enough has each `period`-th byte
            at = start + period - 1
            while at < last:
                if not _repeats(data, at, period):
                    at += period
                    continue
                first, behind = at, at + 1
                while first > start and _repeats(data, first - 1, period):
                    first -= 1
                while behind < last and _repeats(data, behind, period):
                    behind += 1
                if behind - first >= period:
                    stutters[text] += 1
                at += (behind - at + period - 1) // period * period
        doubled = 0
        at = start
        while at < end:
            byte = data[at]
            if byte >= 128 or 97 <= byte <= 122 or 65 <= byte <= 90:
                if 195 <= byte <= 201 or byte < 128:
                    scripts[0, text] += 1
                elif 206 <= byte <= 207:
                    scripts[1, text] += 1
                elif 208 <= byte <= 211:
                    scripts[2, text] += 1
                elif 227 <= byte <= 233:
                    scripts[3, text] += 1
            if byte >= 97 and byte <= 122 and at + 1 < end and data[at + 1] == byte:
                doubled += 1
                at += 2
                if doubled == 3:
                    stutters[text] += 1
                continue
            doubled = 0
            at += 1
