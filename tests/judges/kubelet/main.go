// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

// kubelet-judge loads kubelet configuration as kubelet does and prints what comes of it: one JSON request a line on
// standard input, one JSON result a line on standard output. It starts nothing.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
)

// Request names an operation: "load" with files, flags and a machine, or one of the tables.
type Request struct {
	Operation string            `json:"operation"`
	Files     map[string][]byte `json:"files"`
	Args      []string          `json:"args"`
	CgroupV1  bool              `json:"cgroup_v1"`
	CPUs      int               `json:"cpus"`
	Memory    uint64            `json:"memory"`
	NUMANodes int               `json:"numa_nodes"`
}

// Failure says at which step kubelet would have stopped, and what it would have said.
type Failure struct {
	Step    string `json:"step"`
	Message string `json:"message"`
}

// Result has the values in force, or the failure.
type Result struct {
	Failure *Failure `json:"failure,omitempty"`
	Config  any      `json:"config,omitempty"`
	Table   any      `json:"table,omitempty"`
}

func main() {
	quiet()
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	for {
		line, err := input.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return
		}
		var request Request
		if err := json.Unmarshal(line, &request); err != nil {
			fmt.Fprintln(os.Stderr, "not a request:", err)
			os.Exit(1)
		}
		if err := output.Encode(execute(request)); err != nil {
			fmt.Fprintln(os.Stderr, "cannot write the result:", err)
			os.Exit(1)
		}
	}
}

// quiet keeps klog's lines off the terminal: a run has thousands of loads.
func quiet() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	set := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(set)
	_ = set.Set("stderrthreshold", "FATAL")
}

func execute(request Request) Result {
	switch request.Operation {
	case "load":
		return load(request)
	case "gates":
		return Result{Table: gateTable()}
	case "flags":
		return Result{Table: flagTable()}
	case "options":
		return Result{Table: optionTable()}
	case "types":
		return Result{Table: typeTable()}
	case "release":
		return Result{Table: release()}
	}
	return Result{Failure: &Failure{"request", "there is no operation " + request.Operation}}
}
