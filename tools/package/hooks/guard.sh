#!/bin/sh
# Nothing is taken away below a raidbench that runs: the watchdog of a trial is waited for, anything else is named.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin

# The processes that run out of the package: `watchdog` for those of trials, `other` for the rest.
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
        echo "raidbench is running (process" $others"): end it first, a sweep in the background with" \
            "\`raidbench attach --stop\`. Nothing was changed." >&2
        exit 1
    fi
    said=
    left=900
    while [ -n "$(running watchdog)" ]; do
        [ -n "$said" ] || echo "A setting is on trial: waiting until it is kept or has come back ..." >&2
        said=yes
        left=$((left - 1))
        if [ "$left" -le 0 ]; then
            echo "It has not come back: \`raidbench recover --list\` says what remains. Nothing was changed." >&2
            exit 1
        fi
        sleep 1
    done
}

tell_what_a_crash_left() {
    what=$(/usr/bin/raidbench recover --list 2>/dev/null </dev/null || true)
    [ -n "$what" ] || return 0
    echo "A crash left what \`raidbench recover\` can put back, and only that; its journal stays in /var/lib/raidbench:" >&2
    echo "$what" >&2
}
