# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of faults. The steps are those of the engine's table."""

from __future__ import annotations

from ansible_collections.volcano.colocation.plugins.module_utils.state.journal import State
from ansible_collections.volcano.colocation.plugins.module_utils.transaction.steps import (
    HEALTH_GATE,
    START_KUBELET,
    START_RUNTIME,
    STEPS,
    STOP_KUBELET,
    STOP_RUNTIME,
    WRITE_FILES,
)

from . import commands as shell
from .fault import End, Fault, Kind, Outside, Strike

EACH_STEP = tuple(step.name for step in STEPS)
COMMITTED = State.COMMITTED.value
"""The moment after the last step: only the ledger, the result and the unit for the next boot remain."""

ROLLED_BACK = ("The node was rolled back to its previous state",)
NOTHING = ("Nothing was changed",)
SOON = 120
"""Seconds of the health gate where it cannot succeed."""


def _killed() -> list[Fault]:
    faults = [Fault(Kind.KILLED, "", (Strike(step, shell.KILL),), says=ROLLED_BACK) for step in EACH_STEP]
    last = Fault(Kind.KILLED, "", (Strike(COMMITTED, shell.KILL),), ends=(End.COMMITTED,))
    again = [
        Fault(
            Kind.KILLED_TWICE, "", (Strike(step, shell.KILL), Strike(f"undo: {undone}", shell.KILL)), says=ROLLED_BACK
        )
        for step, undone in ((START_KUBELET, WRITE_FILES), (HEALTH_GATE, START_RUNTIME))
    ]
    return [*faults, last, *again]


def _stopped() -> list[Fault]:
    asked = [
        Fault(Kind.STOPPED, "", (Strike(step, shell.STOP),), says=ROLLED_BACK) for step in (WRITE_FILES, HEALTH_GATE)
    ]
    rebooted = [_at_boot(Kind.REBOOTED, Strike(step, outside=Outside.REBOOT)) for step in (WRITE_FILES, START_KUBELET)]
    return [*asked, *rebooted]


def _power_cut() -> list[Fault]:
    """The disk may not have the last commit yet, so both ends are allowed after it."""
    cut = [_at_boot(Kind.POWER_CUT, Strike(step, outside=Outside.RESET)) for step in EACH_STEP]
    return [
        *cut,
        Fault(Kind.POWER_CUT, "", (Strike(COMMITTED, outside=Outside.RESET),), ends=(End.BEFORE, End.COMMITTED)),
    ]


def _at_boot(kind: Kind, strike: Strike) -> Fault:
    return Fault(kind, "", (strike,), keeps=shell.UNDONE_FIRST, next_says=("was undone when it booted",))


def _disks() -> list[Fault]:
    state, target = (shell.STATE, "700"), (shell.RUNTIME, "755")
    full = [
        Fault(
            Kind.DISK_FULL,
            f"{what} from the beginning",
            (),
            prepare=f"{shell.small_disk(directory, '64k', mode)}; {shell.fill(directory)}",
            clean=f"umount --lazy {directory}",
            says=(directory,),
        )
        for what, (directory, mode) in (("state folder", state), ("target folder", target))
    ]
    fills_up = [
        Fault(
            Kind.DISK_FULL,
            f"{what} in the middle",
            (Strike(moment, f"{shell.fill(directory)}; {shell.LET_GO}"),),
            ends=ends,
            prepare=shell.small_disk(directory, "4m", mode),
            repair=shell.empty(directory),
            says=says,
        )
        for what, moment, (directory, mode), ends, says in (
            # The journal has reserved space, which may be enough to finish.
            ("state folder", START_KUBELET, state, (End.BEFORE, End.COMMITTED), ()),
            ("target folder", STOP_RUNTIME, target, (End.BEFORE,), ROLLED_BACK),
        )
    ]
    return [*full, *fills_up]


