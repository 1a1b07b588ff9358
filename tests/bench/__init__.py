# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark: `provision` against `ansible -m ping` and against a playbook of stock modules, on one lab node."""
