"""The completion scripts of the shells. They ask `qd __complete`, so they need no change when a command does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

Shell = Literal["bash", "zsh", "fish"]
SHELLS: tuple[str, ...] = get_args(Shell)

BASH = r"""# Completion of qd for bash. To install it, put this line into ~/.bashrc:
#   eval "$(qd completion bash)"
_qd_complete() {
    local current=${COMP_WORDS[COMP_CWORD]} line word
    local IFS=$'\n'
    COMPREPLY=()
    while IFS= read -r line; do
        word=${line%%$'\t'*}
        case $word in
            :files) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$current")) ;;
            :dirs) compopt -o filenames; COMPREPLY+=($(compgen -d -- "$current")) ;;
            *) COMPREPLY+=("$word") ;;
        esac
    done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _qd_complete qd quarterdeck
"""

ZSH = r"""#compdef qd quarterdeck
# Completion of qd for zsh. To install it, put this line into ~/.zshrc, after compinit:
#   eval "$(qd completion zsh)"
_qd() {
    local line word
    local -a found
    for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        word=${line%%$'\t'*}
        case $word in
            '') ;;
            :files) _files ;;
            :dirs) _files -/ ;;
            *)
                if [[ $line == *$'\t'* ]]; then
                    found+=("${word//:/\\:}:${line#*$'\t'}")
                else
                    found+=("${word//:/\\:}")
                fi ;;
        esac
    done
    (( $#found )) && _describe -V qd found
}
if [ "$funcstack[1]" = "_qd" ]; then
    _qd "$@"
else
    compdef _qd qd quarterdeck
fi
"""

FISH = r"""# Completion of qd for fish. To install it:
#   qd completion fish > ~/.config/fish/completions/qd.fish
function __qd_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :dirs
                __fish_complete_directories "$current"
            case '*'
                echo $line
        end
    end
end
complete -c qd -f -k -a '(__qd_complete)'
complete -c quarterdeck -f -k -a '(__qd_complete)'
"""

SCRIPTS: Mapping[str, str] = {"bash": BASH, "zsh": ZSH, "fish": FISH}
