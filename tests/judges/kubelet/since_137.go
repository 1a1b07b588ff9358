//go:build kubelet137

// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	_ "unsafe" // for go:linkname

	cadvisorapi "github.com/google/cadvisor/lib/model"
	"k8s.io/klog/v2"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
)

type (
	machineInfo = cadvisorapi.MachineInfo
	machineNode = cadvisorapi.Node
	machineCore = cadvisorapi.Core
)

//go:linkname mergeKubeletConfigurations k8s.io/kubernetes/cmd/kubelet/app.mergeKubeletConfigurations
func mergeKubeletConfigurations(config *kubeletconfig.KubeletConfiguration, folder string) ([]string, error)

func merge(config *kubeletconfig.KubeletConfiguration, folder string) error {
	_, err := mergeKubeletConfigurations(config, folder)
	return err
}

func newTopologyManager(
	logger klog.Logger, topology []machineNode, config *kubeletconfig.KubeletConfiguration, options map[string]string,
) (topologymanager.Manager, error) {
	return topologymanager.NewManager(logger, topology, config.TopologyManagerPolicy, config.TopologyManagerScope, options)
}
