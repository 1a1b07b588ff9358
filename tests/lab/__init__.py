# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real, throwaway Kubernetes nodes: QEMU virtual machines with systemd, containerd and kubelet."""
