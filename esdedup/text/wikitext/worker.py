"""The process of the reference cleaner: reads pages from its input, writes plain texts to its output.

Each message is a length of four bytes, followed by that many bytes of UTF-8. An answer has one more byte before it,
`OK` or `FAILED`; after `FAILED` it contains the reason. The first message contains the settings as JSON.
"""

from __future__ import annotations

import json
import re
import signal
import struct
import sys
from typing import IO

from esdedup.text.wikitext.plain_lines import hide_nul, plain_text
from esdedup.text.wikitext.rules import DROP, FORMULA, LITERAL, LITERAL_BLOCK, TAGS, Names
from esdedup.text.wikitext.variants import shown_variants

OK, FAILED = b"+", b"-"

_LITERAL = "|".join(name for name, kind in TAGS.items() if kind in (DROP, LITERAL, LITERAL_BLOCK, FORMULA))
_COMMENTS = re.compile(  # one without an end, outside of comments and literal text
    rf"(<!--.*?-->|<({_LITERAL})\b[^<>]*(?<!/)>.*?</\2\s*>)|<!--.*", re.DOTALL | re.IGNORECASE
)

_LENGTH = struct.Struct(">I")


def clean(text: str, names: Names, corrected: bool) -> str:
    """Return the plain text of one page, in this process."""
    import mwparserfromhell  # not everywhere

    from esdedup.text.wikitext.flatten import flatten

    closed = _COMMENTS.sub(lambda match: match[1] or "", shown_variants(hide_nul(text), names))
    code = mwparserfromhell.parse(closed, skip_style_tags=corrected)
    return plain_text(flatten(code, names), quotes=corrected)


def read_message(stream: IO[bytes]) -> bytes | None:
    """Return the next message, or `None` if the other side has ended."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    length = _LENGTH.unpack(head)[0]
    body = stream.read(length)
    return body if len(body) == length else None


def write_message(stream: IO[bytes], message: bytes) -> None:
    """Send one message."""
    stream.write(_LENGTH.pack(len(message)) + message)
    stream.flush()


def main() -> None:
    """Serve until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends this process
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    settings = json.loads(read_message(source) or b"{}")
    namespaces = {int(number): name for number, name in settings["namespaces"].items()}
    names = Names(namespaces, settings["templates"], settings["site"], settings["language"])
    write_message(sink, OK)
    while (page := read_message(source)) is not None:
        try:
            answer = OK + clean(page.decode("utf-8"), names, settings["corrected"]).encode("utf-8")
        except Exception as error:  # any exception of the parser is a failure of the page
            answer = FAILED + f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        write_message(sink, answer)


if __name__ == "__main__":
    main()
