// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"context"
	"fmt"
	"strconv"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/features"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	"k8s.io/kubernetes/pkg/kubelet/eviction"
)

// startManagers follows app.run and cm.NewContainerManager as far as the configuration alone decides.
func startManagers(config *kubeletconfig.KubeletConfiguration, request Request, folder string) *Failure {
	if request.CPUs == 0 {
		return nil
	}
	// A throw-away copy: run() writes the reserved CPUs into it.
	config = config.DeepCopy()
	logger := klog.FromContext(context.Background())
	machine := machineOf(request)
	named, err := getReservedCPUs(logger, machine, config.ReservedSystemCPUs)
	if err != nil {
		return failed("start", err)
	}
	if named.Size() > 0 {
		delete(config.KubeReserved, "cpu")
		if config.SystemReserved == nil {
			config.SystemReserved = map[string]string{}
		}
		config.SystemReserved["cpu"] = strconv.Itoa(named.Size())
	}
	reserved, err := reservation(config, machine)
	if err != nil {
		return failed("start", err)
	}
	if _, err := cm.ParseQOSReserved(config.QOSReserved); err != nil {
		return failed("start", fmt.Errorf("--qos-reserved value failed to parse: %w", err))
	}
	var chosen map[string]string
	if utilfeature.DefaultFeatureGate.Enabled(features.TopologyManagerPolicyOptions) {
		chosen = config.TopologyManagerPolicyOptions
	} else if config.TopologyManagerPolicyOptions != nil {
		return failed("start", fmt.Errorf("topology manager policy options %v require feature gates %q enabled",
			config.TopologyManagerPolicyOptions, features.TopologyManagerPolicyOptions))
	}
	topology, err := newTopologyManager(logger, machine.Topology, config, chosen)
	if err != nil {
		return failed("start", err)
	}
	_, err = cpumanager.NewManager(logger, config.CPUManagerPolicy, config.CPUManagerPolicyOptions,
		config.CPUManagerReconcilePeriod.Duration, machine, named, reserved, folder, topology)
	if err != nil {
		return failed("start", err)
	}
	_, err = memorymanager.NewManager(
		logger, config.MemoryManagerPolicy, machine, reserved, config.ReservedMemory, folder, topology)
	if err != nil {
		return failed("start", err)
	}
	return nil
}

// reservation is GetNodeAllocatableReservation of cm, whose receiver needs a node.
func reservation(config *kubeletconfig.KubeletConfiguration, machine *machineInfo) (v1.ResourceList, error) {
	kube, err := parseResourceList(config.KubeReserved)
	if err != nil {
		return nil, fmt.Errorf("--kube-reserved value failed to parse: %w", err)
	}
	system, err := parseResourceList(config.SystemReserved)
	if err != nil {
		return nil, fmt.Errorf("--system-reserved value failed to parse: %w", err)
	}
	thresholds, err := eviction.ParseThresholdConfig([]string{}, config.EvictionHard, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	capacity := cadvisor.CapacityFromMachineInfo(machine)
	sum := v1.ResourceList{}
	for _, list := range []v1.ResourceList{system, kube, hardEvictionReservation(thresholds, capacity)} {
		for name, amount := range list {
			whole := sum[name]
			whole.Add(amount)
			sum[name] = whole
		}
	}
	return sum, nil
}

// machineOf has a socket for each NUMA node, and two threads a core.
func machineOf(request Request) *machineInfo {
	nodes := max(request.NUMANodes, 1)
	machine := &machineInfo{NumCores: request.CPUs, NumSockets: nodes, MemoryCapacity: request.Memory}
	perNode := request.CPUs / nodes
	for number := 0; number < nodes; number++ {
		cores := []machineCore{}
		for first := number * perNode; first < (number+1)*perNode; first += 2 {
			threads := []int{first}
			if first+1 < (number+1)*perNode {
				threads = append(threads, first+1)
			}
			cores = append(cores, machineCore{Id: first / 2, Threads: threads, SocketID: number})
		}
		distances := make([]uint64, nodes)
		for other := range distances {
			distances[other] = 20
		}
		distances[number] = 10
		machine.NumPhysicalCores += len(cores)
		memory := request.Memory / uint64(nodes)
		machine.Topology = append(machine.Topology, machineNode{Id: number, Memory: memory, Cores: cores, Distances: distances})
	}
	return machine
}
