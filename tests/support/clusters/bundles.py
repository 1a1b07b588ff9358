# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle as bundle_build writes it, with small archives and without wheels."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.bundle_document import (
    CHECKSUMS,
    DOCUMENT,
    MANIFEST,
    REQUIREMENTS,
    BundledCollection,
    BundledImage,
    BundleDocument,
    BundledVolcano,
    Python,
)
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.bundle_plan import archive_name
from ansible_collections.volcano.colocation.plugins.plugin_utils.bundle.checksums import (
    directory_digests,
    render_checksums,
)
from ansible_collections.volcano.colocation.tests.support.clusters.image_archives import single

AGENT, SCHEDULER = "docker.io/volcanosh/vc-agent:v1.14.1", "docker.io/volcanosh/vc-scheduler:v1.14.0"
COLLECTION = BundledCollection("0.1.0", "collection/volcano-colocation-0.1.0.tar.gz", "1" * 64)
VOLCANO_TEXT = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: volcano-scheduler, namespace: volcano-system}}
spec: {{template: {{spec: {{containers: [{{name: a, image: "{SCHEDULER}"}}]}}}}}}
"""


def document(**changes: object) -> BundleDocument:
    fields: dict[str, object] = {
        "collection": COLLECTION,
        "volcano": BundledVolcano("1.14.1", "2" * 64),
        "agent_image": AGENT,
        "images": tuple(BundledImage(image, archive_name(image), ("amd64",)) for image in (SCHEDULER, AGENT)),
        "python": Python("3.11", "linux-x86_64"),
    }
    return BundleDocument(**{**fields, **changes})  # type: ignore[arg-type]


def write_bundle(directory: Path, described: BundleDocument | None = None) -> BundleDocument:
    """Write a complete bundle; what it describes."""
    described = described or document()
    files = {
        described.collection.file: b"a tarball",
        MANIFEST: VOLCANO_TEXT.encode(),
        REQUIREMENTS: b"kubernetes==35.0.0\n",
        DOCUMENT: described.to_text().encode(),
        **{image.file: single(ref=image.image)[0] for image in described.images},
    }
    for name, content in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    seal(directory)
    return described


def seal(directory: Path) -> None:
    """Write the checksums of the files as they are."""
    (directory / CHECKSUMS).write_text(render_checksums(directory_digests(directory)))


COLLECTION_FILES = {"README.md": b"# Read me\n", "plugins/modules/a.py": b"print()\n"}


def write_collection(root: Path) -> None:
    """Write an installed collection, with a file that is not part of it."""
    directories = [{"name": name, "ftype": "dir"} for name in (".", "plugins", "plugins/modules")]
    files = [
        {"name": name, "ftype": "file", "chksum_sha256": hashlib.sha256(text).hexdigest()}
        for name, text in COLLECTION_FILES.items()
    ]
    listing = json.dumps({"files": [*directories, *files], "format": 1}).encode()
    information = {"namespace": "volcano", "name": "colocation", "version": "0.1.0"}
    digest = hashlib.sha256(listing).hexdigest()
    manifest = {"collection_info": information, "file_manifest_file": {"chksum_sha256": digest}}
    texts = {"MANIFEST.json": json.dumps(manifest).encode(), "FILES.json": listing, **COLLECTION_FILES}
    for name, content in {**texts, "plugins/modules/a.pyc": b"other"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
