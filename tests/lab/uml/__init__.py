# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes on user-mode Linux: a kernel that runs as a program, two to three times faster than QEMU's emulation."""
