// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"reflect"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/version"
	v1beta1 "k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
)

func release() string { return version.Get().GitVersion }

// GateStage is what holds of a feature gate from a version on.
type GateStage struct {
	Since   string `json:"since"`
	Default bool   `json:"default"`
	Locked  bool   `json:"locked"`
	Stage   string `json:"stage"`
}

// gateTable has the stages of each feature gate that this kubelet knows, oldest first.
func gateTable() map[string][]GateStage {
	table := map[string][]GateStage{}
	for name, stages := range utilfeature.DefaultMutableFeatureGate.GetAllVersioned() {
		for _, each := range stages {
			since := ""
			if each.Version != nil {
				since = each.Version.String()
			}
			table[string(name)] = append(table[string(name)],
				GateStage{since, each.Default, each.LockToDefault, string(each.PreRelease)})
		}
	}
	return table
}

// Flag of kubelet's command line.
type Flag struct {
	Type       string `json:"type"`
	Deprecated string `json:"deprecated,omitempty"`
	Shorthand  string `json:"shorthand,omitempty"`
}

func flagTable() map[string]Flag {
	config, err := options.NewKubeletConfiguration()
	if err != nil {
		panic(err)
	}
	table := map[string]Flag{}
	newFlagSet(options.NewKubeletFlags(), config).VisitAll(func(each *pflag.Flag) {
		table["--"+each.Name] = Flag{each.Value.Type(), each.Deprecated, each.Shorthand}
	})
	return table
}

// optionTable has the options of the CPU and the topology manager by stage.
func optionTable() map[string]map[string][]string {
	return map[string]map[string][]string{
		"cpu":      {"alpha": sets.List(cpuAlpha), "beta": sets.List(cpuBeta), "stable": sets.List(cpuStable)},
		"topology": {"alpha": sets.List(topologyAlpha), "beta": sets.List(topologyBeta), "stable": sets.List(topologyStable)},
	}
}

// Type of a field as it stands in a file.
type Type struct {
	Kind string `json:"kind"`
	// Item is the type of a list's items or of a table's values.
	Item *Type `json:"item,omitempty"`
	// Fields are those of a structure.
	Fields map[string]*Type `json:"fields,omitempty"`
}

var special = map[reflect.Type]string{
	reflect.TypeOf(metav1.Duration{}):   "duration",
	reflect.TypeOf(resource.Quantity{}): "quantity",
	reflect.TypeOf(metav1.Time{}):       "time",
}

// typeTable is KubeletConfiguration with the types of all fields below it.
func typeTable() *Type { return typeOf(reflect.TypeOf(v1beta1.KubeletConfiguration{})) }

func typeOf(found reflect.Type) *Type {
	if kind, known := special[found]; known {
		return &Type{Kind: kind}
	}
	switch found.Kind() {
	case reflect.Pointer:
		return typeOf(found.Elem())
	case reflect.Slice, reflect.Array:
		if found.Elem().Kind() == reflect.Uint8 {
			return &Type{Kind: "bytes"}
		}
		return &Type{Kind: "list", Item: typeOf(found.Elem())}
	case reflect.Map:
		return &Type{Kind: "table", Item: typeOf(found.Elem())}
	case reflect.Struct:
		if reflect.PointerTo(found).Implements(reflect.TypeOf((*jsonDecoder)(nil)).Elem()) {
			return &Type{Kind: found.String()}
		}
		return &Type{Kind: "structure", Fields: fieldsOf(found)}
	}
	return &Type{Kind: found.Kind().String()}
}

type jsonDecoder interface{ UnmarshalJSON([]byte) error }

func fieldsOf(found reflect.Type) map[string]*Type {
	fields := map[string]*Type{}
	for number := 0; number < found.NumField(); number++ {
		each := found.Field(number)
		name, inline, _ := strings.Cut(each.Tag.Get("json"), ",")
		if name == "" && (each.Anonymous || strings.Contains(inline, "inline")) {
			for inner, kind := range fieldsOf(each.Type) {
				fields[inner] = kind
			}
			continue
		}
		if name != "" && name != "-" {
			fields[name] = typeOf(each.Type)
		}
	}
	return fields
}
