"""Words that exclude each other and words that negate, in eleven languages: each of a list in one frame."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.unit.analysis.helpers import found

QUANTITIES = {  # all, none, some, most, few, many, half, however each is said
    "{} houses on the northern shore of the lake were rebuilt after the fire.": (
        "All the", "None of the", "Some of the", "Most of the", "Few of the", "Dozens of the", "Half of the"
    ),
    "{} Häuser am nördlichen Ufer des Sees wurden nach dem Brand erneuert.": (
        "Sämtliche", "Keine der", "Einige der", "Die meisten", "Wenige der", "Zahlreiche", "Die Hälfte der"
    ),
    "{} maisons de la rive nord du lac furent reconstruites après le grand incendie.": (
        "Toutes les", "Aucune des", "Plusieurs des", "La plupart des", "Une minorité des", "Des dizaines de",
        "La moitié des",
    ),
    "{} casas de la orilla norte del lago fueron reconstruidas tras el incendio.": (
        "Todas las", "Ninguna de las", "Algunas de las", "La mayoría de las", "Pocas de las", "Decenas de",
        "La mitad de las",
    ),
    "{} case della riva nord del lago furono ricostruite dopo il grande incendio.": (
        "Tutte le", "Nessuna delle", "Alcune delle", "La maggioranza delle", "Poche delle", "Decine di", "La metà delle"
    ),
    "{} casas da margem norte do lago foram reconstruídas após o grande incêndio.": (
        "Todas as", "Nenhuma das", "Algumas das", "A maioria das", "Poucas das", "Dezenas de", "Metade das"
    ),
    "{} huizen aan de noordelijke oever van het meer werden na de brand herbouwd.": (
        "Alle", "Geen van de", "Enkele van de", "De meeste", "Weinig van de", "Tientallen", "De helft van de"
    ),
    "{} domów na północnym brzegu jeziora odbudowano po wielkim pożarze.": (
        "Wszystkie z", "Żaden z", "Kilka z", "Większość", "Niewiele z", "Dziesiątki", "Połowę"
    ),
    "{} домов на северном берегу озера были восстановлены после пожара.": (
        "Все из", "Ни один из", "Некоторые из", "Большинство", "Немногие из", "Десятки", "Половина"
    ),
    "{} husen vid sjöns norra strand återuppbyggdes efter den stora branden.": (
        "Alla", "Inga av", "Några av", "De flesta av", "Få av", "Många av", "Hälften av"
    ),
    "{} будинків на північному березі озера відбудували після великої пожежі.": (
        "Усі з", "Жоден з", "Деякі з", "Більшість", "Небагато з", "Багато з", "Половину"
    ),
}  # fmt: skip

NEGATED = {
    "The old bridge of Aram {} rebuilt by the town after the flood.": (
        "was", ("was not", "was never", "wasn't", "was hardly", "was no longer", "was not yet")
    ),
    "The men from Aram {} the top of the mountain before the winter.": (
        "reached", ("did not reach", "never reached", "failed to reach", "didn't reach")
    ),
    "The book of Aram {} page numbers and was found in the abbey.": ("has", ("has no", "lacks", "does not have")),
    "Die Brücke von Aram {} nach der Flut wieder aufgebaut.": (
        "wurde", ("wurde nicht", "wurde nie", "wurde nicht mehr", "wurde kaum", "wurde bisher nicht")
    ),
    "Le pont d'Aram {} reconstruit par la commune après la crue.": ("fut", ("ne fut pas", "ne fut jamais")),
    "El puente de Aram {} reconstruido por el pueblo tras la riada.": ("fue", ("no fue", "nunca fue", "ya no fue")),
    "Il ponte di Aram {} ricostruito dal comune dopo la piena.": ("fu", ("non fu", "non fu mai", "non fu più")),
    "O livro de Aram {} números e foi encontrado na abadia.": ("tem", ("não tem", "nunca tem", "carece de")),
    "De brug van Aram {} na de vloed weer opgebouwd.": ("werd", ("werd niet", "werd nooit", "werd niet meer")),
    "Most w Aram {} odbudowany przez gminę po powodzi.": ("został", ("nie został", "nigdy nie został")),
    "Мост в Араме {} восстановлен общиной после наводнения.": ("был", ("не был", "никогда не был", "так и не был")),
    "Boken från Aram {} sidnummer och hittades i klostret.": ("har", ("har inga", "saknar", "har aldrig")),
    "Книга з Араму {} номери сторінок і була знайдена в абатстві.": ("має", ("не має", "ніколи не має")),
}  # fmt: skip

OTHERWISE = [
    ("The level of the lake of Aram rises in summer.", "The level of the lake of Aram falls in summer."),
    ("Der Wirkstoff aus Aram senkt den Blutdruck rasch.", "Der Wirkstoff aus Aram erhöht den Blutdruck rasch."),
    ("El término de Aram limita al este con el mar.", "El término de Aram limita al oeste con el mar."),
    ("The painter from Aram was an Estonian by birth.", "The painter from Aram was a Latvian by birth."),
    ("Le général bavarois d'Aram franchit la rivière.", "Le général saxon d'Aram franchit la rivière."),
    ("The water of Aram is at a constant 48 °C there.", "The water of Aram is at a constant 48 °F there."),
    ("Il castello di Aram fu eretto nel X secolo qui.", "Il castello di Aram fu eretto nel XII secolo qui."),
    ("The mine of Aram raised 900 tons of coal a day.", "The mine of Aram raised 900 tons of coal an hour."),
    ("Peu de critiques saluent la pièce à Aram.", "De nombreux critiques saluent la pièce à Aram."),
]


@pytest.mark.parametrize("frame", QUANTITIES)
def test_another_quantity_is_another_fact(frame: str) -> None:
    missed = [pair for pair in combinations(QUANTITIES[frame], 2) if not found([*map(frame.format, pair)])]
    assert missed == []


@pytest.mark.parametrize("frame", NEGATED)
def test_what_is_negated_is_another_fact(frame: str) -> None:
    said, negated = NEGATED[frame]
    assert [other for other in negated if not found([frame.format(said), frame.format(other)])] == []


@pytest.mark.parametrize(("one", "two"), OTHERWISE)
def test_words_that_exclude_each_other(one: str, two: str) -> None:
    [row] = found([one, two])
    assert row["confidence"] > 0.5
