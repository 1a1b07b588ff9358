# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The container images of a node, a pod sandbox and busybox, built on this machine."""

from __future__ import annotations

from collections.abc import Sequence

from . import oci
from .node_files import PAUSE_IMAGES
from .pods import BUSYBOX_IMAGE

APPLETS = ("cat", "date", "echo", "false", "id", "ls", "ps", "sh", "sleep", "stat", "true", "uname", "wget", "yes")


def archive(pause: bytes, busybox: bytes, sandbox_images: Sequence[str] = ()) -> bytes:
    """An archive for ``ctr images import``; ``sandbox_images`` are additional names of the sandbox image."""
    names = tuple(dict.fromkeys([*PAUSE_IMAGES, *sandbox_images]))
    sandbox = oci.Image(names, (oci.File("pause", pause),), ("/pause",))
    links = tuple(oci.Link(f"bin/{applet}", "busybox") for applet in APPLETS)
    tools = oci.Image((BUSYBOX_IMAGE,), (oci.File("bin/busybox", busybox),), ("/bin/sh",), links)
    return oci.archive([sandbox, tools])
