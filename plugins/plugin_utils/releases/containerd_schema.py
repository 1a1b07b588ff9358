# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of the settings that the collection knows, by the schema version of containerd's configuration file.

Source: containerd docs/cri/config.md, docs/NRI.md and pkg/nri/config.go of each release.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .minimum_versions import CONTAINERD_NRI

RUNC_TYPES = ("io.containerd.runc.v2", "io.containerd.runc.v1")
RUNTIME_V1 = "io.containerd.runtime.v1.linux"
DEFAULT_HANDLER = "runc"
DEFAULT_RUNTIME_TYPE = "io.containerd.runc.v2"
NRI_ID = "io.containerd.nri.v1.nri"
NRI_TABLE = ("plugins", NRI_ID)
NRI_PLUGINS = frozenset({"nri", NRI_ID})
"""Names in disabled_plugins that disable NRI, whatever NRI's own table says."""
DEFAULT_NRI_SOCKET = "/var/run/nri/nri.sock"

CRI_V1 = "cri"
CRI_V2 = "io.containerd.grpc.v1.cri"
CRI_V3 = "io.containerd.cri.v1.runtime"
IMAGES_V3 = "io.containerd.cri.v1.images"

CANDIDATES = "@volcano-colocation-candidates@"
"""Placeholder in a candidate's text for the node's directory of candidates (transaction/validation.py)."""

OWN_DROP_IN = "/etc/containerd/conf.d/zz-volcano-colocation.toml"
"""filepath.Glob sorts names and the last file takes precedence: this one overrides NVIDIA toolkit's 99-nvidia.toml."""


@dataclass(frozen=True)
class Schema:
    version: int
    cri_table: tuple[str, ...]
    nri_table: tuple[str, ...] = NRI_TABLE
    sandbox_image: tuple[str, ...] = ("plugins", IMAGES_V3, "pinned_images", "sandbox")

    @property
    def runtimes(self) -> tuple[str, ...]:
        """Path of the table that has a table for each handler."""
        return (*self.cri_table, "containerd", "runtimes")


SCHEMAS = {
    # cmd/containerd/server/config: without ``version`` a plugin's table has its short name.
    1: Schema(1, ("plugins", CRI_V1), ("plugins", "nri"), ("plugins", CRI_V1, "sandbox_image")),
    2: Schema(2, ("plugins", CRI_V2), sandbox_image=("plugins", CRI_V2, "sandbox_image")),
    3: Schema(3, ("plugins", CRI_V3)),
    # 4 moved the server's own listeners (io.containerd.server.v1.*); the CRI tables did not change.
    4: Schema(4, ("plugins", CRI_V3)),
}
NEWEST_SCHEMA = (((2, 3), 4), ((2, 0), 3), ((1, 7), 2))
"""The first release of each newest schema: version/version.go. containerd does not start with a newer schema.
Releases before 1.7 read every schema above 1 as 2.
"""


def parse_release(version: str | None) -> tuple[int, int] | None:
    """(major, minor) of 1.7.24~ds1 or v2.0.1; None for anything else."""
    match = re.match(r"v?(\d+)\.(\d+)", version or "")
    return (int(match[1]), int(match[2])) if match else None


def newest_schema(version: str | None) -> int | None:
    """The newest schema that a containerd of this version reads; None if it is unknown or there is no limit."""
    known = parse_release(version)
    return next((schema for since, schema in NEWEST_SCHEMA if known >= since), None) if known else None


def release_or_first(version: str | None, schema: int | None) -> tuple[int, int]:
    """The release; if unknown, the first whose newest schema is ``schema``, 1.7 if there is none."""
    return parse_release(version) or next((since for since, newest in NEWEST_SCHEMA if newest == schema), (1, 7))


def readable_schemas(version: str | None) -> tuple[int, ...]:
    """Schemas that a containerd of this version reads correctly; of an unknown version, those that all releases do.

    Since 2.0 a file without a version is no longer read as schema 1 (2.0 to 2.2), or only migrated (2.3).
    """
    known = parse_release(version)
    if known is not None and known < (2, 0):
        return (1, 2)
    newest = newest_schema(version) or max(SCHEMAS)
    return tuple(schema for schema in SCHEMAS if 2 <= schema <= newest)


def schema_of_new_file(version: str | None) -> int:
    """The schema of a new file: the newest of the release; if that is unknown, 2, which all releases read."""
    return newest_schema(version) or 2


def cri_plugins(version: str | None, schema: int | None = None) -> frozenset[str]:
    """Names in disabled_plugins that disable the CRI; 2.0 split the plugin in three.

    1.x knows the plugin by one of two names, depending on the schema of the files; without a schema, both count.
    """
    known = parse_release(version)
    if known is not None and known < (2, 0):
        names = {None: (CRI_V1, CRI_V2), 1: (CRI_V1,)}.get(schema, (CRI_V2,))
        return frozenset(names)
    return frozenset({CRI_V1, CRI_V2, CRI_V3, IMAGES_V3})


def nri_plugins(version: str | None, schema: int | None) -> frozenset[str]:
    """Names in disabled_plugins that disable NRI; 2.x migrates the short name to that of another plugin."""
    known = parse_release(version)
    if known is not None and known < (2, 0):
        return frozenset({"nri" if schema == 1 else NRI_ID})
    return frozenset({NRI_ID})


def checks_schema(version: str | None) -> bool:
    """Whether a containerd of this version refuses a schema that is too new for it."""
    known = parse_release(version)
    return known is None or known >= (1, 7)


def dump_is_wrong(version: str | None, schema: int | None) -> bool:
    """Whether the dump is wrong: of an older schema, 2.0.0 to 2.0.5 dump defaults (containerd#11600)."""
    return re.match(r"v?2\.0\.[0-5](?!\d)", version or "") is not None and (schema or 1) < 3


def nri_supported(version: str | None) -> bool | None:
    """Whether this containerd has NRI; None if the version is unknown."""
    known = parse_release(version)
    return None if known is None else known >= CONTAINERD_NRI.minor


def nri_on_by_default(version: str | None) -> bool:
    """Whether NRI is on by default: ``disable`` is true up to 1.7, false since 2.0."""
    known = parse_release(version)
    return known is not None and known >= (2, 0)
