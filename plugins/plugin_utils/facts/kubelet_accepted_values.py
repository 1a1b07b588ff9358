# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that kubelet does not accept: types of all fields; bounds, words and gates of fields that we do not use.

Source of types: pkg/kubelet/kubeletconfig/util/codec; sigs.k8s.io/yaml converts a text to JSON, which encoding/json
decodes. Source of the rest: pkg/kubelet/apis/config/validation/validation.go; bounds and words are results of running
kubelet's own code.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils.quantity import parse_quantity
from ..profile.field_schema import FieldType, KubeletField
from ..profile.kubelet_fields import OBSERVED
from ..releases.kubelet_features import is_default_on
from ..releases.kubelet_generated import FIELD_KINDS, GATES, LIMITS, WORDS
from ..releases.versions import Version

Path = tuple[str | int, ...]
_DURATION = re.compile(r"[-+]?(?:0|(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_TYPE_NAMES = {
    "string": "a string (a number in quotes is one)",
    "bool": "true or false",
    "duration": "a duration such as 10s",
    "quantity": "a quantity such as 1Gi",
    "list": "a list",
    "table": "a mapping of names to strings (a number in quotes is one)",
    "structure": "a mapping",
    "float64": "a number",
}


@dataclass(frozen=True)
class WrongType:
    """The path of a value in its document, and the type that kubelet expects there."""

    path: Path
    expected: str

    def __str__(self) -> str:
        return f"{render_path(self.path)} is not {self.expected}"


def render_path(path: Path) -> str:
    """``registerWithTaints[0].key``"""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.lstrip(".")


def is_duration(text: str) -> bool:
    """Whether Go's time.ParseDuration accepts a text."""
    return _DURATION.fullmatch(text) is not None


def kinds_of(version: Version | None) -> Mapping[str, str]:
    """The types of fields in the nearest known release: the oldest for older and unknown versions."""
    known = sorted(FIELD_KINDS)
    return FIELD_KINDS[max((release for release in known if version and release <= version), default=known[0])]


def wrong_types(values: Mapping[str, Any], version: Version | None, *, is_json: bool) -> Iterator[WrongType]:
    """All values of the main file with a wrong type. Fields that this kubelet does not know are ignored.

    ``is_json``: the text is JSON and not YAML.
    """
    yield from _find_wrong_types(_known_fields(values, version), "", (), _Kinds(kinds_of(version), is_json=is_json))


def wrong_types_of_dropins(values: Mapping[str, Any], version: Version | None) -> Iterator[WrongType]:
    """The same for the merged drop-ins; kubelet ignores the letter case of their keys."""
    kinds = {name.lower(): kind for name, kind in kinds_of(version).items()}
    yield from _find_wrong_types(_known_fields(values, version), "", (), _Kinds(kinds, folded=True))


def _known_fields(values: Mapping[str, Any], version: Version | None) -> dict[str, Any]:
    unknown = {field.key for field in OBSERVED if version and version < field.since}
    return {key: value for key, value in values.items() if key not in unknown}


@dataclass(frozen=True)
class _Kinds:
    """The kinds by name; if ``folded``, by name in lower case."""

    kinds: Mapping[str, str]
    is_json: bool = False
    folded: bool = False

    def of(self, name: str) -> str | None:
        return self.kinds.get(name.lower() if self.folded else name)

    def takes(self, kind: str, value: Any) -> bool:
        """Whether kubelet accepts the value; also true for a type with a special decoder, which only kubelet has."""
        if self.is_json and kind in _INTEGER_RANGES and isinstance(value, float):
            return False
        check = _CHECKS.get(kind)
        return check is None or check(value)


def _find_wrong_types(value: Any, name: str, path: Path, kinds: _Kinds) -> Iterator[WrongType]:
    kind = kinds.of(name)
    if kind is None:
        yield from _find_non_json(value, path)
    elif value is None:
        # Only metav1.Duration has a special decoder, which reads null as an empty text.
        if kind == "duration":
            yield WrongType(path, _TYPE_NAMES[kind])
    elif not kinds.takes(kind, value):
        yield WrongType(path, _expected_type(kind, name, kinds))
    else:
        for part, inner in _inner_values(kind, value, name):
            yield from _find_wrong_types(value[part], inner, (*path, part), kinds)


def _expected_type(kind: str, name: str, kinds: _Kinds) -> str:
    if kind == "table":
        return {"bool": "a mapping of names to true or false"}.get(kinds.of(name + "{}") or "", _TYPE_NAMES[kind])
    return _TYPE_NAMES.get(kind, "a whole number in the range of its type")


