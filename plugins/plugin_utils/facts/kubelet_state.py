# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The typed state of a kubelet. Unknown is None; nothing defaults to cgroupfs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .config_file import ConfigFile
from .kubeadm_patch_files import KubeadmPatches


@dataclass(frozen=True)
class Flag:
    """One flag with its value as written, None where none follows, and who wrote it."""

    name: str
    value: str | None
    source: str


@dataclass(frozen=True)
class Setting:
    """A field's value in force, and the source that gives it; several where a table is put together of several."""

    value: Any
    source: str


@dataclass(frozen=True)
class Start:
    """How kubelet was started, and how its unit would start it next; ``following`` is None when no unit was seen.

    ``environment``: what the environment files that were seen hold, whether anybody reads them or not;
    ``environment_files``: what kind of file each of them is. ``incomplete_reason``: why not every drop-in is known.
    """

    running: tuple[Flag, ...] = ()
    following: tuple[Flag, ...] | None = None
    config_dir: str | None = None
    config_dir_exists: bool | None = None
    dropin_variable: bool | None = None
    environment: tuple[Flag, ...] = ()
    environment_files: Mapping[str, str] = field(default_factory=dict)
    incomplete_reason: str | None = None


@dataclass(frozen=True)
class Checkpoint:
    """kubelet's cpu_manager_state, or memory_manager_state, which knows no CPUs.

    ``shared`` of its ``cpus`` belong to all pods. ``checksum``: valid, invalid, absent, unverified; None: unreadable.
    """

    path: str
    exists: bool
    policy: str | None = None
    cpus: frozenset[int] | None = None
    shared: frozenset[int] | None = None
    checksum: str | None = None


@dataclass(frozen=True)
class KubeletFacts:
    installed: bool
    running: bool
    unit_state: str | None
    version: str | None
    command_line: tuple[str, ...]
    config: ConfigFile
    cpu_manager_policy: str | None
    cpu_manager_policy_source: str | None
    checkpoint: Checkpoint
    healthy: bool | None
    """None where it does not run, or answers nowhere for its health."""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    dropins: tuple[ConfigFile, ...] = ()
    start: Start = field(default_factory=Start)
    memory_checkpoint: Checkpoint | None = None
    configz: Mapping[str, Any] | None = None
    configz_error: str | None = None
    odd_driver_line: int | None = None
    odd_policy_line: int | None = None
    static_pods: tuple[str, ...] | None = None
    healthz_url: str | None = None
    """Where it answers for its health after its next start; None: nowhere."""
    """Paths of the files that kubelet takes for pods of its own; None when nobody looked."""
    kubeadm_patches: KubeadmPatches | None = None
