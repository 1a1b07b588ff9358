# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values that kubelet does not accept, so that it does not start, and values that open its read-only port.

Source: pkg/kubelet/apis/config/validation/validation.go of 1.35 and 1.37; other releases are checked as the nearest.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from ..facts.config_file import as_missing, value_at
from ..facts.kubelet_accepted_values import (
    DEFAULT_QUOTA_PERIOD,
    NEEDED_GATES,
    accepted_words,
    bounds_of,
    gate_default,
    nearest_release,
    number_in,
    unused_field,
)
from ..facts.kubelet_layers import dropins_read, effective_setting, is_unset, render_value
from ..facts.kubelet_state import Setting
from ..facts.node_state import NodeFacts
from ..profile.kubelet_fields import CGROUP_ROOT, FEATURE_GATES, MEMORY_THROTTLING_FACTOR, READ_ONLY_PORT
from ..releases.kubelet_generated import FIELD_KINDS
from ..releases.versions import Version, minor
from .evidence import is_true, quote_claims, quote_value, table, value
from .rule_types import Effect, Finding, Severity, start_failure

DEFAULT_AGE = 120_000


class _Values:
    """The fields of a node by path; a field that this kubelet does not have is not set."""

    def __init__(self, facts: NodeFacts, version: Version) -> None:
        self.facts, self.version = facts, version
        self._kinds = FIELD_KINDS[nearest_release(version)]
        self._settings: dict[str, Setting | None] = {}

    def setting(self, path: str) -> Setting | None:
        """The setting of the top-level field."""
        key = path.split(".", 1)[0]
        if key not in self._settings:
            kubelet = self.facts.kubelet
            dropins = kubelet.dropins if dropins_read(self.version, kubelet.start) else ()
            main = as_missing(kubelet.config) if kubelet.runs_without_file else kubelet.config
            setting = effective_setting(unused_field(key), main, dropins, kubelet.start.running, self.version)
            self._settings[key] = setting if key in self._kinds else None
        return self._settings[key]

    def of(self, path: str) -> Any:
        """The value; None where it is not set."""
        setting, inner = self.setting(path), tuple(path.split(".")[1:])
        content = None if setting is None else value_at(setting.value, inner) if inner else setting.value
        return None if is_unset(content) else content

    def number(self, path: str) -> float | None:
        """A number, or milliseconds."""
        return number_in(path, self.of(path), self.version)

    def is_duration(self, path: str) -> bool:
        """Whether kubelet's own type of the field is a duration."""
        return self._kinds.get(path) == "duration"

    def describe(self, path: str, reason: str) -> str:
        """A value with its source and the reason against it, as evidence."""
        setting = self.setting(path)
        source = f" ({setting.source})" if setting else ""
        return f"{path} = {render_value(self.of(path))}{source}: {reason}"


def _bounds(values: _Values) -> Iterator[str]:
    port = values.setting("port")
    if port is not None and port.source not in _files(values.facts) and values.number("port") == 0:
        yield values.describe("port", "a flag cannot select the default")
    for path, (least, greatest) in bounds_of(values.version).items():
        number = values.number(path)
        if number is None or ((least is None or number >= least) and (greatest is None or number <= greatest)):
            continue
        unit = " ms" if values.is_duration(path) else ""
        parts = (("at least", least), ("at most", greatest))
        yield values.describe(
            path,
            "kubelet accepts " + " and ".join(f"{word} {bound}{unit}" for word, bound in parts if bound is not None),
        )


def _files(facts: NodeFacts) -> set[str]:
    """The files, in which 0 selects the default; kubelet sets defaults before it reads flags."""
    return {config.path for config in (facts.kubelet.config, *facts.kubelet.dropins)}


def _words(values: _Values) -> Iterator[str]:
    for path, words in accepted_words(values.version).items():
        word = values.of(path)
        if isinstance(word, str) and word not in words:
            yield values.describe(path, f"kubelet accepts {' or '.join(filter(None, words))}")


def _gate(values: _Values, name: str) -> bool | None:
    """Whether a gate is on; None where that is not known."""
    gates = table(values.facts, FEATURE_GATES.key)
    if name in gates:
        return is_true(gates[name])
    return None if {"AllAlpha", "AllBeta"} & set(gates) else gate_default(name, values.version)


def _gates(values: _Values) -> Iterator[str]:
    for path, name in NEEDED_GATES.items():
        content = values.of(path)
        period = values.number(path) if values.is_duration(path) else None
        unused = content in (None, False, [], {}) or (values.is_duration(path) and period in (None, 0))
        usual = path == "cpuCFSQuotaPeriod" and period == DEFAULT_QUOTA_PERIOD
        if not unused and not usual and _gate(values, name) is False:
            yield values.describe(path, f"it needs the feature gate {name}")


