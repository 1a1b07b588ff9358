# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Definition of a fault: the moment, how it is caused on a real node, and the allowed ends of the node."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """Kinds of faults, as documented."""

    KILLED = "the engine is killed (SIGKILL)"
    KILLED_TWICE = "the engine is killed, and again during the roll-back"
    STOPPED = "the engine is asked to stop"
    POWER_CUT = "the power is cut"
    REBOOTED = "the node is rebooted cleanly"
    DISK_FULL = "a disk is full"
    READ_ONLY = "a file system is read-only"
    RUNTIME_REFUSES = "containerd refuses the new configuration"
    KUBELET_REFUSES = "kubelet refuses the new configuration"
    KUBELET_DIES = "kubelet starts, and dies after ten seconds"
    WRONG_CGROUPS = "pods are in cgroups of the other driver's form"
    SSH_CUT = "SSH is cut"
    TWO_CONTROLLERS = "two controllers at the same time"
    FOREIGN_EDIT = "another user edits a file during the run"
    CLOCK_JUMPS = "the clock jumps"


class End(Enum):
    """How a node may end."""

    BEFORE = "as before"
    COMMITTED = "committed"


class Outside(Enum):
    """An action from outside the node while the engine is stopped, or after the run."""

    NOTHING = "nothing"
    RESET = "reset"
    REBOOT = "reboot"
    SECOND_RUN = "second run"


@dataclass(frozen=True)
class Strike:
    """The engine is stopped at ``moment``, then these actions follow in order.

    ``moment``: a step of the transaction, the undo of a step (``undo: NAME``), or a state of the journal. Shell
    commands can use the engine's ``$pid`` and the transaction's ``$id``; one of them must continue or end the engine.
    """

    moment: str
    command: str = ""
    outside: Outside = Outside.NOTHING
    afterwards: str = ""


@dataclass(frozen=True)
class Fault:
    """One fault. Shell commands run on the node, as root.

    ``prepare`` runs before the first picture of the node and ``clean`` after the second; ``repair`` and
    ``repair_outside`` end the fault after the run. ``keeps`` must succeed before that. ``says`` and ``next_says`` are
    texts in the output of the run that met the fault, and of the next one. ``timeout``: seconds of the health
    gate, None: default.
    """

    kind: Kind
    what: str
    strikes: tuple[Strike, ...]
    ends: tuple[End, ...] = (End.BEFORE,)
    prepare: str = ""
    repair: str = ""
    repair_outside: Outside = Outside.NOTHING
    clean: str = ""
    keeps: str = ""
    says: tuple[str, ...] = ()
    next_says: tuple[str, ...] = ()
    timeout: int | None = None

    @property
    def where(self) -> str:
        """The moment of the first strike; '' for a fault that exists from the beginning."""
        return self.strikes[0].moment if self.strikes else ""

    @property
    def name(self) -> str:
        """Short name, unique in the table."""
        parts = (self.kind.name.lower(), self.what, self.where)
        return "-".join(part.replace(": ", "-").replace(" ", "-") for part in parts if part)
