# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes to the kernel's source."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.volcano.colocation.tests.lab.errors import LabError
from ansible_collections.volcano.colocation.tests.lab.uml.changes import CHANGES, IPIS, Change, apply

SOURCES = {
    "arch/um/os-Linux/irq.c": """static int epollfd = -1;

#define MAX_EPOLL_EVENTS 64

static struct epoll_event epoll_events[MAX_EPOLL_EVENTS];
""",
    "kernel/Kconfig.locks": """config MUTEX_SPIN_ON_OWNER
\tdef_bool y
\tdepends on SMP && ARCH_SUPPORTS_ATOMIC_RMW

config RWSEM_SPIN_ON_OWNER
       def_bool y
       depends on SMP && ARCH_SUPPORTS_ATOMIC_RMW
""",
}
"""As in Linux 7.2."""


@pytest.fixture(name="tree")
def _tree(tmp_path: Path) -> Path:
    sources = dict(SOURCES)
    for change in IPIS:
        sources[change.path] = sources.get(change.path, "") + change.before
    for name, text in sources.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_interrupts_are_fetched_one_at_a_time_and_locks_do_not_spin(tree: Path) -> None:
    for change in CHANGES:
        apply(change, tree)
    events, locks = ((tree / name).read_text() for name in SOURCES)
    assert events == SOURCES["arch/um/os-Linux/irq.c"].replace(" 64", " 1")
    assert locks.count("depends on SMP && ARCH_SUPPORTS_ATOMIC_RMW && !UML\n") == 2


def test_interrupts_between_cpus_are_remembered_without_a_system_call(tree: Path) -> None:
    for change in IPIS:
        apply(change, tree)
    texts = {change.path.rpartition("/")[2]: (tree / change.path).read_text() for change in IPIS}
    assert "sigprocmask" not in texts["smp.c"]
    assert "if (defer_ipi(si->si_value.sival_int))" in texts["smp.c"]
    assert texts["signal.c"].index("run_deferred_ipis();") < texts["signal.c"].index("SIGCHLD_MASK")
    assert "sigaddset(&set, IPI_SIGNAL)" in texts["time.c"]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: f"{change.path} {change.before[:30].strip()}")
def test_a_source_without_the_text_to_change_is_refused(tree: Path, change: Change) -> None:
    path = tree / change.path
    path.write_text("rewritten\n")
    with pytest.raises(LabError, match=r"lacks what changes\.py changes: "):
        apply(change, tree)
    assert path.read_text() == "rewritten\n"
