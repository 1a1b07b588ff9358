# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""An image from an archive on a node: whether it is there, importing it, and removing it if we imported it.

Whether it is there says the CRI of the runtime that kubelet uses. Its id is the digest of the image's configuration,
which names the content of every layer, so that name and id together are what the archive says.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, dataclass
from typing import Any, Sequence

from ..cri.image_client import Image, ImageClient, ImageUse, with_digest_type
from ..cri.runtime_client import socket_path
from ..errors import ColocationError
from ..host import Clock, CommandResult, Host
from ..snapshot.file_evidence import describe
from ..snapshot.immutable_systems import IMAGES, require_changeable
from ..snapshot.process_evidence import scan_processes
from ..snapshot.runtime_evidence import kubelets_endpoint
from ..snapshot.runtime_files import CONTAINERD_PROGRAMS, containerd_program, sort_by_endpoint
from ..state import image_record
from ..state.image_record import ImportedImage
from ..state.node_lock import hold, require_node_lock
from ..state.store import Store

CONTAINERD = "containerd"
MANUAL_COMMANDS = {
    "cri-o": "skopeo copy oci-archive:FILE containers-storage:{name}",
    "docker": "docker load --input FILE",
}
"""What those who know these runtimes load an archive with; nobody tried it for us."""

ARCHITECTURES = {
    "x86_64": "amd64",
    "aarch64": "arm64",
    "armv7l": "arm",
    "armv6l": "arm",
    "i686": "386",
    "loongarch64": "loong64",
}
"""As images name them (GOARCH) by uname(2)'s machine, where both differ: containerd/platforms normalizeArch."""


@dataclass(frozen=True)
class Runtime:
    """``socket`` is the path that kubelet was given, ``ctr`` the program beside containerd, empty where none is."""

    socket: str
    name: str
    ctr: str

    def client(self, host: Host) -> ImageClient:
        return ImageClient(host.real_path(self.socket))

    def importer(self, image: str) -> str:
        """The program that imports; ColocationError where this runtime has none that we would start."""
        if self.name != CONTAINERD:
            hand = MANUAL_COMMANDS.get(self.name, "its own program").format(name=image)
            raise ColocationError(
                f"kubelet uses {self.name}, and archives are imported into containerd only",
                f"Nothing was changed. Load the archive on this node by hand ({hand}) and run again: an image that is"
                " there with the right name and id is left as it is",
                self.socket,
            )
        if not self.ctr:
            raise ColocationError(
                "there is no ctr beside containerd, nor in /usr/bin or /usr/local/bin",
                "Nothing was changed. Install it, it is part of every release of containerd",
                self.socket,
            )
        return self.ctr


def find_runtime(host: Host) -> Runtime:
    """The runtime behind kubelet's endpoint; CriFailure when it does not answer."""
    agents = scan_processes(host, None)["agents"]
    endpoint = kubelets_endpoint(host, agents)
    socket = socket_path(endpoint)
    with ImageClient(host.real_path(socket)) as client:
        name = client.version().runtime_name
    processes = sort_by_endpoint(host, agents.get(CONTAINERD, []), endpoint)
    program = containerd_program(host, processes[0]["argv"] if processes else [])
    beside = [program] if program else []
    found = (os.path.join(os.path.dirname(each), "ctr") for each in (*beside, *CONTAINERD_PROGRAMS[:2]))
    ctr = next((each for each in found if describe(host, each)["kind"] in ("regular", "symlink")), "")
    return Runtime(socket, name, ctr)


def image_architecture(machine: str) -> str:
    """Of uname(2)'s machine, the name that images give it."""
    return ARCHITECTURES.get(machine, machine)


NAMESPACE = "k8s.io"
"""Where containerd's CRI keeps images: internal/cri/constants K8sContainerdNamespace."""
IMPORT_SECONDS = 900.0
EVENT_SECONDS = 30.0
"""containerd's CRI hears of a new image by an event: internal/cri/server/events.go."""
PAUSE = 0.5
CHUNK = 1 << 20
HOLDER = "an image of the Volcano agent"


@dataclass(frozen=True)
class DesiredImage:
    """A name and the ids that this node may have under it: those of its architecture."""

    name: str
    ids: tuple[str, ...]

    def fits(self, found: Image | None) -> bool:
        return found is not None and found.id in self.ids and self.name in found.tags


@dataclass(frozen=True)
class RemainingImage:
    """An image that we imported and that stays for now; ``container`` is the id of one that uses it, if one does."""

    name: str
    id: str
    reason: str
    container: str = ""


def desired_image(name: str, holds: Sequence[dict[str, str]], architecture: str) -> DesiredImage:
    """What a node of this architecture is to have; ColocationError where the archive has nothing for it."""
    ids = tuple(each["id"] for each in holds if each["architecture"] == architecture)
    if not ids:
        has = ", ".join(sorted({each["architecture"] for each in holds})) or "none"
        raise ColocationError(
            f"this node is {architecture}, and the archive holds {name} for {has}",
            "Nothing was changed. Save an image for it too (skopeo copy --all), or exclude this node",
        )
    return DesiredImage(name, ids)


def find_image(host: Host, runtime: Runtime, image: DesiredImage) -> Image | None:
    """What is there under the name; None for nothing. ColocationError where it would have to be imported and cannot."""
    with runtime.client(host) as client:
        found = client.image(image.name)
    if not image.fits(found):
        runtime.importer(image.name)
    return found


