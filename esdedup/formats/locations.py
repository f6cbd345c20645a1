"""Find sources: from the user's arguments (files, folders, patterns, `-`) to sources with a name and a format."""

from __future__ import annotations

import errno
import glob
import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path, PurePath

from esdedup.errors import SourceError, UsageError
from esdedup.formats.compression.opener import first_bytes, readable
from esdedup.formats.compression.protocol import Span, compression_of
from esdedup.formats.protocol import FORMATS, Format, split_name
from esdedup.formats.reading_options import Reading
from esdedup.formats.remote.finding import files_at
from esdedup.formats.remote.protocol import is_address
from esdedup.formats.text_limit import USUAL
from esdedup.plurals import plural

STDIN = "-"

_SHOWN = 5

_ABSENT = "no such file or folder; check the path"
_GIVE_FORMAT = f"give --format ({', '.join(FORMATS.names)})"

_log = logging.getLogger("esdedup")


@dataclass(frozen=True, slots=True)
class Source:
    """One file (or standard input) to read documents from."""

    name: str  # the file's stem, or the name that the user gave
    path: Path | None  # None: standard input
    format: Format
    size: int  # bytes on disk, 0 if unknown
    base: Path | None  # if a folder is one source: the folder that document ids are relative to
    max_text: int = USUAL  # bytes of the largest text that is read
    span: Span | None = None  # what is read of the file, if it is not all
    collection: str = ""  # that the file says it is a part of

    @property
    def document(self) -> str:
        """The id of the document, if the whole source is one document."""
        if self.path is None:
            return self.name
        return readable((self.path.relative_to(self.base) if self.base else PurePath(self.path.name)).as_posix())


def discover(arguments: Sequence[str], reading: Reading) -> list[Source]:
    """Find the sources that the arguments name, in this order. Files of folders and patterns are sorted by path.

    Raises `SourceError` if something is missing or empty. Raises `UsageError` if a format is unknown, or if a file has
    the name of standard input.
    """
    if not arguments:
        raise UsageError("no source named; give files, folders, patterns or -")
    sources: list[Source] = []
    seen: set[Path | None] = set()
    for argument in arguments:
        for source in _expand(argument, reading):
            real = source.path and source.path.resolve()
            if real in seen:
                _refuse_other_address(source, sources)
                continue
            seen.add(real)
            sources.append(source)
    sources = _share_folder_names([_in_collection(source) for source in sources])
    if reading.source_name is not None:
        if len({_identity(source) for source in sources}) > 1:
            raise UsageError(
                "--source-name applies to one source, but there are several; read each in a command of its own"
            )
        return [replace(source, name=reading.source_name) for source in sources]
    return _with_distinct_names(sources)


def _refuse_other_address(source: Source, sources: Sequence[Source]) -> None:
    """Raise `UsageError` if another source has the same name, and another address."""
    url = getattr(source.path, "url", None)
    if any(each.path == source.path and getattr(each.path, "url", None) != url for each in sources):
        raise UsageError(f"{source.path}: two addresses differ only in what signs them; name one of them")


def _in_collection(source: Source) -> Source:
    """Return the source with the collection that it says it is a part of, which gives it its name."""
    if source.path is None or not source.format.says_collection or not source.path.is_file():
        return source
    collection = source.format.collection(first_bytes(source.path))
    return replace(source, collection=collection, name=collection or source.name)


def _expand(argument: str, reading: Reading) -> Iterator[Source]:
    if argument == STDIN:
        if reading.format is None:
            raise UsageError(f"the format of standard input is unknown; {_GIVE_FORMAT}")
        yield Source("stdin", None, reading.format_named(reading.format), 0, None, reading.most_text)
        return
    if not argument:
        raise UsageError("a source has an empty name; give files, folders, patterns or -")
    if is_address(argument):
        yield from _from_address(argument, reading)
        return
    path = Path(argument)
    try:
        exists = path.exists()
    except OSError as error:
        raise SourceError(
            f"{argument}: cannot be read: {error.strerror}; check the path and its permissions"
        ) from error
    if not exists:
        if not glob.has_magic(argument):
            raise SourceError(f"{argument}: {_ABSENT}")
        yield from _from_pattern(argument, reading)
    elif path.is_dir():
        yield from _from_folder(path, reading)
    else:
        source = _source(path, reading)
        if source is None:
            raise _unknown(argument)
        yield source


def _from_address(address: str, reading: Reading) -> Iterator[Source]:
    found, folder = files_at(address)
    for source in _known([*found], str(folder or found[0]), reading):
        one = folder if source.format.folder_is_one else None
        yield source if one is None else replace(source, base=one, name=_folder_name(one))


def _from_pattern(pattern: str, reading: Reading) -> Iterator[Source]:
    paths = sorted(_matching(pattern), key=os.fsencode)
    if not paths:
        raise SourceError(f"{pattern}: no file matches this pattern; check it")
    files = [path for path in paths if not path.is_dir()]
    if not files:
        for path in paths:
            yield from _from_folder(path, reading)
        return
    yield from _known(files, pattern, reading)


def _matching(pattern: str) -> list[Path]:
    """Return what a pattern matches. `**` does not follow links, which may lead in circles, and neither do folders."""
    parts = PurePath(pattern).parts
    if "**" not in parts:
        return [Path(path) for path in glob.glob(pattern)]  # noqa: PTH207
    fixed = next(at for at, part in enumerate(parts) if glob.has_magic(part))
    base, rest = Path(*parts[:fixed]), parts[fixed:]
    hidden = any(part.startswith(".") for part in rest)
    return [
        path
        for path in base.glob("/".join(rest))
        if hidden or not any(part.startswith(".") for part in path.relative_to(base).parts)
    ]


