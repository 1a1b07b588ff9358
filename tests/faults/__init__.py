# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fault injection: a node is interrupted in every way while it is aligned, and has to end as it was or aligned."""
