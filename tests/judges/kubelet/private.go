// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"context"
	_ "unsafe" // for go:linkname

	"github.com/opencontainers/cgroups"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	_ "k8s.io/kubernetes/cmd/kubelet/app"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"
	"k8s.io/utils/cpuset"
)

// What kubelet does not export is reached by its linker name, so that the very function runs.

//go:linkname loadConfigFile k8s.io/kubernetes/cmd/kubelet/app.loadConfigFile
func loadConfigFile(ctx context.Context, name string) (*kubeletconfig.KubeletConfiguration, error)

//go:linkname kubeletConfigFlagPrecedence k8s.io/kubernetes/cmd/kubelet/app.kubeletConfigFlagPrecedence
func kubeletConfigFlagPrecedence(config *kubeletconfig.KubeletConfiguration, args []string) error

//go:linkname getReservedCPUs k8s.io/kubernetes/cmd/kubelet/app.getReservedCPUs
func getReservedCPUs(logger klog.Logger, machine *machineInfo, cpus string) (cpuset.CPUSet, error)

//go:linkname parseResourceList k8s.io/kubernetes/cmd/kubelet/app.parseResourceList
func parseResourceList(amounts map[string]string) (v1.ResourceList, error)

//go:linkname hardEvictionReservation k8s.io/kubernetes/pkg/kubelet/cm.hardEvictionReservation
func hardEvictionReservation(thresholds []evictionapi.Threshold, capacity v1.ResourceList) v1.ResourceList

//go:linkname cpuAlpha k8s.io/kubernetes/pkg/kubelet/cm/cpumanager.alphaOptions
var cpuAlpha sets.Set[string]

//go:linkname cpuBeta k8s.io/kubernetes/pkg/kubelet/cm/cpumanager.betaOptions
var cpuBeta sets.Set[string]

//go:linkname cpuStable k8s.io/kubernetes/pkg/kubelet/cm/cpumanager.stableOptions
var cpuStable sets.Set[string]

//go:linkname topologyAlpha k8s.io/kubernetes/pkg/kubelet/cm/topologymanager.alphaOptions
var topologyAlpha sets.Set[string]

//go:linkname topologyBeta k8s.io/kubernetes/pkg/kubelet/cm/topologymanager.betaOptions
var topologyBeta sets.Set[string]

//go:linkname topologyStable k8s.io/kubernetes/pkg/kubelet/cm/topologymanager.stableOptions
var topologyStable sets.Set[string]

//go:linkname isUnified github.com/opencontainers/cgroups.isUnified
var isUnified bool

// pretendCgroup answers for the node instead of for this machine.
func pretendCgroup(v1 bool) {
	// It looks once; what it found is replaced.
	cgroups.IsCgroup2UnifiedMode()
	isUnified = !v1
}
