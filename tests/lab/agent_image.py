# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of Volcano's agent, with the program that the lab builds.

It has what installer/dockerfile/agent/Dockerfile of Volcano installs, except the programs for NetworkQoS. busybox
replaces Alpine's shell and tools.
"""

from __future__ import annotations

import struct

from . import oci
from .cache import Cache
from .program_table import VOLCANO_AGENT, VOLCANO_AGENT_INSTALL
from .programs import Programs, obtain

APPLETS = ("cat", "chmod", "chown", "date", "echo", "env", "id", "mkdir", "sh", "sleep", "touch")

_REVISION_2, _EFFECTIVE, _DAC_OVERRIDE = 0x02000000, 1, 1 << 1
DAC_OVERRIDE = struct.pack("<5I", _REVISION_2 | _EFFECTIVE, _DAC_OVERRIDE, _DAC_OVERRIDE, 0, 0)
"""``setcap cap_dac_override=eip``: the agent's user is not root, and cgroup files are root's."""


def program(cache: Cache, family: str) -> Programs:
    """The agent of a family, built unless the cache has it."""
    return obtain(cache, family, (VOLCANO_AGENT,))


def name(release: str) -> str:
    """The image's name in upstream's registry."""
    return f"docker.io/volcanosh/vc-agent:v{release}"


def archive(agent: Programs, busybox: bytes, capabilities: bytes = DAC_OVERRIDE) -> bytes:
    """An archive for ``ctr images import``."""
    install = agent.file(VOLCANO_AGENT_INSTALL).read_bytes()
    files = (
        oci.File("bin/busybox", busybox),
        oci.File("usr/local/bin/install.sh", install),
        oci.File("vc-agent", agent.path(VOLCANO_AGENT).read_bytes(), capabilities=capabilities),
    )
    links = tuple(oci.Link(f"bin/{applet}", "busybox") for applet in APPLETS)
    return oci.archive([oci.Image((name(agent.release),), files, ("/vc-agent",), links)])
