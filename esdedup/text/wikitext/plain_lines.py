"""Turn lines of flat wikitext into plain text, written for readability: the end of the reference cleaner.

These are the same rules as in the fast cleaner's last pass, derived from MediaWiki's own. They are separate so that
each can be tested against the other. Flat wikitext has no templates, tables, links or tags, only the marks below.
"""

from __future__ import annotations

import re

from esdedup.text.folded_names import fold
from esdedup.text.wikitext import marks, sections
from esdedup.text.wikitext.rules import ENTITIES, MAGIC_WORDS, SECTIONS

# The marks of the fast cleaner, as lone surrogates, which no page can contain.
GONE = chr(0xDC00 + marks.GONE)
SPLIT = chr(0xDC00 + marks.SPLIT)
SOFT = chr(0xDC00 + marks.SOFT)
HOLE = chr(0xDC00 + marks.HOLE)  # two variation selectors follow
SURE_HOLE = chr(0xDC00 + marks.SURE_HOLE)  # the same
RAISED, LOWERED, APART = (chr(0xDC00 + mark) for mark in (marks.RAISED, marks.LOWERED, marks.APART))
COMMENT = chr(0xDC00 + 0xF0)  # a separate mark here: lines with only comments disappear

_SELECTOR = 0xE0100  # the first of the variation selectors that are used

_PROTECT = {ord(char): chr(0xDC00 + ord(char)) for char in "{}[]|'_=<>\0"}
_RESTORE = {ord(protected): chr(char) for char, protected in _PROTECT.items()}

_COMMENT_LINES = re.compile(rf"(?:^|(?<=\n))[ \t]*{COMMENT}[ \t{COMMENT}]*(?:\n|\Z)")
_HEADING = re.compile(r"(={1,6})(.+?)\1[\s\udcff\udcfe]*\Z", re.DOTALL)
_LIST = re.compile(r"[*#:;]+")
_RULE = re.compile(r"-{4,}")
_ROW = re.compile(rf"[ \t:{GONE}{SPLIT}]*\{{\||[:{GONE}{SPLIT}]*(?:\|(?!.*\]\])|!.*!!)")
_ROW_OF_HEADINGS = re.compile(rf"[:{GONE}{SPLIT}]*!")
_ANY_ROW = re.compile(rf"(?:[ \t:{GONE}{SPLIT}]|[{HOLE}{SURE_HOLE}]..)*([|{{!])")
_END_OF_TABLE = re.compile(rf"[ \t:{GONE}{SPLIT}]*\|\}}")
_TEMPLATE_ALONE = re.compile(rf"(?:[ \t:{GONE}{SPLIT}]|[{HOLE}{SURE_HOLE}]..)+")
_ENTITY = re.compile(r"&(?:#[xX]([0-9a-fA-F]{1,29})|#([0-9]{1,30})|([A-Za-z0-9]{1,31}));")
_MAGIC_WORD = re.compile(r"__([^\s_](?:[^\s_]|_(?!_))*)__")
_WHITE = re.compile(r"[ \t\v\f\r\xa0]+")
_HOLES = re.compile(rf"[{HOLE}{SURE_HOLE}]..(?:[ {GONE}]*[{HOLE}{SURE_HOLE}]..)*")
_RAISED = re.compile(
    rf"(?<=[0-9A-Za-z)\]}}\x80-\u2fff\u3040-\ud7ff\ue000-\ufeff\uff40-\U0010ffff])([{GONE}{APART}]*){RAISED}[ ]*"
    rf"(?=[' {GONE}]*[-+−–]?[{GONE}]*(?:[0-9]|[ijkmnpqxyz](?![A-Za-z])))"
)
_NUMBERS = re.compile(rf"(?<=[0-9])({GONE}*)([{LOWERED}{APART}])(?=[' {GONE}]*[0-9])")
_NUMBER_MARKS = re.compile(f"[{RAISED}{LOWERED}{APART}]")
_INVISIBLE = f" {GONE}"
_INVISIBLE_MARKS = re.compile(rf"[{HOLE}{SURE_HOLE}]..|[\udc80-\udcff']")
_SPACELESS = re.compile("[\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff]")
_SMALL = re.compile("[a-zß-öø-ÿά-ώа-џ]")
_QUOTES = re.compile(rb"(''+)")


def hide_nul(text: str) -> str:
    """Return `text` with a mark instead of NUL, which the parser takes for the end; `plain_text` restores it."""
    return text.replace("\0", protect("\0"))


def protect(text: str) -> str:
    """Return `text` such that nothing in it is interpreted as markup, except entities, as in MediaWiki."""
    return text.translate(_PROTECT)


