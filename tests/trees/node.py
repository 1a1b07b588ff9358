# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file system of a node by its number: a distribution, a layout, configuration files, and irregularities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from . import records, texts
from .entries import DIRECTORY, OUTSIDE, PIPE, Entry, Kind, Tree, file, link

Entries = dict[str, Entry]

MAIN, RUNTIME = "var/lib/kubelet/config.yaml", "etc/containerd/config.toml"
FLAGS, DEFAULTS = "var/lib/kubelet/kubeadm-flags.env", ("etc/default/kubelet", "etc/sysconfig/kubelet")
CONFIG_DIR = "etc/kubernetes/kubelet.conf.d"
DISTRIBUTIONS = (
    ("debian", "12", "usr/lib/systemd/system"),
    ("ubuntu", "24.04", "lib/systemd/system"),
    ("rocky", "9.4", "usr/lib/systemd/system"),
    ("openEuler", "22.03", "usr/lib/systemd/system"),
    ("flatcar", "4081.2.0", "etc/systemd/system"),
    ("amzn", "2023", "etc/systemd/system"),
)
FOREIGN = (
    "etc/kubernetes/manifests/kube-apiserver.yaml",
    "etc/kubernetes/manifests/kube-apiserver.yaml.bak",
    "etc/containerd/config.toml.rpmsave",
    "var/lib/kubelet/config.yaml.orig",
    "etc/systemd/system/kubelet.service.d/99-site.conf",
    "etc/sysctl.d/99-site.conf",
    "opt/nri/plugins/10-site",
    "etc/hosts",
)


def generate(number: int) -> Tree:
    """The tree of this number, which is the same in every process."""
    random = Random(f"volcano.colocation node tree {number}")  # noqa: S311 - a test tool, nothing secret
    entries: Entries = {}
    _distribution(random, entries)
    _kubelet(random, entries)
    random.choice((_containerd, _containerd, _containerd, _crio, _rancher))(random, entries)
    for path in random.sample(FOREIGN, random.randrange(4)):
        entries.setdefault(path, file(random.choice((b"# of the site\n", b"", b"\0\xff"))))
    _damage(random, entries)
    for _index in range(random.choice((0, 0, 1, 1, 2, 3))):
        random.choice(ODDITIES)(random, entries)
    more = Random(f"volcano.colocation node tree {number}, records")  # noqa: S311 - a test tool, nothing secret
    records.add_records(more, entries)
    records.add_unchangeable_system(more, entries)
    return Tree(number, entries)


def _distribution(random: Random, entries: Entries) -> None:
    name, version, _units = random.choice(DISTRIBUTIONS)
    release = file(f'ID={name}\nVERSION_ID="{version}"\n')
    if random.random() < 0.5:
        entries["usr/lib/os-release"] = release
        entries["etc/os-release"] = link("../usr/lib/os-release")
    else:
        entries["etc/os-release"] = release
    if random.random() < 0.5:
        entries["usr/bin"] = entries["usr/lib"] = DIRECTORY
        entries["bin"], entries["lib"] = link("usr/bin"), link("usr/lib")
    entries["etc/systemd/system"] = DIRECTORY


def _kubelet(random: Random, entries: Entries) -> None:
    program = random.choice(("usr/bin/kubelet", "usr/bin/kubelet", "usr/local/bin/kubelet", "opt/bin/kubelet"))
    entries[program] = file("", 0o755)
    config = random.choice((MAIN, MAIN, MAIN, "etc/kubernetes/kubelet-config.yaml"))
    if random.random() < 0.95:
        text = texts.kubelet_json(random) if random.random() < 0.15 else texts.kubelet(random)
        entries[config] = file(text, random.choice((None, None, 0o600, 0o640, 0o444, 0o4755)))
    _start(random, entries, config)
    for name in ("cpu_manager_state", "memory_manager_state"):
        if random.random() < 0.6:
            entries[f"var/lib/kubelet/{name}"] = file(random.choice(texts.CHECKPOINTS), 0o600)