def _from_folder(folder: Path, reading: Reading) -> Iterator[Source]:
    """Yield all files in a folder. Hidden files and those with an unknown extension are left out."""
    files: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += [Path(parent, name) for name in names if not name.startswith(".")]
    if not files:
        raise SourceError(f"{folder}: the folder contains no files; check the path")
    for source in _known(sorted(files, key=os.fsencode), str(folder), reading):
        yield replace(source, base=folder, name=_folder_name(folder)) if source.format.folder_is_one else source


def _refuse(error: OSError) -> None:
    raise SourceError(f"{error.filename}: cannot be read: {error.strerror}; check its permissions") from error


def _known(files: list[Path], named: str, reading: Reading) -> Iterator[Source]:
    lost = [path for path in files if _leads_nowhere(path)]
    files = [path for path in files if path not in lost]
    if lost:
        shown = ", ".join(path.name for path in lost[:_SHOWN]) + (" …" if len(lost) > _SHOWN else "")
        links = plural(len(lost), "symbolic link that leads nowhere is", "symbolic links that lead nowhere are")
        _log.warning("%s: %s skipped: %s", named, links, shown)
    sources = [source for path in files if (source := _source(path, reading))]
    if not sources:
        if lost and not files:
            raise SourceError(f"{named}: contains nothing but symbolic links that lead nowhere; check the path")
        raise _unknown(named)
    if len(sources) < len(files):
        strange = plural(len(files) - len(sources), "file of an unknown format is", "files of an unknown format are")
        _log.warning("%s: %s skipped", named, strange)
    yield from sources


def _leads_nowhere(path: Path) -> bool:
    """Whether this is a link to a file that is gone, or to itself, perhaps through others."""
    if not path.is_symlink():
        return False
    try:
        path.stat()
    except OSError as error:
        return error.errno in {errno.ENOENT, errno.ELOOP}
    return False


def _source(path: Path, reading: Reading) -> Source | None:
    stem, named, _ = split_name(path.name)
    chosen = reading.format or named
    if chosen is None:
        return None
    name = Path(stem).stem if reading.format and named is None else stem
    try:
        size = path.stat().st_size if path.is_file() else 0
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}") from error
    return Source(readable(name or path.name), path, reading.format_named(chosen), size, None, reading.most_text)


def _share_folder_names(sources: list[Source]) -> list[Source]:
    """Group text files that were named one by one or by a pattern: those of one folder are one source."""
    texts = Counter(map(_own_folder, sources))
    return [
        replace(source, name=_folder_name(folder), base=folder)
        if (folder := _own_folder(source)) and texts[folder] > 1
        else source
        for source in sources
    ]


def _own_folder(source: Source) -> Path | None:
    """Return the folder of a text file that was not found through its folder."""
    return source.path.parent if source.path and source.base is None and source.format.folder_is_one else None


def _folder_name(folder: Path) -> str:
    return readable(folder.resolve().name or "text")


def _identity(source: Source) -> tuple[str, str]:
    """Return the identity of a source. Files in one folder of texts are one source, as are parts of a collection."""
    if source.collection:
        return "collection", source.collection
    if source.base is not None:
        return "folder", str(source.base.resolve())
    return "file", str(source.path)


def _with_distinct_names(sources: list[Source]) -> list[Source]:
    """Give sources of one name the names of their folders too, below the deepest one that they have in common."""
    by_name: dict[str, dict[tuple[str, str], Source]] = {}
    for source in sources:
        by_name.setdefault(source.name, {}).setdefault(_identity(source), source)
    longer: dict[tuple[str, str], str] = {}
    for name, alike in by_name.items():
        if len(alike) == 1:
            continue
        held = {identity: source.base or source.path for identity, source in alike.items()}
        paths = {identity: Path(os.path.abspath(path)) for identity, path in held.items() if path}  # noqa: PTH100
        common = os.path.commonpath([path.parent for path in paths.values()]) if len(paths) == len(alike) else ""
        below = {identity: path.parent.relative_to(common) / name for identity, path in paths.items() if common}
        below = {identity: path for identity, path in below.items() if not alike[identity].collection}
        if len({name, *map(str, below.values())}) <= len(below):  # in one folder, with different endings
            below = {identity: paths[identity].relative_to(common) for identity in below}
        if not below:
            one, two = ([source.path or STDIN for source in alike.values()])[:2]
            raise UsageError(f"two sources are named {name!r}: {one} and {two}; rename one")
        longer |= {identity: readable(path.as_posix()) for identity, path in below.items()}
    return [replace(source, name=longer.get(_identity(source), source.name)) for source in sources]


def _unknown(named: str) -> UsageError:
    return UsageError(f"{named}: cannot detect the format from the name; {_GIVE_FORMAT}")


SPAN_BYTES = 64 * 2**20
"""Size of a span, as it lies on disk."""


def split(source: Source) -> list[Source]:
    """Return a source as spans of about `SPAN_BYTES`, in order; the source itself if it cannot be split.

    A span may begin where a stream of the compressed file does, if the format lets one begin with what is there.
    """
    path, count = source.path, source.size // SPAN_BYTES
    compression = None if path is None else compression_of(path.suffix)
    if path is None or compression is None or count < 2:
        return [source]
    first, seams = b"", [Span(0)]
    for place in compression.seams(path, [source.size * part // count for part in range(1, count)]):
        first = first or first_bytes(path)
        around = source.format.seam(first, first_bytes(path, place))
        if around is not None:
            seams[-1] = seams[-1]._replace(end=place, after=around[1])
            seams.append(Span(place, before=around[0]))
    if len(seams) == 1:
        return [source]
    ends = [two.begin - one.begin for one, two in pairwise([*seams, Span(source.size)])]
    return [replace(source, span=span, size=size) for span, size in zip(seams, ends, strict=True)]
