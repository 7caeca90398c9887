# Nothing is removed while raidbench runs: wait for the watchdog of a trial, and refuse for all other processes.

# Print the PIDs of processes of the package. Kinds: `watchdog` for trials, `other` for all others.
running() {
    for exe in /proc/[0-9]*/exe; do
        case $(readlink "$exe" 2>/dev/null || true) in
            /usr/lib/raidbench/*) ;;
            *) continue ;;
        esac
        pid=${exe#/proc/}
        pid=${pid%/exe}
        kind=other
        case $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null || true) in *app.core.changes.watchdog*) kind=watchdog ;; esac
        [ "$kind" != "$1" ] || echo "$pid"
    done
}

refuse_while_running() {
    others=$(running other)
    if [ -n "$others" ]; then
        echo "raidbench is running (process" $others"). Stop it first; stop a sweep in the background with" \
            "\`raidbench attach --stop\`. Nothing was changed." >&2
        exit 1
    fi
    announced=
    left=900
    while [ -n "$(running watchdog)" ]; do
        [ -n "$announced" ] || echo "A setting is on trial. Waiting until it is kept or reverted ..." >&2
        announced=yes
        left=$((left - 1))
        if [ "$left" -le 0 ]; then
            echo "The trial was not reverted. \`raidbench recover --list\` shows what remains. Nothing was changed." >&2
            exit 1
        fi
        sleep 1
    done
}

report_crashed_changes() {
    changes=$(/usr/bin/raidbench recover --list 2>/dev/null </dev/null || true)
    [ -n "$changes" ] || return 0
    echo "A crash left changes that only \`raidbench recover\` can restore. Their journal stays in /var/lib/raidbench:" >&2
    echo "$changes" >&2
}
