"""The options of the presets, for Python: only the command line applies them by name."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def preset(name: str) -> dict[str, Any]:
    text = (resources.files("esdedup") / "presets" / f"{name}.toml").read_text("utf-8")
    return {key.replace("-", "_"): value for key, value in tomllib.loads(text).items() if not isinstance(value, dict)}
