# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence about TuneD: its active profile, and the CPUs from which its profiles keep processes away.

The paths are those of TuneD's tuned/consts.py and profiles/cpu-partitioning. Profiles themselves are not read.
"""

from __future__ import annotations

import re
from typing import Any

from ..host import Host
from .file_evidence import capture

ACTIVE_PROFILE = "/etc/tuned/active_profile"
SYSTEMD_DROP_IN = "/etc/systemd/system.conf.d/00-tuned.conf"
VARIABLES = "/etc/tuned/%s-variables.conf"
_PROFILE_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*\Z")
_LENGTH_LIMIT = 200


def tuned(host: Host) -> dict[str, Any] | None:
    """``{profiles, cpu_affinity, isolated_cores}``; None if TuneD has never had a profile here.

    ``cpu_affinity`` is that of the drop-in, which remains after TuneD is removed. ``isolated_cores`` has the value by
    the file of variables of each active profile, a list of CPUs or a function of TuneD.
    """
    active = capture(host, ACTIVE_PROFILE).get("text")
    affinity = _last_value(capture(host, SYSTEMD_DROP_IN).get("text"), "CPUAffinity")
    if active is None and not affinity:
        return None
    profiles = [name[:_LENGTH_LIMIT] for name in (active or "").split() if _PROFILE_NAME.match(name)]
    paths = [VARIABLES % name for name in profiles]
    isolated = {path: _last_value(capture(host, path).get("text"), "isolated_cores") for path in paths}
    return {
        "profiles": profiles,
        "cpu_affinity": affinity,
        "isolated_cores": {path: value for path, value in isolated.items() if value},
    }


def _last_value(text: str | None, name: str) -> str:
    """The last assignment of ``name`` in a file of assignments; empty if there is none."""
    values = re.findall(r"^[ \t]*%s[ \t]*=[ \t]*([ -~]*?)[ \t]*$" % re.escape(name), text or "", re.MULTILINE)
    return values[-1][:_LENGTH_LIMIT] if values else ""
