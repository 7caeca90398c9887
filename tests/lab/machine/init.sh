#!/bin/busybox sh
# First program of the guest: puts a writable overlay over the host's root, which it gets read-only, and goes there.
# From the kernel's command line: lab.modules (kernel modules) and lab.init (next program), both paths on the host.
box=/bin/busybox
$box mount -t proc proc /proc
$box mount -t sysfs sys /sys
$box mount -t devtmpfs dev /dev

fail() {
    echo "lab: $*" >/dev/ttyS0
    $box poweroff -f
}

while read -r module; do
    $box insmod "/modules/$module" || fail "the module $module was not loaded"
done </modules/order
for word in $($box cat /proc/cmdline); do
    case $word in
        lab.modules=*) modules=${word#*=} ;;
        lab.init=*) init=${word#*=} ;;
    esac
done

$box mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=512000,cache=loose root /lower || fail "no root"
$box mount -t tmpfs -o mode=755,size=60% upper /upper
$box mkdir /upper/upper /upper/work
$box mount -t overlay -o lowerdir=/lower,upperdir=/upper/upper,workdir=/upper/work overlay /new || fail "no overlay"
$box mkdir -p /new/proc /new/sys /new/dev /new/run /new/lib/modules
for place in proc sys dev; do
    $box mount --move /$place /new/$place
done
$box mount --bind "/new$modules" /new/lib/modules || fail "no modules at $modules"
exec $box switch_root /new "$init" </new/dev/ttyS0 >/new/dev/ttyS0 2>&1
