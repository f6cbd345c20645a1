"""sentencex, pysbd and syntok: the sentences of each text."""

from collections.abc import Callable

import pysbd
import sentencex
import syntok.segmenter
from serving import Arrays, serve, strings


def split(texts: list[str], library: str, lang: str) -> Arrays:
    return strings(list(map(_splitter(library, lang), texts)))


def _splitter(library: str, lang: str) -> Callable[[str], list[str]]:
    if library == "pysbd":
        return pysbd.Segmenter(language=lang, clean=False).segment  # type: ignore[no-any-return]
    if library == "sentencex":
        return lambda text: list(sentencex.segment(lang, text))
    return _syntok


def _syntok(text: str) -> list[str]:
    paragraphs = syntok.segmenter.process(text)
    return ["".join(token.spacing + token.value for token in sentence) for part in paragraphs for sentence in part]


serve({"split": split})
