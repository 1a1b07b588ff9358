# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people want of QoS on a node: the values of colocation_qos, checked before any node is looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ...module_utils.quantity import parse_quantity
from ...module_utils.settings.weight_scales import WEIGHT_MAX
from ..profile.validators import ProfileError
from .levels import Level

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
UID = re.compile(r"[A-Za-z0-9-]+")
LARGEST = 1 << 63
RESERVED = "reserved"
"""A weight that follows from what is reserved."""


@dataclass(frozen=True)
class Amount:
    """A share of something, more than 0 and at most 1, or an absolute amount; ``text`` as it was written."""

    text: str
    share: Fraction | None = None
    absolute: Fraction = Fraction(0)

    def of(self, whole: Fraction) -> Fraction:
        return self.absolute if self.share is None else self.share * whole


def amount(variable: str, value: Any) -> Amount | None:
    """``60%``, ``2.5`` or ``4Gi``; None for an empty text. ProfileError for anything else."""
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    percent = _PERCENT.fullmatch(text)
    if percent:
        share = Fraction(percent[1]) / 100
        if not 0 < share <= 1:
            raise ProfileError(variable, f"{text} is not more than 0% and at most 100%")
        return Amount(text, share=share)
    try:
        absolute = parse_quantity(text)
    except ValueError:
        raise ProfileError(
            variable, f"{text!r} is neither a share such as 60% nor an amount such as 2.5 or 4Gi"
        ) from None
    if not 0 < absolute < LARGEST:
        raise ProfileError(variable, f"{text} is not more than nothing and less than 2^63")
    return Amount(text, absolute=absolute)


@dataclass(frozen=True)
class BestEffort:
    cpu_quota: Amount | None = None
    memory_high: Amount | None = None
    memory_max: Amount | None = None
    pids_max: int | None = None
    cpu_idle: bool = False


@dataclass(frozen=True)
class LatencySensitive:
    memory_low: Amount | None = None
    memory_min: Amount | None = None
    cpu_burst: int | None = None


@dataclass(frozen=True)
class System:
    """``cpu_weight``: reserved, a weight as text, or empty for systemd's default; ``memory``: low, min or none."""

    cpu_weight: str = RESERVED
    memory: str = "low"


@dataclass(frozen=True)
class Pod:
    """A pod by its UID, or by namespace and name."""

    identity: Mapping[str, str]
    level: Level


@dataclass(frozen=True)
class QosProfile:
    """None means: not wanted. ``kernel_levels``: auto, two or multi, what cpu.qos_level takes."""

    levels: frozenset[Level] = frozenset((Level.HLS, Level.LS, Level.BE))
    best_effort: BestEffort = field(default_factory=BestEffort)
    latency_sensitive: LatencySensitive = field(default_factory=LatencySensitive)
    system: System = field(default_factory=System)
    pods: tuple[Pod, ...] = ()
    kernel_levels: str = "auto"


def _count(variable: str, value: Any) -> int | None:
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    if not text.isdecimal() or not 0 < int(text) < LARGEST:
        raise ProfileError(variable, f"{text!r} is not a whole number above 0; empty leaves it out")
    return int(text)


def _weight(variable: str, value: Any) -> str:
    text = str(value or "").strip()
    if text not in ("", RESERVED) and not (text.isdecimal() and 1 <= int(text) <= WEIGHT_MAX):
        raise ProfileError(variable, f"{text!r} is neither {RESERVED} nor a weight from 1 to {WEIGHT_MAX}")
    return text


def _pod(variable: str, value: Mapping[str, Any]) -> Pod:
    identity = {key: str(value[key]) for key in ("uid", "namespace", "name") if value.get(key)}
    if set(identity) not in ({"uid"}, {"namespace", "name"}):
        raise ProfileError(variable, "needs either uid, or namespace and name")
    if "uid" in identity and not UID.fullmatch(identity["uid"]):
        raise ProfileError(f"{variable}.uid", f"{identity['uid']!r} is no UID of a pod")
    return Pod(identity, Level(value["level"]))


def parse_qos(options: Mapping[str, Any]) -> QosProfile:
    """QosProfile of the option ``profile`` of qos_plan, whose defaults are applied; ProfileError names the entry."""
    be, ls, system = (options[each] for each in ("be", "ls", "system"))
    return QosProfile(
        levels=frozenset(Level(each) for each in options["levels"]),
        best_effort=BestEffort(
            cpu_quota=amount("be.cpu_quota", be["cpu_quota"]),
            memory_high=amount("be.memory_high", be["memory_high"]),
            memory_max=amount("be.memory_max", be["memory_max"]),
            pids_max=_count("be.pids_max", be["pids_max"]),
            cpu_idle=bool(be["cpu_idle"]),
        ),
        latency_sensitive=LatencySensitive(
            memory_low=amount("ls.memory_low", ls["memory_low"]),
            memory_min=amount("ls.memory_min", ls["memory_min"]),
            cpu_burst=_count("ls.cpu_burst", ls["cpu_burst"]),
        ),
        system=System(_weight("system.cpu_weight", system["cpu_weight"]), system["memory"]),
        pods=tuple(_pod(f"pods[{number}]", each) for number, each in enumerate(options["pods"])),
        kernel_levels=options["kernel_levels"],
    )
