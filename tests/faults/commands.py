# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shell commands that cause faults on a node; they run as root."""

from __future__ import annotations

STATE = "/var/lib/volcano-colocation"
KUBELET = "/var/lib/kubelet/config.yaml"
RUNTIME = "/etc/containerd"
SAVED = "/root/fault"
"""Copies of the original files, for programs that fail only with new ones."""

LET_GO = "kill -CONT $pid"
KILL = "kill -KILL $pid"
STOP = "systemctl stop --no-block volcano-colocation-$id.service"
"""systemd sends SIGCONT after SIGTERM (systemd.kill(5)), so that a stopped engine receives it."""

CLEAR = f"rm -rf {SAVED}"
KEEP = f"mkdir -p {SAVED}; cp -p {KUBELET} {SAVED}/kubelet.yaml; cp -a {RUNTIME} {SAVED}/containerd"
SAME_RUNTIME = f"/usr/bin/diff -rq {RUNTIME} {SAVED}/containerd"
SAME_KUBELET = f"/usr/bin/cmp -s {KUBELET} {SAVED}/kubelet.yaml"


def later(command: str) -> str:
    """Run a command in the background, after the end of its connection."""
    return f"setsid sh -c '{command}' </dev/null >/dev/null 2>&1 &"


# Disks

FILLER = "volcano-fault-filler"


def small_disk(directory: str, size: str, mode: str) -> str:
    """Mount a file system of this size over a directory, with the same content."""
    return (
        f"mkdir -p {SAVED}/copy {directory}; cp -a {directory}/. {SAVED}/copy;"
        f" mount -t tmpfs -o size={size},mode={mode} fault {directory}; cp -a {SAVED}/copy/. {directory}"
    )


def fill(directory: str) -> str:
    """Fill the file system."""
    return f"head -c 64M /dev/zero 2>/dev/null > {directory}/{FILLER} || true"


def empty(directory: str) -> str:
    return f"rm {directory}/{FILLER}"


def own_mount(directory: str) -> str:
    """Make a directory a separate mount, which can be read-only."""
    return f"mkdir -p -m 700 {directory}; mount --bind {directory} {directory}"


def read_only(directory: str) -> str:
    return f"mount -o remount,bind,ro {directory}"


def writable(directory: str) -> str:
    return f"mount -o remount,bind,rw {directory}"


ALL_READ_ONLY = "echo u > /proc/sysrq-trigger; sleep 2"
"""Like ext4 after a disk error, for all file systems (Linux, admin-guide/sysrq.rst)."""


# Programs that refuse new configuration


def require(unit: str, command: str) -> str:
    """Let a unit start only if a command succeeds."""
    directory = f"/run/systemd/system/{unit}.d"
    text = f"[Service]\\nExecStartPre={command}\\n"
    return f"mkdir -p {directory}; printf '{text}' > {directory}/fault.conf; systemctl daemon-reload"


def require_no_more(unit: str) -> str:
    return f"rm -r /run/systemd/system/{unit}.d; systemctl daemon-reload"


def in_place_of(program: str, script: str) -> str:
    """Mount a script over a program; ``$real`` in the script is the program."""
    return (
        f"path=$(command -v {program}); mkdir -p {SAVED}; cp -p $path {SAVED}/{program}.real;"
        f" printf '%s\\n' '#!/bin/sh' 'real={SAVED}/{program}.real' {_quoted(script)} > {SAVED}/{program}.sh;"
        f" chmod 755 {SAVED}/{program}.sh; mount --bind {SAVED}/{program}.sh $path"
    )


def in_place_no_more(program: str) -> str:
    return f"umount --lazy $(command -v {program})"


def _quoted(script: str) -> str:
    return " ".join(f"'{line}'" for line in script.splitlines())


NO_DUMP = """\
case "$*" in *candidates*dump) echo "this configuration is refused" >&2; exit 1 ;; esac
exec $real "$@"
"""
"""Refuses only files that a transaction has not written yet: the engine validates them in a directory `candidates`."""

OTHER_DRIVER = f"""\
{SAME_RUNTIME} >/dev/null && exec $real "$@"
for word; do shift; [ "$word" = --systemd-cgroup ] || set -- "$@" "$word"; done
exec $real "$@"
"""
"""runc without its driver: the systemd paths from kubelet become names of plain cgroups."""

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
    path = f"{SAVED}/{unit}.sh"
    return f"printf '%s\\n' {_quoted(script)} > {path}; systemd-run --quiet --collect --unit {unit} /bin/sh {path}"


# Connections

CUT_SESSIONS = f"""{LET_GO}; {later('sleep 1; pkill -KILL -f "^sshd(-session)?: root"')}"""
DROPPED_SECONDS = 180
RULE = "INPUT --protocol tcp --dport 22 --jump DROP"
DROP_PORT = f"iptables --list INPUT >/dev/null || exit 1; {LET_GO}; " + later(
    f"sleep 1; iptables --insert {RULE}; sleep {DROPPED_SECONDS}; iptables --delete {RULE}"
)


# Logs of a node

_STARTS = (
    "journalctl --boot --quiet --no-pager --output short-monotonic SYSLOG_IDENTIFIER=volcano-colocation"
    " + _SYSTEMD_UNIT=containerd.service + _SYSTEMD_UNIT=kubelet.service"
)
UNDONE_FIRST = f"until {_STARTS} | grep -q .; do sleep 1; done; {_STARTS} | head -n 1 | grep -q volcano-colocation"
"""In this boot the roll-back logged before kubelet and containerd did."""


# Changes by other users

FOREIGN = "edited by someone else"
EDIT = f"echo '# {FOREIGN}' >> {KUBELET}"
IS_EDITED = f"grep -q '{FOREIGN}' {KUBELET}"
IS_KEPT_ASIDE = f"grep -q '{FOREIGN}' {STATE}/transactions/*/backups/foreign-*"
WITHOUT_EDIT = f"cat {SAVED}/kubelet.yaml > {KUBELET}"


def jump(seconds: int) -> str:
    """Set the clock forward or back by a number of seconds."""
    return f"date --set=@$(($(date +%s) + {seconds})); {LET_GO}"
