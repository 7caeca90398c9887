"""Software bill of materials of the release files in CycloneDX 1.5: names, versions, licences and checksums."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from tools.package.components import ShippedComponent
from tools.package.tree import PROJECT, VERSION


def document(components: Iterable[ShippedComponent], epoch: int) -> Mapping[str, Any]:
    """Return the complete bill of materials. The same components and date produce the same document."""
    listed = sorted(components, key=lambda component: (component.name.lower(), component.version or ""))
    project = PROJECT["project"]
    product = _entry("application", project["name"], VERSION, project["license"], f"pkg:generic/raidbench@{VERSION}")
    entries = [
        _entry(component.kind, component.name, component.version, component.terms, component.purl) | _source(component)
        for component in listed
    ]
    content = json.dumps([product, entries])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {"timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(), "component": product},
        "components": entries,
    }


def _entry(kind: str, name: str, version: str | None, terms: str, purl: str | None) -> dict[str, Any]:
    licences = [{"expression": terms}] if re.search(" (AND|OR|WITH) ", terms) else [{"license": {"id": terms}}]
    entry = {
        "type": kind,
        "bom-ref": purl or f"within:{name}",
        "name": name,
        "version": version,
        "licenses": licences,
        "purl": purl,
    }
    return {key: value for key, value in entry.items() if value is not None}


def _source(component: ShippedComponent) -> dict[str, Any]:
    """Return the files that a component was made from, with their checksums."""
    if not component.hashes:
        return {}
    hashes = [{"alg": "SHA-256", "content": digest} for digest in component.hashes]
    return {"externalReferences": [{"type": "distribution", "url": component.purl, "hashes": hashes}]}
