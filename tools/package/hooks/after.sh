#!/bin/sh
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin

reload() {
    [ ! -d /run/systemd/system ] || systemctl daemon-reload || true
}

prepare() {
    reload
    ! command -v systemd-tmpfiles >/dev/null || systemd-tmpfiles --create raidbench.conf || true
}

# Files that an administrator created with raidbench are not removed with the package.
report_kept_files() {
    reload
    rmdir /run/raidbench 2>/dev/null || true
    for file in /etc/udev/rules.d/99-raidbench*.rules /etc/systemd/system/raidbench-recover.service \
        /etc/raidbench /var/lib/raidbench; do
        [ ! -e "$file" ] || echo "Not removed, because it does not belong to the package: $file" >&2
    done
}
