# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bill of materials (SBOM) of a release in CycloneDX: the collection, and what its controller needs."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from ..run.locks import Pin, parse_pins
from .errors import ReleaseError

ANSIBLE = "ansible-core"
"""Ansible installs no packages for a collection, and no collection lists it."""

MARKER = "volcano.colocation:python-marker"
"""The property of a package that only some Pythons or platforms need."""


def render_bill(tarball: Path, galaxy: Mapping[str, Any], requirements: Path, epoch: int) -> str:
    """The bill of a tarball as JSON, validated. ``requirements``: the directory with the lists and locks."""
    digest = hashlib.sha256(tarball.read_bytes()).hexdigest()
    collection = _collection(galaxy, digest)
    components = [_component(pin) for pin in controller_pins(requirements)]
    serial = uuid.uuid5(uuid.NAMESPACE_URL, f"{galaxy['repository']}#{digest}")
    time = datetime.fromtimestamp(epoch, tz=timezone.utc)
    bill = Bom(
        serial_number=serial,
        metadata=BomMetaData(component=collection, timestamp=time),
        components=components,
    )
    direct = [ANSIBLE, *direct_names((requirements / "controller.txt").read_text(encoding="utf-8"))]
    bill.register_dependency(collection, [component for component in components if component.name in direct])
    text = JsonV1Dot6(bill).output_as_string(indent=2)
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ReleaseError(f"the bill of materials does not agree with CycloneDX 1.6: {error}")
    return f"{text}\n"


def controller_pins(requirements: Path) -> Iterable[Pin]:
    """The packages of a controller with the versions that the tests ran with."""
    locks = requirements / "locks"
    development = parse_pins((locks / "dev.txt").read_text(encoding="utf-8"))
    yield from (pin for pin in development if pin.name == ANSIBLE)
    yield from parse_pins((locks / "controller.txt").read_text(encoding="utf-8"))


def direct_names(listed: str) -> list[str]:
    """The names in a list of requirements."""
    return re.findall(r"^([A-Za-z0-9._-]+)", listed, re.MULTILINE)


def _collection(galaxy: Mapping[str, Any], digest: str) -> Component:
    references = {ExternalReferenceType.VCS: "repository", ExternalReferenceType.ISSUE_TRACKER: "issues"}
    name, version = f"{galaxy['namespace']}.{galaxy['name']}", galaxy["version"]
    return Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=version,
        description=galaxy["description"],
        bom_ref=f"{name}@{version}",
        purl=PackageURL("generic", galaxy["namespace"], galaxy["name"], version),
        licenses=[LicenseExpression("GPL-3.0-or-later")],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
        external_references=[ExternalReference(type=kind, url=XsUri(galaxy[key])) for kind, key in references.items()],
    )


def _component(pin: Pin) -> Component:
    purl = PackageURL("pypi", name=pin.name, version=pin.version)
    return Component(
        type=ComponentType.LIBRARY,
        name=pin.name,
        version=pin.version,
        bom_ref=f"{purl}{f'#{pin.marker}' if pin.marker else ''}",
        purl=purl,
        licenses=_licences(pin),
        properties=[Property(name=MARKER, value=pin.marker)] if pin.marker else [],
    )


def _licences(pin: Pin) -> list[LicenseExpression]:
    """The licence that an installed package declares, if this version of it is installed."""
    try:
        declared = metadata.metadata(pin.name)
    except metadata.PackageNotFoundError:
        return []
    if "License-Expression" not in declared or declared["Version"] != pin.version:
        return []
    return [LicenseExpression(declared["License-Expression"])]