def _start(random: Random, entries: Entries, config: str) -> None:
    """kubelet's unit, with environment files and a directory of drop-ins in some trees."""
    if random.random() < 0.2:
        return
    units = random.choice(DISTRIBUTIONS)[2]
    config_dir_flag = f" --config-dir=/{CONFIG_DIR}" if random.random() < 0.4 else ""
    text = random.choice((texts.KUBEADM, texts.KUBEADM, texts.PLAIN)).format(
        config=f"/{config}", more=config_dir_flag, flags=f"/{FLAGS}", defaults=f"/{random.choice(DEFAULTS)}"
    )
    if random.random() < 0.5:
        entries[f"{units}/kubelet.service"] = file(text)
    else:
        entries[f"{units}/kubelet.service"] = file(texts.UNIT)
        entries[f"{random.choice((units, 'etc/systemd/system'))}/kubelet.service.d/10-kubeadm.conf"] = file(text)
    for path in (FLAGS, *DEFAULTS):
        if random.random() < 0.5:
            entries[path] = file(random.choice(texts.FLAGS))
    if config_dir_flag:
        _kubelet_drop_ins(random, entries)


def _kubelet_drop_ins(random: Random, entries: Entries) -> None:
    entries[CONFIG_DIR] = DIRECTORY
    for name in random.sample(("00-base.conf", "10.conf", "50/site.conf", "99.conf", "README", "10.conf~"), 2):
        entries[f"{CONFIG_DIR}/{name}"] = file(texts.kubelet(random))
    if random.random() < 0.2:
        entries[f"{CONFIG_DIR}/20.conf"] = link(random.choice(("10.conf", "none.conf", "20.conf", OUTSIDE)))


def _containerd(random: Random, entries: Entries) -> None:
    entries[random.choice(("usr/bin/containerd", "usr/local/bin/containerd"))] = file("", 0o755)
    if random.random() < 0.92:
        entries[RUNTIME] = file(texts.containerd(random), random.choice((None, 0o600, 0o444)))
    for name in ("10.toml", "99-nvidia.toml", "zz-volcano-colocation.toml"):
        if random.random() < 0.2:
            entries[f"etc/containerd/conf.d/{name}"] = file(texts.containerd(random))
    if random.random() < 0.3:
        text = "[Service]\nExecStart=/usr/bin/containerd{}\nKillMode=process\nDelegate=yes\n"
        flag = random.choice(("", " --config /etc/containerd/config.toml", " -c /etc/other.toml"))
        entries["usr/lib/systemd/system/containerd.service"] = file(text.format(flag))


def _crio(random: Random, entries: Entries) -> None:
    entries["usr/bin/crio"] = file("", 0o755)
    if random.random() < 0.7:
        entries["etc/crio/crio.conf"] = file(texts.crio(random))
    for name in ("10-crio.conf", "99-volcano-colocation.conf", "zz-site.conf"):
        if random.random() < 0.4:
            entries[f"etc/crio/crio.conf.d/{name}"] = file(texts.crio(random))


def _rancher(random: Random, entries: Entries) -> None:
    name = random.choice(("k3s", "rke2"))
    base = f"var/lib/rancher/{name}"
    entries[f"usr/local/bin/{name}"] = file("", 0o755)
    entries[f"etc/rancher/{name}/config.yaml"] = file("kubelet-arg:\n- cgroup-driver=systemd\n")
    entries[f"{base}/data/current/bin/containerd"] = file("", 0o755)
    entries[f"{base}/agent/etc/containerd/config.toml"] = file(texts.containerd(random))
    entries[f"etc/systemd/system/{name}.service"] = file(f"[Service]\nExecStart=/usr/local/bin/{name} server\n")
    if random.random() < 0.5:
        entries[f"{base}/agent/etc/containerd/config.toml.tmpl"] = file('{{ template "base" . }}\n')


