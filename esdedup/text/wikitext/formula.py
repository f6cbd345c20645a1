"""Short formulas in TeX as text: `x^2+1` becomes `x² + 1`. Others are holes.

Known are letters, digits, operators, powers, indices, fractions and roots, words, accents that can be left out, and the
commands in `SYMBOLS`. Of a group, what is more than one sign stands in brackets: `e^{-x/2}` becomes e^(-x/2).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from esdedup.columns.arrays import encode
from esdedup.columns.hashing import Bytes
from esdedup.columns.kernels import compiled, constant
from esdedup.text.wikitext.lookup import TEX, Numbers
from esdedup.text.wikitext.marks import PROTECT, RESTORE
from esdedup.text.words import ABSENT, find, hash_table, key_of, mix

_LOW = "₀₁₂₃₄₅₆₇₈₉"
_HIGH = "⁰¹²³⁴⁵⁶⁷⁸⁹"


def _signs(signs: dict[str, str]) -> Numbers:
    table = np.zeros(128, np.int64)
    for ordinary, shown in signs.items():
        table[ord(ordinary)] = ord(shown)
    return table


SUPERSCRIPTS = _signs(
    dict(zip("0123456789+-=()", f"{_HIGH}⁺⁻⁼⁽⁾", strict=True))
    | dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
    | dict(zip("ABDEGHIJKLMNOPRTUVW", "ᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ", strict=True))
    | {"'": "′", "*": "*"}
)
SUBSCRIPTS = _signs(
    dict(zip("0123456789+-=()", f"{_LOW}₊₋₌₍₎", strict=True))
    | dict(zip("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
)

FRACTION, ROOT, DROPPED, WORD, PLAIN = 1, 2, 3, 4, 5

_STYLES = (
    "mathbf mathrm mathit mathcal mathbb mathsf mathfrak mathscr boldsymbol bold bf rm Bbb "
    "operatorname displaystyle textstyle scriptstyle left right big Big bigg Bigg bigl bigr Bigl Bigr limits mathop "
    "hat bar tilde vec overline underline dot widehat widetilde quad qquad mathnormal emph pmb"
)
_TEXTS = "text textit textbf textrm textsf mbox hbox"
_WORDS = "log ln exp sin cos tan max min sup inf lim arg det dim ker Pr gcd mod arctan sinh cosh tanh cot sec csc deg"

SYMBOLS: dict[str, int] = {
    **{
        name: ord(sign)
        for names, signs in (
            ("alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa", "αβγδεεζηθθικ"),
            ("lambda mu nu xi pi rho sigma tau upsilon phi varphi chi psi omega", "λμνξπρστυφφχψω"),
            ("Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar", "ΓΔΘΛΞΠΣΥΦΨΩℓℏ"),
            ("times cdot pm mp div ast star circ bullet oplus otimes wedge vee cap cup setminus", "×·±∓÷∗⋆∘•⊕⊗∧∨∩∪∖"),
            ("le leq ge geq ne neq ll gg approx sim simeq equiv cong propto", "≤≤≥≥≠≠≪≫≈∼≃≡≅∝"),
            ("in notin ni subset subseteq supset supseteq emptyset varnothing forall exists", "∈∉∋⊂⊆⊃⊇∅∅∀∃"),
            ("to rightarrow leftarrow leftrightarrow Rightarrow Leftarrow Leftrightarrow mapsto", "→→←↔⇒⇐⇔↦"),
            ("longrightarrow longleftarrow longmapsto uparrow downarrow gets", "→←↦↑↓←"),
            ("odot uplus ddagger dotsc dotsb dotsm lbrack rbrack", "⊙⊎‡………[]"),
            ("infty partial nabla sum prod int mid vert langle rangle lfloor rfloor lceil rceil", "∞∂∇∑∏∫||⟨⟩⌊⌋⌈⌉"),
            ("ldots dots cdots neg lnot land lor prime dagger degree perp parallel angle aleph", "………¬¬∧∨′†°⊥∥∠ℵ"),
            ("R N Z Q C lbrace rbrace vdash models top bot", "ℝℕℤℚℂ{}⊢⊨⊤⊥"),
            ("backslash vartriangle triangle square blacksquare lVert rVert Vert lvert rvert", "\\△△□■‖‖‖||"),
            ("iff implies Re Im wp colon sqcup sqcap prec succ preceq succeq", "⇔⇒ℜℑ℘:⊔⊓≺≻≼≽"),
        )
        for name, sign in zip(names.split(), signs, strict=True)
    },
    **dict.fromkeys(("frac", "tfrac", "dfrac"), FRACTION),
    "sqrt": ROOT,
    **dict.fromkeys(_STYLES.split(), DROPPED),
    **dict.fromkeys(_WORDS.split(), WORD),
    **dict.fromkeys(_TEXTS.split(), PLAIN),
}
"""By name of a command: a code point, or what is done: a word is shown as it is written, a style is dropped, and what
follows is plain text.
"""


_LONGEST = constant(150)  # bytes
_DEEPEST = constant(8)  # groups in one another
_MOST_AT_ONCE = constant(8)  # bytes that are written between two looks at the room

# What the next group or sign is, for what is written at its end.
_BARE, _ARGUMENT, _NUMERATOR = constant(0), constant(1), constant(2)


@compiled
def _is_letter(byte: int) -> bool:
    return (byte >= 65 and byte <= 90) or (byte >= 97 and byte <= 122)


@compiled
def _is_word(byte: int) -> bool:
    return _is_letter(byte) or (byte >= 48 and byte <= 57)


@compiled
def _is_spaced(sign: int) -> bool:
    """Return whether a sign of a relation or an operation stands between spaces."""
    return (
        (sign >= 0x2190 and sign < 0x2200)
        or (sign >= 0x2208 and sign < 0x220E)
        or (sign >= 0x2241 and sign < 0x22A4)
        or sign == 0xD7
        or sign == 0xB1
        or sign == 124
    )


@compiled
def _is_mark(sign: int) -> bool:
    """Return whether a sign can stand behind a letter without `^`: ′ † ⊤ ⊥ ∗ ⋆."""
    return sign == 0x2032 or sign == 0x2020 or sign == 0x22A4 or sign == 0x22A5 or sign == 0x2217 or sign == 0x22C6


@compiled
def _write_bracket(byte: int, out: Bytes, o: int, begin: int) -> int:
    """Write a bracket or a bar. Two of them are kept apart, because together they look like markup: `{{`, `|}`."""
    if o > begin:
        last = RESTORE[out[o - 1]]
        if (last == byte and byte != 124) or (last == 123 and byte == 124) or (last == 124 and byte == 125):
            out[o] = 32
            o += 1
    out[o] = PROTECT[byte]
    return o + 1


@compiled
def _write_raised(text: Bytes, i: int, end: int, out: Bytes, o: int, limit: int) -> tuple[int, int]:
    """Write what follows the `^` or `_` before text[i], if every sign of it can be raised or lowered. Return where
    reading and writing go on; `i` if it cannot.
    """
    start = i
    while i < end and text[i] == 32:
        i += 1
    first, last = i, i + 1
    if i < end and text[i] == 123:
        first = i + 1
        last = first
        while last < end and text[last] != 125:
            last += 1
        i = last
    if i == end or first == last or o + 3 * (last - first) > limit:
        return start, o
    table = SUPERSCRIPTS if text[start - 1] == 94 else SUBSCRIPTS
    for at in range(first, last):
        if text[at] >= 128 or (table[text[at]] == 0 and text[at] != 32):
            return start, o
    for at in range(first, last):
        if text[at] != 32:
            o = encode(out, o, int(table[text[at]]))
    return i + 1, o


@compiled
def _write_plain(text: Bytes, i: int, end: int, out: Bytes, o: int, limit: int) -> tuple[int, int]:
    """Write the group at text[i] as it is. Return where reading and writing go on; -1 if it is not simple."""
    while i < end and text[i] == 32:
        i += 1
    if i == end or text[i] != 123:
        return -1, o
    i += 1
    while i < end and text[i] != 125:
        if o > limit or text[i] == 92 or text[i] == 123 or text[i] == 36:
            return -1, o
        out[o] = PROTECT[text[i]]
        o += 1
        i += 1
    return (i + 1 if i < end else -1), o


@compiled
def _close_group(out: Bytes, begin: int, o: int) -> int:
    """End the group that was written to out[begin:o], after its opening bracket. Around one sign, or letters and
    digits, the brackets go. Return the end.
    """
    words, signs = True, 0
    for i in range(begin + 1, o):
        byte = RESTORE[out[i]]
        signs += byte < 128 or byte >= 192
        words = words and _is_word(byte)
    if not words and signs > 1:
        out[o] = 41
        return o + 1
    for i in range(begin + 1, o):
        out[i - 1] = out[i]
    return o - 1


@compiled
def write_formula(text: Bytes, i: int, end: int, out: Bytes, o: int, room: int, keys: Numbers, values: Numbers) -> int:
    """Write the formula text[i:end] to out[o:]. Return its end; -1 if it is not known, or longer than `room`."""
    if end - i > _LONGEST:
        return -1
    begin, limit = o, o + room - _MOST_AT_ONCE
    kinds, places = np.zeros(_DEEPEST, np.int64), np.zeros(_DEEPEST, np.int64)  # of open groups
    depth, brackets = 0, 0
    kind = _BARE
    while i < end:
        if o > limit:
            return -1
        byte = text[i]
        i += 1
        if byte == 32 or byte == 9 or byte == 10 or byte == 126:
            continue
        if byte == 123:
            if depth == _DEEPEST:
                return -1
            kinds[depth], places[depth] = kind, o
            depth += 1
            if kind != _BARE:
                brackets += 1
                out[o] = 40
                o += 1
            kind = _BARE
            continue
        if byte == 94 or byte == 95:
            after, written = _write_raised(text, i, end, out, o, limit)
            if after > i:
                i, o = after, written
            else:
                out[o] = byte
                o += 1
                kind = _ARGUMENT
            continue
        if byte == 125:
            if depth == 0:
                continue
            depth -= 1
            kind = kinds[depth]
            if kind != _BARE:
                brackets -= 1
                o = _close_group(out, places[depth], o)
        elif byte == 92:
            start = i
            key = TEX
            while i < end and _is_letter(text[i]):
                key = mix(key, int(text[i]))
                i += 1
            if i == start:  # \, \; \{ and the like
                if i == end or text[i] == 92 or text[i] >= 128:
                    return -1
                byte = text[i]
                i += 1
                if byte >= 123 and byte <= 125:
                    o = _write_bracket(byte, out, o, begin)
                elif (byte >= 35 and byte <= 38) or byte == 95:
                    out[o] = PROTECT[byte]
                    o += 1
                continue
            value = find(keys, values, key)
            if value == ABSENT:
                return -1
            if value == DROPPED:
                if i < end and text[i] == 46:  # \left. is no bracket
                    i += 1
                continue
            if value in (FRACTION, ROOT):
                kind = _NUMERATOR
                if value == ROOT:
                    kind = _ARGUMENT
                    o = encode(out, o, 0x221A)
                continue
            if value == PLAIN:
                i, o = _write_plain(text, i, end, out, o, limit)
                if i < 0:
                    return -1
            elif value == WORD:
                if o + i - start > limit:
                    return -1
                if o > begin and _is_word(out[o - 1]):
                    out[o] = 32
                    o += 1
                for at in range(start, i):
                    out[o] = text[at]
                    o += 1
                if i < end and text[i] == 32:
                    out[o] = 32
                    o += 1
            else:
                if o > begin and out[o - 1] == 94 and _is_mark(value):
                    o -= 1
                spaced = kind == _BARE and brackets == 0 and _is_spaced(value)
                if spaced and o > begin:
                    out[o] = 32
                    o += 1
                o = encode(out, o, int(value))
                if spaced:
                    out[o] = 32
                    o += 1
        elif byte == 39:
            o = encode(out, o, 0x2032)
        elif byte == 38 or (byte >= 128 and kind != _BARE):
            return -1
        elif byte == 45 or byte == 43 or (byte >= 60 and byte <= 62):
            spaced = kind == _BARE and brackets == 0 and o > begin and out[o - 1] != 40
            if spaced and out[o - 1] != 32:
                out[o] = 32
                o += 1
            if byte == 45 and o > begin:
                o = encode(out, o, 0x2212)
            else:
                out[o] = PROTECT[byte]
                o += 1
            if spaced:
                out[o] = 32
                o += 1
        elif byte == 91 or byte == 93 or byte == 124:
            o = _write_bracket(byte, out, o, begin)
        else:
            out[o] = PROTECT[byte]
            o += 1
        if kind == _NUMERATOR:
            out[o] = 47
            o += 1
            kind = _ARGUMENT
        else:
            kind = _BARE
    while o > begin and out[o - 1] == 32:
        o -= 1
    return o if o > begin and depth == 0 else -1


def formula_text(formula: str) -> str:
    """Return a formula as text, or an empty string if it is not short and simple."""
    data = np.frombuffer(formula.encode("utf-8", "replace"), np.uint8)
    room = len(data) + len("<math></math>")
    out = np.empty(room, np.uint8)
    end = write_formula(data, 0, len(data), out, 0, room, *_symbols())
    return "" if end < 0 else bytes(RESTORE[out[:end]]).decode()


@cache
def _symbols() -> tuple[Numbers, Numbers]:
    return hash_table({key_of(TEX, name): value for name, value in SYMBOLS.items()})
