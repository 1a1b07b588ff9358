# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark: `provision` compared with `ansible -m ping` and a playbook of stock modules, on one lab node."""
