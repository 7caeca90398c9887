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

# Print the ids of changes in a journal that have no recorded end. What cannot be read counts as open.
open_changes() {
    [ -e "$1" ] || return 0
    awk '
        function key(row) { match(row, /"id":"[^"]*","session":"[^"]*"/); return substr(row, RSTART, RLENGTH) }
        /"kind":"intent"/ {
            found = match($0, /"kind":"intent","id":"[^"]*","session":"[^"]*","until":[^,]*/)
            row = found ? substr($0, RSTART, RLENGTH) : "\"id\":\"line " NR "\",\"session\":\"\""
            open[key(row)] = 1
            trial[key(row)] = row !~ /"until":null$/
        }
        match($0, /"kind":"outcome","id":"[^"]*","session":"[^"]*","result":"[^"]*"/) {
            row = substr($0, RSTART, RLENGTH)
            if (!trial[key(row)] || row ~ /"result":"(kept|restored|failed|conflict|gone)"/) delete open[key(row)]
        }
        END { for (change in open) { split(change, part, "\""); print part[4] } }
    ' "$1" || echo unreadable
}

purge_state() {
    [ -e /var/lib/raidbench ] || return 0
    changes=$(open_changes /var/lib/raidbench/journal/journal.log | sort)
    if [ -n "$changes" ]; then
        echo "Not removed, because its journal has changes without a recorded end (" $changes "): /var/lib/raidbench." \
            "Install raidbench again and run \`raidbench recover\`, or remove the folder." >&2
        return 0
    fi
    rm -rf /var/lib/raidbench
}
