# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where containerd keeps the settings we know, by the schema version of its configuration file.

Source: containerd docs/cri/config.md, docs/NRI.md and pkg/nri/config.go of each release.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

RUNC_TYPES = ("io.containerd.runc.v2", "io.containerd.runc.v1")
RUNTIME_V1 = "io.containerd.runtime.v1.linux"
DEFAULT_HANDLER = "runc"
DEFAULT_RUNTIME_TYPE = "io.containerd.runc.v2"
NRI_ID = "io.containerd.nri.v1.nri"
NRI_TABLE = ("plugins", NRI_ID)
NRI_PLUGINS = frozenset({"nri", NRI_ID})
"""Names in disabled_plugins that leave containerd without NRI, whatever NRI's own table says."""
DEFAULT_NRI_SOCKET = "/var/run/nri/nri.sock"

CRI_V1 = "cri"
CRI_V2 = "io.containerd.grpc.v1.cri"
CRI_V3 = "io.containerd.cri.v1.runtime"
IMAGES_V3 = "io.containerd.cri.v1.images"

CANDIDATES = "@volcano-colocation-candidates@"
"""Stands in a candidate's text for the folder that the node puts candidates in (transaction/validation.py)."""

OWN_DROP_IN = "/etc/containerd/conf.d/zz-volcano-colocation.toml"
"""filepath.Glob gives names in order, and the last file wins: so it outranks the NVIDIA toolkit's 99-nvidia.toml."""


@dataclass(frozen=True)
class Schema:
    version: int
    cri_table: tuple[str, ...]
    nri_table: tuple[str, ...] = NRI_TABLE
    sandbox_image: tuple[str, ...] = ("plugins", IMAGES_V3, "pinned_images", "sandbox")

    @property
    def runtimes(self) -> tuple[str, ...]:
        """Path of the table that holds one table a handler."""
        return (*self.cri_table, "containerd", "runtimes")


SCHEMAS = {
    # cmd/containerd/server/config: without ``version`` a plugin's table bears its bare name.
    1: Schema(1, ("plugins", CRI_V1), ("plugins", "nri"), ("plugins", CRI_V1, "sandbox_image")),
    2: Schema(2, ("plugins", CRI_V2), sandbox_image=("plugins", CRI_V2, "sandbox_image")),
    3: Schema(3, ("plugins", CRI_V3)),
    # 4 moved what the server itself listens on (io.containerd.server.v1.*); the CRI tables stayed.
    4: Schema(4, ("plugins", CRI_V3)),
}
NEWEST_SCHEMA = (((2, 3), 4), ((2, 0), 3), ((1, 7), 2))
"""The first release of each newest schema: version/version.go; a newer schema keeps containerd from starting.
Releases before 1.7 take every schema above 1 for 2.
"""


def parse_release(version: str | None) -> tuple[int, int] | None:
    """(major, minor) of 1.7.24~ds1 or v2.0.1; None for anything else."""
    match = re.match(r"v?(\d+)\.(\d+)", version or "")
    return (int(match[1]), int(match[2])) if match else None


def newest_schema(version: str | None) -> int | None:
    """The newest schema that a containerd of this version reads; None when it is unknown or any is."""
    known = parse_release(version)
    return next((schema for since, schema in NEWEST_SCHEMA if known >= since), None) if known else None


def release_or_first(version: str | None, schema: int | None) -> tuple[int, int]:
    """The release; of an unknown one the first whose newest schema is ``schema``, 1.7 where none has it."""
    return parse_release(version) or next((since for since, newest in NEWEST_SCHEMA if newest == schema), (1, 7))


def readable_schemas(version: str | None) -> tuple[int, ...]:
    """Schemas that a containerd of this version takes for what they are; of an unknown one, those no release mistakes.

    From 2.0 on a file without a version is no longer read as schema 1 (2.0 to 2.2), or only migrated (2.3).
    """
    known = parse_release(version)
    if known is not None and known < (2, 0):
        return (1, 2)
    newest = newest_schema(version) or max(SCHEMAS)
    return tuple(schema for schema in SCHEMAS if 2 <= schema <= newest)


def schema_of_new_file(version: str | None) -> int:
    """What a new file is written in: the newest schema of the release; 2, which all read, where it is unknown."""
    return newest_schema(version) or 2


def cri_plugins(version: str | None, schema: int | None = None) -> frozenset[str]:
    """Names in disabled_plugins that leave kubelet without a CRI; 2.0 parted the plugin in three.

    1.x knows a plugin by one of its names, by the schema of the files; without one by either.
    """
    known = parse_release(version)
    if known is not None and known < (2, 0):
        names = {None: (CRI_V1, CRI_V2), 1: (CRI_V1,)}.get(schema, (CRI_V2,))
        return frozenset(names)
    return frozenset({CRI_V1, CRI_V2, CRI_V3, IMAGES_V3})


def nri_plugins(version: str | None, schema: int | None) -> frozenset[str]:
    """Names in disabled_plugins that leave containerd without NRI: 2.x makes another plugin's of the bare one."""
    known = parse_release(version)
    if known is not None and known < (2, 0):
        return frozenset({"nri" if schema == 1 else NRI_ID})
    return frozenset({NRI_ID})


def checks_schema(version: str | None) -> bool:
    """Whether a containerd of this version refuses a schema that is too new for it."""
    known = parse_release(version)
    return known is None or known >= (1, 7)


def dump_is_wrong(version: str | None, schema: int | None) -> bool:
    """2.0.0 to 2.0.5 dump defaults in place of what they migrate from an older schema (containerd#11600)."""
    return re.match(r"v?2\.0\.[0-5](?!\d)", version or "") is not None and (schema or 1) < 3


def nri_supported(version: str | None) -> bool | None:
    """NRI 0.2 came with containerd 1.7; None when the version is unknown."""
    known = parse_release(version)
    return None if known is None else known >= (1, 7)


def nri_on_by_default(version: str | None) -> bool:
    """disable = true until 1.7, false from 2.0 on."""
    known = parse_release(version)
    return known is not None and known >= (2, 0)
