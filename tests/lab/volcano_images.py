# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of Volcano's scheduler and controllers, each with the program that the lab builds, and their manifest.

The manifest is upstream's without the webhooks: their image also needs kubectl and openssl, for a certificate. The pods
use the node's network, because the lab has no kube-proxy.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from . import oci
from .cache import Cache
from .program_table import VOLCANO, VOLCANO_MANIFEST
from .programs import Programs, obtain

FAMILY = "volcano-1.14"
SCHEDULER, CONTROLLERS, WEBHOOKS = VOLCANO
PROGRAMS = {"volcano-scheduler": SCHEDULER, "volcano-controllers": CONTROLLERS}
"""By Deployment."""
_PORTS = {"volcano-controllers": ("--healthz-address=:11262", "--listen-address=:8091")}
"""Arguments that avoid ports of the scheduler."""


def programs(cache: Cache) -> Programs:
    """The programs, built unless the cache has them."""
    return obtain(cache, FAMILY, VOLCANO)


def write_archives(volcano: Programs, directory: Path) -> dict[str, Path]:
    """Write an archive of each image; their paths by the image's name in upstream's manifest."""
    archives = {}
    for image, program in _images(volcano).items():
        content = oci.Image((image,), (oci.File(program, volcano.path(program).read_bytes()),), (f"/{program}",))
        archives[image] = directory / f"{program}.tar"
        archives[image].write_bytes(oci.archive([content]))
    return archives


def write_manifest(volcano: Programs, path: Path) -> None:
    """Write the manifest, whose images these are."""
    documents = [_on_node_network(document) for document in _documents(volcano) if not _is_of_webhooks(document)]
    path.write_text("".join(f"---\n{json.dumps(document)}\n" for document in documents), encoding="utf-8")


def _documents(volcano: Programs) -> list[dict[str, Any]]:
    text = volcano.file(VOLCANO_MANIFEST).read_text(encoding="utf-8")
    return [document for document in yaml.safe_load_all(text) if document]


def _images(volcano: Programs) -> dict[str, str]:
    """Programs by image."""
    deployments = [document for document in _documents(volcano) if document["metadata"]["name"] in PROGRAMS]
    return {
        _pod(document)["containers"][0]["image"]: PROGRAMS[document["metadata"]["name"]]
        for document in deployments
        if document["kind"] == "Deployment"
    }


def _is_of_webhooks(document: dict[str, Any]) -> bool:
    return "admission" in document["metadata"]["name"]


def _on_node_network(document: dict[str, Any]) -> dict[str, Any]:
    if document["kind"] == "Deployment":
        pod = _pod(document)
        pod["hostNetwork"] = True
        pod["containers"][0]["args"][:0] = _PORTS.get(document["metadata"]["name"], ())
    return document


def _pod(document: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = document["spec"]["template"]["spec"]
    return pod
