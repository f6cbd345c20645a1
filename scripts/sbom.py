"""The software bill of materials of a release (CycloneDX 1.6): packages of locks/run.txt, hashes and licences."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PIN = re.compile(r"^([\w.-]+)==(\S+?)(?: ; (.*?))?((?: \\\n +--hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)
LICENCES = """
import importlib.metadata as installed, json, re
told = {}
for one in installed.distributions():
    said = one.metadata
    named = [line.rpartition(" :: ")[2] for line in said.get_all("Classifier") or () if line.startswith("License :: ")]
    short = said.get("License") or ""
    told[re.sub("[-_.]+", "-", one.name).lower()] = {
        "expression": said.get("License-Expression"),
        "names": named or [short] * (0 < len(short) < 80),
        "needs": sorted({re.split("[^A-Za-z0-9._-]", line)[0].lower() for line in one.requires or ()}),
    }
print(json.dumps(told))
"""
"""Prints what the packages of an environment say about themselves; for its Python."""


def sbom(version: str, wheel: Path, lock: str, licences: Mapping[str, Any], seconds: int) -> dict[str, Any]:
    """Return the document for a wheel, as of this time: the same for the same wheel."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    components = [_component(*found, licences) for found in PIN.findall(lock)]
    known = {component["name"] for component in components}
    root = f"pkg:pypi/esdedup@{version}"
    references = defaultdict(list, {"esdedup": [root]})  # some have another version for another Python
    for component in components:
        references[component["name"]].append(component["bom-ref"])
    needs = {name: sorted(known & set(licences.get(name, {}).get("needs", ()))) for name in ("esdedup", *sorted(known))}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(seconds, UTC).isoformat(),
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": "esdedup",
                "version": version,
                "purl": root,
                "licenses": [{"expression": "Apache-2.0"}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
            },
        },
        "components": components,
        "dependencies": [
            {"ref": reference, "dependsOn": [other for each in others for other in references[each]]}
            for name, others in needs.items()
            for reference in references[name]
        ],
    }


def _component(name: str, version: str, marker: str, hashes: str, licences: Mapping[str, Any]) -> dict[str, Any]:
    """Return a package: each file of it that may be installed has a hash."""
    said = licences.get(name, {})
    named: list[dict[str, Any]] = [{"license": {"name": each}} for each in said.get("names", ())]
    if said.get("expression"):
        named = [{"expression": said["expression"]}]
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
        "hashes": [{"alg": "SHA-256", "content": each} for each in re.findall("[0-9a-f]{64}", hashes)],
        **({"licenses": named} if named else {}),
        **({"properties": [{"name": "esdedup:marker", "value": marker}]} if marker else {}),
    }
