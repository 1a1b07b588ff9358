// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Says for each pod on its input, a line of JSON each, where kubelet's own code and runc's library put its cgroup and a
// container's on v2 and in each hierarchy of v1, and which unit properties the library makes of cgroup v2 files. It
// writes nothing, and its output does not depend on the machine: the mounts of v1 are those of the first line.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	dbus "github.com/coreos/go-systemd/v22/dbus"
	"github.com/moby/sys/mountinfo"
	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/fs"
	"github.com/opencontainers/cgroups/fs2"
	"github.com/opencontainers/cgroups/systemd"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	_ "unsafe" // for go:linkname
)

const systemdVersion = 257

// The library keeps these to itself. It asks systemd for its version, and the kernel for the mounts, once: both are
// answered here beforehand.

//go:linkname unifiedResToSystemdProps github.com/opencontainers/cgroups/systemd.unifiedResToSystemdProps
func unifiedResToSystemdProps(bus *struct{}, files map[string]string) ([]dbus.Property, error)

//go:linkname versionOnce github.com/opencontainers/cgroups/systemd.versionOnce
var versionOnce sync.Once

//go:linkname version github.com/opencontainers/cgroups/systemd.version
var version int

//go:linkname isUnifiedOnce github.com/opencontainers/cgroups.isUnifiedOnce
var isUnifiedOnce sync.Once

//go:linkname isHybridOnce github.com/opencontainers/cgroups.isHybridOnce
var isHybridOnce sync.Once

//go:linkname readMountinfoOnce github.com/opencontainers/cgroups.readMountinfoOnce
var readMountinfoOnce sync.Once

//go:linkname cgroupMountinfo github.com/opencontainers/cgroups.cgroupMountinfo
var cgroupMountinfo []*mountinfo.Info

//go:linkname cgroupRoot github.com/opencontainers/cgroups/fs.cgroupRoot
var cgroupRoot string

type question struct {
	Root, Driver, Qos, UID string
	Prefix, Folder, ID     string
	Files                  map[string]string
}

type property struct {
	Name, Signature string
	Value           any
}

type v1 struct {
	Mount, Pod, Container string
}

type answer struct {
	Pod, Unit, Parent, Container, Error string
	V1                                  map[string]v1
	Properties                          []property
}

// kubelet: newContainerManager, qosContainerManager.Start and GetPodContainerName in pkg/kubelet/cm.
func podName(asked question) cm.CgroupName {
	name := cm.NewCgroupName(cm.ParseCgroupfsToCgroupName(asked.Root), "kubepods")
	if asked.Qos != "guaranteed" {
		name = cm.NewCgroupName(name, asked.Qos)
	}
	return cm.NewCgroupName(name, cm.GetPodCgroupNameSuffix(types.UID(asked.UID)))
}

func below(full string) string {
	return strings.TrimPrefix(strings.TrimPrefix(full, fs2.UnifiedMountpoint), "/")
}

func pathOf(group *cgroups.Cgroup) (string, error) {
	group.Resources = &cgroups.Resources{}
	if group.Systemd {
		manager, err := systemd.NewUnifiedManager(group, "")
		if err != nil {
			return "", err
		}
		return below(manager.Path("")), nil
	}
	manager, err := fs2.NewManager(group, "")
	if err != nil {
		return "", err
	}
	return below(manager.Path("")), nil
}

// The paths below the mount of each controller, and of systemd's own hierarchy.
func pathsOnV1(group *cgroups.Cgroup) (map[string]string, error) {
	group.Resources = &cgroups.Resources{}
	var manager cgroups.Manager
	var err error
	if group.Systemd {
		manager, err = systemd.NewLegacyManager(group, nil)
	} else {
		manager, err = fs.NewManager(group, nil)
	}
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for controller, full := range manager.GetPaths() {
		if controller == "" {
			continue // v2 beside v1 on this machine: the package looks for it when it is loaded
		}
		mount, err := cgroups.FindCgroupMountpoint(cgroupRoot, controller)
		if err != nil {
			return nil, err
		}
		found[controller] = strings.TrimPrefix(strings.TrimPrefix(full, mount), "/")
	}
	return found, nil
}

func namesOnV1(pod, container *cgroups.Cgroup) (map[string]v1, error) {
	pods, err := pathsOnV1(pod)
	if err != nil {
		return nil, err
	}
	containers, err := pathsOnV1(container)
	if err != nil {
		return nil, err
	}
	found := map[string]v1{}
	for controller, name := range pods {
		// This looks at the mounts of the first line only, unlike FindCgroupMountpoint.
		mount, _, err := cgroups.FindCgroupMountpointAndRoot("", controller)
		if err != nil {
			return nil, err
		}
		found[strings.TrimPrefix(controller, cgroups.CgroupNamePrefix)] = v1{mount, name, containers[controller]}
	}
	return found, nil
}

// kubelet: cgroupCommon.libctCgroupConfig.
func podGroup(name cm.CgroupName, driver string) *cgroups.Cgroup {
	if driver != "systemd" {
		return &cgroups.Cgroup{Path: name.ToCgroupfs()}
	}
	dir, base := path.Split(name.ToSystemd())
	parent := "-.slice"
	if dir != "/" {
		parent = path.Base(dir)
	}
	return &cgroups.Cgroup{Systemd: true, Parent: parent, Name: base}
}

// containerd: getCgroupsPath in internal/cri/server/helpers.go; runc: CreateCgroupConfig in libcontainer/specconv.
func containerGroup(pod string, asked question) *cgroups.Cgroup {
	if base := path.Base(pod); strings.HasSuffix(base, ".slice") {
		return &cgroups.Cgroup{Systemd: true, Parent: base, ScopePrefix: asked.Prefix, Name: asked.ID}
	}
	return &cgroups.Cgroup{Path: filepath.Join("/", pod, asked.Folder+asked.ID)}
}

func answered(asked question) (found answer) {
	defer func() {
		if reason := recover(); reason != nil {
			found = answer{Error: fmt.Sprint(reason)}
		}
	}()
	pod := podGroup(podName(asked), asked.Driver)
	var err error
	if found.Pod, err = pathOf(pod); err == nil {
		found.Unit, found.Parent = pod.Name, pod.Parent
		found.Container, err = pathOf(containerGroup(found.Pod, asked))
	}
	if err == nil {
		found.V1, err = namesOnV1(podGroup(podName(asked), asked.Driver), containerGroup(found.Pod, asked))
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	made, err := unifiedResToSystemdProps(nil, asked.Files)
	if err != nil {
		return answer{Error: err.Error()}
	}
	for _, each := range made {
		found.Properties = append(found.Properties, property{each.Name, each.Value.Signature().String(), each.Value.Value()})
	}
	return found
}

func useMounts(in *json.Decoder) (err error) {
	var text string
	if err = in.Decode(&text); err != nil {
		return err
	}
	cgroupRoot = "/sys/fs/cgroup"
	isUnifiedOnce.Do(func() {})
	isHybridOnce.Do(func() {})
	readMountinfoOnce.Do(func() {
		cgroupMountinfo, err = mountinfo.GetMountsFromReader(strings.NewReader(text), mountinfo.FSTypeFilter("cgroup"))
	})
	return err
}

func main() {
	versionOnce.Do(func() { version = systemdVersion })
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	if err := useMounts(in); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for in.More() {
		var asked question
		if err := in.Decode(&asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := out.Encode(answered(asked)); err != nil {
			os.Exit(1)
		}
	}
}
