# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Choosing the engine of a node, and starting, restarting and ending a machine on it."""

from __future__ import annotations

from pathlib import Path

from . import accel, qemu, root
from .accel import Accelerator
from .cache import Cache
from .errors import LabError, UnavailableError
from .machine import Machine
from .spec import Engine, NodeSpec
from .uml import availability as uml_availability
from .uml import machine as uml

_ACCELERATORS = {Engine.KVM: Accelerator.KVM, Engine.QEMU: Accelerator.TCG}


def choose(cache: Cache, spec: NodeSpec) -> Engine:
    """KVM where it works, then user-mode Linux where its kernel is built and starts, then emulation.

    LabError when the specification names an engine that cannot run it, UnavailableError when it cannot on this machine.
    """
    requested = spec.engine
    if requested is Engine.QEMU:
        return requested
    if requested in (Engine.AUTO, Engine.KVM) and _has_kvm(cache, spec):
        return Engine.KVM
    if requested is Engine.KVM:
        raise UnavailableError("KVM does not work on this machine: omit --engine, or set it to uml or qemu")
    obstacle = uml_availability.obstacle(cache, spec)
    if not obstacle:
        return Engine.UML
    if requested is Engine.UML:
        kind = LabError if uml_availability.unsupported(spec) else UnavailableError
        raise kind(f"user-mode Linux cannot run node {spec.name}: {obstacle}")
    return Engine.QEMU


def start(machine: Machine, engine: Engine) -> int:
    """Start a machine, which outlives this process; returns the port of 127.0.0.1 for its ssh."""
    return uml.start(machine) if engine is Engine.UML else qemu.start(machine, _ACCELERATORS[engine])


def reset(machine: Machine, engine: Engine) -> None:
    """Restart a machine as after a power cut: data that its kernel had not written to disk is lost."""
    if engine is Engine.UML:
        uml.reset(machine)
    else:
        qemu.reset(machine.directory)


def end(directory: Path, uuid: str, engine: Engine) -> None:
    """End a machine, if it runs."""
    if engine is Engine.UML:
        uml.end(directory, uuid)
    else:
        qemu.end(directory, uuid)


def hardware(engine: Engine) -> str:
    """The node's disk and network card as shell variables for guest/init."""
    platform = uml if engine is Engine.UML else qemu
    return f"DEVICE={platform.DEVICE}\nCARD={platform.CARD}\n"


def _has_kvm(cache: Cache, spec: NodeSpec) -> bool:
    if not accel.has_device():
        return False
    return accel.choose(cache.root, root.obtain(cache, spec.kernel_suite).kernel) is Accelerator.KVM
