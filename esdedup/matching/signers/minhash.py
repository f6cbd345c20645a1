"""MinHash: tokens folded from minimum hash values, in bands or in draws from one pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from esdedup.errors import SettingsError
from esdedup.matching.signers.protocol import Signer
from esdedup.options import option

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from esdedup.matching.signers.protocol import F
    from esdedup.text.shingles import Shingled

_BANDS, _ROWS = 10, 4
_BANDED = frozenset({"bands", "rows"})
_POOLED = frozenset({"hashes", "draw", "draws"})


@dataclass(frozen=True)
class MinHash(Signer):
    """Bands: each of `bands` tokens is folded from `rows` values of its own. So two texts of Jaccard s share a token
    with probability 1 - (1 - s^rows)^bands (Leskovec et al., Mining of Massive Datasets, section 3.4).

    Draws: each of `draws` tokens is folded from `draw` values, chosen at random from one pool of `hashes` values
    (Weissman et al. 2014, section 3). The draws overlap, so the same formula overestimates the probability.
    """

    name = "minhash"
    summary = "minimum hash values, in bands or draws"
    alternatives = (_BANDED, _POOLED)

    bands: int | None = option(
        None, "Number of tokens of a text.", unit="N", low=1, high=64, usual="10 for sentences, else 28"
    )
    rows: int | None = option(
        None, "Number of MinHash values in a token.", unit="N", low=1, high=64, usual="4 for sentences, else 5"
    )
    hashes: int | None = option(
        None, "Draw tokens from a pool of N MinHash values, instead of bands.", unit="N", low=1, high=1024
    )
    draw: int | None = option(None, "Number of values of the pool in a token.", unit="N", low=1, high=1024)
    draws: int | None = option(None, "Number of tokens of a text, drawn from the pool.", unit="N", low=1, high=64)

    def check_together(self) -> None:
        """Check that there are bands or a pool, and fill in the defaults of bands."""
        pool = (self.hashes, self.draw, self.draws)
        if not any(value is not None for value in pool):
            object.__setattr__(self, "bands", _BANDS if self.bands is None else self.bands)
            object.__setattr__(self, "rows", _ROWS if self.rows is None else self.rows)
            return
        if self.bands is not None or self.rows is not None:
            raise SettingsError("give either bands and rows, or hashes, draw and draws, not both")
        if None in pool:
            raise SettingsError("hashes, draw and draws go together: give all three or none")
        if (self.draw or 0) > (self.hashes or 0):
            raise SettingsError(f"draw is {self.draw}; allowed: 1 to {self.hashes}")

    def with_options(self, given: Mapping[str, Any]) -> Self:
        """Replace draws with bands, or bands with draws, according to the given options."""
        if (given.keys() & _BANDED and self.hashes is not None) or (given.keys() & _POOLED and self.bands is not None):
            return type(self)(**given)
        return super().with_options(given)

    @property
    def tokens(self) -> int:
        """The number of bands or draws."""
        return self.draws or self.bands or 0

    def chance(self, jaccard: F) -> F:
        """Return 1 - (1 - s^rows)^bands; for draws, this is an upper bound."""
        return 1 - (1 - jaccard ** (self.draw or self.rows or 0)) ** self.tokens

    @property
    def words(self) -> str:
        """The number of tokens, and of values in each."""
        return f"{self.tokens} tokens of {self.draw or self.rows} values"

    def sign(self, shingled: Shingled, seed: int, hash_bits: int) -> npt.NDArray[np.int64]:
        """Return the folded minima of the hash functions."""
        from esdedup.matching.signers.minhash_kernels import family, fold, minhash_values, token_choices

        pool = self.hashes is not None
        choices = token_choices(
            None if pool else (self.bands, self.rows), (self.hashes, self.draw, self.draws) if pool else None, seed
        )
        return fold(minhash_values(*shingled, *family(seed, int(choices.max()) + 1), hash_bits), choices)