def _inner_values(kind: str, value: Any, name: str) -> Iterator[tuple[str | int, str]]:
    """The keys or positions below a value, with the names of their kinds."""
    if kind == "structure":
        yield from ((key, f"{name}.{key}".lstrip(".")) for key in value)
    elif kind == "table":
        yield from ((key, name + "{}") for key in value)
    elif kind == "list":
        yield from ((number, name + "[]") for number in range(len(value)))


def _find_non_json(value: Any, path: Path) -> Iterator[WrongType]:
    """kubelet does not start with a value that JSON cannot represent, in any field."""
    if isinstance(value, float) and not math.isfinite(value):
        yield WrongType(path, "a finite number")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _find_non_json(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _find_non_json(inner, (*path, number))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(kind: str, value: Any) -> bool:
    """encoding/json accepts 4096, and 4096.0 from YAML, which is converted to 4096 if it is less than 1e21."""
    least, limit = _INTEGER_RANGES[kind]
    if not _is_number(value) or (isinstance(value, float) and not (value.is_integer() and abs(value) < 1e21)):
        return False
    return bool(least <= value < limit)


def _is_quantity(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return False
    try:
        parse_quantity(str(value))
    except ValueError:
        return False
    return True


_INTEGER_RANGES = {
    **{f"int{bits}": (-(1 << (bits - 1)), 1 << (bits - 1)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 1 << bits) for bits in (8, 16, 32, 64)},
}
_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "structure": lambda value: isinstance(value, Mapping),
    "table": lambda value: isinstance(value, Mapping),
    "list": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "duration": lambda value: isinstance(value, str) and is_duration(value),
    "quantity": _is_quantity,
    "float64": _is_number,
    **{kind: functools.partial(_is_whole, kind) for kind in _INTEGER_RANGES},
}


_PARTS = re.compile(r"([0-9]*\.?[0-9]+|[0-9]+\.)(ns|us|µs|μs|ms|s|m|h)")
_UNITS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4, "h": 3.6e6}

UNUSED_FIELD_FLAGS = {
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
UNUSED_FIELD_DEFAULTS = {
    "imageGCHighThresholdPercent": "85",
    "imageGCLowThresholdPercent": "80",
    "imageMinimumGCAge": "2m0s",
    "enableSystemLogHandler": "true",
}
"""Defaults of the fields that another field is compared with."""
BOOLEAN_FIELDS = frozenset(("runOnce", "serializeImagePulls", "serverTLSBootstrap", "enableSystemLogHandler"))
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
"""By field: the feature gate that it requires."""
DEFAULT_QUOTA_PERIOD = 100
"""Milliseconds of cpuCFSQuotaPeriod that need no gate."""


def unused_field(key: str) -> KubeletField:
    """A field that the collection does not use, as a KubeletField for ``effective_setting``."""
    kind = FieldType.SWITCH if key in BOOLEAN_FIELDS else FieldType.TEXT
    return KubeletField(
        key=key, flag=UNUSED_FIELD_FLAGS.get(key, ""), default=UNUSED_FIELD_DEFAULTS.get(key), type=kind
    )


def nearest_release(version: Version) -> Version:
    """The release whose tables are used for this version: the oldest for older versions."""
    known = sorted(LIMITS)
    return max((release for release in known if release <= version), default=known[0])


def bounds_of(version: Version) -> Mapping[str, tuple[int | None, int | None]]:
    """The minimum and maximum of each bounded field by its path; of durations in milliseconds."""
    return {path: _bounds(text) for path, text in LIMITS[nearest_release(version)].items()}


def _bounds(text: str) -> tuple[int | None, int | None]:
    least, _dots, greatest = text.partition("..")
    return (int(least) if least else None, int(greatest) if greatest else None)


def accepted_words(version: Version) -> Mapping[str, tuple[str, ...]]:
    """The words that fields accept, by the path of the field."""
    return {path: tuple(text.split("|")) for path, text in WORDS[nearest_release(version)].items()}


def gate_default(name: str, version: Version) -> bool | None:
    """Whether a feature gate is on by default; None if this kubelet does not have it."""
    known = GATES[nearest_release(version)].get(name)
    return None if known is None else is_default_on(known)


def number_in(path: str, value: Any, version: Version) -> float | None:
    """A number, or a duration in milliseconds; None if it is not set or another rule checks it."""
    if FIELD_KINDS[nearest_release(version)].get(path) == "duration":
        return milliseconds(value) if isinstance(value, str) and is_duration(value) else None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(int(value, 0)) if isinstance(value, str) else float(value)
    except ValueError:
        return None


def milliseconds(duration: str) -> float:
    """The milliseconds of a duration that Go accepts."""
    amount = sum(float(number) * _UNITS[unit] for number, unit in _PARTS.findall(duration))
    return -amount if duration.startswith("-") else amount
