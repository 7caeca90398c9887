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

# What an administrator wrote with raidbench is not taken away with it.
name_what_stays() {
    reload
    rmdir /run/raidbench 2>/dev/null || true
    for file in /etc/udev/rules.d/99-raidbench*.rules /etc/systemd/system/raidbench-recover.service \
        /etc/raidbench /var/lib/raidbench; do
        [ ! -e "$file" ] || echo "Stays, since it is not the package's: $file" >&2
    done
}
