# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The type of each value that containerd decodes; it does not start with a value of another type.

``containerd config default`` of 1.6 to 2.4 has all of them; no key changes its type between releases
(tests/judges/test_containerd_tables.py). Options of handlers are not here, because they are decoded for each pod.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .containerd_schema import CRI_V1, CRI_V2, CRI_V3, IMAGES_V3, NRI_ID, parse_release
from .containerd_toml import TomlLibrary

TEXT, NUMBER, SWITCH, TABLE, TEXTS = "a string", "a whole number", "true or false", "a table", "a list of strings"
FRACTION, DURATION = "a number", 'a duration such as "5s"'
NANOSECONDS = 'a duration such as "5s" or a number of nanoseconds'
ANY_KEY = "*"
"""Matches any key of a map, such as the name of a handler."""
_BEFORE_1_7_26 = re.compile(r"v?1\.7\.(?:1?\d|2[0-5])(?!\d)")
_GO_DURATION = re.compile(r"[-+]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)")

Path = tuple[str, ...]
Fields = Mapping[str, str]


def _fields(**keys: str) -> Fields:
    """Types by key; the arguments name a type and list its keys."""
    kinds = {"text": TEXT, "number": NUMBER, "switch": SWITCH, "texts": TEXTS, "table": TABLE, "duration": DURATION}
    kinds |= {"fraction": FRACTION, "nanoseconds": NANOSECONDS}
    return {key: kinds[kind] for kind, listed in keys.items() for key in listed.split()}


def is_of_type(value: Any, kind: str, library: TomlLibrary) -> bool:
    """Whether containerd accepts the value as one of that type, apart from ``is_unset``."""
    if kind == FRACTION:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == NUMBER:
        return _is_whole(value)
    if kind == TEXTS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if kind in (DURATION, NANOSECONDS):
        return _is_duration(value, kind, library)
    return isinstance(value, {TEXT: str, SWITCH: bool, TABLE: Mapping}[kind])


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_duration(value: Any, kind: str, library: TomlLibrary) -> bool:
    """A number is read like a string, and only 0 needs no unit; 2.4 of the library decodes it as Go's time.Duration."""
    if isinstance(value, str):
        return _GO_DURATION.fullmatch(value) is not None
    if kind == NANOSECONDS or library is TomlLibrary.V2_4:
        return _is_whole(value)
    # Version 1 writes 0.0 as 0.
    return not isinstance(value, bool) and value == 0 and (library is TomlLibrary.V1 or _is_whole(value))


def is_unset(value: Any, kind: str, library: TomlLibrary) -> bool:
    """Whether a value of a plugin counts as not set: up to 2.3 an empty table in place of another type does.

    The tables of plugins are written again before they are decoded (Decode of config.go), and an empty table becomes a
    header without keys (run with 2.2.9).
    """
    if kind == TABLE or library is not TomlLibrary.V2:
        return False
    items = value if kind == TEXTS and isinstance(value, list) else [value]
    return items != [] and all(item == {} for item in items)


def is_header(table: Any, library: TomlLibrary) -> bool:
    """Whether a plugin's value is a list that counts as an empty table: up to 2.3 a list of one key does.

    It is written again as ``['a']``, which is a header (run with 2.2.9).
    """
    inner = table
    for _brackets in range(2):
        inner = inner[0] if isinstance(inner, list) and len(inner) == 1 else inner
    return library is TomlLibrary.V2 and isinstance(table, list) and isinstance(inner, (str, int, float))


_SERVER = _fields(text="address", number="uid gid max_recv_message_size max_send_message_size")
_ROOT_PATH = _fields(text="root_path")

OF_FILE: Mapping[Path, Fields] = {
    (): _fields(
        text="root state temp plugin_dir",
        number="version oom_score",
        texts="imports disabled_plugins required_plugins",
        table="plugins cgroup debug grpc metrics proxy_plugins stream_processors timeouts ttrpc",
    ),
    ("cgroup",): _fields(text="path"),
    ("debug",): _fields(text="address format level", number="uid gid", switch="log_trace_id"),
    ("grpc",): {**_SERVER, **_fields(text="tcp_address tcp_tls_ca tcp_tls_cert tcp_tls_key tcp_tls_common_name")},
    ("metrics",): _fields(text="address", switch="grpc_histogram"),
    ("proxy_plugins",): {ANY_KEY: TABLE},
    ("proxy_plugins", ANY_KEY): _fields(text="type address platform"),
    ("stream_processors",): {ANY_KEY: TABLE},
    ("stream_processors", ANY_KEY): _fields(text="path returns", texts="accepts args env"),
    ("timeouts",): {ANY_KEY: TEXT},
    ("ttrpc",): _fields(text="address", number="uid gid"),
}
"""Tables of the file's top level; each file is decoded separately."""

