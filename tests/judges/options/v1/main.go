// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Reads dumps of containerd 1.x, whose paths are its arguments, and decodes the options of each runtime handler as
// containerd does for each pod: generateRuntimeOptions in pkg/cri/server/helpers.go, which is not exported. The
// deprecated tables are handlers too: ValidatePluginConfig in pkg/cri/config/config.go.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	runc "github.com/containerd/containerd/api/types/runc/options"
	"github.com/pelletier/go-toml"
)

type answer struct {
	SystemdCgroup bool
	BinaryName    string
	Error         string
}

type handler struct {
	Type    string         `toml:"runtime_type"`
	Options map[string]any `toml:"options"`
}

type cri struct {
	Containerd struct {
		Default   handler            `toml:"default_runtime"`
		Untrusted handler            `toml:"untrusted_workload_runtime"`
		Runtimes  map[string]handler `toml:"runtimes"`
	} `toml:"containerd"`
}

type dump struct {
	Plugins map[string]toml.Tree `toml:"plugins"`
}

func decode(options map[string]any) answer {
	decoded := &runc.Options{}
	tree, err := toml.TreeFromMap(options)
	if err == nil {
		err = tree.Unmarshal(decoded)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{SystemdCgroup: decoded.SystemdCgroup, BinaryName: decoded.BinaryName}
}

func handlers(path string) (map[string]answer, error) {
	tree, err := toml.LoadFile(path)
	if err != nil {
		return nil, err
	}
	var read dump
	if err = tree.Unmarshal(&read); err != nil {
		return nil, err
	}
	var table cri
	if found, ok := read.Plugins["io.containerd.grpc.v1.cri"]; ok {
		if err = found.Unmarshal(&table); err != nil {
			return nil, err
		}
	}
	tables := map[string]handler{}
	for name, each := range table.Containerd.Runtimes {
		tables[name] = each
	}
	if table.Containerd.Default.Type != "" {
		tables["default"] = table.Containerd.Default
	}
	if table.Containerd.Untrusted.Type != "" {
		tables["untrusted"] = table.Containerd.Untrusted
	}
	answers := map[string]answer{}
	for name, each := range tables {
		answers[name] = decode(each.Options)
	}
	return answers, nil
}

func main() {
	found := map[string]map[string]answer{}
	for _, path := range os.Args[1:] {
		answers, err := handlers(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, path, err)
			os.Exit(1)
		}
		found[path] = answers
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		os.Exit(1)
	}
}
