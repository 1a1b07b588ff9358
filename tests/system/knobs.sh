# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# knobs.sh v1|v2: create the cgroups of test_knobs.py, with and without systemd, with values of a site.
set -eu
systemctl start knobs.slice knobsidle.slice
systemctl set-property --runtime knobs.slice CPUWeight=50 IOWeight=50 TasksMax=900 MemoryMax=200M
systemctl set-property --runtime knobsidle.slice CPUWeight=50
if [ "$1" = v1 ]; then
  for controller in blkio cpu cpuset memory pids; do
    mkdir -p /sys/fs/cgroup/$controller/knobs /sys/fs/cgroup/$controller/knobsidle
  done
  mkdir -p /sys/fs/cgroup/cpuset/knobs.slice
  echo 102 > /sys/fs/cgroup/cpu/knobsidle/cpu.shares
else
  systemctl start knobspartition.slice
  systemctl set-property --runtime knobs.slice AllowedCPUs=0-1
  systemctl set-property --runtime knobspartition.slice AllowedCPUs=0
  systemd-run --quiet --unit=knobs --property=Delegate=yes --property=DelegateSubgroup=main sleep infinity
  cd /sys/fs/cgroup/system.slice/knobs.service
  echo '+cpu +cpuset +io +memory +pids' > cgroup.subtree_control
  mkdir plain idle
  echo 50 > idle/cpu.weight
fi
sleep 1
