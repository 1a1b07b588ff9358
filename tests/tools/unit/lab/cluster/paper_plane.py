# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stored control plane without processes."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.volcano.colocation.tests.lab.cluster.store import ControlPlane, Ports
from ansible_collections.volcano.colocation.tests.lab.program_table import CONTROL_PLANE

UUID = "6a1f0c9e-0000-4000-8000-000000000001"
PORTS = Ports(api=1001, etcd=1002, etcd_peer=1003, controller_manager=1004, scheduler=1005)
PROGRAMS = {"etcd": Path("/cache/etcd/etcd"), **{name: Path("/cache/kubernetes") / name for name in CONTROL_PLANE}}
PLANE = ControlPlane(Path("/state/control_plane"), UUID, "1.35.4", PORTS, PROGRAMS)
