# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where containerd keeps the settings we manage, by the schema version of its configuration file.

Source: containerd docs/cri/config.md, docs/NRI.md and pkg/nri/config.go of each release.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

RUNC_TYPES = ("io.containerd.runc.v2", "io.containerd.runc.v1")
DEFAULT_HANDLER = "runc"
DEFAULT_RUNTIME_TYPE = "io.containerd.runc.v2"
NRI_TABLE = ("plugins", "io.containerd.nri.v1.nri")
DEFAULT_NRI_SOCKET = "/var/run/nri/nri.sock"


@dataclass(frozen=True)
class Schema:
    version: int
    cri_table: tuple[str, ...]

    @property
    def runtimes(self) -> tuple[str, ...]:
        """Path of the table that holds one table a handler."""
        return (*self.cri_table, "containerd", "runtimes")


SCHEMAS = {2: Schema(2, ("plugins", "io.containerd.grpc.v1.cri"))}
"""Schema 1 keeps its keys elsewhere, 3 and 4 moved them; a file of those is refused rather than guessed at."""


def release(version: str | None) -> tuple[int, int] | None:
    """(major, minor) of 1.7.24~ds1 or v2.0.1; None for anything else."""
    found = re.match(r"v?(\d+)\.(\d+)", version or "")
    return (int(found[1]), int(found[2])) if found else None


def nri_supported(version: str | None) -> bool | None:
    """NRI 0.2 came with containerd 1.7; None when the version is unknown."""
    known = release(version)
    return None if known is None else known >= (1, 7)


def nri_on_by_default(version: str | None) -> bool:
    """disable = true until 1.7, false from 2.0 on."""
    known = release(version)
    return known is not None and known >= (2, 0)
