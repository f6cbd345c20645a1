"""The vocabulary: ordinary words in lists, and invented names of people and places, made of syllables.

No word has more than nine letters, so twelve characters of a sentence always include parts of two words, and
unrelated sentences share almost nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NOUNS = _words(
    """
    abbey acre alley anchor apron arcade arch archive armory arrow ash attic axle bakery ballad banner barge barley
    barn barrel basin basket bastion battery beacon beam bell bench bishop blanket bolt bonnet bottle boulder bracket
    branch brass brewery brick bridge brook broom bucket buckle bundle bureau burrow cabin cabinet cable calendar
    camera canal candle canoe canvas canyon captain caravan carpet carriage cart carver castle cathedral cattle
    causeway cavern cedar cellar census chamber chapel chapter charter chart cherry chimney choir chorus cider circus
    cistern citadel clay cliff climate cloak clock cloister coach coast cobbler coin college colony column comet
    compass concert convent copper coral corridor cottage cotton council county court courtyard cradle craft crane
    crater creek crest crew crop crossing crown crypt current curtain custom dairy dam debt deer delta depot deputy
    desert dialect diary dike diploma dispute district ditch dock dome donkey drawing dress drought drum dune dyer
    eagle embassy ember engine engraver estate estuary exhibit fabric factory falcon farmer fence fern ferry festival
    fiddle field finch fisher flag flame flax fleet flint flood flora floor flour flute foal foot forest forge fort
    fortress fountain fox frame frieze frigate frost furnace furrow gable gallery garden garrison gate gauge glacier
    glass glider glove goat gorge governor grain granary grange granite grape gravel grove guard guild guitar gulf
    hall hammer hamlet hammock handle harbour harness harp harvest hatch hazel heath hedge heir helmet herald herd
    heron hill hinge hive hollow horn hostel hound hut iceberg ink inlet inn insect island ivory jacket jar jetty
    journal judge jury kettle kiln kitchen kite knight label ladder lagoon lamp lantern larch lark lathe lattice
    leaf leather ledger legend lens letter lever library lichen limestone lighter lily lime linden linen lizard loaf
    lobby locksmith lodge loom lumber lute magnet mallet manor mantle manual maple marble market marsh mason mast
    meadow medal melody merchant meteor mill miner mint mirror moat mole monk monument moor mortar mosaic moss motor
    mount mule mural museum mussel needle nest novel nursery oak oar oats observer oboe office olive opera orchard
    organ otter outpost oven owl oyster paddle palace panel paper parade parish park parlour pasture path patrol
    pavilion peak pearl peat pebble pendulum pepper pier pigeon pillar pilot pine pipe pirate plain plank planter
    plaster plateau plaza plough plum pocket poem poet pond poplar poppy portrait potter powder prairie press prince
    printer prism prison province pulley pump puppet quarry quarter quay quilt rabbit raft railway rampart ranch
    raven ravine reactor reed reef refinery regent relic report reserve resin rice ridge river road robin rocket
    rope rose rotunda route rudder ruin saddle sail sailor salmon salt sand satchel sawmill scale school scribe
    sculptor seal seed senate shaft shed shelf shell shepherd shield shipyard shore shovel shrine shutter signal
    silk silver singer slate sledge sleeve smith soil soldier spade sparrow spice spindle spire sponge spring square
    squire stable stadium staff stage stair stamp statue steamer steel steeple stork stove strait stream street
    studio sugar summit surgeon swamp swan sword symphony tailor tanner tapestry tavern temple tenant terrace theatre
    thicket thistle throne tide tile timber toll tomb torch tower tram treaty trench tribe trout trumpet tunnel
    turbine turret tutor valley valve vault velvet verdict vessel viaduct village vine viola violin volcano vote
    voyage wagon walnut ward warden warship water wax weaver well wharf wheat wheel whistle widow willow windmill
    window winery wolf wood wool workshop wreath yard yarn yoke
    """
)
ADJECTIVES = _words(
    """
    aged agile alert amber ample ancient angular arched ardent arid austere autumn azure bare barren bent bitter
    black blazing bleak blue bold brave brief bright brisk broad broken bronze brown busy calm careful central
    cheap chief chilly civic clean clear clever clumsy coarse coastal cold common costly covered crimson crooked
    crowded crude curious curved damp dark deep dense distant divided double dry dull dusty early eastern elder
    elegant empty enormous even exact extinct faded faint fair faithful famous fertile festive fierce final fine
    firm flat flooded foreign formal fragile frail free fresh frozen frugal full gentle giant gilded glad gloomy
    golden graceful grand grave great green grey hardy harsh hasty heavy hidden high hilly hollow honest huge humble
    idle immense inland inner intact iron jagged joint junior keen kind large late lavish lean legal level light
    little lively local lofty lonely long loose lost loud loyal lucky lunar major marshy massive meagre mellow merry
    mighty mild minor misty mobile modern modest muddy mute mystic naked narrow native naval neat nimble noble noisy
    northern novel oblique odd official old open ornate outer oval painted pale partial patient peaceful pink plain
    pleasant polar polite poor popular portable prized prompt proud public pure purple quaint quick quiet rapid rare
    raw ready red regal remote rich rigid ripe robust rocky rough round royal rugged ruined rural rustic sacred
    salty sandy scarce scarlet secret senior serene severe shabby shallow sharp shiny short shy silent simple single
    sleepy slender slow small smooth sober soft solar solemn solid sombre sour southern spacious spare square steady
    steep stern stiff stony stormy stout straight strange strict strong sturdy subtle sudden sunken sunny superb
    swift tall tame tender thick thin thorny tidal tidy timid tiny tired tough tranquil twin upper upright urban
    useful vacant vague valiant vast verdant violent vivid warm wary weary western wet white wide wild windy winter
    wise wooden worn worthy yellow young zealous
    """
)
VERBS = _words(
    """
    acquired admired adopted altered annexed approved arranged attacked avoided awarded blessed blocked borrowed
    bought braided briefed brought burned buried called captured carried carved caught changed charted chased checked
    cherished claimed cleaned cleared closed coated collected coloured combined conquered copied counted covered
    crossed crowned curbed cured damaged declared decorated defended denied described designed destroyed directed
    discussed displayed divided donated doubled drained edited emptied enclosed engraved enlarged entered equipped
    erected examined exceeded exported extended favoured fenced filmed financed finished flanked flooded followed
    forged fortified founded framed funded gathered governed grasped greeted guarded guided hauled healed heard heated
    held hired honoured hosted housed imitated imported improved included inherited inspected installed invented
    joined judged kept kindled labelled launched leased lent lifted linked listed loaded lost lowered managed mapped
    marked measured melted mended mentioned merged mined mocked modelled moved named narrated neglected noticed
    observed obtained occupied offered opened opposed ordered owned packed painted paved planned planted played
    pledged polished praised preserved pressed printed promised protected proved punished purchased pursued quoted
    raided raised reached rebuilt received recorded recovered reduced reformed refused regained rejected released
    removed renamed rented repaired replaced reported rescued reserved restored returned reviewed revived rewarded
    roofed rounded ruled sacked saved scattered searched seized sent served settled shaped shared sheltered shifted
    signed sketched sold sorted spared stained started stored studied supplied supported surveyed swept
    tamed taught taxed tested told toured traced traded trained treated trimmed united urged used valued
    vetoed viewed visited wanted warmed washed watched weighed welcomed widened won worked wrapped
    """
)

# Letters of names: a run of consonants, a run of vowels, and so on, so that every choice spells another name.
_ONSETS = _words("b br c d dr f g gl h k kl l m n p pr qu r s st t tr v z")
_VOWELS = _words("a e i o u ae ei ou")
_CODAS = _words("d g ll lm lt m n nd r rd rn s sk th v x")
_SYLLABLES = tuple(onset + vowel for onset, vowel in product(_ONSETS, _VOWELS))
_FIRST_ENDINGS = _words("da len lo mir na ric ro sa tan vin wen yo")

_SHORT_NAMES = len(_SYLLABLES) ** 2 * len(_CODAS)
_STRIDE = 267_737
"""Prime, and far from any simple part of the number of short names: names that follow each other differ."""


def name_of(number: int) -> str:
    """An invented name; other numbers have other names."""
    rounds, place = divmod(number, _SHORT_NAMES)
    place = place * _STRIDE % _SHORT_NAMES
    place, coda = divmod(place, len(_CODAS))
    one, two = divmod(place, len(_SYLLABLES))
    middle = ""
    while rounds:
        rounds, syllable = divmod(rounds - 1, len(_SYLLABLES))
        middle += _SYLLABLES[syllable]
    return (_SYLLABLES[one] + middle + _SYLLABLES[two] + _CODAS[coda]).capitalize()


YEARS = tuple(str(year) for year in range(1204, 2024))
NUMBERS = tuple(f"{number:,}" for number in range(12, 9990, 7))
CHOICES = 4096
"""Entries of a pool: small enough to stay close to the processor."""


def pool(choices: Sequence[str]) -> tuple[str, ...]:
    """`choices` over and over, to the size of a pool."""
    return tuple(choices[place % len(choices)] for place in range(CHOICES))


def with_article(words: Sequence[str]) -> tuple[str, ...]:
    """Each word after `a` or `an`."""
    return tuple(("an " if word[0] in "aeio" else "a ") + word for word in words)


_FIXED = random.Random("names")

PLACES = tuple(name_of(_FIXED.randrange(_SHORT_NAMES)) for _ in range(CHOICES))
PEOPLE = tuple(
    f"{_FIXED.choice(_SYLLABLES)}{_FIXED.choice(_FIRST_ENDINGS)}".capitalize()
    + f" {name_of(_FIXED.randrange(_SHORT_NAMES))}"
    for _ in range(CHOICES)
)
