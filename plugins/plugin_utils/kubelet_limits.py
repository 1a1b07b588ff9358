# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet takes in fields that the collection does not use: bounds, words, and gates that a value needs.

Source: pkg/kubelet/apis/config/validation/validation.go; bounds and words were found by asking kubelet's own code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .kubelet_field_model import FieldType, KubeletField
from .kubelet_gates import is_on
from .kubelet_generated import FIELD_KINDS, GATES, LIMITS, WORDS
from .kubelet_types import is_duration
from .versions import Version

_PARTS = re.compile(r"([0-9]*\.?[0-9]+|[0-9]+\.)(ns|us|µs|μs|ms|s|m|h)")
_UNITS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6}

FLAGS = {
    "containerLogMaxFiles": "--container-log-max-files",
    "cpuCFSQuotaPeriod": "--cpu-cfs-quota-period",
    "eventBurst": "--event-burst",
    "eventRecordQPS": "--event-qps",
    "hairpinMode": "--hairpin-mode",
    "healthzPort": "--healthz-port",
    "imageGCHighThresholdPercent": "--image-gc-high-threshold",
    "imageGCLowThresholdPercent": "--image-gc-low-threshold",
    "imageMinimumGCAge": "--minimum-image-ttl-duration",
    "kubeAPIBurst": "--kube-api-burst",
    "kubeAPIQPS": "--kube-api-qps",
    "maxOpenFiles": "--max-open-files",
    "maxPods": "--max-pods",
    "nodeStatusMaxImages": "--node-status-max-images",
    "oomScoreAdj": "--oom-score-adj",
    "podsPerCore": "--pods-per-core",
    "port": "--port",
    "registryBurst": "--registry-burst",
    "registryPullQPS": "--registry-qps",
    "runOnce": "--runonce",
    "serializeImagePulls": "--serialize-image-pulls",
    "systemCgroups": "--system-cgroups",
}
"""By field; a flag overrides its field in a file."""
DEFAULTS = {
    "imageGCHighThresholdPercent": "85",
    "imageGCLowThresholdPercent": "80",
    "imageMinimumGCAge": "2m0s",
    "enableSystemLogHandler": "true",
}
"""Those that another field is compared with."""
SWITCHES = frozenset(("runOnce", "serializeImagePulls", "serverTLSBootstrap", "enableSystemLogHandler"))
NEEDED_GATES = {
    "cpuCFSQuotaPeriod": "CustomCPUCFSQuotaPeriod",
    "crashLoopBackOff.maxContainerRestartPeriod": "KubeletCrashLoopBackOffMax",
    "defaultPodSysctls": "DefaultPodSysctls",
    "enableSystemLogQuery": "NodeLogQuery",
    "imageMaximumGCAge": "ImageMaximumGCAge",
    "logging.options.json.splitStream": "LoggingAlphaOptions",
    "imagePullCredentialsVerificationPolicy": "KubeletEnsureSecretPulledImages",
    "memorySwap.swapBehavior": "NodeSwap",
    "preloadedImagesVerificationAllowlist": "KubeletEnsureSecretPulledImages",
    "serverTLSBootstrap": "RotateKubeletServerCertificate",
    "shutdownGracePeriod": "GracefulNodeShutdown",
    "shutdownGracePeriodByPodPriority": "GracefulNodeShutdownBasedOnPodPriority",
    "shutdownGracePeriodCriticalPods": "GracefulNodeShutdown",
}
"""By field: the feature gate without which it must not be set."""
USUAL_PERIOD = 100
"""Milliseconds of cpuCFSQuotaPeriod that need no gate."""


def field_of(key: str) -> KubeletField:
    """A field that the collection does not use, in a form that its layers can be asked for."""
    kind = FieldType.SWITCH if key in SWITCHES else FieldType.TEXT
    return KubeletField(key=key, flag=FLAGS.get(key, ""), default=DEFAULTS.get(key), type=kind)


def nearest(version: Version) -> Version:
    """The release whose tables are taken for this one: the oldest for older ones."""
    known = sorted(LIMITS)
    return max((each for each in known if each <= version), default=known[0])


def bounds_of(version: Version) -> Mapping[str, tuple[int | None, int | None]]:
    """The least and the greatest value of each bounded field by its path; of durations in milliseconds."""
    return {path: _bounds(text) for path, text in LIMITS[nearest(version)].items()}


def _bounds(text: str) -> tuple[int | None, int | None]:
    least, _dots, greatest = text.partition("..")
    return (int(least) if least else None, int(greatest) if greatest else None)


def words_of(version: Version) -> Mapping[str, tuple[str, ...]]:
    """The words that a field takes, by its path."""
    return {path: tuple(text.split("|")) for path, text in WORDS[nearest(version)].items()}


def gate_default(name: str, version: Version) -> bool | None:
    """Whether a feature gate is on where nothing sets it; None where this kubelet does not have the gate."""
    known = GATES[nearest(version)].get(name)
    return None if known is None else is_on(known)


def number_in(path: str, value: Any, version: Version) -> float | None:
    """A number, or a duration in milliseconds; None for what another rule judges, or what is not set."""
    if FIELD_KINDS[nearest(version)].get(path) == "duration":
        return milliseconds(value) if isinstance(value, str) and is_duration(value) else None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(int(value, 0)) if isinstance(value, str) else float(value)
    except ValueError:
        return None


def milliseconds(duration: str) -> float:
    """Of a duration that Go takes."""
    amount = sum(float(number) * _UNITS[unit] for number, unit in _PARTS.findall(duration))
    return -amount if duration.startswith("-") else amount
