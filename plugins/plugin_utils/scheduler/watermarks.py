# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges of the percentages that decide who gets pods and who loses them, in Volcano and in openFuyao."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..profile.validators import ProfileError
from .conf import Metrics, Usage

VOLCANO = {"cpu_high": 80, "memory_high": 60, "cpu_low": 30, "memory_low": 30}
"""volcano pkg/agent/config/utils, the defaults of evictingConfig."""
OPENFUYAO_DEFAULT, OPENFUYAO_HIGHEST = 60, 99
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+")


@dataclass(frozen=True)
class Watermarks:
    """At which usage in percent an agent begins to evict, and at which it ends; openFuyao has no lower ones."""

    cpu_high: int
    memory_high: int
    cpu_low: int | None = None
    memory_low: int | None = None


def read_watermarks(option: str, given: Mapping[str, int | None], system: str) -> Watermarks:
    """The watermarks of one system, with its defaults; ProfileError for what its agent would not take."""
    chosen = {name: value for name, value in given.items() if value is not None}
    return _volcano(option, chosen) if system == "volcano" else _openfuyao(option, chosen)


def _volcano(option: str, given: Mapping[str, int]) -> Watermarks:
    values = {**VOLCANO, **given}
    for name, value in values.items():
        # The agent's own check has no upper end (pkg/config/api validate.go); above 100 nothing would ever be evicted.
        if not 0 < value <= 100:
            raise ProfileError(f"{option}.{name}", f"{value} is no percentage from 1 to 100")
    for resource in ("cpu", "memory"):
        low, high = values[f"{resource}_low"], values[f"{resource}_high"]
        if low >= high:
            raise ProfileError(
                f"{option}.{resource}_low", f"{low} is not below {resource}_high, {high}: eviction would never end"
            )
    return Watermarks(**values)


def _openfuyao(option: str, given: Mapping[str, int]) -> Watermarks:
    for name in ("cpu_low", "memory_low"):
        if name in given:
            raise ProfileError(f"{option}.{name}", "openFuyao has one watermark a resource: cpu_high, memory_high")
    for name, value in given.items():
        if not 0 <= value <= OPENFUYAO_HIGHEST:
            raise ProfileError(f"{option}.{name}", f"{value} is not from 0 to {OPENFUYAO_HIGHEST}")
    return Watermarks(given.get("cpu_high", OPENFUYAO_DEFAULT), given.get("memory_high", OPENFUYAO_DEFAULT))


def read_usage(option: str, cpu: int, memory: int, *, keep_off: bool) -> Usage:
    """Thresholds of load-aware scheduling, 0 to 100."""
    for name, value in (("cpu", cpu), ("memory", memory)):
        if not 0 <= value <= 100:
            raise ProfileError(f"{option}.{name}", f"{value} is no percentage from 0 to 100")
    return Usage(cpu, memory, keep_off)


def read_metrics(option: str, kind: str, address: str, interval: str) -> Metrics:
    """Where load is read; all but the adaptor need an address with its scheme."""
    if kind != "prometheus_adaptor" and not address.startswith(("http://", "https://")):
        told = f"{address} is no http:// or https:// address" if address else "it is empty"
        raise ProfileError(f"{option}.address", f"{told}; {kind} needs one")
    if not _DURATION.fullmatch(interval):
        raise ProfileError(f"{option}.interval", f"{interval} is no duration such as 30s or 1m")
    return Metrics(kind, address, interval)
