# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a fault is: where it strikes, how it is made on a real node, and how the node may end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """Of what sort a fault is, in the words of the documentation."""

    KILLED = "the engine is killed (SIGKILL)"
    KILLED_TWICE = "the engine is killed, and again while it puts the node back"
    STOPPED = "the engine is asked to stop"
    POWER_CUT = "the power is cut"
    REBOOTED = "the node is rebooted in order"
    DISK_FULL = "a disk is full"
    READ_ONLY = "a file system is read-only"
    RUNTIME_REFUSES = "containerd refuses the new configuration"
    KUBELET_REFUSES = "kubelet refuses the new configuration"
    KUBELET_DIES = "kubelet starts, and dies after ten seconds"
    WRONG_CGROUPS = "pods are in cgroups of another shape"
    SSH_CUT = "SSH is cut"
    TWO_CONTROLLERS = "two controllers at once"
    FOREIGN_EDIT = "somebody else edits a file in the middle"
    CLOCK_JUMPS = "the clock jumps"


class End(Enum):
    """How a node may end."""

    BEFORE = "as before"
    COMMITTED = "committed"


class Outside(Enum):
    """What is done from outside while the engine is held, or once the run has ended."""

    NOTHING = "nothing"
    RESET = "reset"
    REBOOT = "reboot"
    SECOND_RUN = "second run"


@dataclass(frozen=True)
class Strike:
    """The engine is held at ``moment``, then these are done in order.

    ``moment``: a step of the transaction, that step's undoing (``undo: NAME``), or a state of the journal. Shell
    commands know the engine's ``$pid`` and the transaction's ``$id``; one of them has to let the engine go on or end.
    """

    moment: str
    command: str = ""
    outside: Outside = Outside.NOTHING
    afterwards: str = ""


@dataclass(frozen=True)
class Fault:
    """One fault. Shell commands run on the node, as root.

    ``prepare`` comes before the first picture of the node and ``clean`` after the second; ``mend`` and ``mend_outside``
    end the trouble when the run has ended. ``keeps`` has to succeed before that. ``says`` and ``next_says`` are
    words of the run that met the fault, and of the next one. ``timeout``: seconds of the health gate, None: default.
    """

    kind: Kind
    what: str
    strikes: tuple[Strike, ...]
    ends: tuple[End, ...] = (End.BEFORE,)
    prepare: str = ""
    mend: str = ""
    mend_outside: Outside = Outside.NOTHING
    clean: str = ""
    keeps: str = ""
    says: tuple[str, ...] = ()
    next_says: tuple[str, ...] = ()
    timeout: int | None = None

    @property
    def where(self) -> str:
        """The moment of the first strike; '' for trouble that is there from the beginning."""
        return self.strikes[0].moment if self.strikes else ""

    @property
    def name(self) -> str:
        """Short and unique in the table."""
        parts = (self.kind.name.lower(), self.what, self.where)
        return "-".join(part.replace(": ", "-").replace(" ", "-") for part in parts if part)
