"""openapi.json: what FastAPI says of the routes, and for each an example that can be typed."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

from pydantic.json_schema import PydanticJsonSchemaWarning

Described = dict[str, Any]

_ADDRESS = "http://127.0.0.1:8765"  # where `serve` listens by default


def described(make: Callable[[], Described]) -> Described:
    """Return the description of an application that `make` returns, with examples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PydanticJsonSchemaWarning)  # a field that may be missing has no default
        whole = make()
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            source = _curl(path, operation, _body(operation, whole["components"]["schemas"]))
            operation["x-codeSamples"] = [{"lang": "Shell", "label": method.upper(), "source": source}]
    return whole


def _curl(path: str, operation: Described, body: Described | None) -> str:
    """Return a command with what is required, or else the first parameter, as in its example."""
    asked: dict[str, Any] = {}
    for parameter in operation.get("parameters", []):
        example = parameter["schema"]["examples"][0]
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", quote(str(example), safe=""))
        elif parameter["required"] or not asked:
            asked[parameter["name"]] = example
    token = ' -H "Authorization: Bearer $ESDEDUP_SERVE_TOKEN"' if "security" in operation else ""
    sent = "" if body is None else f" -H 'Content-Type: application/json' -d '{json.dumps(body)}'"
    return f"curl -s '{_ADDRESS}{path}{'?' * bool(asked)}{urlencode(asked)}'{token}{sent}"


def _body(operation: Described, schemas: Described) -> Described | None:
    """Return an example of what is posted."""
    if "requestBody" not in operation:
        return None
    name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    return {field: schema["examples"][0] for field, schema in schemas[name]["properties"].items()}
