# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Flags that kubelet no longer knows, and since when: it does not start with one of them (``unknown flag``)."""

from __future__ import annotations

REMOVED_FLAGS: dict[str, tuple[tuple[int, int], str]] = {
    # CHANGELOG-1.24, kubernetes#106907: gone with dockershim
    "--experimental-dockershim-root-directory": ((1, 24), "kubernetes#106907"),
    "--docker-endpoint": ((1, 24), "kubernetes#106907"),
    "--image-pull-progress-deadline": ((1, 24), "kubernetes#106907"),
    "--network-plugin": ((1, 24), "kubernetes#106907"),
    "--network-plugin-mtu": ((1, 24), "kubernetes#106907"),
    "--cni-conf-dir": ((1, 24), "kubernetes#106907"),
    "--cni-bin-dir": ((1, 24), "kubernetes#106907"),
    "--cni-cache-dir": ((1, 24), "kubernetes#106907"),
    # CHANGELOG-1.26, kubernetes#112120, KEP-2845: of klog only -v and --vmodule stay
    "--add-dir-header": ((1, 26), "kubernetes#112120"),
    "--alsologtostderr": ((1, 26), "kubernetes#112120"),
    "--log-backtrace-at": ((1, 26), "kubernetes#112120"),
    "--log-dir": ((1, 26), "kubernetes#112120"),
    "--log-file": ((1, 26), "kubernetes#112120"),
    "--log-file-max-size": ((1, 26), "kubernetes#112120"),
    "--logtostderr": ((1, 26), "kubernetes#112120"),
    "--one-output": ((1, 26), "kubernetes#112120"),
    "--skip-headers": ((1, 26), "kubernetes#112120"),
    "--skip-log-headers": ((1, 26), "kubernetes#112120"),
    "--stderrthreshold": ((1, 26), "kubernetes#112120"),
    # blog 2023-03-17, upcoming changes in Kubernetes v1.27; minikube#16112
    "--container-runtime": ((1, 27), "minikube#16112"),
    # kubernetes#133779, kubeadm#3281
    "--pod-infra-container-image": ((1, 35), "kubernetes#133779"),
}
