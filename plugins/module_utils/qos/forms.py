# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of kernel files, both ways: for each Form what is written for a value, and what a text means."""

from __future__ import annotations

from typing import Any, Callable, Mapping

from ..errors import ColocationError
from ..quantity import format_cpu_list, parse_cpu_list
from . import devices
from .knob import Form, Value
from .weights import (
    bfq_of_io_weight,
    blkio_of_io_weight,
    io_weight_of_bfq,
    io_weight_of_blkio,
    shares_of_weight,
    weight_of_shares,
)

SECOND = 1000000
"""Microseconds."""
QUOTA_MIN = 1000
"""Microseconds in a period: kernel/sched/core.c min_cfs_quota_period."""
NO_LIMIT = 2**62
"""v1 has no word for no limit: it answers the largest number of whole pages (mm/page_counter.c PAGE_COUNTER_MAX)."""

CPU_MAX = "cpu.max"
CFS_PERIOD = "cpu.cfs_period_us"
CFS_QUOTA = "cpu.cfs_quota_us"
LIMIT = "memory.limit_in_bytes"

Texts = Mapping[str, str]
Write = Callable[[Any, Texts], str]
Read = Callable[[str, Texts], Value]


def _beside(texts: Texts, name: str) -> str:
    """The text of a file that another one cannot be understood without."""
    if name not in texts:
        raise ColocationError(
            "%s of the cgroup was not read" % name, "Every file that the setting names has to be read"
        )
    return texts[name].strip()


def _quota(rate: int | None, period: int, unlimited: str) -> str:
    """Microseconds of CPU in a period: systemd src/core/cgroup.c cgroup_apply_unified_cpu_quota does the same."""
    return unlimited if rate is None else str(max(rate * period // SECOND, QUOTA_MIN))


def _rate(quota: str, period: str) -> int | None:
    """The neutral value of a quota; rounded up, so that _quota gives the same quota again."""
    return None if quota in ("max", "-1") else -(-int(quota) * SECOND // int(period))


def _cpu_max(text: str) -> tuple[str, str]:
    quota, period = text.split()
    return quota, period


def _write_cpu_max(value: Any, texts: Texts) -> str:
    period = _cpu_max(_beside(texts, CPU_MAX))[1]
    return "%s %s" % (_quota(value, int(period), "max"), period)


def _write_cpu_max_period(value: Any, texts: Texts) -> str:
    rate = _rate(*_cpu_max(_beside(texts, CPU_MAX)))
    return "%s %d" % (_quota(rate, value, "max"), value)


def _write_cfs_rate(value: Any, texts: Texts) -> str:
    rate = _rate(_beside(texts, CFS_QUOTA), _beside(texts, CFS_PERIOD))
    return _quota(rate, value, "-1")


def _limit(text: str) -> int | None:
    return None if text in ("max", "-1") or int(text) >= NO_LIMIT else int(text)


def _write_memsw(value: Any, texts: Texts) -> str:
    if value is None:
        return "-1"
    memory = _limit(_beside(texts, LIMIT))
    if memory is None:
        raise ColocationError(
            "memory_swap_max: cgroup v1 limits memory and swap together, and memory_max of this cgroup is max",
            "Set memory_max as well",
        )
    return str(memory + value)


def _read_memsw(text: str, texts: Texts) -> Value:
    both, memory = _limit(text), _limit(_beside(texts, LIMIT))
    return None if both is None or memory is None else max(both - memory, 0)


def _plain(word: str) -> tuple[Write, Read]:
    """A number, or ``word`` for no limit."""
    return (lambda value, _texts: word if value is None else str(value)), (lambda text, _texts: _limit(text))


def _scaled(there: Callable[[int], int], back: Callable[[int], int], before: str = "") -> tuple[Write, Read]:
    """A weight on the scale of one file. BFQ and io.weight answer ``default 100`` and then what devices have."""
    return (
        lambda value, _texts: before + str(there(100 if value is None else value)),
        lambda text, _texts: back(int(text.splitlines()[0].split()[-1])),
    )


def _same(number: int) -> int:
    return number


FORMS: Mapping[Form, tuple[Write, Read]] = {
    Form.NUMBER: (lambda value, _texts: str(value), lambda text, _texts: int(text)),
    Form.WEIGHT: _scaled(_same, _same),
    Form.MAX: _plain("max"),
    Form.MINUS_ONE: _plain("-1"),
    Form.FLAG: (lambda value, _texts: "1" if value else "0", lambda text, _texts: text == "1"),
    Form.LIST: (
        lambda value, _texts: format_cpu_list(frozenset(value)) or "\n",  # the kernel is not told of an empty write(2)
        lambda text, _texts: tuple(sorted(parse_cpu_list(text))),
    ),
    Form.WORD: (lambda value, _texts: str(value), lambda text, _texts: text),
    Form.SHARES: _scaled(shares_of_weight, weight_of_shares),
    Form.DEFAULT_WEIGHT: _scaled(_same, _same, before="default "),
    Form.BFQ_WEIGHT: _scaled(bfq_of_io_weight, io_weight_of_bfq),
    Form.BLKIO_WEIGHT: _scaled(blkio_of_io_weight, io_weight_of_blkio),
    Form.CPU_MAX: (_write_cpu_max, lambda text, _texts: _rate(*_cpu_max(text))),
    Form.CPU_MAX_PERIOD: (_write_cpu_max_period, lambda text, _texts: int(_cpu_max(text)[1])),
    Form.CFS_QUOTA: (
        lambda value, texts: _quota(value, int(_beside(texts, CFS_PERIOD)), "-1"),
        lambda text, texts: _rate(text, _beside(texts, CFS_PERIOD)),
    ),
    Form.CFS_RATE: (_write_cfs_rate, lambda _text, texts: int(_beside(texts, CFS_PERIOD))),
    Form.MEMSW: (_write_memsw, _read_memsw),
    Form.IO_MAX: (devices.io_max, lambda text, _texts: devices.of_io_max(text)),
    **{form: (devices.throttle(kind), devices.of_throttle) for form, kind in devices.THROTTLE_FORMS.items()},
}
