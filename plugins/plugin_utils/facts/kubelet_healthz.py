# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where kubelet answers for its health.

Source: kubernetes pkg/kubelet/apis/config/v1beta1/defaults.go (10248 at 127.0.0.1 where nothing is set), and
cmd/kubelet/app/server.go, which listens nowhere with port 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...module_utils.snapshot.kubelet_endpoints import healthz_endpoint, healthz_port
from ..kubelet_field_model import KubeletField
from ..kubelet_fields import HEALTHZ_BIND_ADDRESS, HEALTHZ_PORT
from ..versions import Version
from .config_file import ConfigFile
from .kubelet_layers import setting_in_force, shown
from .kubelet_model import Flag


def healthz_url(
    main: ConfigFile, dropins: Sequence[ConfigFile], found: Sequence[Flag], version: Version | None
) -> str | None:
    """The URL that these files and flags make kubelet answer at; None where it is switched off."""

    def value(field: KubeletField) -> str:
        setting = setting_in_force(field, main, dropins, found, version)
        return shown(setting.value) if setting else str(field.default)

    return healthz_endpoint(value(HEALTHZ_BIND_ADDRESS), healthz_port(value(HEALTHZ_PORT)))
