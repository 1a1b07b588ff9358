# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Node of which cluster a kubelet is: by what the health gate asks the API server for it."""

from __future__ import annotations

import posixpath

from ...module_utils.errors import ColocationError
from ...module_utils.state.document_reader import require_absolute
from ...module_utils.state.plan_document import NODE_NAME
from ..facts.layout import RANCHER
from ..facts.model import NodeFacts
from .kubelet_place import given

KUBECONFIG = "--kubeconfig"
HOSTNAME_OVERRIDE = "--hostname-override"


def member(facts: NodeFacts) -> dict[str, str] | None:
    """The Node's name and the path of kubelet's kubeconfig; None without a cluster, or where either is not known.

    k8s.io/component-helpers node/util/hostname.go: the name is in lower case, without blanks around it.
    """
    start = facts.kubelet.start
    flags = start.running or start.following or ()
    kubeconfig = given(flags, KUBECONFIG) or _inside(facts)
    name = (given(flags, HOSTNAME_OVERRIDE) or facts.hostname or "").strip().lower()
    if not kubeconfig or not NODE_NAME.match(name):
        return None
    try:
        return {"name": name, "kubeconfig": require_absolute(posixpath.normpath(kubeconfig), KUBECONFIG)}
    except ColocationError:
        # kubelet takes it from the folder in which it was started.
        return None


def _inside(facts: NodeFacts) -> str | None:
    """Where k3s puts that of the kubelet in it: pkg/agent/config/config.go. Another --data-dir is not seen here."""
    folder = RANCHER.get(facts.layout.kubelet_inside or "")
    return f"{folder}/kubelet.kubeconfig" if folder else None
