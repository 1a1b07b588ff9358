// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Applies a folder of patches to kubelet's configuration as kubeadm does: applyKubeletConfigPatches in
// cmd/kubeadm/app/phases/kubelet/config.go, which is not exported. One question and one answer a line, in JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	kubeletconfig "k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/patches"
)

type question struct {
	Folder, Text string
}

type answer struct {
	Text, Error string
}

func patched(asked question) answer {
	manager, err := patches.GetPatchManagerForPath(asked.Folder, patches.KnownTargets(), nil)
	if err != nil {
		return answer{Error: err.Error()}
	}
	target := &patches.PatchTarget{
		Name:                      patches.KubeletConfiguration,
		StrategicMergePatchObject: kubeletconfig.KubeletConfiguration{},
		Data:                      []byte(asked.Text),
	}
	if err := manager.ApplyPatchesToTarget(target); err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Text: string(target.Data)}
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for in.More() {
		var asked question
		if err := in.Decode(&asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := out.Encode(patched(asked)); err != nil {
			os.Exit(1)
		}
	}
}