def _damage(random: Random, entries: Entries) -> None:
    """Damage one of the files in some trees."""
    files = [path for path, entry in entries.items() if entry.kind is Kind.FILE and entry.data]
    if files and random.random() < 0.5:
        watched = [path for path in files if path in (MAIN, RUNTIME)] or files
        path = random.choice(random.choice((watched, files)))
        entries[path] = replace(entries[path], data=random.choice(texts.DAMAGES)(random, entries[path].data))


Oddity = Callable[[Random, Entries], None]
PLACES = (
    MAIN,
    RUNTIME,
    FLAGS,
    DEFAULTS[0],
    "etc/containerd",
    "etc/containerd/conf.d",
    "etc/crio/crio.conf.d",
    "etc/kubernetes",
    CONFIG_DIR,
    "var/lib/kubelet",
    "var/lib",
    "etc/systemd/system",
    "etc/systemd/system/system.slice.d",
    "var/lib/volcano-colocation",
    "var/lib/kubelet/cpu_manager_state",
    "etc",
)


def _replaced(entries: Entries, path: str, entry: Entry) -> None:
    """Replace an entry; entries below it are removed."""
    for entry_path in [entry_path for entry_path in entries if entry_path == path or entry_path.startswith(f"{path}/")]:
        del entries[entry_path]
    entries[path] = entry


def _linked_inside(random: Random, entries: Entries) -> None:
    """Move an entry within the tree and replace it with a link."""
    path = random.choice(PLACES)
    for entry_path in [entry_path for entry_path in entries if entry_path == path or entry_path.startswith(f"{path}/")]:
        entries[f"srv/moved{entry_path[len(path) :]}"] = entries.pop(entry_path)
    entries[path] = link(random.choice(("/srv/moved", "../" * path.count("/") + "srv/moved")))


def _linked_nowhere(random: Random, entries: Entries) -> None:
    path = random.choice(PLACES)
    _replaced(entries, path, link(random.choice(("none", "/none/at/all", f"/{path}", "../" * 9 + "none"))))


def _linked_outside(random: Random, entries: Entries) -> None:
    path = random.choice(PLACES)
    target = OUTSIDE + random.choice(("", "", "/config.toml", "/config.yaml", "/new"))
    _replaced(entries, path, link(random.choice((target, "../" * (path.count("/") + 1) + "outside"))))


def _of_another_kind(random: Random, entries: Entries) -> None:
    _replaced(entries, random.choice(PLACES), random.choice((file(b"no directory\n"), DIRECTORY, PIPE, file(b""))))


def _unreadable(random: Random, entries: Entries) -> None:
    """Make a file unreadable, except for root; the tests may run as another user."""
    files = [path for path, entry in entries.items() if entry.kind is Kind.FILE]
    path = random.choice(sorted(files))
    entries[path] = replace(entries[path], mode=0)


def _state(random: Random, entries: Entries) -> None:
    """Damaged or foreign entries in the directory of the collection's records."""
    name = random.choice(
        ("ledger.json", "transactions/20261121T013455-1a2b3c4d/plan.json", "transactions", "lock", "originals")
    )
    text = file(random.choice((b"", b"{", b"[]", b'{"schema": 9}', b"\xff")))
    entries[f"var/lib/volcano-colocation/{name}"] = random.choice((text, text, DIRECTORY, PIPE, link(OUTSIDE)))


def _own_files(random: Random, entries: Entries) -> None:
    """Foreign files with the names of the collection's files."""
    text = random.choice((b"", b"# by hand\n", texts.kubelet(random)))
    entries[f"{CONFIG_DIR}/90-volcano-colocation.conf"] = file(text)
    entries["etc/systemd/system/node.slice"] = file(random.choice((b"", b"[Slice]\nCPUWeight=20\n", b"\xff")))


ODDITIES: tuple[Oddity, ...] = (
    _linked_inside,
    _linked_nowhere,
    _linked_outside,
    _of_another_kind,
    _unreadable,
    _state,
    _own_files,
)
