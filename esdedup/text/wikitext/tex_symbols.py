"""Commands of TeX, and raised and lowered signs, in Unicode."""

from __future__ import annotations

import numpy as np

from esdedup.text.wikitext.lookup import Numbers

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
