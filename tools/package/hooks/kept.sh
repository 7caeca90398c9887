# A version that runs keeps its files during an upgrade. A copy by hard links needs no space.
TREES=/usr/lib/raidbench

# Return whether a process runs a program below a folder.
used() { ls -l /proc/[0-9]*/exe 2>/dev/null | grep -qF -- "-> $1/"; }

keep_running_trees() {
    for tree in "$TREES"/[0-9]*; do
        [ -d "$tree" ] && used "$tree" || continue
        rm -rf "$TREES/.kept-${tree##*/}"
        cp -al "$tree" "$TREES/.kept-${tree##*/}" || rm -rf "$TREES/.kept-${tree##*/}"
    done
}

# Put back what the package manager removed, and remove trees of earlier upgrades that no process uses any more.
restore_kept_trees() {
    rm -f "$TREES/@VERSION@/.kept" # installed again
    for kept in "$TREES"/.kept-*; do
        [ -d "$kept" ] || continue
        tree=$TREES/${kept##*/.kept-}
        if [ -e "$tree/bin" ]; then
            rm -rf "$kept"
        else
            rm -rf "$tree"
            mv "$kept" "$tree"
            : >"$tree/.kept"
        fi
    done
    for kept in "$TREES"/*/.kept; do
        tree=${kept%/.kept}
        [ ! -e "$kept" ] || used "$tree" || rm -rf "$tree"
    done
}

remove_kept_trees() {
    for kept in "$TREES"/.kept-* "$TREES"/*/.kept; do
        [ ! -e "$kept" ] || rm -rf "${kept%/.kept}"
    done
    rmdir "$TREES" 2>/dev/null || true
}