def plain_text(flat: str, quotes: bool) -> str:
    """Return the blocks of `flat`, separated by empty lines. With `quotes`, apply MediaWiki's rule for quote marks."""
    flat = _COMMENT_LINES.sub("", flat).replace(COMMENT, "")
    blocks: list[str] = []
    paragraph: list[str] = []
    dropped_level = 0

    def end_paragraph() -> None:
        _append_block(blocks, "\n".join(paragraph))
        paragraph.clear()

    lines = flat.split("\n")
    rows = 0  # where the rows of a table end
    plain = inside = False  # whether the last block is a paragraph, and whether a sentence goes on after indented lines
    goes_on = 0
    for number, line in enumerate(lines):
        heading = _HEADING.fullmatch(line)
        if heading and len(heading[1]) <= dropped_level:
            dropped_level = 0
        if dropped_level:
            continue
        if heading:
            plain = inside = False
            end_paragraph()
            before = len(blocks)
            _append_block(blocks, _line_text(heading[2], quotes))
            if fold("\n\n".join(blocks[before:]).removesuffix(":")) in SECTIONS and not _is_prose(
                lines, number + 1, len(heading[1])
            ):
                del blocks[before:]
                dropped_level = len(heading[1])
            continue
        if number < rows:
            continue
        if _begins_row(lines, number):
            rows = _rows_end(lines, number)
            end_paragraph()
            plain = False
            continue
        marked = _LIST.match(line)
        if number >= goes_on:
            inside = False
            if line.startswith(":"):
                goes_on, inside = _sentence_goes_on(lines, number + 1)
                if inside:
                    end_paragraph()
                    if plain and blocks[-1][-1] not in ".!?":
                        paragraph.append(blocks.pop())
        if inside and number < goes_on:
            if text := _line_text(line.lstrip(":"), quotes, inside).strip(" "):
                paragraph.append(text)
                plain = True
            continue
        if marked:
            end_paragraph()
            before = len(blocks)
            _append_block(blocks, _line_text(line[marked.end() :], quotes))
            plain = plain and len(blocks) == before
            continue
        rule = _RULE.match(line)
        if rule:
            end_paragraph()
            line = line[rule.end() :]
        text = _line_text(line, quotes)
        if text.strip(f" \n{SPLIT}") == "":
            end_paragraph()
        else:
            paragraph.append(text)
            plain = True
    end_paragraph()
    return "\n\n".join(blocks).translate(_RESTORE)


def _begins_row(lines: list[str], number: int) -> bool:
    """Return whether a line is a row of a table that is never closed, or that a template opened."""
    if _ROW_OF_HEADINGS.match(lines[number]) and number + 1 < len(lines) and lines[number + 1][:1] in ("|", "!"):
        return True
    return _ROW.match(lines[number]) is not None


def _rows_end(lines: list[str], number: int) -> int:
    """Return the number of the first line that is no more of the rows from this line."""
    opened, last = False, number
    for at in range(number, len(lines)):
        line = lines[at]
        alone = _TEMPLATE_ALONE.fullmatch(line) is not None
        if alone or line[:1] in ("", "=", "}"):
            return at + alone if opened else last
        if row := _ANY_ROW.match(line):
            opened = opened or row[1] == "{"
            last = at + 1
        if _END_OF_TABLE.match(line):
            return last
    return len(lines) if opened else last


def _sentence_goes_on(lines: list[str], number: int) -> tuple[int, bool]:
    """Return the number of the next visible line that is not indented, and whether it continues a sentence."""
    for at in range(number, len(lines)):
        visible = lines[at].lstrip(f" \t'{GONE}")
        if visible and not lines[at].startswith(":"):
            return at, bool(_SMALL.match(visible))
    return len(lines), False


def _is_prose(lines: list[str], number: int, level: int) -> bool:
    """Return whether the section whose first line has this number, below a heading of a level, is more prose than
    not.
    """
    prose = other = 0
    for at in range(number, len(lines)):
        line = lines[at]
        heading = _HEADING.fullmatch(line)
        if heading and len(heading[1]) <= level:
            break
        if not line or heading:
            continue
        visible = _INVISIBLE_MARKS.sub("", line)
        size = len(visible.encode("utf-8", "ignore"))
        spaces = visible.count(" ") + sum(char >= "\u3000" for char in visible)
        digits = sum(map(visible.count, "0123456789"))
        item = _LIST.match(line) or line[0] in "|{"
        if not item and size >= sections.SHORTEST and spaces >= sections.SPACES and digits * sections.DIGITS < size:
            prose += size
        else:
            other += size
    return prose > other


def _append_block(blocks: list[str], text: str) -> None:
    for block in text.split(SPLIT):
        lines = (" ".join(part for part in line.split(" ") if part) for line in block.split("\n"))
        kept = "\n".join(line for line in lines if line)
        if kept:
            blocks.append(kept)


def _line_text(line: str, quotes: bool, inside: bool = False) -> str:
    """Return a line with its single characters decoded. Soft breaks become line breaks, block breaks stay marks.
    `inside` says that a sentence goes on after it.
    """
    if quotes and "''" in line:
        line = apply_quotes(line)
    line = _MAGIC_WORD.sub(lambda match: "" if fold(match[1]) in MAGIC_WORDS else match[0], line)
    line = _ENTITY.sub(_entity_text, line)
    line = _RAISED.sub(r"\1^", line)
    line = _NUMBERS.sub(lambda match: match[1] + ("_" if match[2] == LOWERED else " "), line)
    line = _WHITE.sub(" ", _NUMBER_MARKS.sub(GONE, line))
    if GONE in line or HOLE in line or SURE_HOLE in line:
        line = _close_gaps(line, inside)
    return line.replace(SOFT, "\n")


