# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.volcano.colocation.plugins.module_utils.transaction.validation import dump_values, find_value

# Parts of `containerd config dump` of Debian's containerd 1.6.20 and of 2.1: other indents, other quotes.
DUMP_1_6 = """\
disabled_plugins = []
imports = ["/etc/containerd/config.toml"]
version = 2

[cgroup]
  path = ""

[plugins]

  [plugins."io.containerd.grpc.v1.cri"]
    enable_selinux = false
    sandbox_image = "registry.k8s.io/pause:3.6"

    [plugins."io.containerd.grpc.v1.cri".containerd]
      default_runtime_name = "runc"

      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes]

        [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
          base_runtime_spec = ""
          runtime_type = "io.containerd.runc.v2"

          [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
            BinaryName = ""
            SystemdCgroup = true

  [plugins."io.containerd.nri.v1.nri"]
    disable = true

[stream_processors]

  [stream_processors."io.containerd.ocicrypt.decoder.v1.tar"]
    args = ["--decryption-keys-path", "/etc/containerd/ocicrypt/keys"]
"""
DUMP_2_1 = """\
version = 3
[plugins]
  [plugins.'io.containerd.cri.v1.runtime']
    [plugins.'io.containerd.cri.v1.runtime'.containerd]
      default_runtime_name = 'runc'
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        SystemdCgroup = false
[[plugins.list]]
  SystemdCgroup = 'in a list'
"""
RUNC = ("containerd", "runtimes", "runc", "options")


@pytest.mark.parametrize(
    ("text", "table", "key", "value"),
    [
        (DUMP_1_6, ("plugins", "io.containerd.grpc.v1.cri", *RUNC), "SystemdCgroup", "true"),
        (DUMP_1_6, ("plugins", "io.containerd.grpc.v1.cri", "containerd"), "default_runtime_name", "runc"),
        (DUMP_1_6, ("plugins", "io.containerd.nri.v1.nri"), "disable", "true"),
        (DUMP_1_6, (), "version", "2"),
        (DUMP_1_6, ("cgroup",), "path", ""),
        (DUMP_1_6, ("plugins", "io.containerd.nri.v1.nri"), "SystemdCgroup", None),
        (DUMP_1_6, ("plugins", "io", "containerd"), "default_runtime_name", None),
        (DUMP_2_1, ("plugins", "io.containerd.cri.v1.runtime", *RUNC), "SystemdCgroup", "false"),
        (DUMP_2_1, ("plugins", "io.containerd.cri.v1.runtime", "containerd"), "default_runtime_name", "runc"),
        (DUMP_2_1, ("plugins", "list"), "SystemdCgroup", None),
        ("", (), "version", None),
    ],
)
def test_find(text: str, table: tuple[str, ...], key: str, value: str | None) -> None:
    assert find_value(text, table, key) == value


def test_all_values_of_a_dump_are_read_by_table_and_key() -> None:
    assert dump_values(DUMP_2_1) == {
        ((), "version"): "3",
        (("plugins", "io.containerd.cri.v1.runtime", "containerd"), "default_runtime_name"): "'runc'",
        (("plugins", "io.containerd.cri.v1.runtime", *RUNC), "SystemdCgroup"): "false",
    }
