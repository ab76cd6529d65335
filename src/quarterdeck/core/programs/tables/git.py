"""Git: git(1) and the manual page of each command; the long options are those of `--git-completion-helper-all`."""

from __future__ import annotations

SHARED = {
    "diff": (
        "-p -u -U= -s -b -w -B=? -M=? -C=? -D -W -R -z -a -l= -S= -G= -O= -X=? -I= -r -t -q -v -c -m -# --cc "
        "--patch --no-patch --unified= --function-context --raw --patch-with-raw --patch-with-stat --numstat "
        "--shortstat --dirstat=? --cumulative --dirstat-by-file=? --check --summary --name-only --name-status "
        "--stat=? --stat-width= --stat-name-width= --stat-graph-width= --stat-count= --compact-summary --binary "
        "--full-index --color=? --ws-error-highlight= --abbrev=? --src-prefix= --dst-prefix= --line-prefix= "
        "--no-prefix --default-prefix --inter-hunk-context= --output-indicator-new= --output-indicator-old= "
        "--output-indicator-context= --break-rewrites=? --find-renames=? --irreversible-delete --find-copies=? "
        "--find-copies-harder --no-renames --rename-empty --follow --minimal --ignore-all-space "
        "--ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines "
        "--ignore-matching-lines= --indent-heuristic --patience --histogram --diff-algorithm= --anchored= "
        "--word-diff=? --word-diff-regex= --color-words=? --color-moved=? --color-moved-ws= --relative=? --text "
        "--exit-code --quiet --ext-diff!x --no-ext-diff --textconv!x --no-textconv --ignore-submodules=? "
        "--submodule=? --ita-invisible-in-index --ita-visible-in-index --pickaxe-all --pickaxe-regex --rotate-to= "
        "--skip-to= --find-object= --diff-filter= --output=> --diff-merges= --no-color --cached --staged "
        "--merge-base --no-index --base --ours --theirs -1 -2 -3 -0 -h --no-relative --no-abbrev"
    ),
    "log": (
        "-n= -L= -g -i -E -F -P --source --use-mailmap --mailmap --clear-decorations --decorate-refs= "
        "--decorate-refs-exclude= --decorate=? --oneline --graph --all --branches=? --tags=? --remotes=? --glob= "
        "--exclude= --exclude-hidden= --reflog --alternate-refs --single-worktree --max-count= --skip= --since= "
        "--since-as-filter= --after= --until= --before= --author= --committer= --grep= --grep-reflog= --all-match "
        "--invert-grep --regexp-ignore-case --basic-regexp --extended-regexp --fixed-strings --perl-regexp "
        "--remove-empty --merges --no-merges --min-parents= --max-parents= --no-min-parents --no-max-parents "
        "--first-parent --not --stdin --ignore-missing --bisect --cherry-mark --cherry-pick --left-only "
        "--right-only --cherry --walk-reflogs --merge --boundary --simplify-by-decoration --show-pulls "
        "--full-history --dense --sparse --simplify-merges --ancestry-path=? --date-order --author-date-order "
        "--topo-order --reverse --no-walk=? --do-walk --pretty=? --format= --abbrev-commit --no-abbrev-commit "
        "--encoding= --expand-tabs=? --no-expand-tabs --notes=? --no-notes --show-notes=? --standard-notes "
        "--show-signature --relative-date --date= --parents --children --left-right --show-linear-break=? "
        "--log-size --no-decorate --no-graph --count --objects --in-commit-order --filter= --quiet --header "
        "--timestamp --disk-usage=? --use-bitmap-index --objects-edge --missing= --unpacked --max-age= --min-age= "
        "--full-diff --no-mailmap --remerge-diff"
    ),
    "pathspec": ("--pathspec-from-file= --pathspec-file-nul"),
    "message": (
        "-m= -F=:text -C= -c= -s -S=? -n -e -t=:text -x --message= --file=:text --reuse-message= --reedit-message= "
        "--signoff --gpg-sign=? --no-gpg-sign --verify --no-verify --edit --no-edit --cleanup= --template=:text "
        "--trailer= --fixup= --squash= --author= --date= --reset-author"
    ),
    "merge": (
        "-X= --stat --summary --log=? --squash --commit --no-commit --ff --no-ff --ff-only --rerere-autoupdate "
        "--verify-signatures -s=:strategy --strategy=:strategy --strategy-option= --into-name= --verbose -v --quiet "
        "-q --abort --quit --continue --skip --allow-unrelated-histories --progress --autostash --no-autostash "
        "--overwrite-ignore --compact-summary --no-stat"
    ),
    "transfer": (
        "-v -q -a -f -t -p -k -u -4 -6 -j= -o= --verbose --quiet --all --append --atomic --upload-pack=!x --force "
        "--multiple --tags --no-tags --jobs= --prefetch --prune --prune-tags --recurse-submodules=? --dry-run "
        "--write-fetch-head --keep --update-head-ok --progress --depth= --shallow-since= --shallow-exclude= "
        "--deepen= --unshallow --refetch --submodule-prefix= --recurse-submodules-default= --update-shallow "
        "--refmap= --server-option= --ipv4 --ipv6 --negotiation-tip= --negotiate-only --filter= --auto-maintenance "
        "--auto-gc --show-forced-updates --write-commit-graph --stdin --set-upstream --porcelain -P -n "
        "--no-recurse-submodules"
    ),
    "switch": (
        "-q -f -m -d -t -b= -B= -c= -C= -l -p -2 -3 --guess --no-guess --overlay --quiet --recurse-submodules=? "
        "--progress --no-progress --merge --conflict= --detach --track=? --no-track --force --orphan= "
        "--overwrite-ignore --ignore-other-worktrees --ours --theirs --patch --ignore-skip-worktree-bits --create= "
        "--force-create= --discard-changes"
    ),
    "refs": (
        "--contains=? --no-contains=? --with= --without= --merged=? --no-merged=? --points-at= --sort= --format= "
        "--color=? --column=? --ignore-case --count= -i"
    ),
}