_SWITCHES = (
    "device_ownership_from_security_context disable_apparmor disable_hugetlb_controller disable_proc_mount enable_cdi"
    " enable_selinux enable_unprivileged_icmp enable_unprivileged_ports ignore_image_defined_volumes"
    " netns_mounts_under_state_dir restrict_oom_score_adj tolerate_missing_hugetlb_controller"
)
_CRI = _fields(
    text="drain_exec_sync_io_timeout unset_seccomp_profile",
    number="max_container_log_line_size selinux_category_range",
    switch=_SWITCHES,
    texts="cdi_spec_dirs ignore_deprecation_warnings",
    table="containerd cni",
)
_SERVICE = _fields(
    text="stream_idle_timeout stream_server_address stream_server_port",
    switch="disable_tcp_service enable_tls_streaming",
    table="x509_key_pair_streaming",
)
_PULLING = _fields(
    text="image_pull_progress_timeout",
    number="max_concurrent_downloads stats_collect_period",
    switch="image_pull_with_sync_fs",
    table="image_decryption registry",
)
_CONTAINERD = _fields(
    text="default_runtime_name",
    switch="ignore_blockio_not_enabled_errors ignore_rdt_not_enabled_errors",
    table="runtimes",
)
_SNAPSHOTS = _fields(text="snapshotter", switch="disable_snapshot_annotations discard_unpacked_layers")
_HANDLER = _fields(
    text="base_runtime_spec cni_conf_dir runtime_path runtime_type snapshotter",
    number="cni_max_conf_num",
    switch="privileged_without_host_devices privileged_without_host_devices_all_devices_allowed",
    texts="container_annotations pod_annotations",
    table="options",
)
_CNI = _fields(text="bin_dir conf_dir conf_template ip_pref", number="max_conf_num", switch="setup_serially")
_KEYS = _fields(text="tls_cert_file tls_key_file")

SHARED: Mapping[str, Mapping[Path, Fields]] = {
    CRI_V2: {
        (): {**_CRI, **_SERVICE, **_PULLING, **_fields(text="sandbox_image")},
        ("cni",): _CNI,
        ("containerd",): {**_CONTAINERD, **_SNAPSHOTS},
        ("containerd", "runtimes"): {ANY_KEY: TABLE},
        ("containerd", "runtimes", ANY_KEY): _HANDLER,
        ("image_decryption",): _fields(text="key_model"),
        ("registry",): _fields(text="config_path", table="auths configs headers mirrors"),
        ("x509_key_pair_streaming",): _KEYS,
    },
    NRI_ID: {
        (): _fields(
            text="plugin_config_path plugin_path socket_path",
            switch="disable disable_connections",
            duration="plugin_registration_timeout plugin_request_timeout",
        ),
    },
    "io.containerd.gc.v1.scheduler": {
        (): _fields(
            number="deletion_threshold mutation_threshold",
            fraction="pause_threshold",
            duration="schedule_delay startup_delay",
        )
    },
    "io.containerd.internal.v1.opt": {(): _fields(text="path")},
    "io.containerd.metadata.v1.bolt": {(): _fields(text="content_sharing_policy")},
    "io.containerd.runtime.v2.task": {(): _fields(texts="platforms")},
    "io.containerd.service.v1.diff-service": {(): _fields(texts="default")},
    "io.containerd.service.v1.tasks-service": {(): _fields(text="rdt_config_file blockio_config_file")},
    "io.containerd.snapshotter.v1.blockfile": {
        (): _fields(text="fs_type root_path scratch_file", texts="mount_options")
    },
    "io.containerd.snapshotter.v1.btrfs": {(): _ROOT_PATH},
    "io.containerd.snapshotter.v1.devmapper": {
        (): _fields(text="base_image_size fs_options fs_type pool_name root_path", switch="async_remove discard_blocks")
    },
    "io.containerd.snapshotter.v1.native": {(): _ROOT_PATH},
    "io.containerd.snapshotter.v1.overlayfs": {
        (): _fields(text="root_path", texts="mount_options", switch="upperdir_label sync_remove")
    },
    "io.containerd.snapshotter.v1.zfs": {(): _ROOT_PATH},
    "io.containerd.transfer.v1.local": {
        (): _fields(text="config_path", number="max_concurrent_downloads max_concurrent_uploaded_layers")
    },
}
"""Tables that all releases have, by plugin and by path below the plugin."""

