"""Short formulas in TeX as text: `x^2+1` becomes `x² + 1`. Others are holes.

Known are letters, digits, operators, powers, indices, simple fractions and roots, accents that can be left out, and
the commands in `SYMBOLS`.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from esdedup.columns.kernels import compiled
from esdedup.text.wikitext.characters import write_character
from esdedup.text.wikitext.lookup import TEX, Bytes, Numbers
from esdedup.text.wikitext.marks import PROTECT, RESTORE
from esdedup.text.word_table import ABSENT, find, hash_table, key_of, mix

_LONGEST = 100  # bytes
_LONGEST_GROUP = 12
_MOST_AT_ONCE = 6  # bytes that are written between two looks at the room

_LOW = "₀₁₂₃₄₅₆₇₈₉"
_HIGH = "⁰¹²³⁴⁵⁶⁷⁸⁹"


def _signs(signs: dict[str, str]) -> Numbers:
    table = np.zeros(128, np.int64)
    for ordinary, shown in signs.items():
        table[ord(ordinary)] = ord(shown)
    return table


_SUPERSCRIPTS = _signs(
    dict(zip("0123456789+-=()", f"{_HIGH}⁺⁻⁼⁽⁾", strict=True))
    | dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
    | dict(zip("ABDEGHIJKLMNOPRTUVW", "ᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ", strict=True))
    | {"'": "′", "*": "*"}
)
_SUBSCRIPTS = _signs(
    dict(zip("0123456789+-=()", f"{_LOW}₊₋₌₍₎", strict=True))
    | dict(zip("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))
)

FRACTION, ROOT, DROPPED, WORD = 1, 2, 3, 4

_STYLES = (
    "mathbf mathrm mathit mathcal mathbb mathsf mathfrak mathscr boldsymbol bold bf rm text textit textbf textrm mbox "
    "operatorname displaystyle textstyle scriptstyle left right big Big bigl bigr limits mathop hat bar tilde vec "
    "overline underline dot widehat widetilde quad qquad mathnormal emph pmb"
)
_WORDS = "log ln exp sin cos tan max min sup inf lim arg det dim ker Pr gcd mod arctan sinh cosh tanh cot sec csc deg"

SYMBOLS: dict[str, int] = {
    **{
        name: ord(sign)
        for names, signs in (
            ("alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa", "αβγδεεζηθθικ"),
            ("lambda mu nu xi pi rho sigma tau upsilon phi varphi chi psi omega", "λμνξπρστυφφχψω"),
            ("Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega ell hbar", "ΓΔΘΛΞΠΣΦΨΩℓℏ"),
            ("times cdot pm mp div ast star circ bullet oplus otimes wedge vee cap cup setminus", "×·±∓÷∗⋆∘•⊕⊗∧∨∩∪∖"),
            ("le leq ge geq ne neq ll gg approx sim simeq equiv cong propto", "≤≤≥≥≠≠≪≫≈∼≃≡≅∝"),
            ("in notin ni subset subseteq supset supseteq emptyset varnothing forall exists", "∈∉∋⊂⊆⊃⊇∅∅∀∃"),
            ("to rightarrow leftarrow leftrightarrow Rightarrow Leftarrow Leftrightarrow mapsto", "→→←↔⇒⇐⇔↦"),
            ("infty partial nabla sum prod int mid vert langle rangle lfloor rfloor lceil rceil", "∞∂∇∑∏∫||⟨⟩⌊⌋⌈⌉"),
            ("ldots dots cdots neg lnot land lor prime dagger degree perp parallel angle aleph", "………¬¬∧∨′†°⊥∥∠ℵ"),
            ("R N Z Q C lbrace rbrace vdash models top bot", "ℝℕℤℚℂ{}⊢⊨⊤⊥"),
            ("iff implies Re Im wp colon sqcup sqcap prec succ preceq succeq", "⇔⇒ℜℑ℘:⊔⊓≺≻≼≽"),
        )
        for name, sign in zip(names.split(), signs, strict=True)
    },
    **dict.fromkeys(("frac", "tfrac", "dfrac"), FRACTION),
    "sqrt": ROOT,
    **dict.fromkeys(_STYLES.split(), DROPPED),
    **dict.fromkeys(_WORDS.split(), WORD),
}
"""By name of a command: a code point, or what is done: a word is shown as it is written, a style is dropped."""


@compiled
def _is_letter(byte: int) -> bool:
    return (byte >= 65 and byte <= 90) or (byte >= 97 and byte <= 122)


@compiled
def _simple_group(text: Bytes, i: int, end: int) -> tuple[int, int, int]:
    """Return where the content of the group or the character at text[i] begins and ends, and where the next token
    begins; -1 if the group is not short and simple.
    """
    while i < end and text[i] == 32:
        i += 1
    if i == end or text[i] == 92:
        return i, i, -1
    if text[i] != 123:
        return i, i + 1, i + 1
    begin = i + 1
    i = begin
    while i < end and text[i] != 125:
        if text[i] == 123 or text[i] == 92 or text[i] == 94 or text[i] == 95 or text[i] >= 128:
            return i, i, -1
        i += 1
    if i in (begin, end) or i - begin > _LONGEST_GROUP:
        return i, i, -1
    return begin, i, i + 1


@compiled
def _write_group(text: Bytes, begin: int, end: int, out: Bytes, o: int, brackets: bool) -> int:
    """Write a group, in brackets if it has more than letters and digits."""
    single = True
    for i in range(begin, end):
        single = single and (_is_letter(text[i]) or (text[i] >= 48 and text[i] <= 57))
    if brackets and not single:
        out[o] = 40
        o += 1
    for i in range(begin, end):
        out[o] = PROTECT[text[i]]
        o += 1
    if brackets and not single:
        out[o] = 41
        o += 1
    return o


@compiled
def write_formula(text: Bytes, i: int, end: int, out: Bytes, o: int, room: int, keys: Numbers, values: Numbers) -> int:
    """Write the formula text[i:end] to out[o:]. Return its end; -1 if it is not known, or longer than `room`."""
    if end - i > _LONGEST:
        return -1
    begin, limit = o, o + room - _MOST_AT_ONCE
    while i < end:
        if o > limit:
            return -1
        byte = text[i]
        if byte == 32 or byte == 9 or byte == 10 or byte == 126 or byte == 123 or byte == 125:
            i += 1
        elif byte == 94 or byte == 95:
            first, last, after = _simple_group(text, i + 1, end)
            if after < 0 or o + 3 * (last - first) > limit:
                return -1
            table = _SUPERSCRIPTS if byte == 94 else _SUBSCRIPTS
            known = True
            for at in range(first, last):
                known = known and text[at] < 128 and (table[text[at]] > 0 or text[at] == 32)
            if known:
                for at in range(first, last):
                    if text[at] != 32:
                        o = write_character(out, o, int(table[text[at]]))
            else:
                out[o] = PROTECT[byte]
                o = _write_group(text, first, last, out, o + 1, True)
            i = after
        elif byte == 92:
            i += 1
            start = i
            key = TEX
            while i < end and _is_letter(text[i]):
                key = mix(key, int(text[i]))
                i += 1
            if i == start:  # \, \; \{ and the like
                if i == end:
                    return -1
                if text[i] == 123 or text[i] == 125 or text[i] == 37 or text[i] == 124:
                    out[o] = PROTECT[text[i]]
                    o += 1
                elif text[i] == 92:
                    return -1
                i += 1
                continue
            value = find(keys, values, key)
            if value == ABSENT:
                return -1
            if value in (FRACTION, ROOT):
                first, last, after = _simple_group(text, i, end)
                if after < 0 or o + last - first + 5 > limit:
                    return -1
                if value == ROOT:
                    o = write_character(out, o, 0x221A)
                o = _write_group(text, first, last, out, o, True)
                i = after
                if value == FRACTION:
                    first, last, after = _simple_group(text, i, end)
                    if after < 0 or o + last - first + 5 > limit:
                        return -1
                    out[o] = 47
                    o = _write_group(text, first, last, out, o + 1, True)
                    i = after
            elif value == WORD:
                if o + i - start > limit:
                    return -1
                if o > begin and _is_letter(out[o - 1]):
                    out[o] = 32
                    o += 1
                for at in range(start, i):
                    out[o] = text[at]
                    o += 1
                if i < end and text[i] == 32:
                    out[o] = 32
                    o += 1
            elif value != DROPPED:
                spaced = (value >= 0x2190 and value < 0x2200) or (value >= 0x2208 and value < 0x220E)
                spaced = (
                    spaced or (value >= 0x2241 and value < 0x22A4) or value == 0xD7 or value == 0xB1 or value == 124
                )
                if spaced and o > begin:
                    out[o] = 32
                    o += 1
                o = write_character(out, o, int(value))
                if spaced:
                    out[o] = 32
                    o += 1
        elif byte == 38 or byte >= 128:
            return -1
        elif (byte == 43 or byte == 45 or byte == 61 or byte == 60 or byte == 62) and o > begin and out[o - 1] != 40:
            if out[o - 1] != 32:
                out[o] = 32
                o += 1
            o = write_character(out, o, 0x2212) if byte == 45 else o
            if byte != 45:
                out[o] = PROTECT[byte]
                o += 1
            out[o] = 32
            o += 1
            i += 1
        else:
            out[o] = PROTECT[byte]
            o += 1
            i += 1
    while o > begin and out[o - 1] == 32:
        o -= 1
    return o if o > begin else -1


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
