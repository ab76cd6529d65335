"""The command lines of GitHub and GitLab: `gh <command> --help` and `glab <command> --help`."""

from __future__ import annotations

SHARED = {
    "gh": (
        "-R=:gh_repo -w!o -c -L= -q=:jq -t= -s= -S= -l= -a= -A= -B= -H= -b= -u= -e= -O= -C -v -j= -d -o= -i -h -f -X= "
        "-m -p "
        "-F=:text -T= --repo=:gh_repo --web!o --comments --limit= --jq=:jq --template= --json= --state= --search= "
        "--label= "
        "--assignee= --author= --base= --head= --branch= --commit= --event= --status= --user= --workflow= --log "
        "--log-failed --job= --exit-status --attempt= --verbose --patch --name-only --color= --watch --fail-fast "
        "--interval= --required --draft --app= --milestone= --mention= --project= --created= --order= --sort= "
        "--owner= --language= --visibility= --topic= --source --fork --archived --no-archived --exclude-drafts "
        "--exclude-pre-releases --public --secret --raw --filename= --files --yaml --ref= --active --key= --all "
        "--compact --help --conflict-status --paginate --slurp --closed --match= --updated= --reviewed-by= "
        "--review-requested= --checks= --include-content --org= --environment= -E= --package= --hostname=!c"
    ),
    "text": (
        "--title= --body= --body-file=:text --fill --fill-first --fill-verbose --reviewer= --add-label= "
        "--remove-label= --add-assignee= --remove-assignee= --add-reviewer= --remove-reviewer= --add-project= "
        "--remove-project= --remove-milestone --no-maintainer-edit --dry-run --recover= --template= --editor!x "
        "--edit-last --create-if-none --approve -a -r --request-changes --comment --reason= --delete-branch "
        "--squash -s -r -m --rebase --merge --auto --disable-auto --admin!o --match-head-commit= --subject= "
        "--author-email= --undo --notes= -n= --notes-file=:text --generate-notes --notes-from-tag "
        "--notes-start-tag= --prerelease --latest=? --target= --discussion-category= --verify-tag --field=:text "
        "--raw-field=:text --ref= --clobber --yes -y --cleanup-tag --draft=? --last --failed --debug --name= "
        "--color= --description= --force --force-cancel --duplicate-of= --parent= --type="
    ),
}

ROWS = """
gh · fetch · - · -h --help --version -R=:gh_repo --repo=:gh_repo
gh pr view|gh pr diff|gh pr checks|gh issue view|gh release view|gh run view|gh run watch|gh repo view|gh gist view|gh
 pr status · fetch · :gh_item · @gh
gh pr list|gh issue list|gh issue status|gh run list|gh workflow list|gh workflow view|gh release list|gh repo list|gh
 gist list|gh label list|gh search *|gh cache list|gh ruleset *|gh project list|gh project view|gh project
 item-list|gh project field-list|gh org list|gh variable list|gh variable get|gh secret list|gh ssh-key list|gh gpg-key
 list|gh status|gh repo license *|gh repo gitignore *|gh pr pattern|gh attestation verify|gh repo autolink list|gh repo
 deploy-key list|gh codespace list|gh agent-task list|gh agent-task view · fetch · - · @gh
gh config get · read · :secret_key · -h= --host=
gh auth status|gh config list|gh extension list|gh extension search|gh alias list|gh completion|gh help
 *|gh version · read · - · -h= -s= -a --hostname= --active --help --json= -t!c --show-token!c --host=
gh pr checkout|gh issue develop · fetch write · :gh_item · @gh --recurse-submodules --force -f --detach -b= --checkout
 --name= --list
gh repo clone|gh gist clone · fetch write · >second · -u= --upstream-remote-name=
gh repo sync · fetch write send · - · -R=:gh_repo -b= -s= --branch= --source= --force
gh run download|gh release download · fetch write · - · -R=:gh_repo -p= -n=
 -D=> -O=> -A= --repo=:gh_repo --pattern= --name= --dir=> --output=> --archive= --clobber --skip-existing
 --upstream-remote-name= -u= -b= -s= --branch= --source= --force
gh pr create|gh pr edit|gh pr close|gh pr reopen|gh pr ready|gh pr comment|gh pr review|gh pr merge|gh pr
 update-branch|gh pr lock|gh pr unlock|gh pr revert|gh issue create|gh issue edit|gh issue close|gh issue reopen|gh
 issue comment|gh issue delete|gh issue transfer|gh issue pin|gh issue unpin|gh issue lock|gh issue unlock|gh run
 rerun|gh run cancel|gh run delete|gh workflow run|gh workflow enable|gh workflow disable|gh release create|gh release
 edit|gh release delete|gh release upload|gh release delete-asset|gh label create|gh label edit|gh label delete|gh
 label clone|gh cache delete · send · :gh_item · @gh @text
gh repo create|gh repo delete|gh repo edit|gh repo fork|gh repo archive|gh repo unarchive|gh repo rename|gh repo
 set-default|gh repo deploy-key *|gh repo autolink *|gh gist create|gh gist edit|gh gist delete|gh gist rename|gh
 project *|gh variable *|gh secret *|gh ssh-key *|gh gpg-key *|gh codespace *|gh agent-task * · send program · - · -
gh api · fetch · :endpoint · -H= -i -q=:jq -t= -p= --header= --include --jq=:jq --paginate --slurp --template=
 --preview= --cache= --silent --verbose -X=:method --method=:method -f=!s --raw-field=!s -F=!s --field=!s --input=!s
 --hostname=!c
gh auth *|gh browse|gh extension *|gh alias *|gh config *|gh copilot *|gh attestation *|gh preview * · program secret ·
 - · -
glab · fetch · - · -h --help --version -R= --repo=
glab mr list|glab mr view|glab mr diff|glab issue list|glab issue view|glab ci list|glab ci view|glab ci status|glab ci
 trace|glab ci get|glab release list|glab release view|glab repo list|glab repo view|glab label list|glab pipeline list
 · fetch · - · -R= -a= -A -l= -P= -p= -F= -c -s -b= -d -o= -m= -q= -h --repo= --assignee= --author= --label= --page=
 --per-page= --output= --comments --system-logs --branch= --live --compact --closed --all --merged --draft --milestone=
 --search= --help --opened
glab mr *|glab issue *|glab ci *|glab release *|glab repo *|glab label *|glab variable *|glab snippet *|glab schedule
 *|glab pipeline * · send · - · -t= -d= -l= -a= -b= -s= -y -m= -f --title= --description= --label= --assignee=
 --source-branch= --target-branch= --yes --message= --fill --draft --remove-source-branch --squash
 --squash-before-merge --push --no-editor --reviewer= -R= --repo=
glab api · fetch · - · -H= -i --header= --include --paginate --silent -X=:method --method=:method -f=!s --raw-field=!s
 -F=!s --field=!s --input=!s --hostname=!c
glab auth *|glab config *|glab alias *|glab ssh-key *|glab duo *|glab cluster * · program secret · - · -
gh release upload|gh release create · send · :uploads · @gh @text
"""