def _read_only() -> list[Fault]:
    beginning = [
        Fault(
            Kind.READ_ONLY,
            f"{what} from the beginning",
            (),
            prepare=f"{shell.own_mount(directory)}; {shell.read_only(directory)}",
            clean=f"umount --lazy {directory}",
            says=(directory, "Read-only file system"),
        )
        for what, directory in (("state folder", shell.STATE), ("target folder", shell.RUNTIME))
    ]
    target = Fault(
        Kind.READ_ONLY,
        "target folder in the middle",
        (Strike(STOP_RUNTIME, f"{shell.read_only(shell.RUNTIME)}; {shell.LET_GO}"),),
        prepare=shell.own_mount(shell.RUNTIME),
        repair=shell.writable(shell.RUNTIME),
        clean=f"umount --lazy {shell.RUNTIME}",
        says=ROLLED_BACK,
    )
    everything = [
        Fault(
            Kind.READ_ONLY,
            "the whole disk, until a reset",
            (Strike(step, f"{shell.ALL_READ_ONLY}; {shell.LET_GO}"),),
            repair_outside=Outside.RESET,
            next_says=("was undone when it booted",),
        )
        for step in (WRITE_FILES, HEALTH_GATE)
    ]
    return [*beginning, target, *everything]


def _refusals() -> list[Fault]:
    return [
        Fault(
            Kind.RUNTIME_REFUSES,
            "when it is asked before",
            (),
            prepare=shell.in_place_of("containerd", shell.NO_DUMP),
            clean=shell.in_place_no_more("containerd"),
            says=(*NOTHING, "rejects the new file"),
        ),
        Fault(
            Kind.RUNTIME_REFUSES,
            "when it starts",
            (),
            prepare=f"{shell.KEEP}; {shell.require('containerd.service', shell.SAME_RUNTIME)}",
            clean=shell.require_no_more("containerd.service"),
            says=ROLLED_BACK,
        ),
        Fault(
            Kind.KUBELET_REFUSES,
            "",
            (),
            prepare=f"{shell.KEEP}; {shell.require('kubelet.service', shell.SAME_KUBELET)}",
            clean=shell.require_no_more("kubelet.service"),
            says=ROLLED_BACK,
            timeout=SOON,
        ),
        Fault(
            Kind.KUBELET_DIES,
            "",
            (),
            prepare=f"{shell.KEEP}; {shell.program(shell.KUBELET_ENDS_UNIT, shell.KUBELET_ENDS)}",
            clean=f"systemctl stop {shell.KUBELET_ENDS_UNIT}",
            says=(*ROLLED_BACK, "kubelet stays up"),
        ),
        Fault(
            Kind.WRONG_CGROUPS,
            "",
            (),
            prepare=f"{shell.KEEP}; {shell.in_place_of('runc', shell.OTHER_DRIVER)}",
            clean=shell.in_place_no_more("runc"),
            says=(*ROLLED_BACK, "cgroup paths of containers"),
            timeout=SOON,
        ),
    ]


def _other_users() -> list[Fault]:
    ssh = [
        Fault(Kind.SSH_CUT, what, (Strike(moment, command),), ends=(End.COMMITTED,))
        for what, moment, command in (
            ("sessions are killed", START_RUNTIME, shell.CUT_SESSIONS),
            ("the port is dropped for three minutes", STOP_RUNTIME, shell.DROP_PORT),
        )
    ]
    second = Strike(STOP_KUBELET, outside=Outside.SECOND_RUN, afterwards=shell.LET_GO)
    return [
        *ssh,
        Fault(Kind.TWO_CONTROLLERS, "", (second,), ends=(End.COMMITTED,)),
        Fault(
            Kind.FOREIGN_EDIT,
            "before it is written",
            (Strike(STOP_KUBELET, f"{shell.EDIT}; {shell.LET_GO}"),),
            prepare=shell.KEEP,
            keeps=shell.IS_EDITED,
            repair=shell.WITHOUT_EDIT,
            says=(*ROLLED_BACK, "was changed by someone else"),
        ),
        Fault(
            Kind.FOREIGN_EDIT,
            "after it was written, then a kill",
            (Strike(START_KUBELET, f"{shell.EDIT}; {shell.KILL}"),),
            keeps=shell.IS_KEPT_ASIDE,
            says=ROLLED_BACK,
        ),
    ]


def _clock() -> list[Fault]:
    return [
        Fault(Kind.CLOCK_JUMPS, what, (Strike(moment, shell.jump(seconds)),), ends=(End.BEFORE, End.COMMITTED))
        for what, seconds in (("an hour on", 3600), ("an hour back", -3600))
        for moment in (START_RUNTIME, HEALTH_GATE)
    ]


FAULTS = (
    *_killed(),
    *_power_cut(),
    *_stopped(),
    *_disks(),
    *_read_only(),
    *_refusals(),
    *_other_users(),
    *_clock(),
)