_OLD_HANDLER = {**_HANDLER, **_fields(text="runtime_engine runtime_root sandbox_mode")}
OLD: Mapping[str, Mapping[Path, Fields]] = {
    CRI_V2: {
        **SHARED[CRI_V2],
        (): {**SHARED[CRI_V2][()], **_fields(switch="disable_cgroup systemd_cgroup")},
        ("containerd",): {
            **SHARED[CRI_V2][("containerd",)],
            **_fields(switch="no_pivot", table="default_runtime untrusted_workload_runtime"),
        },
        ("containerd", "runtimes", ANY_KEY): _OLD_HANDLER,
        ("containerd", "default_runtime"): _OLD_HANDLER,
        ("containerd", "untrusted_workload_runtime"): _OLD_HANDLER,
    },
    NRI_ID: {
        (): {**SHARED[NRI_ID][()], **_fields(nanoseconds="plugin_registration_timeout plugin_request_timeout")},
    },
    "io.containerd.internal.v1.restart": {(): _fields(duration="interval")},
    "io.containerd.monitor.v1.cgroups": {(): _fields(switch="no_prometheus")},
    "io.containerd.runtime.v1.linux": {(): _fields(text="runtime runtime_root shim", switch="no_shim shim_debug")},
    "io.containerd.runtime.v2.task": {(): _fields(texts="platforms", switch="sched_core")},
    "io.containerd.service.v1.diff-service": {(): _fields(texts="default", switch="sync_fs")},
    "io.containerd.snapshotter.v1.aufs": {(): _ROOT_PATH},
}
"""Tables that only 1.x has, or has with other types."""


def _with_fields(plugin: str, fields: Fields) -> Mapping[Path, Fields]:
    return {(): {**SHARED[plugin][()], **fields}}


NEW: Mapping[str, Mapping[Path, Fields]] = {
    CRI_V2: {(): _SERVICE, ("x509_key_pair_streaming",): _KEYS},
    CRI_V3: {
        (): {
            **_CRI,
            **_fields(
                text="stats_collect_period stats_retention_period",
                switch="enable_criu enable_experimental_restore_via_create",
            ),
        },
        ("cni",): {**_CNI, **_fields(texts="bin_dirs", switch="use_internal_loopback")},
        ("containerd",): _CONTAINERD,
        ("containerd", "runtimes"): {ANY_KEY: TABLE},
        ("containerd", "runtimes", ANY_KEY): {
            **_HANDLER,
            **_fields(text="sandboxer io_type", switch="cgroup_writable disable_pause_image_pull"),
        },
    },
    IMAGES_V3: {
        (): {
            **_PULLING,
            **_SNAPSHOTS,
            **_fields(number="concurrent_layer_fetch_buffer", switch="use_local_image_pull", table="pinned_images"),
        },
        ("image_decryption",): _fields(text="key_model"),
        ("pinned_images",): {ANY_KEY: TEXT},
        ("registry",): _fields(text="config_path"),
    },
    NRI_ID: {
        (): {**SHARED[NRI_ID][()], **_fields(table="default_validator")},
        ("default_validator",): _fields(
            text="tolerate_missing_plugins_annotation",
            switch="enable reject_oci_hook_adjustment reject_runtime_default_seccomp_adjustment"
            " reject_unconfined_seccomp_adjustment reject_custom_seccomp_adjustment reject_namespace_adjustment"
            " reject_sysctl_adjustment",
            texts="required_plugins",
        ),
    },
    "io.containerd.differ.v1.erofs": {(): _fields(texts="mkfs_options", switch="enable_tar_index enable_dmverity")},
    "io.containerd.image-verifier.v1.bindir": {
        (): _fields(text="bin_dir", number="max_verifiers", duration="per_verifier_timeout")
    },
    "io.containerd.metrics.v1.grpc-prometheus": {(): _fields(switch="grpc_histogram")},
    "io.containerd.monitor.container.v1.restart": {(): _fields(duration="interval")},
    "io.containerd.monitor.task.v1.cgroups": {(): _fields(switch="no_prometheus")},
    "io.containerd.server.v1.debug": {(): _fields(text="address", number="uid gid")},
    "io.containerd.server.v1.grpc": {(): _SERVER},
    "io.containerd.server.v1.grpc-tcp": {
        (): _fields(
            text="address tls_ca tls_cert tls_key tls_common_name",
            number="max_recv_message_size max_send_message_size",
        )
    },
    "io.containerd.server.v1.metrics": {(): _fields(text="address")},
    "io.containerd.server.v1.ttrpc": {(): _fields(text="address", number="uid gid")},
    "io.containerd.shim.v1.manager": {(): _fields(text="socket_dir", texts="env")},
    "io.containerd.snapshotter.v1.erofs": {
        (): _fields(
            text="root_path default_size dmverity_mode",
            texts="ovl_mount_options layer_content_caches",
            switch="enable_fsverity set_immutable",
        )
    },
    "io.containerd.metadata.v1.bolt": _with_fields("io.containerd.metadata.v1.bolt", _fields(switch="no_sync")),
    "io.containerd.service.v1.diff-service": _with_fields(
        "io.containerd.service.v1.diff-service", _fields(switch="sync_fs")
    ),
    "io.containerd.snapshotter.v1.blockfile": _with_fields(
        "io.containerd.snapshotter.v1.blockfile", _fields(switch="recreate_scratch")
    ),
    "io.containerd.snapshotter.v1.overlayfs": _with_fields(
        "io.containerd.snapshotter.v1.overlayfs", _fields(switch="slow_chown")
    ),
    "io.containerd.transfer.v1.local": _with_fields(
        "io.containerd.transfer.v1.local",
        _fields(number="concurrent_layer_fetch_buffer max_concurrent_unpacks", switch="check_platform_supported"),
    ),
}
"""Those of 2.x alone; older tables of the CRI are migrated into its own."""


