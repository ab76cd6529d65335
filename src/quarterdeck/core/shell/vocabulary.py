"""The shell's own words and commands, and options that have two names."""

from __future__ import annotations

from collections.abc import Mapping

from quarterdeck.core.programs.grammar import word_set

RESERVED = word_set(
    "if then else elif fi for while until do done case esac select function time coproc in [[ ]] (( )) { } ! "
    "foreach end repeat nocorrect noglob always"  # zsh, which runs the text on some machines
)
# Variables that hold no secret, so that `echo $HOME` is harmless.
PUBLIC_VARIABLES = word_set("HOME PWD OLDPWD USER LOGNAME SHELL PATH LANG HOSTNAME UID EUID SECONDS RANDOM")
# The shell's own commands that change how it reads or runs what follows, or that evaluate text.
CHANGES_SHELL = word_set(
    "alias unalias hash enable trap read mapfile readarray getopts shopt bind complete compgen compopt "
    "let fc history declare typeset local export readonly unset setopt unsetopt zmodload autoload zle "
    "functions emulate"
)
# Programs with no option that runs or writes: a bare `*` in their arguments is harmless, whatever it expands to.
READ_ONLY_PROGRAMS = word_set(
    "ls cat wc head tail grep egrep fgrep echo stat du df md5sum sha1sum sha256sum sha512sum cksum nl tac "
    "rev cut cmp basename dirname realpath readlink"
)

# Long options and their short letters, so that a deny of `rm -rf` also covers `rm --recursive --force`.
SHORT_FORMS: Mapping[str, Mapping[str, str]] = {
    "rm": {"--recursive": "r", "-R": "r", "--force": "f"},
    "cp": {"--recursive": "r", "-R": "r", "--force": "f"},
    "chmod": {"--recursive": "R"},
    "chown": {"--recursive": "R"},
    "git": {"--force": "f", "--all": "a", "--hard": "", "--message": "m", "--delete": "d"},
    "curl": {"--output": "o", "--remote-name": "O", "--data": "d", "--upload-file": "T", "--request": "X"},
    "sed": {"--in-place": "i"},
    "docker": {"--force": "f", "--all": "a"},
}
