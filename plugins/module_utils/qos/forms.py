# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of kernel files, both ways: for each Form what is written for a value, and what a text means."""

from __future__ import annotations

from math import ceil
from typing import Any, Callable, Mapping

from ..errors import ColocationError
from .knob import Form, Value
from .weights import shares_of_weight, weight_of_shares

SECOND = 1000000
"""Microseconds."""
QUOTA_MIN = 1000
"""Microseconds in a period: kernel/sched/core.c min_cfs_quota_period."""
NO_LIMIT = 2**62
"""v1 has no word for no limit: it answers the largest number of whole pages (mm/memcontrol.c PAGE_COUNTER_MAX)."""

Texts = Mapping[str, str]


def beside(texts: Texts, name: str) -> str:
    """The text of a file that another one cannot be understood without."""
    if name not in texts:
        raise ColocationError("%s of the cgroup was not read" % name, "Read all files that the setting names")
    return texts[name].strip()


def quota_text(quota: Value, period: int, unlimited: str) -> str:
    """Microseconds of CPU in a period: systemd src/core/cgroup.c cgroup_apply_unified_cpu_quota."""
    if quota is None:
        return unlimited
    return str(max(int(quota) * period // SECOND, QUOTA_MIN))  # type: ignore[arg-type]


def rate(quota: str, period: int) -> Value:
    """The neutral value of a quota; rounded up, so that quota_text gives the same quota again."""
    return None if quota in ("max", "-1") else ceil(int(quota) * SECOND / period)


def _number(value: Any, _texts: Texts) -> str:
    return str(value)


def _or(word: str) -> Callable[[Any, Texts], str]:
    return lambda value, _texts: word if value is None else str(value)


def _cpu_max(value: Any, texts: Texts) -> str:
    period = beside(texts, "cpu.max").split()[1]
    return "%s %s" % (quota_text(value, int(period), "max"), period)


def _cfs_quota(value: Any, texts: Texts) -> str:
    return quota_text(value, int(beside(texts, "cpu.cfs_period_us")), "-1")


def _read_limit(text: str, _texts: Texts) -> Value:
    return None if text in ("max", "-1") or int(text) >= NO_LIMIT else int(text)


def _read_cpu_max(text: str, _texts: Texts) -> Value:
    quota, period = text.split()
    return rate(quota, int(period))


Write = Callable[[Any, Texts], str]
Read = Callable[[str, Texts], Value]

FORMS: Mapping[Form, tuple[Write, Read]] = {
    Form.NUMBER: (_number, lambda text, _texts: int(text)),
    Form.MAX: (_or("max"), _read_limit),
    Form.MINUS_ONE: (_or("-1"), _read_limit),
    Form.SHARES: (
        lambda value, _texts: str(shares_of_weight(value)),
        lambda text, _texts: weight_of_shares(int(text)),
    ),
    Form.CPU_MAX: (_cpu_max, _read_cpu_max),
    Form.CFS_QUOTA: (_cfs_quota, lambda text, texts: rate(text, int(beside(texts, "cpu.cfs_period_us")))),
}