def plugin_tables(major: int) -> Mapping[str, Mapping[Path, Fields]]:
    """Tables by plugin of a release of 1.x or 2.x."""
    return {**SHARED, **(OLD if major < 2 else NEW)}


OF_RUNTIMES = frozenset({"privileged_without_host_devices_all_devices_allowed", "sandbox_mode", "snapshotter"})
SINCE_1_7: Mapping[str, Mapping[Path, frozenset[str]]] = {
    CRI_V2: {
        (): frozenset(
            {
                "cdi_spec_dirs",
                "drain_exec_sync_io_timeout",
                "enable_cdi",
                "ignore_deprecation_warnings",
                "image_pull_progress_timeout",
                "image_pull_with_sync_fs",
            }
        ),
        ("cni",): frozenset({"setup_serially"}),
        ("containerd",): frozenset({"ignore_blockio_not_enabled_errors"}),
        ("containerd", "default_runtime"): OF_RUNTIMES,
        ("containerd", "untrusted_workload_runtime"): OF_RUNTIMES,
        ("containerd", "runtimes", ANY_KEY): OF_RUNTIMES,
    },
    "io.containerd.service.v1.tasks-service": {(): frozenset({"blockio_config_file"})},
    "io.containerd.snapshotter.v1.overlayfs": {(): frozenset({"mount_options", "sync_remove"})},
}
"""Keys that 1.6.20 ignores: they are in the defaults of 1.7.24 but not of 1.6.20."""
PLUGINS_SINCE_1_7 = frozenset({NRI_ID, "io.containerd.snapshotter.v1.blockfile", "io.containerd.transfer.v1.local"})
SINCE_1_7_26: Mapping[str, Mapping[Path, frozenset[str]]] = {
    "io.containerd.service.v1.diff-service": {(): frozenset({"sync_fs"})}
}
"""services/diff/local.go; configuration is otherwise decoded in 1.7.35 as in 1.7.24 (read)."""


def plugin_tables_up_to_1_7(version: str | None) -> Mapping[str, Mapping[Path, Fields]]:
    """Tables by plugin of a release of 1.x; an unknown one counts as the newest."""
    tables = plugin_tables(1)
    if (parse_release(version) or (1, 7)) < (1, 7):
        known = {plugin: table for plugin, table in tables.items() if plugin not in PLUGINS_SINCE_1_7}
        return _without(_without(known, SINCE_1_7), SINCE_1_7_26)
    return _without(tables, SINCE_1_7_26) if _BEFORE_1_7_26.match(version or "") else tables


def _without(
    tables: Mapping[str, Mapping[Path, Fields]], keys: Mapping[str, Mapping[Path, frozenset[str]]]
) -> Mapping[str, Mapping[Path, Fields]]:
    return {
        plugin: {
            path: {key: kind for key, kind in fields.items() if key not in keys.get(plugin, {}).get(path, ())}
            for path, fields in table.items()
        }
        for plugin, table in tables.items()
    }


IGNORED_SINCE_2_3: Mapping[Path, frozenset[str]] = {
    (): frozenset({"enable_cdi", "enable_experimental_restore_via_create"}),
    ("cni",): frozenset({"bin_dir"}),
}
"""Keys of the CRI plugin's runtime part that 2.3 and later ignore."""


def plugin_tables_since_2_3() -> Mapping[str, Mapping[Path, Fields]]:
    """Tables of 2.3 and later by plugin."""
    runtime_tables = {
        path: {key: kind for key, kind in fields.items() if key not in IGNORED_SINCE_2_3.get(path, ())}
        for path, fields in NEW[CRI_V3].items()
    }
    return {**plugin_tables(2), CRI_V3: runtime_tables}


def full_name(plugin: str, tables: Mapping[str, Mapping[Path, Fields]]) -> str:
    """The name in the tables of a plugin, which in schema 1 is only the last part."""
    if plugin in (CRI_V1, CRI_V2, CRI_V3):
        return CRI_V2 if plugin == CRI_V1 else plugin
    return next((name for name in tables if name == plugin or name.rpartition(".")[2] == plugin), plugin)
