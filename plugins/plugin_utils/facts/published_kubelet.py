# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The ``kubelet`` section of the published facts."""

from __future__ import annotations

from typing import Any

from ...module_utils.quantity import format_cpu_list
from ..kubelet_fields import FIELDS
from ..redact import redact_argv
from .model import Checkpoint, KubeletFacts
from .published_values import config_file


def _cpus(cpus: frozenset[int] | None) -> str | None:
    return None if cpus is None else format_cpu_list(cpus)


def _checkpoint(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "path": checkpoint.path,
        "exists": checkpoint.exists,
        "policy": checkpoint.policy,
        "cpus": _cpus(checkpoint.cpus),
        "shared_cpus": _cpus(checkpoint.shared),
        "checksum": checkpoint.checksum,
    }


def kubelet_section(kubelet: KubeletFacts) -> dict[str, Any]:
    """Everything of kubelet but the claims, which the document takes from all parts."""
    values = kubelet.config.values
    checkpoints = [kubelet.checkpoint, *([kubelet.memory_checkpoint] if kubelet.memory_checkpoint else [])]
    start = kubelet.start
    return {
        "installed": kubelet.installed,
        "running": kubelet.running,
        "healthy": kubelet.healthy,
        "version": kubelet.version,
        "command_line": redact_argv(list(kubelet.command_line)),
        "config_files": [config_file(each) for each in (kubelet.config, *kubelet.dropins)],
        "config_dir": start.config_dir,
        "config": {field.key: values[field.key] for field in FIELDS if field.key in values},
        "settings": {
            key: {"value": setting.value, "source": setting.source} for key, setting in sorted(kubelet.settings.items())
        },
        "configz": {"answered": kubelet.configz is not None, "error": kubelet.configz_error},
        "cgroup_driver": kubelet.cgroup_driver,
        "cgroup_driver_source": kubelet.cgroup_driver_source,
        "cgroup_driver_authority": kubelet.cgroup_driver_authority,
        "cpu_manager_policy": kubelet.cpu_manager_policy,
        "cpu_manager_policy_source": kubelet.cpu_manager_policy_source,
        "checkpoints": [_checkpoint(each) for each in checkpoints],
    }