def import_image(host: Host, runtime: Runtime, image: DesiredImage, archive: str, sha256: str, clock: Clock) -> Image:
    """Import the archive, which lies on this node, and have the CRI say that its image is there."""
    ctr = runtime.importer(image.name)
    if file_sha256(archive) != sha256:
        raise ColocationError(
            "it is not the file that was read on the controller", "Nothing was imported. Run this again", archive
        )
    with hold(Store(host).lock_path, HOLDER), runtime.client(host) as client:
        before = image_record.load(host)
        # Known before it is there, so that a cut does not leave an image that nobody takes away.
        ours = tuple(ImportedImage(image.name, each) for each in image.ids)
        image_record.save(host, (*(each for each in before if each not in ours), *ours))
        where = (ctr, "--address", runtime.socket, "--namespace", NAMESPACE)
        base = image.name.rpartition(":")[0]
        answer = host.run([*where, "images", "import", "--base-name", base, archive], IMPORT_SECONDS)
        if answer.rc != 0:
            image_record.save(host, before)
            raise _import_error(answer, image)
        found = _wait_for_image(client, image, clock)
        image_record.save(host, (*(each for each in before if each not in ours), ImportedImage(image.name, found.id)))
    return found


def _import_error(answer: CommandResult, image: DesiredImage) -> ColocationError:
    lines = answer.stderr.strip().splitlines()
    return ColocationError(
        f"{answer.argv[0]} could not import {image.name}: {lines[-1] if lines else 'it gave no reason'}",
        "See the log of containerd and the free space below its root, then run again",
    )


def _wait_for_image(client: ImageClient, image: DesiredImage, clock: Clock) -> Image:
    deadline = clock.monotonic() + EVENT_SECONDS
    while True:
        found = client.image(image.name)
        if found is not None and image.fits(found):
            return found
        if clock.monotonic() >= deadline:
            has = f"has the id {found.id}" if found else "is not there"
            raise ColocationError(
                f"ctr imported the archive, and after {EVENT_SECONDS:g} s {image.name} {has} by the CRI's word,"
                f" in place of {' or '.join(image.ids)}",
                f"Compare with ctr --namespace {NAMESPACE} images ls, and run again",
            )
        clock.sleep(PAUSE)


def plan_removal(
    host: Host, runtime: Runtime, entries: Sequence[ImportedImage], leaving: Sequence[str] = ()
) -> tuple[list[ImportedImage], list[RemainingImage]]:
    """(entries to be dropped, with or without an image that goes; what stays and why) of what we imported.

    ``leaving``: names of containers that will have gone by then.
    """
    gone, kept = [], []
    with runtime.client(host) as client:
        uses = [each for each in client.uses() if each.name not in leaving]
        for entry in entries:
            stays = _reason_to_keep(entry, client.image(entry.name), uses)
            if stays:
                kept.append(stays)
            else:
                gone.append(entry)
    return gone, kept


def _reason_to_keep(entry: ImportedImage, found: Image | None, uses: Sequence[ImageUse]) -> RemainingImage | None:
    """Why an image that we imported has to stay; None where it may go, or went."""
    if found is None or found.id != entry.id:
        return None
    for use in uses:
        if {entry.name, entry.id} & {*use.images, *map(with_digest_type, use.images)}:
            reason = f"the container {use.name} ({use.container[:12]}) uses it"
            return RemainingImage(entry.name, entry.id, reason, use.container)
    others = [each for each in (*found.tags, *found.digests) if each != entry.name]
    return RemainingImage(entry.name, entry.id, f"somebody gave it another name, {others[0]}") if others else None


def remove_images(host: Host, runtime: Runtime) -> tuple[list[ImportedImage], list[RemainingImage]]:
    """Take away what we imported and nobody uses: as ``plan_removal`` says, checked again under the lock."""
    with hold(Store(host).lock_path, HOLDER):
        entries = image_record.load(host)
        gone, kept = plan_removal(host, runtime, entries)
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


def ensure_present(host: Host, given: dict[str, Any], machine: str, clock: Clock) -> dict[str, Any]:
    """Look, and import ``archive``, a file of this node, if there is one and it is needed."""
    wanted = desired_image(given["image"], given["images"], image_architecture(machine))
    used = find_runtime(host)
    found = find_image(host, used, wanted)
    needed = not wanted.fits(found)
    before = found.id if found else ""
    after = wanted.ids[0] if needed else before
    if needed:
        require_changeable(host, IMAGES)
        image_record.load(host)
        require_node_lock(host)
    if needed and given["archive"]:
        after = import_image(host, used, wanted, given["archive"], given["sha256"], clock).id
    return {
        "changed": needed,
        "import_required": needed,
        "runtime": used.name,
        "image": {"name": wanted.name, "id": after, "before": before},
        "diff": _diff(wanted.name, before, after),
    }


def ensure_absent(host: Host, leaving: list[str], *, check: bool) -> dict[str, Any]:
    """Take away what is noted, or tell what would go once the containers that are ``leaving`` have ended."""
    entries = image_record.load(host)
    if not entries:
        return {"changed": False, "removed": [], "remaining": []}
    used = find_runtime(host)
    gone, kept = plan_removal(host, used, entries, leaving) if check else remove_images(host, used)
    names = "".join(f"{each.name} {each.id}\n" for each in gone)
    return {
        "changed": bool(gone),
        "removed": [each.name for each in gone],
        "remaining": [asdict(each) for each in kept],
        "diff": {"before_header": "images", "after_header": "images", "before": names, "after": ""},
    }


def _diff(name: str, before: str, after: str) -> dict[str, str]:
    sides = {side: f"{name} {each}\n" if each else "" for side, each in (("before", before), ("after", after))}
    return {"before_header": "images", "after_header": "images", **sides}
