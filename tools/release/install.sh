#!/bin/sh
# Install the standalone binary of raidbench @VERSION@, after verifying the signature of its checksum.
#
#   sh install.sh [FOLDER]     FOLDER: where to put `raidbench`; /usr/local/bin for root, else ~/.local/bin
#
# Files next to this script, or in the folder @VERSION@ next to it, are used where they exist, so a copy of the release
# needs no network. Others come from @URL@ (another place: RAIDBENCH_URL). The public keys are part of this script.
set -eu
export LC_ALL=C

version='@VERSION@'
url=${RAIDBENCH_URL:-'@URL@'}
gpg_key='@GPG_KEY@'
ssh_signer='@SSH_SIGNER@'

fail() { echo "install.sh: $*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

# Copy or download a file of the release into $work.
get() {
    for place in "$here" "$here/$version"; do
        if [ -n "$here" ] && [ -e "$place/$1" ]; then
            cp "$place/$1" "$work/$1" || no_file "$place/$1 cannot be copied to $work. Nothing was installed."
            return
        fi
    done
    if has curl; then
        curl -fsSL --proto '=https,http,file' -o "$work/$1" "$url/$version/$1" || no_download "$url/$version/$1"
    elif has wget; then
        # Not all wget can be quiet on success and say why they fail.
        wget -nv -t 3 -O "$work/$1" "$url/$version/$1" 2>"$work/log" || {
            cat "$work/log" >&2
            no_download "$url/$version/$1"
        }
    else
        fail "$1 is not in $here, and neither curl nor wget is installed. Nothing was installed." \
            "Install one of them, or copy the folder $version here."
    fi
}

no_download() { no_file "$1 cannot be downloaded completely. Nothing was installed. Run install.sh again."; }

no_file() {
    printf x 2>/dev/null >"$work/probe" ||
        fail "${TMPDIR:-/tmp} has no space. Nothing was installed. Set TMPDIR to a folder with 30 MB free."
    fail "$1"
}

# Verify the signature of SHA256SUMS with gpgv, or else with ssh-keygen.
verify() {
    if has gpgv; then
        get SHA256SUMS.asc
        printf '%s' "$gpg_key" | base64 -d >"$work/key.gpg"
        gpgv -q --keyring "$work/key.gpg" "$work/SHA256SUMS.asc" "$work/SHA256SUMS" 2>/dev/null
    elif has ssh-keygen; then
        get SHA256SUMS.sig
        printf '%s\n' "$ssh_signer" >"$work/signers"
        ssh-keygen -Y verify -f "$work/signers" -I releases@raidbench -n raidbench-release -s "$work/SHA256SUMS.sig" \
            <"$work/SHA256SUMS" >/dev/null 2>&1
    else
        fail "The signature cannot be verified: install gpgv, or ssh-keygen of OpenSSH 8.1 or newer. Nothing was installed."
    fi
}

main() {
    case ${1:-} in -*) fail "Usage: sh install.sh [FOLDER]" ;; esac
    if [ $# -gt 0 ]; then
        to=$1
    elif [ "$(id -u)" = 0 ]; then
        to=/usr/local/bin
    else
        to=${HOME:-}/.local/bin
        [ -n "${HOME:-}" ] || fail "HOME is not set. Nothing was installed. Name a folder: sh install.sh FOLDER"
    fi
    file=raidbench-$version-linux-$(uname -m)
    here=$(cd "$(dirname "$0")" 2>/dev/null && pwd) || here=
    new=
    work=$(mktemp -d) ||
        fail "${TMPDIR:-/tmp} takes no folder. Nothing was installed. Set TMPDIR to a folder with 30 MB free."
    trap 'rm -rf "$work" ${new:+"$new"}' EXIT
    trap 'echo "install.sh: Interrupted. Nothing was installed." >&2; exit 130' HUP INT TERM

    get SHA256SUMS
    verify || fail "The signature of SHA256SUMS is not from raidbench's release key. Nothing was installed."
    sum=$(sed -n "s/^\([0-9a-f]\{64\}\)  $file\$/\1/p" "$work/SHA256SUMS")
    [ -n "$sum" ] || fail "Release $version has no file for $(uname -m): $file is not in SHA256SUMS. Nothing was installed."
    get "$file"
    [ "$(sha256sum <"$work/$file")" = "$sum  -" ] ||
        fail "$file is not the signed file: it is incomplete or was changed. Nothing was installed. Download it again."

    mkdir -p "$to" 2>/dev/null ||
        fail "$to does not exist and cannot be created. Nothing was installed. Name another folder: sh install.sh FOLDER"
    [ -w "$to" ] ||
        fail "$to cannot be written by $(id -un). Nothing was installed. Name another folder: sh install.sh FOLDER"
    [ ! -d "$to/raidbench" ] ||
        fail "$to/raidbench is a folder. Nothing was installed. Name another folder: sh install.sh FOLDER"
    new=$to/.raidbench-$version.$$
    cp "$work/$file" "$new" 2>/dev/null ||
        fail "$to has no space for $(($(wc -c <"$work/$file") / 1000000 + 1)) MB, or cannot be written. Nothing was installed."
    chmod 755 "$new"
    # A host whose libc is too old must keep the version that it has.
    said=$("$new" --version 2>&1) || fail "This host cannot run raidbench $version. Nothing was installed. It says: $said"
    trap '' HUP INT TERM
    mv -f "$new" "$to/raidbench" # running programs keep the file that they opened
    new=
    echo "Installed $to/raidbench ($said)."
    case ":$PATH:" in *":$to:"*) ;; *) echo "$to is not in PATH: add it, or start $to/raidbench." ;; esac
}

# The last line, so that a script that was not downloaded completely does nothing.
{ main "$@"; exit; }
