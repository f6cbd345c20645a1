"""What a terminal shows of text from a source or a store."""

from __future__ import annotations

import json

from esdedup.terminal import json_line, printable, printable_lines


def test_control_characters_become_spaces() -> None:
    text = "a\x1b[2J\x07b\r\nc\x9bd\u202ee\u2066f\x7f"
    assert printable(text) == "a [2J b  c d e f "
    assert printable_lines(text) == "a [2J b \nc d e f "
    assert printable("Plain text, ütf-8 文字 😀") == "Plain text, ütf-8 文字 😀"


def test_json_loses_nothing_and_controls_nothing() -> None:
    value = {"text": "a\x1b[2J\x9b2Jd\u202ee\u2066f\x7f \u2028 \U000e0041 文字 😀 é"}
    line = json_line(value)
    assert json.loads(line) == value
    assert line.isprintable()
    assert "文字 😀 é" in line
