# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image from an archive on a node: whether it is there, importing it, and taking it away if it is ours.

Whether it is there says the CRI, which kubelet asks as well. Its id is the digest of the image's configuration, which
names the content of every layer, so that name and id together are what the archive says.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Sequence

from ..cri.images import Image, ImageClient, Use, whole
from ..errors import ColocationError
from ..host import CommandResult, Host
from ..transaction.clock import Clock
from ..transaction.lock import hold
from ..transaction.store import Store
from . import image_record
from .image_record import Entry
from .runtime import Runtime

NAMESPACE = "k8s.io"
"""Where containerd's CRI keeps images: internal/cri/constants K8sContainerdNamespace."""
IMPORT_SECONDS = 900.0
TOLD_SECONDS = 30.0
"""containerd's CRI hears of a new image by an event: internal/cri/server/events.go."""
PAUSE = 0.5
CHUNK = 1 << 20
HOLDER = "an image of the Volcano agent"


@dataclass(frozen=True)
class Wanted:
    """A name and the ids that this node may have under it: those of its architecture."""

    name: str
    ids: tuple[str, ...]

    def fits(self, found: Image | None) -> bool:
        return found is not None and found.id in self.ids and self.name in found.tags


@dataclass(frozen=True)
class Kept:
    """An image that we imported and that stays for now; ``container`` is the id of one that uses it, if one does."""

    name: str
    id: str
    reason: str
    container: str = ""


def wanted(name: str, holds: Sequence[dict[str, str]], architecture: str) -> Wanted:
    """What a node of this architecture is to have; ColocationError where the archive has nothing for it."""
    ids = tuple(each["id"] for each in holds if each["architecture"] == architecture)
    if not ids:
        has = ", ".join(sorted({each["architecture"] for each in holds})) or "none"
        raise ColocationError(
            f"this node is {architecture}, and the archive holds {name} for {has}",
            "Nothing was changed. Save an image for it too (skopeo copy --all), or leave this node out",
        )
    return Wanted(name, ids)


def present(host: Host, runtime: Runtime, image: Wanted) -> Image | None:
    """What is there under the name; None for nothing. ColocationError where it would have to be imported and cannot."""
    with runtime.client(host) as client:
        found = client.image(image.name)
    if not image.fits(found):
        runtime.importer(image.name)
    return found


def load(host: Host, runtime: Runtime, image: Wanted, archive: str, sha256: str, clock: Clock) -> Image:
    """Import the archive, which lies on this node, and have the CRI say that its image is there."""
    ctr = runtime.importer(image.name)
    if file_sha256(archive) != sha256:
        raise ColocationError(
            "it is not the file that was read on the controller", "Nothing was imported. Run this again", archive
        )
    with hold(Store(host).lock_path, HOLDER), runtime.client(host) as client:
        before = image_record.load(host)
        # Known before it is there, so that a cut does not leave an image that nobody takes away.
        ours = tuple(Entry(image.name, each) for each in image.ids)
        image_record.save(host, (*(each for each in before if each not in ours), *ours))
        where = (ctr, "--address", runtime.socket, "--namespace", NAMESPACE)
        base = image.name.rpartition(":")[0]
        answer = host.run([*where, "images", "import", "--base-name", base, archive], IMPORT_SECONDS)
        if answer.rc != 0:
            image_record.save(host, before)
            raise _not_imported(answer, image)
        found = _told(client, image, clock)
        image_record.save(host, (*(each for each in before if each not in ours), Entry(image.name, found.id)))
    return found


def _not_imported(answer: CommandResult, image: Wanted) -> ColocationError:
    lines = answer.stderr.strip().splitlines()
    return ColocationError(
        f"{answer.argv[0]} could not import {image.name}: {lines[-1] if lines else 'it gave no reason'}",
        "See the log of containerd and the free space below its root, then run again",
    )


def _told(client: ImageClient, image: Wanted, clock: Clock) -> Image:
    deadline = clock.monotonic() + TOLD_SECONDS
    while True:
        found = client.image(image.name)
        if found is not None and image.fits(found):
            return found
        if clock.monotonic() >= deadline:
            has = f"has the id {found.id}" if found else "is not there"
            raise ColocationError(
                f"ctr imported the archive, and after {TOLD_SECONDS:g} s {image.name} {has} by the CRI's word,"
                f" in place of {' or '.join(image.ids)}",
                f"Compare with ctr --namespace {NAMESPACE} images ls, and run again",
            )
        clock.sleep(PAUSE)


def absent(
    host: Host, runtime: Runtime, entries: Sequence[Entry], leaving: Sequence[str] = ()
) -> tuple[list[Entry], list[Kept]]:
    """(entries to be dropped, with or without an image that goes; what stays and why) of what we imported.

    ``leaving``: names of containers that will have gone by then.
    """
    gone, kept = [], []
    with runtime.client(host) as client:
        uses = [each for each in client.uses() if each.name not in leaving]
        for entry in entries:
            stays = _stays(entry, client.image(entry.name), uses)
            if stays:
                kept.append(stays)
            else:
                gone.append(entry)
    return gone, kept


def _stays(entry: Entry, found: Image | None, uses: Sequence[Use]) -> Kept | None:
    """Why an image that we imported has to stay; None where it may go, or went."""
    if found is None or found.id != entry.id:
        return None
    for use in uses:
        if {entry.name, entry.id} & {*use.images, *map(whole, use.images)}:
            reason = f"the container {use.name} ({use.container[:12]}) uses it"
            return Kept(entry.name, entry.id, reason, use.container)
    others = [each for each in (*found.tags, *found.digests) if each != entry.name]
    return Kept(entry.name, entry.id, f"somebody gave it another name, {others[0]}") if others else None


def remove(host: Host, runtime: Runtime) -> tuple[list[Entry], list[Kept]]:
    """Take away what we imported and nobody uses: as ``absent`` tells, looked at again under the lock."""
    with hold(Store(host).lock_path, HOLDER):
        entries = image_record.load(host)
        gone, kept = absent(host, runtime, entries)
        with runtime.client(host) as client:
            for entry in gone:
                found = client.image(entry.name)
                if found is not None and found.id == entry.id:
                    client.remove_image(entry.id)
        image_record.save(host, [entry for entry in entries if entry not in gone])
    return gone, kept


def file_sha256(path: str) -> str:
    """Of a file that was sent here."""
    found = hashlib.sha256()
    try:
        with open(path, "rb") as stream:
            for chunk in iter(lambda: stream.read(CHUNK), b""):
                found.update(chunk)
    except OSError as error:
        raise ColocationError(f"cannot be read: {error.strerror}", "Run this again", path) from error
    return found.hexdigest()
