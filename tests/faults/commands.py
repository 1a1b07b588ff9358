# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shell commands that make trouble on a node, as root."""

from __future__ import annotations

STATE = "/var/lib/volcano-colocation"
KUBELET = "/var/lib/kubelet/config.yaml"
RUNTIME = "/etc/containerd"
KEPT = "/root/fault"
"""What was there before, for programs that only make trouble with something new."""

LET_GO = "kill -CONT $pid"
KILL = "kill -KILL $pid"
STOP = "systemctl stop --no-block volcano-colocation-$id.service"
"""systemd sends SIGCONT after SIGTERM (systemd.kill(5)), so that an engine which is held hears it."""

CLEAR = f"rm -rf {KEPT}"
KEEP = f"mkdir -p {KEPT}; cp -p {KUBELET} {KEPT}/kubelet.yaml; cp -a {RUNTIME} {KEPT}/containerd"
SAME_RUNTIME = f"/usr/bin/diff -rq {RUNTIME} {KEPT}/containerd"
SAME_KUBELET = f"/usr/bin/cmp -s {KUBELET} {KEPT}/kubelet.yaml"


def later(command: str) -> str:
    """Have a command done by itself, after the connection that brings it has ended."""
    return f"setsid sh -c '{command}' </dev/null >/dev/null 2>&1 &"


# Disks

FILLER = "volcano-fault-filler"


def small_disk(folder: str, size: str, mode: str) -> str:
    """Put a file system of this size over a folder, with what is in it."""
    return (
        f"mkdir -p {KEPT}/copy {folder}; cp -a {folder}/. {KEPT}/copy;"
        f" mount -t tmpfs -o size={size},mode={mode} fault {folder}; cp -a {KEPT}/copy/. {folder}"
    )


def fill(folder: str) -> str:
    """Write until nothing more fits."""
    return f"head -c 64M /dev/zero 2>/dev/null > {folder}/{FILLER} || true"


def empty(folder: str) -> str:
    return f"rm {folder}/{FILLER}"


def own_mount(folder: str) -> str:
    """Make a folder a mount of its own, which can be read-only by itself."""
    return f"mkdir -p -m 700 {folder}; mount --bind {folder} {folder}"


def read_only(folder: str) -> str:
    return f"mount -o remount,bind,ro {folder}"


def writable(folder: str) -> str:
    return f"mount -o remount,bind,rw {folder}"


ALL_READ_ONLY = "echo u > /proc/sysrq-trigger; sleep 2"
"""As ext4 does on an error of the disk, for all file systems (Linux, admin-guide/sysrq.rst)."""


# Programs that refuse what is new


def require(unit: str, command: str) -> str:
    """Have a unit not start unless a command succeeds."""
    folder = f"/run/systemd/system/{unit}.d"
    text = f"[Service]\\nExecStartPre={command}\\n"
    return f"mkdir -p {folder}; printf '{text}' > {folder}/fault.conf; systemctl daemon-reload"


def require_no_more(unit: str) -> str:
    return f"rm -r /run/systemd/system/{unit}.d; systemctl daemon-reload"


def in_place_of(program: str, script: str) -> str:
    """Put a script over a program; the script finds the program itself at ``$real``."""
    return (
        f"path=$(command -v {program}); mkdir -p {KEPT}; cp -p $path {KEPT}/{program}.real;"
        f" printf '%s\\n' '#!/bin/sh' 'real={KEPT}/{program}.real' {_quoted(script)} > {KEPT}/{program}.sh;"
        f" chmod 755 {KEPT}/{program}.sh; mount --bind {KEPT}/{program}.sh $path"
    )


def in_place_no_more(program: str) -> str:
    return f"umount --lazy $(command -v {program})"


def _quoted(script: str) -> str:
    return " ".join(f"'{line}'" for line in script.splitlines())


NO_DUMP = """\
case "$*" in *candidates*dump) echo "this configuration is refused" >&2; exit 1 ;; esac
exec $real "$@"
"""
"""Only what a transaction has not yet written is refused: the engine has it judged from a folder `candidates`."""

OTHER_DRIVER = f"""\
{SAME_RUNTIME} >/dev/null && exec $real "$@"
for word; do shift; [ "$word" = --systemd-cgroup ] || set -- "$@" "$word"; done
exec $real "$@"
"""
"""runc without its driver: the paths that kubelet gives for systemd become names of plain cgroups."""

KUBELET_ENDS = f"""\
while sleep 1; do
  {SAME_KUBELET} && continue
  pid=$(systemctl show --property MainPID --value kubelet)
  [ "$pid" -gt 0 ] || continue
  sleep 10
  {SAME_KUBELET} || kill -KILL "$pid"
done
"""

KUBELET_ENDS_UNIT = "fault-kubelet.service"


def program(unit: str, script: str) -> str:
    """Start a shell script as a service."""
    path = f"{KEPT}/{unit}.sh"
    return f"printf '%s\\n' {_quoted(script)} > {path}; systemd-run --quiet --collect --unit {unit} /bin/sh {path}"


# Connections

CUT_SESSIONS = f"""{LET_GO}; {later('sleep 1; pkill -KILL -f "^sshd(-session)?: root"')}"""
DROPPED_SECONDS = 180
RULE = "INPUT --protocol tcp --dport 22 --jump DROP"
DROP_PORT = f"iptables --list INPUT >/dev/null || exit 1; {LET_GO}; " + later(
    f"sleep 1; iptables --insert {RULE}; sleep {DROPPED_SECONDS}; iptables --delete {RULE}"
)


# What a node tells

_STARTS = (
    "journalctl --boot --quiet --no-pager --output short-monotonic SYSLOG_IDENTIFIER=volcano-colocation"
    " + _SYSTEMD_UNIT=containerd.service + _SYSTEMD_UNIT=kubelet.service"
)
UNDONE_FIRST = f"until {_STARTS} | grep -q .; do sleep 1; done; {_STARTS} | head -n 1 | grep -q volcano-colocation"
"""In this boot the undoing logged before anything that starts pods did."""


# Others

FOREIGN = "edited by someone else"
EDIT = f"echo '# {FOREIGN}' >> {KUBELET}"
IS_EDITED = f"grep -q '{FOREIGN}' {KUBELET}"
IS_KEPT_ASIDE = f"grep -q '{FOREIGN}' {STATE}/transactions/*/backups/foreign-*"
WITHOUT_EDIT = f"cat {KEPT}/kubelet.yaml > {KUBELET}"


def jump(seconds: int) -> str:
    """Set the clock that many seconds on, or back."""
    return f"date --set=@$(($(date +%s) + {seconds})); {LET_GO}"
