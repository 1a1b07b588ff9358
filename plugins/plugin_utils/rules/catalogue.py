# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All rules, in the order in which reports show their findings: problems that make a node unreadable come first."""

from __future__ import annotations

from ..facts.node_state import NodeFacts
from ..plan.change_set import Refusal
from ..plan.draft import PlanDraft
from . import (
    cgroup_driver_mismatch,
    cgroup_version,
    config_files,
    containerd_files,
    image_managed,
    k3s_and_rke2,
    kubeadm_upgrade,
    kubelet_cgroups,
    kubelet_config_file,
    kubelet_dropins,
    kubelet_field_values,
    kubelet_flags,
    kubelet_release,
    kubelet_startup,
    manager_checkpoints,
    memory_manager,
    memory_qos,
    next_boot,
    nri,
    outdated_programs,
    qos_agents,
    reservations,
    resource_managers,
    services,
    supported_runtimes,
    systemd_oomd,
    transaction_records,
    tuned,
)
from .rule_types import Finding, FindingRule, RefusalRule

FINDING_RULES: tuple[FindingRule, ...] = (
    image_managed.immutable_system,
    image_managed.writes_are_lost,
    image_managed.read_only_usr,
    services.pid1_not_systemd,
    services.not_a_node,
    outdated_programs.version_too_old,
    transaction_records.unfinished_transaction,
    kubelet_startup.swap_on,
    transaction_records.record_unreadable,
    next_boot.offline_image,
    config_files.unreadable_config,
    kubelet_dropins.dropins_refused,
    kubelet_dropins.config_dir_refused,
    kubelet_startup.config_changed_after_start,
    services.runtime_silent,
    services.kubelet_unhealthy,
    services.restart_kills_pods,
    services.unit_changed,
    supported_runtimes.runtime_defects,
    containerd_files.cri_disabled,
    supported_runtimes.runtime_unsupported,
    supported_runtimes.runtime_config_changed,
    cgroup_driver_mismatch.kubelet_driver_unknown,
    cgroup_driver_mismatch.runtime_driver_unknown,
    cgroup_driver_mismatch.handlers_disagree,
    cgroup_driver_mismatch.driver_mismatch,
    cgroup_driver_mismatch.containers_misplaced,
    cgroup_driver_mismatch.containers_of_other_driver,
    cgroup_driver_mismatch.restart_changes_driver,
    kubelet_config_file.kubelet_file_refused,
    kubelet_config_file.kubelet_file_ignored,
    kubelet_flags.flags_change_at_restart,
    kubelet_flags.flag_removed,
    kubelet_flags.flag_quoted,
    kubelet_startup.configz_differs,
    cgroup_driver_mismatch.driver_setting_ignored,
    cgroup_driver_mismatch.driver_hidden_from_agents,
    cgroup_version.cgroup_v1_refused,
    kubelet_flags.flag_refused,
    kubelet_field_values.value_out_of_range,
    kubelet_field_values.unused_field_refused,
    resource_managers.policy_unknown,
    reservations.reservation_unreadable,
    reservations.cpu_reservation_impossible,
    reservations.reserved_cpus_with_cgroups,
    reservations.enforcement_refused,
    resource_managers.manager_options_refused,
    memory_manager.reserved_memory_refused,
    memory_manager.memory_equation,
    memory_manager.memory_manager_off,
    kubelet_release.feature_gates_refused,
    manager_checkpoints.checkpoint_differs,
    manager_checkpoints.checkpoint_corrupt,
    manager_checkpoints.checkpoint_cpus_differ,
    manager_checkpoints.checkpoint_reserved_differs,
    manager_checkpoints.memory_checkpoint_differs,
    cgroup_version.cgroup_mode_unknown,
    kubelet_cgroups.cgroups_read_only,
    kubelet_cgroups.controllers_split,
    kubelet_cgroups.controllers_missing,
    kubelet_cgroups.realtime_blocks_cpu,
    kubelet_cgroups.controllers_not_enabled,
    kubelet_cgroups.idle_qos_class,
    kubelet_cgroups.cgroup_root_nested,
    kubelet_cgroups.second_kubepods_tree,
    nri.nri_socket_stale,
    nri.restart_changes_nri,
    k3s_and_rke2.kubelet_inside,
    k3s_and_rke2.config_regenerated,
    outdated_programs.below_v2_minimum,
    cgroup_version.single_process_oom_kill,
    next_boot.reboot_changes_mode,
    next_boot.v1_asked_in_vain,
    next_boot.next_line_differs,
    resource_managers.too_many_numa_nodes,
    resource_managers.more_sockets_than_numa_nodes,
    reservations.reserved_cgroup_missing,
    memory_qos.memory_reservation_refused,
    memory_qos.memory_throttling_refused,
    memory_qos.memory_qos_stalls_pods,
    memory_qos.memory_qos_agent_conflict,
    memory_qos.memory_qos_needs_v2,
    qos_agents.two_qos_agents,
    systemd_oomd.kills_pods,
    systemd_oomd.kills_services,
    tuned.tuned_runs,
    tuned.tuned_places_processes,
    qos_agents.kubepods_overridden,
    qos_agents.rubik_needs_v1,
    qos_agents.rubik_features_missing,
    qos_agents.rubik_driver_differs,
    config_files.nri_backup,
    config_files.static_pod_backup,
    config_files.dropin_backup,
    qos_agents.cgroup_root_not_default,
    qos_agents.root_dir_not_default,
    kubelet_field_values.read_only_port_open,
)

