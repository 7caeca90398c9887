"""The completion scripts for bash, zsh and fish. They call raidbench at every Tab.

The typed words are passed in environment variables. The reply has one line per word, with kind, value and help
separated by tabs. Bash splits words at `:` and `=`, which are part of addresses and settings. So bash passes the
complete line, and gets only the part of each word that follows the last `:` or `=`.
"""

from __future__ import annotations

_BASH = """\
_raidbench_completion() {
    local kind value help
    COMPREPLY=()
    while IFS=$'\\t' read -r kind value help; do
        case $kind in
            dir) compopt -o dirnames 2>/dev/null ;;
            file) compopt -o default 2>/dev/null ;;
            part) compopt -o nospace 2>/dev/null; COMPREPLY+=("$value") ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(_RAIDBENCH_COMPLETE=bash_complete _RAIDBENCH_LINE="${COMP_LINE:0:COMP_POINT}" \\
        _RAIDBENCH_BREAKS="$COMP_WORDBREAKS" "$1" 2>/dev/null)
}
complete -o nosort -F _raidbench_completion raidbench 2>/dev/null || complete -F _raidbench_completion raidbench
"""

_ZSH = """\
#compdef raidbench
_raidbench_completion() {
    local line
    local -a parts plain plain_told part part_told
    for line in "${(@f)$(_RAIDBENCH_COMPLETE=zsh_complete \\
            _RAIDBENCH_WORDS="${(pj:\\n:)words[1,CURRENT]}" ${words[1]} 2>/dev/null)}"; do
        parts=("${(@ps:\\t:)line}")
        case $parts[1] in
            dir) _files -/ ;;
            file) _files ;;
            plain) plain+=("$parts[2]"); plain_told+=("$parts[2]${parts[3]:+  -- $parts[3]}") ;;
            part) part+=("$parts[2]"); part_told+=("$parts[2]${parts[3]:+  -- $parts[3]}") ;;
        esac
    done
    (( $#plain )) && compadd -V raidbench -l -d plain_told -a plain
    (( $#part )) && compadd -V raidbench-part -S '' -l -d part_told -a part
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _raidbench_completion "$@"
else
    compdef _raidbench_completion raidbench
fi
"""

_FISH = """\
function _raidbench_completion
    set -l words (commandline -opc) (commandline -ct)
    set -lx _RAIDBENCH_COMPLETE fish_complete
    set -lx _RAIDBENCH_WORDS (string join \\n -- $words | string collect)
    if test -z "$words[-1]"
        set _RAIDBENCH_WORDS "$_RAIDBENCH_WORDS"\\n
    end
    for line in ($words[1] 2>/dev/null)
        set -l parts (string split \\t -- $line)
        switch $parts[1]
            case dir
                __fish_complete_directories $parts[2]
            case file
                __fish_complete_path $parts[2]
            case plain part
                string join \\t -- $parts[2..]
        end
    end
end
complete --no-files --command raidbench --arguments "(_raidbench_completion)"
"""

_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def script(shell: str) -> str:
    """Return the completion script of a shell, for `eval` or for a file in the shell's completion folder."""
    return _SCRIPTS[shell]
