"""Tokens: known answers, the same everywhere, and a fair estimate of Jaccard."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import numpy as np
import pytest

from esdedup.columns.arrays import text_column
from esdedup.matching.signers.minhash_kernels import family, minhash_values, token_choices
from esdedup.matching.signers.text_signer import TextSigner
from esdedup.matching.signing import HASH_SCHEMES, Signing
from tests.support import minhash
from tests.support.corpus import corpus

TEXTS = ["a", "Hello, world: a sentence.", "Здравствуй, мир! 你好世界。 🌍" * 3]


def tokens(signing: Signing, texts: list[str]) -> np.ndarray:
    signer = TextSigner(signing)
    return signer.tokens(signer.views(text_column(texts)))


KNOWN = {
    "bands": (
        Signing.of(bands=3, rows=2, shingle="char:12"),
        [
            [2963220262870272, 6262273291886081, 8677840428807426],
            [2915801765799168, 3594409661843713, 2374647800374786],
            [7792473804907776, 4134286337668097, 5083297622642178],
        ],
    ),
    "draws": (
        Signing.of(hashes=20, draw=10, draws=3, shingle="char:12"),
        [
            [5805351265993984, 1871339923590913, 434538882785538],
            [7488878811075584, 8332559410365441, 6509974391616770],
            [4201965192695552, 8567605766293761, 6782239574155266],
        ],
    ),
    "words": (
        Signing.of(bands=3, rows=2, shingle="word:2", normalize="lower"),
        [
            [7689017057209088, 4916341758599169, 7620718163061250],
            [3245862423550208, 1923079769475073, 7785789367408898],
            [6432223626123520, 1547928142476801, 3938380325846786],
        ],
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_known_answers_of_hash_scheme_2(name: str) -> None:
    signing, expected = KNOWN[name]
    assert signing.scheme == 2
    assert tokens(signing, TEXTS).tolist() == expected


FOLDED = ["10⁸ Straße, ١٢ Mühlen — ﬁn!", "x² ΟΔΟΣ ｶﾞ № 5,443"]


@pytest.mark.parametrize(
    ("form", "scheme", "expected"),
    [
        (
            "fold",
            None,
            [
                [3934633504618752, 4839149379231489, 7988303066870530],
                [8793691261533696, 5964083538521601, 8179099338821378],
            ],
        ),
        (
            "fold-accents",
            None,
            [
                [3934633504618752, 8778418759276801, 2221468849226498],
                [8793691261533696, 5964083538521601, 8179099338821378],
            ],
        ),
        (
            "fold",
            2,
            [
                [4353224110935808, 6638670450127873, 5959859436322306],
                [1228260367534336, 7639832508580097, 5819797432778242],
            ],
        ),
    ],
)
def test_known_answers_of_folded_texts(form: str, scheme: int | None, expected: list[list[int]]) -> None:
    """A store of hash scheme 2 is read with the folding of that scheme."""
    signing = Signing.of(bands=3, rows=2, shingle="char:3", normalize=form, hash_scheme=scheme)
    assert signing.scheme == (scheme or HASH_SCHEMES[-1])
    assert tokens(signing, FOLDED).tolist() == expected


SCHEMES = {"bands": minhash.banded(3, 2), "draws": minhash.drawn(20, 10, 3, Signing().seed)}


@pytest.mark.parametrize("name", SCHEMES)
def test_tokens_are_those_of_the_definition(name: str) -> None:
    """Of texts of any script, shorter and longer than a shingle; the definition has the known answers as well."""
    signing, known = KNOWN[name]
    texts = [*TEXTS, *corpus(1, 40), *(TEXTS[2][:length] for length in range(1, 30))]
    expected = [minhash.tokens([*map(ord, text)], SCHEMES[name], length=12, seed=signing.seed) for text in texts]
    assert expected[: len(TEXTS)] == known
    assert tokens(signing, texts).tolist() == expected


def test_another_process_makes_the_same_tokens() -> None:
    code = (
        "import json, sys\n"
        "from esdedup.columns.arrays import text_column\n"
        "from esdedup.matching.signers.text_signer import TextSigner\n"
        "from esdedup.matching.signing import Signing\n"
        "signer = TextSigner(Signing())\n"
        "print(signer.tokens(signer.views(text_column(json.loads(sys.argv[1])))).tolist())"
    )
    out = subprocess.run([sys.executable, "-c", code, json.dumps(TEXTS)], check=True, capture_output=True, text=True)
    assert out.stdout.strip() == str(tokens(Signing(), TEXTS).tolist())


def test_tokens_are_safe_in_javascript_and_name_their_column() -> None:
    rows = tokens(Signing.of(bands=64, rows=1, shingle="char:12"), ["some text that is long enough"] * 2)
    assert rows.max() < 2**53
    assert rows.min() >= 0
    assert (rows & 255).tolist() == [list(range(64))] * 2


def test_a_seed_changes_every_token() -> None:
    one, two = (tokens(Signing.of(seed=seed, shingle="char:12"), TEXTS) for seed in (1, 2))
    assert not (one == two).any()


def test_draws_are_choices_from_the_pool() -> None:
    choices = token_choices(None, (20, 10, 10), Signing().seed)
    assert choices.shape == (10, 10)
    assert all(len(set(row)) == 10 and set(row) <= set(range(20)) for row in choices.tolist())
    assert len({tuple(row) for row in choices.tolist()}) == 10


@pytest.mark.parametrize("bits", [60, 32])
@pytest.mark.parametrize("shared", [0.2, 0.5, 0.8, 0.95])
def test_equal_values_estimate_jaccard(shared: float, bits: int) -> None:
    """The share of equal minhash values has mean J and the standard error of a binomial."""
    source = random.Random(f"{shared} {bits}")
    hashes, functions, size = [], 4000, 400
    common = round(size * 2 * shared / (1 + shared))
    pool = [source.getrandbits(64) for _ in range(2 * size)]
    sets = pool[:common] + pool[common:size], pool[:common] + pool[size : 2 * size - common]
    jaccard = common / (2 * size - common)
    multipliers, addends = family(7, functions)
    for members in sets:
        words = np.array(members, np.uint64)
        offsets = np.array([0, len(words)], np.int64)
        hashes.append(minhash_values(np.empty(0, np.uint8), offsets, words, True, 1, multipliers, addends, bits)[0])
    share = float(np.mean(hashes[0] == hashes[1]))
    assert abs(share - jaccard) < 4 * (jaccard * (1 - jaccard) / functions) ** 0.5