def hole(content: str, sure: bool = False) -> str:
    """Return the mark of something that is not known, with two variation selectors that tell it from others."""
    key = 0xCBF29CE484222325
    for byte in content.encode("utf-8", "ignore"):
        if byte >= 0x80 or chr(byte).isalnum():
            key = ((key ^ byte) * 1099511628211) & (2**64 - 1)
    key ^= key >> 32
    return (SURE_HOLE if sure else HOLE) + chr(_SELECTOR + (key & 63)) + chr(_SELECTOR + (key >> 6 & 63))


def _close_gaps(line: str, inside: bool) -> str:
    """Return the line with signs for holes inside sentences, without the signs that stood around what is gone: empty
    brackets, doubled commas, spaces before them.
    """
    out: list[str] = []
    gone = False
    i = 0
    while i < len(line):
        char = line[i]
        last = out[-1] if out else ""
        i += 1
        if char == GONE:
            gone = True
        elif char in (HOLE, SURE_HOLE):
            holes = _HOLES.match(line, i - 1)
            assert holes is not None
            i = holes.end()
            following = line[i:].lstrip(_INVISIBLE)[:1]
            sure = SURE_HOLE in holes[0] and ("".join(out).strip() or following)
            gone = not (inside or sure or _in_sentence("".join(out[-2:]), following))
            if not gone:
                out.append(_sign(holes[0]))
        elif char == " " and (last == " " or (gone and last == "(")):
            pass
        elif char == "）" and gone and last == "（":
            out.pop()
        elif char in ",.;:)" and gone and (len(out) > 1 or last not in ("", " ")):
            if last == " ":
                out.pop()
                last = out[-1] if out else ""
            if char == ")" and last == "(":
                out.pop()
            elif char == ")" and last in ",;":
                out[-1] = ")"
                gone = False
            elif char in ")." or last not in ("(", char):
                out.append(char)
                gone = False
        else:
            out.append(char)
            gone = gone and char == " "
    return "".join(out)


def _in_sentence(before: str, following: str) -> bool:
    """Return whether a reader would see something there; `before` are the two characters before."""
    last = before.strip()[-1:]
    if not last:
        return following == "," or "a" <= following <= "z"
    if last in '(["':
        return following not in (")", "]", '"')
    if not before.endswith(" ") and _SPACELESS.match(following):
        return bool(_SPACELESS.match(last))
    if not before.endswith(" ") or not following:
        return False
    return last not in ".!?" or "a" <= following <= "z"


def _sign(holes: str) -> str:
    key = 0
    for mark in re.finditer(rf"[{HOLE}{SURE_HOLE}](.)(.)", holes):
        key = (key * 5 + ((ord(mark[1]) - _SELECTOR) << 6 | (ord(mark[2]) - _SELECTOR))) & 4095
    return "…" + chr(_SELECTOR + (key >> 6)) + chr(_SELECTOR + (key & 63))


def _entity_text(entity: re.Match[str]) -> str:
    hexadecimal, decimal, name = entity.groups()
    if name:
        code = ENTITIES.get(name, -1)
    else:
        code = int(hexadecimal, 16) if hexadecimal else int(decimal)
        valid = code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0xFFFF < code < 0x110000
        code = code if valid else -1
    if code < 0:
        return entity[0]
    return " " if code in (9, 10, 11, 12, 13, 160) else protect(chr(code))


def apply_quotes(line: str) -> str:
    """Return `line` without its marks of bold and italic, by the rule that MediaWiki applies to each line.

    Runs of four apostrophes, and of more than five, begin with apostrophes that are text. If both bold and italic marks
    are odd in number, one bold mark is an apostrophe and an italic mark: the first one after a word of one letter,
    otherwise the first after a longer word, otherwise the first after a space.
    """
    # MediaWiki counts bytes here: a single letter of two bytes does not count as a word of one letter.
    parts = _QUOTES.split(line.encode("utf-8", "surrogatepass"))
    bold = italic = 0
    for i in range(1, len(parts), 2):
        length = len(parts[i])
        if length == 4 or length > 5:
            kept = 3 if length == 4 else 5
            parts[i - 1] += b"'" * (length - kept)
            parts[i] = b"'" * kept
        italic += len(parts[i]) in (2, 5)
        bold += len(parts[i]) in (3, 5)
    if bold % 2 == 1 and italic % 2 == 1:
        single, longer, space = [], [], []
        for i in range(1, len(parts), 2):
            if len(parts[i]) == 3:
                before = parts[i - 1]
                if before.endswith(b" "):
                    space.append(i)
                elif before[-2:-1] == b" ":
                    single.append(i)
                else:
                    longer.append(i)
        for i in (single or longer or space)[:1]:
            parts[i - 1] += b"'"
    return b"".join(parts[::2]).decode("utf-8", "surrogatepass").replace("'", protect("'"))
