"""Datasets of a hub, by its client: against a server that answers as a hub does."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

import esdedup
from esdedup.errors import SourceError, UsageError
from esdedup.formats.remote import protocol, remote_file
from esdedup.formats.remote.remote_path import path_of

ROW = b'{"id":"%d","text":"A text of the hub that stands there twice."}\n'
FILES = {"data/a.jsonl": ROW % 1 + ROW % 2, "data/b.jsonl": ROW % 3}


class _Hub(BaseHTTPRequestHandler):
    tokens: set[str]
    files: dict[str, bytes]

    def do_GET(self) -> None:
        self.tokens.add(self.headers.get("Authorization", ""))
        path = self.path.partition("?")[0]
        if path == "/api/datasets/ann/set":
            return self.answer(200, json.dumps({"id": "ann/set", "sha": "0" * 40}).encode())
        if match := re.fullmatch(r"/api/datasets/ann/set/tree/main/?(.*)", path):
            listed = [self.about(name) for name in self.files if name.startswith(match[1])]
            return self.answer(200, json.dumps(listed).encode()) if listed else self.answer(404, b"{}")
        match = re.fullmatch(r"/datasets/ann/set/resolve/main/(.*)", path)
        if match and match[1] in self.files:
            data = self.files[match[1]]
            asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            if asked is None:
                return self.answer(200, data)
            begin, end = int(asked[1]), int(asked[2]) + 1
            return self.answer(206, data[begin:end], **{"Content-Range": f"bytes {begin}-{end - 1}/{len(data)}"})
        return self.answer(404, b"{}")

    do_HEAD = do_GET  # noqa: N815

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        found = [self.about(name) for name in form["paths"] if name in self.files]
        found += [
            {"type": "directory", "oid": "0", "size": 0, "path": name}
            for name in form["paths"]
            if any(each.startswith(f"{name}/") for each in self.files)
        ]
        self.answer(200 if "/ann/set/" in self.path else 404, json.dumps(found).encode())

    def about(self, name: str) -> dict[str, object]:
        data = self.files[name]
        return {"type": "file", "oid": sha256(data).hexdigest(), "size": len(data), "path": name}

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        more = {"Content-Length": str(len(body)), "ETag": '"abc"', "X-Repo-Commit": "0" * 40}
        for name, value in (more | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Hub]]:
    from huggingface_hub import HfFileSystem

    handler = type("Hub", (_Hub,), {"tokens": set(), "files": dict(FILES)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, args=[0.01], daemon=True).start()
        address = f"http://127.0.0.1:{http.server_port}"
        from esdedup.formats.remote.hub import Hub

        server = Hub()
        server._files = HfFileSystem(endpoint=address, token="hf_5ecret", skip_instance_cache=True)
        monkeypatch.setattr(protocol, "_open", {"hf": server})
        monkeypatch.setattr(remote_file, "BLOCK", 50)
        monkeypatch.setattr(protocol, "WAIT", 0.001)
        try:
            yield handler
        finally:
            http.shutdown()


@pytest.mark.parametrize(
    ("inside", "records"), [("/data/a.jsonl", 2), ("", 3), ("/", 3), ("/data/*.jsonl", 3), ("/data", 3)]
)
def test_files_folders_and_patterns(hub: type[_Hub], inside: str, records: int) -> None:
    done = esdedup.dedupe(f"hf://datasets/ann/set{inside}", dry_run=True)
    assert (done.records["in"], done.records["kept"]) == (records, 1)
    assert hub.tokens <= {"", "Bearer hf_5ecret"}
    with path_of("hf://datasets/ann/set/data/a.jsonl").open("rb") as file:
        assert file.read() == FILES["data/a.jsonl"]


def test_what_is_not_there(hub: type[_Hub]) -> None:
    for address in ("hf://datasets/ann/set/none.jsonl", "hf://datasets/ann/none/a.jsonl"):
        with pytest.raises(SourceError) as refused:
            esdedup.dedupe(address, dry_run=True)
        assert "5ecret" not in str(refused.value)
    with pytest.raises(UsageError, match="use hf://datasets/OWNER/NAME/PATH"):
        esdedup.dedupe("hf://ann/set", dry_run=True)
