// SPDX-FileCopyrightText: the volcano.colocation authors
// SPDX-License-Identifier: GPL-3.0-or-later

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cliflag "k8s.io/component-base/cli/flag"
	logsapi "k8s.io/component-base/logs/api/v1"
	v1beta1 "k8s.io/kubelet/config/v1beta1"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	kubeletv1beta1 "k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1"
	kubeletvalidation "k8s.io/kubernetes/pkg/kubelet/apis/config/validation"
)

// folderMark stands for the folder of the request's files in arguments and messages.
const folderMark = "{files}"

// load runs the steps of app.NewKubeletCommand up to the start of kubelet's managers.
func load(request Request) Result {
	folder, err := writeFiles(request.Files)
	if err != nil {
		return Result{Failure: &Failure{"request", err.Error()}}
	}
	defer os.RemoveAll(folder)
	args := make([]string, len(request.Args))
	for number, arg := range request.Args {
		args[number] = strings.ReplaceAll(arg, folderMark, folder)
	}
	restore := isolateGates()
	defer restore()
	pretendCgroup(request.CgroupV1)
	loaded, failure := start(args, request, folder)
	if failure != nil {
		failure.Message = strings.ReplaceAll(failure.Message, folder, folderMark)
		return Result{Failure: failure}
	}
	external, err := versioned(loaded)
	if err != nil {
		return Result{Failure: &Failure{"convert", err.Error()}}
	}
	return Result{Config: external}
}

// start loads the configuration and makes the managers of it. kubelet panics over some files, as over a feature gate
// that is locked (SetDefaults_KubeletConfiguration).
func start(args []string, request Request, folder string) (config *kubeletconfig.KubeletConfiguration, failure *Failure) {
	defer func() {
		if reason := recover(); reason != nil {
			config, failure = nil, &Failure{"panic", fmt.Sprint(reason)}
		}
	}()
	config, failure = loadConfiguration(args)
	if failure == nil {
		failure = startManagers(config, request, folder)
	}
	return config, failure
}

func writeFiles(files map[string][]byte) (string, error) {
	folder, err := os.MkdirTemp("", "kubelet-judge-")
	if err != nil {
		return "", err
	}
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return folder, err
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return folder, err
		}
	}
	return folder, nil
}

// isolateGates gives one load feature gates of its own: kubelet sets those of the process, once.
func isolateGates() func() {
	mutable, shared := utilfeature.DefaultMutableFeatureGate, utilfeature.DefaultFeatureGate
	own := mutable.DeepCopy()
	utilfeature.DefaultMutableFeatureGate, utilfeature.DefaultFeatureGate = own, own
	return func() { utilfeature.DefaultMutableFeatureGate, utilfeature.DefaultFeatureGate = mutable, shared }
}

func failed(step string, err error) *Failure { return &Failure{step, err.Error()} }

// newFlagSet is kubelet's, of NewKubeletCommand.
func newFlagSet(flags *options.KubeletFlags, config *kubeletconfig.KubeletConfiguration) *pflag.FlagSet {
	set := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	set.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	set.Usage = func() {}
	set.SetOutput(new(strings.Builder))
	flags.AddFlags(set)
	options.AddKubeletConfigFlags(set, config)
	options.AddGlobalFlags(set)
	set.BoolP("help", "h", false, "help for kubelet")
	return set
}

// loadConfiguration follows RunE of app.NewKubeletCommand, line by line; the functions are kubelet's own.
func loadConfiguration(args []string) (*kubeletconfig.KubeletConfiguration, *Failure) {
	flags := options.NewKubeletFlags()
	config, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, failed("defaults", err)
	}
	set := newFlagSet(flags, config)
	if err := set.Parse(args); err != nil {
		return nil, failed("flags", err)
	}
	if rest := set.Args(); len(rest) > 0 {
		return nil, failed("flags", fmt.Errorf("unknown command %+s", rest[0]))
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(config.FeatureGates); err != nil {
		return nil, failed("gates", err)
	}
	if err := options.ValidateKubeletFlags(flags); err != nil {
		return nil, failed("flags", err)
	}
	if flags.KubeletConfigFile != "" {
		if config, err = loadConfigFile(context.Background(), flags.KubeletConfigFile); err != nil {
			return nil, failed("file", err)
		}
	}
	if flags.KubeletDropinConfigDirectory != "" {
		if err := merge(config, flags.KubeletDropinConfigDirectory); err != nil {
			return nil, failed("drop-ins", err)
		}
	}
	if flags.KubeletConfigFile != "" || flags.KubeletDropinConfigDirectory != "" {
		if err := kubeletConfigFlagPrecedence(config, args); err != nil {
			return nil, failed("flags", err)
		}
		if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(config.FeatureGates); err != nil {
			return nil, failed("gates", err)
		}
	}
	logging := logsapi.Validate(&config.Logging, utilfeature.DefaultFeatureGate, field.NewPath("logging"))
	if err := logging.ToAggregate(); err != nil {
		return nil, failed("logging", err)
	}
	if err := kubeletvalidation.ValidateKubeletConfiguration(config, utilfeature.DefaultFeatureGate); err != nil {
		return nil, failed("validate", err)
	}
	server := &options.KubeletServer{KubeletFlags: *flags, KubeletConfiguration: *config}
	if err := options.ValidateKubeletServer(server); err != nil {
		return nil, failed("validate", err)
	}
	if flags.ExitOnLockContention && flags.LockFilePath == "" {
		return nil, failed("start", errors.New("cannot exit on lock file contention: no lock file specified"))
	}
	return config, nil
}

// versioned is the configuration as /configz gives it.
func versioned(config *kubeletconfig.KubeletConfiguration) (json.RawMessage, error) {
	external := &v1beta1.KubeletConfiguration{}
	err := kubeletv1beta1.Convert_config_KubeletConfiguration_To_v1beta1_KubeletConfiguration(config, external, nil)
	if err != nil {
		return nil, err
	}
	return json.Marshal(external)
}
