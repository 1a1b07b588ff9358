# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Kubernetes control plane on the host, which the lab's nodes join."""
