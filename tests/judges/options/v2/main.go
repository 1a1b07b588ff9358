// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Reads dumps of containerd 2.x, whose paths are its arguments, and decodes the options of each runtime handler as
// containerd does for each pod: GenerateRuntimeOptions in internal/cri/config/config.go, which is not exported.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	runc "github.com/containerd/containerd/api/types/runc/options"
	"github.com/pelletier/go-toml/v2"
)

type answer struct {
	SystemdCgroup bool
	BinaryName    string
	Error         string
}

type handler struct {
	Options map[string]any `toml:"options"`
}

type cri struct {
	Containerd struct {
		Runtimes map[string]handler `toml:"runtimes"`
	} `toml:"containerd"`
}

// Keys of a map have one spelling, names of fields have any.
type dump struct {
	Plugins map[string]any `toml:"plugins"`
}

func runtimes(text []byte) (map[string]handler, error) {
	var (
		all dump
		own cri
	)
	if err := toml.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	table, err := toml.Marshal(all.Plugins["io.containerd.cri.v1.runtime"])
	if err == nil {
		err = toml.Unmarshal(table, &own)
	}
	return own.Containerd.Runtimes, err
}

func decode(options map[string]any) answer {
	decoded := &runc.Options{}
	text, err := toml.Marshal(options)
	if err == nil {
		err = toml.Unmarshal(text, decoded)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{SystemdCgroup: decoded.SystemdCgroup, BinaryName: decoded.BinaryName}
}

func main() {
	found := map[string]map[string]answer{}
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		var handlers map[string]handler
		if err == nil {
			handlers, err = runtimes(text)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, path, err)
			os.Exit(1)
		}
		found[path] = map[string]answer{}
		for name, each := range handlers {
			found[path][name] = decode(each.Options)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		os.Exit(1)
	}
}
