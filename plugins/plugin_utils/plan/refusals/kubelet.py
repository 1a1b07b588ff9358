# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kubelet cannot have, and what it would not start with."""

from __future__ import annotations

from . import fields, kubelet_document, startup
from .model import Rule

RULES: tuple[Rule, ...] = (*kubelet_document.RULES, *fields.RULES, *startup.RULES)