def _together(values: _Values) -> Iterator[str]:
    """Fields that contradict each other."""
    low, high = values.number("imageGCLowThresholdPercent"), values.number("imageGCHighThresholdPercent")
    if low is not None and high is not None and low >= high:
        yield values.describe("imageGCLowThresholdPercent", f"it is not below imageGCHighThresholdPercent, {high:.0f}")
    # If serializeImagePulls is not set, kubelet uses false in this case.
    if (values.number("maxParallelImagePulls") or 0) > 1 and is_true(values.of("serializeImagePulls")):
        yield values.describe("maxParallelImagePulls", "more than 1 needs serializeImagePulls: false")
    # 0 selects the default: SetDefaults_KubeletConfiguration replaces it with 2m.
    oldest, youngest = values.number("imageMaximumGCAge") or 0, values.number("imageMinimumGCAge") or DEFAULT_AGE
    if 0 < oldest <= youngest:
        yield values.describe("imageMaximumGCAge", "it is not above imageMinimumGCAge")
    if values.of("systemCgroups") and not value(values.facts, CGROUP_ROOT.key):
        yield values.describe("systemCgroups", "it needs cgroupRoot")
    if is_true(values.of("runOnce")):
        yield values.describe("runOnce", "kubelet no longer has this mode")
    if is_true(values.of("enableSystemLogQuery")) and not is_true(values.of("enableSystemLogHandler")):
        yield values.describe("enableSystemLogQuery", "it needs enableSystemLogHandler: true")


def _shutdown(values: _Values) -> Iterator[str]:
    whole, critical = values.number("shutdownGracePeriod") or 0, values.number("shutdownGracePeriodCriticalPods") or 0
    if critical > whole:
        yield values.describe("shutdownGracePeriodCriticalPods", "it is above shutdownGracePeriod")
    for path, period in (("shutdownGracePeriod", whole), ("shutdownGracePeriodCriticalPods", critical)):
        if 0 < period < 1000:
            yield values.describe(path, "it is below 1s and not 0s")
    if values.of("shutdownGracePeriodByPodPriority") and (whole > 0 or critical > 0):
        yield values.describe("shutdownGracePeriodByPodPriority", "it excludes shutdownGracePeriod")


def _formats(values: _Values) -> Iterator[str]:
    path, setting = values.of("podLogsDir"), values.setting("podLogsDir")
    # loadConfigFile resolves a relative path in the main file against the directory of that file.
    of_main = setting is not None and setting.source == values.facts.kubelet.config.path
    if isinstance(path, str) and not (path.isascii() and (_is_clean(path) or (of_main and path[0] != "/"))):
        yield values.describe("podLogsDir", "kubelet accepts an absolute path in ASCII without ., .. and //")
    ids = values.number("userNamespaces.idsPerPod")
    if ids is not None and ids % 65536:
        yield values.describe("userNamespaces.idsPerPod", "kubelet accepts a multiple of 65536")


def _is_clean(path: str) -> bool:
    """Whether Go's filepath.Clean does not change the path; Python's normpath keeps two slashes at the start."""
    return path.startswith("/") and posixpath.normpath(path) == path and not path.startswith("//")


def unused_field_refused(facts: NodeFacts) -> Iterator[Finding]:
    version = minor(facts.kubelet.version)
    if version is None or not facts.kubelet.installed:
        return
    values = _Values(facts, version)
    rules = (_bounds, _words, _gates, _together, _shutdown, _formats)
    reasons = tuple(reason for rule in rules for reason in rule(values))
    if reasons:
        yield start_failure(
            "kubelet-value-refused",
            f"kubelet does not start: it rejects {len(reasons)} value(s) of fields that this collection does not set.",
            reasons,
            "Correct each value or delete it.",
        )


def _number(content: Any) -> float | None:
    """A number; None for a value that another rule checks."""
    if isinstance(content, bool) or not isinstance(content, (int, float, str)):
        return None
    try:
        return float(content)
    except ValueError:
        return None


def value_out_of_range(facts: NodeFacts) -> Iterator[Finding]:
    port = _number(value(facts, READ_ONLY_PORT.key))
    factor = _number(value(facts, MEMORY_THROTTLING_FACTOR.key))
    reasons = []
    if port is not None and not 0 <= port <= 65535:
        reasons.append((READ_ONLY_PORT, "not a port from 0 to 65535"))
    if factor is not None and not 0 < factor <= 1:
        reasons.append((MEMORY_THROTTLING_FACTOR, "not greater than 0 and at most 1"))
    for field, reason in reasons:
        yield start_failure(
            "value-out-of-range",
            f"{field.key} is {reason}; kubelet does not start with it.",
            quote_claims(facts, field.key),
            "Correct the value or delete it.",
        )


_PORT = re.compile(r"[1-9][0-9]{0,4}")


def read_only_port_open(facts: NodeFacts) -> Iterator[Finding]:
    """pkg/kubelet/server: InstallDefaultHandlers without authentication, on every address that kubelet listens on."""
    port = str(value(facts, READ_ONLY_PORT.key))
    if _PORT.fullmatch(port):
        yield Finding(
            "read-only-port-open",
            Severity.WARNING,
            Effect.NONE,
            f"kubelet's read-only port {port} shows its pods and their environment variables without authentication.",
            (quote_value(facts, READ_ONLY_PORT.key),),
            "Set readOnlyPort: 0 unless an agent needs the port; then restrict it to the node with a firewall.",
        )
