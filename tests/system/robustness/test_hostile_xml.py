"""XML that defines entities or points elsewhere: refused in one line, nothing fetched, no memory taken."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import said
from tests.support.sources import export, page, revision
from tests.system.robustness.helpers import child, one_line, only_line

LOLS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 13))
LAUGHS = f'<!ENTITY l0 "lol">{LOLS}'
SECRET = "the secret of the mill"
GROWTH_MIB = 64

# commands one after another in one process, after a first that warms up: what each says, and the growth of the peak
MEASURE = """
import contextlib, io, json, sys
from esdedup.cli import main
from tests.support.memory import peak_mib

answers = []
for path in sys.argv[1:]:
    err = io.StringIO()
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
            main(["index", path, "--store", path + ".duckdb"])
    except SystemExit as end:
        answers.append((end.code, err.getvalue(), peak_mib()))
print(json.dumps(answers))
"""


@pytest.fixture
def requests() -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and what was asked of it."""
    asked: list[str] = []

    class Recorder(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(SECRET.encode())

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, format: str, *_: object) -> None:
            del format

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


def dump(text: str = "&l12;", attribute: str = "") -> str:
    return export(page(1, "One", revision(1, text))).decode().replace("<mediawiki ", f"<mediawiki {attribute}")


def with_subset(subset: str, body: str | None = None) -> str:
    return f"<?xml version='1.0'?>\n<!-- a dump -->\n<!DOCTYPE mediawiki [{subset}]>\n{body or dump()}"


def attacks(folder: Path, address: str) -> dict[str, bytes]:
    (folder / "secret").write_text(SECRET)
    file = (folder / "secret").as_uri()
    texts = {
        "laughs": with_subset(LAUGHS),
        "laughs in an attribute": with_subset(LAUGHS, dump("a", 'a="&l12;" ')),
        "quadratic": with_subset(f'<!ENTITY l12 "{"x" * 100_000}">', dump("&l12;" * 20_000)),
        "file": with_subset(f'<!ENTITY l12 SYSTEM "{file}">'),
        "http": with_subset(f'<!ENTITY l12 SYSTEM "{address}/entity">'),
        "parameter entity": with_subset(f'<!ENTITY % l12 SYSTEM "{address}/parameter">%l12;'),
        "outer subset": f'<!DOCTYPE mediawiki SYSTEM "{address}/dtd">{dump()}',
        "public subset": f'<!DOCTYPE mediawiki PUBLIC "-//W3C//DTD" "{address}/dtd">{dump()}',
        "fragment": f"<!DOCTYPE page [{LAUGHS}]>{page(1, 'One', revision(1, '&l12;'))}",
        "late": f"<!--{'x' * 1_500_000}--><!DOCTYPE mediawiki [{LAUGHS}]>{dump()}",
    }
    encoded = {name: text.encode() for name, text in texts.items()}
    for encoding in ("utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-le"):
        encoded[f"laughs in an attribute, {encoding}"] = texts["laughs in an attribute"].encode(encoding)
    return encoded


def test_entities_are_refused_and_nothing_is_fetched(tmp_path: Path, requests: tuple[str, list[str]]) -> None:
    address, asked = requests
    # each case names itself in its file name, so that a failure does
    paths = []
    for name, data in {"harmless": dump("a").encode(), **attacks(tmp_path, address)}.items():
        paths.append(tmp_path / f"{name}.xml")
        paths[-1].write_bytes(data)
    answer = child(*paths, cwd=tmp_path, code=MEASURE)
    assert answer.code == 0, answer.err
    (code, words, base), *answers = json.loads(answer.out)
    assert (code, words) == (0, "")
    for path, (code, words, peak) in zip(paths[1:], answers, strict=True):
        assert code == 1, path
        assert str(path) in only_line(words)
        assert SECRET not in words
        assert peak - base < GROWTH_MIB, path
    assert asked == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_line_says_what_is_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "wiki.xml"
    path.write_bytes(with_subset(LAUGHS, dump("a", 'a="&l12;" ')).encode(encoding))
    assert "has a DOCTYPE, which MediaWiki exports do not have" in one_line(
        said("index", path, "--store", tmp_path / "s.duckdb")
    )


def test_what_only_points_elsewhere_is_not_followed(tmp_path: Path, requests: tuple[str, list[str]]) -> None:
    address, asked = requests
    schema = f'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="{address} {address}/xsd" '
    include = f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{address}/include"/>'
    text = dump("All of it stands here.", schema).replace("<page>", f"{include}<page>")
    path = tmp_path / "wiki.xml"
    path.write_text(f'<?xml-stylesheet type="text/xsl" href="{address}/style"?>{text}')
    answer = said("index", path, "--store", tmp_path / "s.duckdb", "--min-chars", "0")
    assert (answer.code, answer.err) == (0, "")
    assert "1  documents" in answer.out
    assert asked == []
