# SPDX-FileCopyrightText: the volcano.colocation authors
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Give a lab node rare settings, and wait until its pods run; see test_settings.py.
set -eu
mkdir -p /data/kubelet /etc/kubernetes/kubelet.d /etc/systemd/system/kubelet.service.d \
  /etc/systemd/system/colocated-kubepods.slice.d

# kubelet does not start where its cgroup root is missing or lacks a controller; systemd enables cpuset for AllowedCPUs.
cat > /etc/systemd/system/colocated.slice <<'END'
[Unit]
Description=Cgroup root of kubelet with the systemd driver

[Slice]
CPUAccounting=yes
MemoryAccounting=yes
TasksAccounting=yes
AllowedCPUs=0-1
END
printf '[Slice]\nAllowedCPUs=0-1\n' > /etc/systemd/system/colocated-kubepods.slice.d/50-site.conf
cat > /etc/systemd/system/kubelet.service.d/50-site.conf <<'END'
[Unit]
Wants=colocated.slice
After=colocated.slice

[Service]
# The cgroup root with the cgroupfs driver.
ExecStartPre=/bin/mkdir -p /sys/fs/cgroup/colocated
END

header='apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration'
cat > /etc/kubernetes/kubelet.d/10-site.conf <<END
$header
cgroupDriver: cgroupfs
cgroupRoot: /colocated
readOnlyPort: 10255
END
cat > /etc/kubernetes/kubelet.d/20-driver.conf <<END
$header
cgroupDriver: systemd
END

# The lab's pods are run by crun; a second handler, which no pod uses, keeps runc.
python3 - <<'END'
import re, pathlib
path = pathlib.Path("/etc/containerd/config.toml")
text = path.read_text()
first = re.search(r"(?ms)^( *\[[^\n]*runtimes\.runc\]\n.*?)(?=^ *\[(?![^\n]*runtimes\.runc\.)|\Z)", text).group(1)
crun = re.sub(r"(?m)^( *)(SystemdCgroup = .*)$", r'\1\2\n\1BinaryName = "/usr/bin/crun"', first)
second = first.replace("runtimes.runc", "runtimes.second")
path.write_text(text.replace(first, crun).rstrip("\n") + "\n\n" + second)
END

systemctl daemon-reload
systemctl restart containerd
systemctl reset-failed kubelet
systemctl restart kubelet
for _ in $(seq 300); do
  if [ "$(ctr -n k8s.io tasks ls -q 2>/dev/null | wc -l)" -ge 6 ]; then exit 0; fi
  sleep 0.5
done
journalctl --no-pager --unit kubelet --lines 40
exit 1
