# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The typed state of a kubelet. Unknown is None; nothing defaults to cgroupfs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .config_file import ConfigFile, Problem
from .kubeadm_patch_files import KubeadmPatches


@dataclass(frozen=True)
class Flag:
    """A flag with its value as written (None without a value) and its source."""

    name: str
    value: str | None
    source: str


@dataclass(frozen=True)
class Setting:
    """A field's effective value and its source; a merged table names several sources."""

    value: Any
    source: str


@dataclass(frozen=True)
class Start:
    """Flags of the running kubelet and of its next start; ``following`` is None if no unit was recorded.

    ``environment``: flags in the recorded environment files, whether a unit uses them or not;
    ``environment_files``: the type of each of these files. ``unread_dropins``: why some are unknown.
    """

    running: tuple[Flag, ...] = ()
    following: tuple[Flag, ...] | None = None
    config_dir: str | None = None
    config_dir_exists: bool | None = None
    dropin_variable: bool | None = None
    environment: tuple[Flag, ...] = ()
    environment_files: Mapping[str, str] = field(default_factory=dict)
    unread_dropins: Problem | None = None


@dataclass(frozen=True)
class Checkpoint:
    """kubelet's cpu_manager_state, or memory_manager_state, which has no CPUs.

    ``shared`` of its ``cpus`` belong to all pods. ``checksum``: valid, invalid, absent, unverified; None: unreadable.
    ``unread``: why its content is unknown; None if the file was read, and for a damaged one.
    """

    path: str
    exists: bool
    policy: str | None = None
    cpus: frozenset[int] | None = None
    shared: frozenset[int] | None = None
    checksum: str | None = None
    unread: Problem | None = None


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
    """None if kubelet does not run or its health endpoint is disabled."""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    dropins: tuple[ConfigFile, ...] = ()
    runs_without_file: bool = False
    """It runs as a separate process without --config, so it does not read ``config``, even if the file exists."""
    start: Start = field(default_factory=Start)
    memory_checkpoint: Checkpoint | None = None
    configz: Mapping[str, Any] | None = None
    configz_error: str | None = None
    odd_driver_line: int | None = None
    odd_policy_line: int | None = None
    static_pods: tuple[str, ...] | None = None
    """Paths of the files that kubelet reads as static pods; None if they were not recorded."""
    healthz_url: str | None = None
    """Its health endpoint after its next start; None: disabled."""
    kubeadm_patches: KubeadmPatches | None = None