ROWS = """
git · write fetch · - · -p!x --paginate!x -P --no-pager --no-replace-objects --no-optional-locks --literal-pathspecs
 --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-lazy-fetch --bare --version -v --help -h --html-path
 --man-path --info-path -C=@ -c=:git_setting --git-dir=!x --work-tree=!x --exec-path=!x --namespace= --config-env=!x
 --attr-source= --list-cmds= --super-prefix=!x
git log|git show|git whatchanged · read · - · @diff @log
git diff · read · :diff · @diff --pretty=? --format= -1
git diff-tree|git diff-index|git diff-files · read · - · @diff --root --always --stdin --no-commit-id --pretty=?
 --format= -1
git range-diff · read · - · @diff @log --creation-factor= --no-dual-color --left-only --right-only
git rev-list · read · - · @diff @log
git shortlog · read · - · @log --committer -c --numbered --summary --email --group= -s -n -e -w=?
git status · read · - · -s -b -v -u=? -z -M=? -# --verbose --short --branch --show-stash --ahead-behind
 --no-ahead-behind --porcelain=? --long --null --untracked-files=? --ignored=? --ignore-submodules=? --column=?
 --find-renames=? --renames --no-renames --no-column
git add|git stage · write each · - · -n -v -i -p -e -f -u -N -A --dry-run --verbose --interactive --patch --edit --force
 --update --renormalize --intent-to-add --all --no-all --ignore-removal --refresh --ignore-errors --ignore-missing
 --sparse --chmod= @pathspec
git commit · write · - · @message @pathspec -a -i -p -o -v -q -u=? -z --status --no-status --all --include
 --interactive --patch --only --dry-run --short --branch --ahead-behind --porcelain --long --null --amend
 --untracked-files=? --allow-empty --allow-empty-message --post-rewrite --quiet --verbose
git checkout · write · - · @switch @pathspec
git switch · write · - · @switch
git restore · write · - · @switch @pathspec -s= -S -W --source= --staged --worktree --ignore-unmerged
git branch · write each · - · @refs -v -q -t -u= -r -a -d -D -m -M -c -C -l -f -vv -vvv --verbose --quiet --track=?
 --set-upstream --set-upstream-to= --unset-upstream --remotes --abbrev=? --no-abbrev --all --delete --move --copy
 --list --show-current --create-reflog --edit-description --force --recurse-submodules --no-track --no-column
 --no-color
git tag · write each · - · @refs -l -n=? -d -v -a -m= -F=:text -e -s -u= -f -i -# --list --delete --verify --annotate
 --message= --file=:text --edit --sign --cleanup= --local-user= --force --create-reflog --trailer=
git stash · write · - · -p -k -q -u -a -m= -S --keep-index --staged --patch --quiet --include-untracked --all
 --message=
git stash push|git stash save · write · - · -p -k -q -u -a -m= -S --no-keep-index --keep-index --staged --patch --quiet
 --include-untracked --all --message= @pathspec
git stash list · read · - · @diff @log
git stash show · read · - · @diff --include-untracked --only-untracked -u
git stash apply|git stash pop|git stash drop|git stash branch|git stash clear|git stash create|git stash store · write
 · - · -q -m= --quiet --index --message=
git merge · write · - · @merge -m= -F=:text -e -n -S=? --message= --file=:text --signoff --gpg-sign=? --no-gpg-sign
 --verify --no-verify --edit --no-edit --cleanup=
git rebase · write · - · @merge -i -x=!x -f -r=? -p -k -C= --onto= --keep-base --signoff
 --committer-date-is-author-date --reset-author-date --ignore-date --ignore-whitespace --whitespace= --force-rebase
 --edit-todo --show-current-patch --apply --merge --interactive --preserve-merges --empty= --keep-empty --autosquash
 --no-autosquash --update-refs --gpg-sign=? --exec=!x --rebase-merges=? --fork-point --root --reschedule-failed-exec
 --reapply-cherry-picks --verify --no-verify -n -S=? --no-rebase-merges
git cherry-pick|git revert · write · - · @merge @message --mainline= --allow-empty --allow-empty-message
 --keep-redundant-commits --reference --no-commit -n
git reset · write · - · -q -p -N --quiet --mixed --soft --hard --merge --keep --recurse-submodules --patch
 --intent-to-add --refresh --no-refresh @pathspec
git rm · write each · - · -n -q -r -f --dry-run --quiet --cached --force --ignore-unmatch --sparse @pathspec
git mv · write · - · -v -n -f -k --verbose --dry-run --force --sparse
git clean · write · - · -n -f -q -d -x -X -i -e= --quiet --dry-run --force --interactive --exclude=
git grep · read · - · -i -v -w -a -r -E -G -F -P -n -l -L -z -o -c -h -H -p -W -q -I -O=?!x -e= -f= -m= -A= -B= -C= -#
 --cached --no-index --untracked --exclude-standard --no-exclude-standard --recurse-submodules --invert-match
 --ignore-case --word-regexp --text --textconv!x --recursive --no-recursive --max-depth= --extended-regexp
 --basic-regexp --fixed-strings --perl-regexp --line-number --column --full-name --files-with-matches --name-only
 --files-without-match --null --only-matching --count --color=? --no-color --break --heading --context=
 --before-context= --after-context= --threads= --show-function --function-context --and --or --not --quiet --all-match
 --open-files-in-pager=?!x --ext-grep --max-count= --index
git blame|git annotate · read · - · -L= -s -e -w -f -n -p -t -l -b -c -M=? -C=? -S= --incremental --root --show-stats
 --progress --score-debug --show-name --show-number --porcelain --line-porcelain --show-email --ignore-rev=
 --ignore-revs-file= --color-lines --color-by-age --minimal --contents=:text --abbrev=? --date= --reverse --first-parent
 --since=
git fetch · write fetch · :git_remote · @transfer
git pull · write fetch · :git_remote · @transfer @merge --rebase=? --no-rebase -r --signoff --edit --no-edit --cleanup=
 --verify --no-verify --gpg-sign=? -e
git push|git send-pack · send each2 · :git_remote · -v -q -n -f -u -d!m -o= -4 -6 --verbose --quiet --repo=:git_remote
 --all!m --branches!m --mirror!m --delete!m --tags!m --dry-run --porcelain --force --force-with-lease=?
 --force-if-includes --recurse-submodules= --thin --no-thin --receive-pack=!x --exec=!x --set-upstream --progress
 --prune!m --follow-tags --signed=? --atomic --push-option= --ipv4 --ipv6 --verify --no-verify
git clone · write fetch · :clone · -v -q -n -l -s -j= -o= -b= -4 -6 --verbose --quiet --progress --reject-shallow
 --no-checkout --bare --mirror --local --no-hardlinks --shared --recurse-submodules=? --recursive --jobs= --template=!x
 --reference= --reference-if-able= --dissociate --origin= --branch= --upload-pack=!x -u=!x --depth= --shallow-since=
 --shallow-exclude= --single-branch --no-single-branch --no-tags --shallow-submodules --separate-git-dir=!o --config=!x
 -c=!x --server-option= --ipv4 --ipv6 --filter= --also-filter-submodules --remote-submodules --sparse --bundle-uri=!f
git ls-remote · fetch · :git_urls · -q -t -h -b -o= --quiet --upload-pack=!x --exec=!x --tags --heads --branches --refs
 --get-url --sort= --exit-code --symref --server-option=
git remote · read · - · -v --verbose
git remote show|git remote get-url · read · - · -n --push --all
git remote update · write fetch · - · -p --prune
git remote prune · write fetch · - · -n --dry-run
git remote add|git remote set-url|git remote rename|git remote remove|git remote rm|git remote set-head|git remote
 set-branches · send · - · -f -t= -m= -a -d --fetch --tags --no-tags --mirror=? --push --add --delete --auto --track=
 --master=
git config · read · :git_config!w · --global --system --local --worktree -f= --file= --blob= --get --get-all
 --get-regexp --get-urlmatch --get-color --get-colorbool -l --list --type= --bool --int --bool-or-int --bool-or-str
 --path --expiry-date -z --null --name-only --includes --no-includes --show-origin --show-scope --default=
 --fixed-value --all --regexp --url= --value= --replace-all!x --add!x --unset!w --unset-all!w --rename-section!x
 --comment= --remove-section!w -e!x --edit!x
git ls-files|git check-ignore|git check-attr|git check-mailmap · read · - · -c -d -m -o -i -s -u -k -z -t -v -f -r -x=
 -X= -q -n -a --cached --deleted --modified --others --ignored --stage --killed --directory --eol --no-empty-directory
 --empty-directory --unmerged --resolve-undo --exclude= --exclude-from= --exclude-per-directory= --exclude-standard
 --full-name --recurse-submodules --error-unmatch --with-tree= --abbrev=? --debug --deduplicate --sparse --format=
 --verbose --non-matching --no-index --stdin --quiet --all
git ls-tree · read · - · -d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree
 --format= --abbrev=?
git rev-parse · read · - · -q --*
git describe|git name-rev · read · - · --contains --debug --all --tags --long --first-parent --abbrev=? --exact-match
 --candidates= --match= --exclude= --always --dirty=? --broken=? --name-only --refs= --annotate-stdin --stdin
 --undefined
git reflog · read · - · @diff @log
git reflog show|git reflog list · read · - · @diff @log
git reflog expire|git reflog delete|git reflog exists · write · - · -n --expire= --expire-unreachable= --all --dry-run
 --rewrite --updateref --stale-fix --verbose --single-worktree
git worktree list · read · - · -v -z --porcelain --verbose --expire=
git worktree add · write · >first · -f -b= -B= -d -q --force --detach --checkout --no-checkout --lock --reason= --quiet
 --track --guess-remote --orphan
git worktree remove|git worktree prune|git worktree lock|git worktree unlock|git worktree repair · write · - · -f -n -v
 --force --dry-run --verbose --expire= --reason=
git worktree move · write · > · -f --force
git submodule · read · - · -q --quiet --cached
git submodule status|git submodule summary · read · - · -q -n= --quiet --cached --recursive --files --summary-limit=
git submodule init|git submodule sync|git submodule deinit|git submodule absorbgitdirs · write · - · -q -f --quiet
 --recursive --force --all
git submodule update · write fetch · - · -q -i -f -N --quiet --force --init --remote --recursive --checkout --merge
 --rebase --reference= --dissociate --depth= --jobs= -j= --recommend-shallow --progress --single-branch --filter=
 --no-fetch
git submodule add|git submodule set-url|git submodule set-branch · write fetch · :git_urls · -b= -f -q --force --quiet
 --name= --branch= --depth= --reference=
git submodule foreach · program · - · -q --quiet --recursive
git bisect start|git bisect good|git bisect bad|git bisect new|git bisect old|git bisect skip|git bisect reset|git
 bisect next|git bisect terms · write · - · --no-checkout --first-parent --term-new= --term-old= --term-good=
 --term-bad=
git bisect log|git bisect view|git bisect visualize · read · - · @diff @log
git bisect run · operand write stop · !r · -
git bisect replay · program · - · -
git cat-file · read · - · -t -s -e -p -Z -z --allow-unknown-type --use-mailmap --mailmap --batch=? --batch-check=?
 --batch-command=? --batch-all-objects --buffer --follow-symlinks --unordered --textconv!x --filters!x --path=
git show-ref|git for-each-ref|git count-objects|git verify-commit|git verify-tag|git cherry|git show-branch|git
 merge-base|git var|git version|git help|git diff-pairs|git last-modified|git get-tar-commit-id|git patch-id|git
 stripspace|git column|git fmt-merge-msg|git check-ref-format|git fsck|git verify-pack|git unpack-file|git
 merge-tree|git cherry|git rerere · read · - · @refs -q -d -s -v -H -a -l -# --tags --heads --branches --verify --head
 --dereference --hash=? --abbrev=? --quiet --exclude-existing=? --shell --perl --python --tcl --exclude=
 --include-root-refs --stdin --start-after= --verbose --human-readable --raw --all --octopus --independent
 --is-ancestor --fork-point --remotes --more= --list --current --sha1-name --topics --build-options --unreachable
 --dangling --root --cache --reflogs --full --connectivity-only --strict --progress --no-progress --name-objects
 --guides --write-tree --name-only --messages --topo-order --date-order
git init · write · > · -q -b= --quiet --bare --initial-branch= --object-format= --ref-format= --shared=? --template=!x
 --separate-git-dir=!o
git notes · read · - · --ref=
git notes list|git notes show|git notes get-ref · read · - · -
git notes add|git notes append|git notes copy|git notes edit|git notes remove|git notes merge|git notes prune · write ·
 - · @message -f -s= -v -q --force --allow-empty --ref= --strategy= --ignore-missing --stdin --separator=?
git symbolic-ref · write · - · -q -d --quiet --delete --short --recurse --no-recurse -m=
git update-index|git read-tree|git write-tree|git checkout-index|git commit-tree|git mktree|git mktag|git
 hash-object|git update-ref|git pack-refs|git gc|git prune|git repack|git pack-objects|git commit-graph|git
 multi-pack-index|git replace|git sparse-checkout|git apply|git am · write · - · -a -b= -d -f -i -l -m= -n -p=
 -q -r -s -u -v -w -3 -t -R -z -k -N -C= --quiet --force --verbose --add --remove --refresh --really-refresh --chmod=
 --assume-unchanged --no-assume-unchanged --skip-worktree --no-skip-worktree --again --stdin --prune=? --aggressive
 --auto --all --cached --index --check --stat --numstat --summary --reverse --reject --3way --whitespace= --directory=>
 --include= --exclude= --recount --allow-empty --ignore-space-change --ignore-whitespace --unidiff-zero --verbose
 --continue --skip --abort --quit --resolved --signoff --keep-cr --show-current-patch --initial-branch= --bare
 --object-format= --shared=? --create-reflog --no-deref --delete --list --edit --cone --no-cone --keep-non-patch
 --quoted-cr= --empty= --committer-date-is-author-date --ignore-date --message-id --apply --template=!x
 --separate-git-dir=!o --unsafe-paths!o --build-fake-ancestor=> -o=> --exec=!x
git sparse-checkout *|git commit-graph *|git multi-pack-index *|git rerere * · write · - · --cone --no-cone
 --sparse-index --skip-checks --stdin --reachable --append --split=? --progress --no-progress --object-dir=!o
git format-patch · write · - · @diff @log -o=> --output-directory=> -n -N -k -v= -s --stdout --numbered --no-numbered
 --signoff --cover-letter --numbered-files --suffix= --start-number= --reroll-count= --filename-max-length= --rfc=?
 --cover-from-description= --subject-prefix= --keep-subject --zero-commit --ignore-if-in-upstream --add-header= --to=
 --cc= --from=? --in-reply-to= --attach=? --inline=? --thread=? --signature= --base= --signature-file=:text --progress
 --interdiff= --range-diff= --creation-factor= --force-in-body-from --no-signature
git archive · read · - · -o=:report -v -l -# --output=:report --format= --prefix= --remote=!s --exec=!x --list --verbose
 --worktree-attributes --add-file=:text --add-virtual-file= --mtime=
git bundle · write · - · -
git bundle create · write · >first · -q --quiet --progress --all --branches --tags --since= --version= --stdin
git bundle verify|git bundle list-heads · read · - · -q --quiet
git difftool|git mergetool|git instaweb|git gui|git citool|git filter-branch|git fast-import|git fast-export|git
 send-email|git imap-send|git hook|git maintenance|git svn|git p4|git cvsimport|git cvsexportcommit|git cvsserver|git
 archimport|git quiltimport|git daemon|git http-backend|git shell|git upload-pack|git receive-pack|git
 upload-archive|git fetch-pack|git http-fetch|git http-push|git remote-ext|git remote-fd|git remote-http|git
 remote-https|git merge-index|git merge-one-file|git merge-file|git web--browse|git sh-i18n|git sh-setup|git
 request-pull|git interpret-trailers|git bugreport|git diagnose|git scalar|git credential-cache--daemon|git shell|git
 update-server-info|git fsmonitor--daemon|git mailinfo|git mailsplit|git subtree|git backfill|git replay|git
 filter-repo|git lfs · program · - · -
git credential|git credential-store|git credential-cache · secret · - · -
git lfs ls-files|git lfs status|git lfs env|git lfs version|git lfs locks|git lfs logs · read · - · -a -l -s -d --all
 --long --size --debug --json --porcelain
git lfs pull|git lfs fetch|git lfs checkout|git lfs track|git lfs untrack|git lfs prune|git lfs install · write fetch ·
 - · -I= -X= -a -r --all --recent --include= --exclude= --dry-run -d --verbose -v --local --filename --lockable
 --skip-smudge
"""
