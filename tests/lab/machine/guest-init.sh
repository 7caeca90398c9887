#!/bin/bash
# Process 1 of the guest: loads the drivers, runs what the host left in the shared folder, powers off.
# Shared folder, /run/lab/out: argv (words, each ended by NUL) and cwd come in; up, status and results go out.
# Another one, which the guests have in common, is /run/lab/turns.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb
export MDADM_NO_UDEV=1 DM_DISABLE_UDEV=1 # nothing makes nodes here but the kernel
home=/run/lab/home
export HOME=$home TMPDIR=/run/lab/tmp TMUX_TMPDIR=/run/lab/tmp LVM_SYSTEM_DIR=/run/lab/lvm

mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620 devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tmpfs -o mode=755 run /run
mkdir -p /run/lab/out /run/lab/turns /run/lab/lvm /run/lock $home
mkdir -m 1777 "$TMPDIR"
modprobe configfs # a module: without it there is nothing to mount
mount -t configfs config /sys/kernel/config
mount -t debugfs debug /sys/kernel/debug
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 out /run/lab/out
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 turns /run/lab/turns

# What the host has set up for its own disks has no say here.
cat >$LVM_SYSTEM_DIR/lvm.conf <<'EOF'
activation { udev_sync = 0 udev_rules = 0 monitoring = 0 }
devices { obtain_device_list_from_udev = 0 use_devicesfile = 0 }
EOF
for file in /etc/mdadm/mdadm.conf /etc/mdadm.conf /etc/fstab /etc/crypttab; do
    [ ! -e $file ] || : >$file
done
rm -f /etc/resolv.conf
: >/etc/resolv.conf # there is no network: a name is answered with an error at once
hostname lab
busybox ip link set lo up

modprobe -a nvme ahci sd_mod sg virtio_scsi megaraid_sas loop dm_mod raid0 raid1 raid10 raid456
last=
for _ in $(seq 100); do # disks come one after another; there when all are and for a moment no more came
    now=$(echo /sys/block/{sd,nvme}*)
    [ "$now" = "$last" ] && [ "$(wc -w <<<"$now")" -ge "$(cat /run/lab/out/disks)" ] && break
    last=$now
    sleep 0.1
done

port() {
    file=$(grep -lx "$1" /sys/class/virtio-ports/*/name)
    basename "$(dirname "$file")"
}
ln -s "/dev/$(port lab.qmp)" /dev/qmp
output=/dev/$(port lab.out)
mapfile -d '' -t argv </run/lab/out/argv
cd "$(cat /run/lab/out/cwd)" || exit 1 # no way on: the kernel panics and the host is told that the guest died
: >/run/lab/out/up
"${argv[@]}" </dev/null >"$output" 2>&1
echo $? >/run/lab/out/status
sync -f /run/lab/out/status
busybox poweroff -f
