# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes to the source of user-mode Linux, without which nodes lose requests or take more CPU time than they need."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..errors import LabError


@dataclass(frozen=True)
class Change:
    """One change to a source file: replaces every ``before``."""

    path: str
    before: str
    after: str


EVENTS = Change("arch/um/os-Linux/irq.c", "#define MAX_EPOLL_EVENTS 64\n", "#define MAX_EPOLL_EVENTS 1\n")
"""All interrupts share one array of events. While the network interrupt is handled, another may overwrite the disk's
event: its request never ends, and soon every process waits for the disk. With network load this happens within seconds.
An array of one event cannot lose a second event."""

SPINNING = Change(
    "kernel/Kconfig.locks",
    "depends on SMP && ARCH_SUPPORTS_ATOMIC_RMW\n",
    "depends on SMP && ARCH_SUPPORTS_ATOMIC_RMW && !UML\n",
)
"""A CPU of the node is a thread of this machine. A CPU that spins for a mutex takes CPU time from the thread that holds
it: with other load, nodes spent two thirds of their time in mutex_spin_on_owner (perf, cpu-clock)."""

_SIGNALS, _SMP, _TIME = (f"arch/um/os-Linux/{name}.c" for name in ("signal", "smp", "time"))
_DEFER = """static __thread unsigned int signals_active;
static __thread unsigned int ipis_pending;

int defer_ipi(int vector)
{
	if (signals_enabled)
		return 0;
	ipis_pending |= 1 << vector;
	return 1;
}

int ipi_pending(void)
{
	return ipis_pending != 0;
}

static void run_deferred_ipis(void)
{
	unsigned int vectors = __atomic_exchange_n(&ipis_pending, 0, __ATOMIC_SEQ_CST);
	int vector;

	for (vector = 0; vectors; vector++, vectors >>= 1)
		if (vectors & 1)
			uml_ipi_handler(vector);
}
"""
_MASK = """	sigset_t sigset;

	sigemptyset(&sigset);
	sigaddset(&sigset, IPI_SIGNAL);

	if (sigprocmask(enable ? SIG_UNBLOCK : SIG_BLOCK, &sigset, NULL) < 0)
		panic("%s: sigprocmask failed, errno = %d", __func__, errno);
"""
IPIS = (
    Change(_SIGNALS, "#include <timetravel.h>\n", "#include <timetravel.h>\n#include <smp.h>\n"),
    Change(_SIGNALS, "static __thread unsigned int signals_active;\n", _DEFER),
    Change(_SIGNALS, "\t\tif (save_pending == 0)\n", "\t\tif (save_pending == 0 && !ipis_pending)\n"),
    Change(
        _SIGNALS,
        "\t\tif (save_pending & SIGCHLD_MASK) {\n",
        "\t\trun_deferred_ipis();\n\n\t\tif (save_pending & SIGCHLD_MASK) {\n",
    ),
    Change(
        "arch/um/os-Linux/internal.h",
        "int timer_alarm_pending(void);\n",
        "int timer_alarm_pending(void);\nint defer_ipi(int vector);\nint ipi_pending(void);\n",
    ),
    Change(_SMP, "\tsigaddset(&data->sigset, IPI_SIGNAL);\n", ""),
    Change(
        _SMP,
        "\tint save_errno = errno;\n\n",
        "\tint save_errno = errno;\n\n\tif (defer_ipi(si->si_value.sival_int))\n\t\treturn;\n\n",
    ),
    Change(_SMP, _MASK, ""),
    Change(
        _TIME,
        "\tsigaddset(&set, SIGALRM);\n\tsigprocmask",
        "\tsigaddset(&set, SIGALRM);\n\tsigaddset(&set, IPI_SIGNAL);\n\tsigprocmask",
    ),
    Change(_TIME, "!timer_alarm_pending())", "!timer_alarm_pending() && !ipi_pending())"),
)
"""Whenever a CPU of the node disabled or enabled interrupts, it made a system call that masks the signal by which CPUs
interrupt each other. Now the signal is taken and remembered, as those of the timer and of devices are."""

CHANGES = (EVENTS, SPINNING, *IPIS)


def apply(change: Change, tree: Path) -> None:
    """Change a source file in place; LabError when it lacks the text: check whether the change is still needed."""
    path = tree / change.path
    text = path.read_text()
    if change.before not in text:
        raise LabError(f"the kernel's {change.path} lacks what {Path(__file__).name} changes: {change.before.strip()}")
    path.write_text(text.replace(change.before, change.after))
