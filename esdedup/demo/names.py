"""Invented names of places, rivers and people, made of parts that real names are made of."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_ROOTS = """
    ald alv amber arn ash asp bal bar bart beck bel ben berg birk bor brack bran bred bren brin brom bruck burl cal
    cam carl cast clav cor corv cran dal dan darn del dern dorn drum dun eck eld elm esk fal far fel fen finn flor
    fors fran fried gal gard gars gil glen gor gran grav grim hag hal ham han har hart has hav heid hel hest hild hol
    horn hul ild ing isk jar jor kal kar kel kes kil kirk kol kron lam lan lar laus leck len lin lind lock lor lud
    lund lyn mal mar mark mel mer mil mol mon mor mos nar nes nev nor ob old orm ost ott pal par pel pen per pol por
    prest rad ram ran rav red ren rin roch rom ros rud run sal san sar sel sen sib sil skar sol som stan stor strand
    sul sund swan tal tan tar tel ter thorn til tol tor trav tren ul und ur val var vel ver vic vin vol wal war wel
    wen wes wil win wol wyn yar zan zel
""".split()
_PLACE_ENDINGS = """
    au bach beck berg borg born bourne bridge bruck burg burn bury by cester combe cote dale dean den dorf ey feld
    field ford gard gate grave grove hall ham haven heim hill holm holt hurst ing keld lach land leigh lev ley low
    lund mere minster mont mouth ness nitz now ona ova port rath ridge rode sand sea sted stead stow thal thorpe ton
    vale vik ville vold wald wall water well wick wood worth yard
""".split()
_FAMILY_ENDINGS = "ard ari by den dini dorf ek el ell en ers ett eva ford ic ick ini is ley lund man ner ow sen son ton well".split()
_RIVER_ENDINGS = "a ane ava el ell en enne er ey is one ow une".split()
_WOMEN = """
    Ada Agnes Alma Anna Beatrice Bertha Bridget Cecilia Clara Constance Cora Dora Edith Eleanor Elisa Emma Esther
    Eva Flora Frances Greta Hanna Harriet Helena Hilda Ida Irene Isabel Johanna Judith Karin Laura Lena Louisa Lydia
    Mabel Magda Margaret Marta Matilda Mina Nora Olga Ottilie Paula Rosa Ruth Sabina Selma Sofia Stella Sylvia Tilda
    Ursula Vera Viola Winifred Zora
""".split()
_MEN = """
    Adam Albert Alfred Anton Arthur August Bernard Bruno Carl Casper Conrad Cyril Daniel David Edgar Edmund Edwin
    Emil Ernest Felix Franz Frederick George Gilbert Gregor Gustav Harold Hector Henry Hugo Isaac Ivan Jacob Jasper
    Joachim Julian Karl Konrad Lambert Leo Leonard Lorenz Lukas Magnus Martin Maurice Nathan Oliver Oscar Otto Paul
    Peter Ralph Robert Rudolf Samuel Simon Stefan Theodor Thomas Tobias Victor Walter
""".split()
_CROWDED = re.compile(r"[^aeiouy]{4}|[aeiouy]{3}")
"""Four consonants or three vowels in a row: such names are left out."""

CHOICES = 4096
"""Entries of a pool: small enough to stay close to the processor."""


def _joined(endings: Sequence[str], longest: int = 11) -> tuple[str, ...]:
    """Return every root with every ending, where the two go together."""
    names = (
        root + ending
        for root in _ROOTS
        for ending in endings
        if root[-1] != ending[0] and root[-2:] != ending[:2] and len(root + ending) <= longest
    )
    return tuple(dict.fromkeys(name.capitalize() for name in names if not _CROWDED.search(name)))


_NAMES = _joined(_PLACE_ENDINGS)
_STRIDE = 267_737
"""Prime, so that every name comes up; large, so that names that follow each other differ."""


def name_of(number: int) -> str:
    """An invented name of a place, which is a family name as well; other numbers have other names."""
    number, place = divmod(number, len(_NAMES))
    place = place * _STRIDE % len(_NAMES)
    name = _NAMES[place]
    while number:
        number, other = divmod(number - 1, len(_NAMES))
        place = (place + (other + 1) * _STRIDE) % len(_NAMES)
        name += f"-{_NAMES[place]}"
    return name


def _drawn(random_numbers: random.Random, choices: Sequence[str]) -> tuple[str, ...]:
    return tuple(random_numbers.choices(choices, k=CHOICES))


_FIXED = random.Random("names")

PLACES = _drawn(_FIXED, _NAMES)
RIVERS = _drawn(_FIXED, _joined(_RIVER_ENDINGS, 8))
FAMILIES = _drawn(_FIXED, _joined(_FAMILY_ENDINGS, 9))
FIRST_NAMES = (*_WOMEN, *_MEN)
PEOPLE = tuple(
    f"{first} {family}"
    for first, family in zip(_drawn(_FIXED, FIRST_NAMES), _drawn(_FIXED, FAMILIES), strict=True)
)


def is_woman(first_name: str) -> bool:
    """Return whether a first name is one of women."""
    return first_name in _WOMEN
