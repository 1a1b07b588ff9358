# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fault injection: a node is interrupted in many ways while it is aligned; it must end as before or aligned."""