SYSTEM_REFUSALS: tuple[RefusalRule, ...] = (image_managed.refuse_immutable_system,)
NODE_REFUSALS: tuple[RefusalRule, ...] = (
    services.refuse_another_pid1,
    outdated_programs.refuse_old_programs,
    cgroup_version.refuse_unknown_cgroup_mode,
    services.refuse_stopped_kubelet,
    services.refuse_silent_runtime,
    k3s_and_rke2.refuse_embedded_containerd,
)
LOCATION_REFUSALS: tuple[RefusalRule, ...] = (
    k3s_and_rke2.refuse_kubelet_inside,
    services.refuse_missing_kubelet,
    kubelet_config_file.refuse_kubelet_location,
    kubelet_dropins.refuse_dropin_directory,
    kubelet_dropins.refuse_overridden_dropin,
    kubelet_flags.refuse_overriding_flags,
    k3s_and_rke2.refuse_embedded_kubelet,
)
"""Why kubelet's settings cannot be written where this node keeps them."""
KUBEADM_REFUSALS: tuple[RefusalRule, ...] = (
    kubeadm_upgrade.refuse_patch_directory,
    kubeadm_upgrade.refuse_overridden_patch,
)
VALUE_REFUSALS: tuple[RefusalRule, ...] = (
    kubelet_config_file.refuse_another_kind,
    kubelet_config_file.refuse_wrong_types,
    kubelet_release.refuse_newer_fields,
    kubelet_release.refuse_unknown_version,
    memory_manager.refuse_reserved_memory,
    memory_qos.refuse_memory_qos,
    reservations.refuse_cgroup_root,
    kubelet_startup.refuse_startup,
)
"""Values that this kubelet does not support or would not start with."""
KUBELET_REFUSALS = LOCATION_REFUSALS + KUBEADM_REFUSALS + VALUE_REFUSALS
REFUSAL_RULES = SYSTEM_REFUSALS + NODE_REFUSALS + KUBELET_REFUSALS + supported_runtimes.RUNTIME_REFUSALS


def findings(facts: NodeFacts) -> tuple[Finding, ...]:
    """All findings of a node, in the order of the rules."""
    return tuple(finding for rule in FINDING_RULES for finding in rule(facts))


def refusals(draft: PlanDraft, rules: tuple[RefusalRule, ...] = REFUSAL_RULES) -> tuple[Refusal, ...]:
    """All refusals, so that one run reports everything that must be corrected."""
    return tuple(refusal for rule in rules for refusal in rule(draft))
