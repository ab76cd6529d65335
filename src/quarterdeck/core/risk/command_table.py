"""The risk of shell commands, one row each: level, command, required words, reason."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ROWS = """
# Git: what is lost or published
high     git · core.*=* alias.*=* pager.*=* diff.*=* filter.*=* credential.*=* *.sshCommand=* *.helper=* · lets Git run
    other programs
high     git difftool|mergetool · -x --extcmd* -t --tool* · lets Git run other programs
high     git push · --force -f --force-with-lease --force-if-includes --mirror +* · rewrites published history
high     git push · --delete -d --prune :* · deletes published branches or tags
medium   git push · · publishes commits
high     git reset · --hard --merge --keep · throws away uncommitted work
medium   git reset · · moves the branch
high     git filter-branch|filter-repo · · rewrites the whole history
high     bfg · · rewrites the whole history
medium   git rebase · --abort --continue --skip --quit --show-current-patch --edit-todo · goes on with a rebase
high     git rebase · -x --exec · lets Git run other programs
high     git rebase · -i --interactive --root --onto · rewrites history
medium   git rebase · · moves commits of this branch
high     git commit · --amend · rewrites the last commit
high     git branch · -D -M -C -f --force · deletes or moves a branch
high     git tag · -d --delete -f --force · deletes or moves a tag
high     git clean · -f --force -fd -fdx -x -d · deletes files that Git does not know
high     git checkout · -f --force -- . -B · throws away uncommitted work
high     git switch · -f --force --discard-changes -C · throws away uncommitted work
medium   git checkout|switch · · changes the files of the project
high     git restore · -W --worktree · throws away uncommitted work
medium   git restore · -S --staged · changes what the next commit holds
high     git restore · · throws away uncommitted work
high     git stash · drop clear · deletes stashed work
high     git reflog · expire delete · deletes what history could be recovered from
high     git gc · --prune* --aggressive · deletes what history could be recovered from
high     git update-ref|replace · · rewrites history
high     git worktree · remove prune · deletes a worktree
high     git remote · set-url remove rm rename · changes where commits are published
medium   git remote · add · adds a place where commits can be published
medium   git clone|fetch|pull|ls-remote|submodule · · uses the network
medium   git rm · --cached · changes what the next commit holds
high     git rm · . ./ :/ -f --force · deletes files of the project
medium   git commit|merge|cherry-pick|revert|am|apply|add|mv|rm|stash|tag|branch|init · · changes the
    repository
# Privilege
high     sudo|doas|su|pkexec|run0|gosu|su-exec|runuser · · runs with more privilege
high     chmod · u+s g+s +s ug+s a+s [4267][0-7][0-7][0-7] 0777 777 a+w o+w a+rwx 666 · lets others run or change
    files
high     chown|chgrp · · changes who owns files
high     setcap|setfacl|usermod|useradd|userdel|groupadd|groupdel|groupmod|passwd|visudo|chpasswd|adduser|deluser|chsh|
    chfn|vipw|gpasswd|newgrp · · changes who
    may do what on this machine
high     unshare|nsenter|chroot|capsh|setpriv · · leaves its surroundings
# System
high     systemctl|service|launchctl|rc-service|sv|initctl · start stop restart reload enable disable mask unmask
    kill daemon-reload edit set-default isolate load unload bootstrap bootout poweroff reboot · changes what runs
    on this machine
medium   systemctl|service|launchctl|rc-service|sv|initctl · · asks what runs on this machine
high     crontab|at|batch|systemd-run · · schedules what runs later
critical shutdown|reboot|halt|poweroff · · stops this machine
high     mount|umount|swapon|swapoff|modprobe|insmod|rmmod|sysctl|kexec · · changes the system
high     iptables|ip6tables|nft|ufw|firewall-cmd|pfctl|netplan · · changes the network of this machine
high     ip|ifconfig|route|nmcli · add del delete set flush replace change up down connect · changes the network of
    this machine
medium   ip|ifconfig|route|nmcli · · looks at the network of this machine
high     defaults · write delete · changes settings of this machine
high     brew services · start stop restart run kill cleanup · changes what runs on this machine
high
    setenforce|hostnamectl|timedatectl|localectl|update-alternatives|ldconfig|dpkg-reconfigure|scutil|csrutil|spctl
    · ·
    changes the system
high     history · -c -w -d · removes traces
# Processes
medium   kill · %* $(lsof* $(pgrep* $(pidof* · ends a job, or the process that it finds
high     kill · [-]1 [-]9 -KILL -SIGKILL · ends processes
medium   kill · [0-9][0-9]* · ends a process
high     pm2|supervisorctl|forever|monit · delete stop stopall kill restart shutdown · ends or restarts services
high     kill|pkill|killall|xkill|fuser · · ends processes
# Disks
critical
    mkfs|mkfs.ext4|mkfs.ext3|mkfs.xfs|mkfs.btrfs|mkfs.vfat|mke2fs|mkswap|fdisk|gdisk|sfdisk|parted|wipefs|
    blkdiscard|hdparm|cryptsetup|lvremove|vgremove|pvremove|zpool|diskutil|sgdisk
    · · changes disks and what is on them
critical zfs · destroy rollback · deletes file systems and what is on them
high     dd · · copies raw data over whatever is there
high     shred|wipe|srm · · destroys files for good
medium   truncate · *.log · empties a log
high     truncate · · empties or cuts files
high     restic|borg|duplicity|kopia|tarsnap · forget prune delete unlock compact --nuke · deletes backups
# Packages
high     apt|apt-get|aptitude|dnf|yum|zypper|apk|brew|port|snap|flatpak|choco|winget|scoop · install add del
    remove purge upgrade dist-upgrade full-upgrade update uninstall reinstall autoremove tap · installs or removes
    software on this machine
high     nix-collect-garbage|nix-store · -d --delete-old --delete-older-than --gc --delete · deletes what this
    machine could be rolled back to
high     pacman|rpm|dpkg|nix-env · -S* -R* -U* -i* -e* -r* -P* --install --remove --purge --erase --upgrade ·
    installs or removes software on this machine
medium   npm|yarn|pnpm|bun ls|list|root|prefix|outdated|view|bin|config · -g --global --location=global · looks at
    software of every project
high     yarn global · add remove upgrade · installs software for every project
high     npm|yarn|pnpm|bun · -g --global --location=global · installs software for every project
high     npm|yarn|pnpm|bun run|run-script · deploy deploy[-:_]* *[-:_]deploy publish publish[-:_]* release
    rollback* destroy* ship · publishes or changes what is online, by its name
high     yarn|pnpm|bun deploy|release|rollback|destroy|ship · · publishes or changes what is online, by its name
medium   make|gmake|just|task|rake|invoke · -n --dry-run --just-print --recon · only says what it would do
high     make|gmake|just|task|rake|invoke · deploy deploy[-:_]* *[-:_]deploy publish publish[-:_]* rollback* destroy* ·
    publishes or changes what is online, by its name
high     npm|yarn|pnpm|bun publish|unpublish|deprecate · · publishes a package
high     npm|yarn|pnpm|bun config|set · *registry* *script-shell* *auth* *token* *proxy* *cafile* *strict-ssl*
    *node-options* edit · changes where packages come from
high     pip|pip3 config · set edit unset · changes where packages come from
high     npm|yarn|pnpm login|logout|adduser|token|owner|access|dist-tag|team|org|hook|profile · · changes accounts at
    the registry
medium   npm|yarn|pnpm|bun install|i|add|ci|update|upgrade|remove|uninstall|link|dlx · · installs packages, which
    run code of others
medium   npx|bunx|pnpx|uvx|pipx · · runs a package from the registry
high     pip|pip3 install · --break-system-packages --index-url -i --extra-index-url --trusted-host git+* http* ·
    installs packages from elsewhere or over the system's
medium   pip|pip3 install|uninstall|download · · installs packages, which run code of others
high     uv tool · install upgrade run · fetches a package and runs it
high     yarn npm · publish login logout tag · publishes a package
medium   uv add|sync|pip|tool|run|remove · · installs packages, which run code of others
high     uv|poetry|hatch|flit|pdm|maturin publish · · publishes a package
high     twine upload · · publishes a package
medium   poetry|pdm|pipenv|conda|mamba add|install|update|remove|sync|lock · · installs packages, which run code
    of others
high     cargo publish|yank|owner|login · · publishes a package
medium   cargo install|add|update · · installs packages, which run code of others
high     gem push|yank|owner · · publishes a package
medium   gem|bundle|composer|go|mvn|gradle|dotnet|luarocks|cpan|cpanm install|require|get|update|add · · installs
    packages, which run code of others
medium   gradle|gradlew · publishToMavenLocal *:publishToMavenLocal · installs a package for this machine
high     mvn|mvnw · *:deploy* release:* · publishes a package
high     gradle|gradlew · publish* *:publish* upload* · publishes a package
high     mvn|mvnw|gradle|gradlew|sbt|mill|lein|dotnet|nuget deploy|publish|push|release|uploadArchives|publishSigned · ·
    publishes a package
# Containers and clusters
critical docker|podman|nerdctl run|create|exec · --privileged --pid=host --cap-add* --userns=host --device* · a
    container with power over this machine
critical docker|podman|nerdctl run|create · /:/* *docker.sock* -v/:/* src=/,* source=/,* · a container with this
    machine's files
high     docker|podman|nerdctl run|create · --net=host --network=host · a container with the network of this machine
high     docker|podman|nerdctl compose · http://* https://* git@* oci://* · runs containers that an address describes
high     docker|podman|nerdctl compose · -v --volumes rm kill · removes containers or their data
medium   docker|podman|nerdctl run|create|exec|build|pull|start|compose|up|cp|tag|buildx · · runs containers
high     docker|podman|nerdctl swarm|stack|service|secret|config|node|plugin|trust|checkpoint · · changes a cluster
high     docker|podman|nerdctl push|login · · publishes to a registry
high     docker|podman|nerdctl system|volume|image|container|network|builder|buildx · prune rm remove · deletes
    containers, images or volumes
high     docker|podman|nerdctl rm|rmi|kill · -f --force -v --volumes *$* kill · deletes containers or images
medium   docker|podman|nerdctl rm|rmi · · deletes stopped containers or unused images
high     crictl|ctr|buildah · rm rmi rmp prune --prune delete · deletes containers or images
high     skopeo · copy sync delete · publishes to a registry
high     docker-compose rm|kill · · stops and removes containers
high     docker-compose down · -v --volumes · removes containers and their data
medium   docker-compose · · runs containers
critical kubectl|oc delete · --all -A --all-namespaces namespace ns node nodes pvc pv crd · deletes what a cluster
    runs on
high     kubectl|oc
    delete|drain|cordon|replace|scale|rollout|patch|edit|taint|annotate|label|set|exec|cp|apply|create|run|expose|
    autoscale
    · · changes a cluster
high     kubectl|oc get · secret secrets · reads a cluster's secrets
medium   kubectl|oc · · asks a cluster
high     helm install|upgrade|uninstall|delete|rollback · · changes a cluster
critical terraform|tofu|terragrunt|pulumi|cdk destroy · · destroys infrastructure
high     terraform|tofu|terragrunt|pulumi|cdk apply|up|deploy|import|taint · · changes infrastructure
high     gsutil|s3cmd|rclone|mc|azcopy · rm rb mv cp rsync sync del delete copy move purge setacl iam acl · changes
    files in the cloud
medium   gsutil|s3cmd|mc|azcopy · · asks the cloud
high     ansible|ansible-playbook|salt|puppet|chef-client · · changes other machines
high     aws|gcloud|az|doctl|linode-cli|hcloud|oci · delete* rm rb terminate* remove* destroy* purge* · deletes in
    the cloud
high     aws|gcloud|az|doctl · create* put* update* set* run* start* stop* cp mv sync deploy* add* attach* modify*
    · changes things in the cloud
high     aws|gcloud|az · get-secret-value *secretsmanager* secrets print-access-token get-access-token
    get-login-password *assume-role* · reads credentials from the cloud
medium   aws|gcloud|az|doctl|hcloud|oci · · asks the cloud
high     gh|glab repo · delete archive rename edit transfer · changes or deletes a repository
high     gh|glab secret|auth|ssh-key|gpg-key|variable|token · · handles credentials of the account
medium   gh|glab pr|mr|issue · create new comment edit reopen · writes something that others see
medium   gh run · rerun · starts a workflow again
medium   gh pr · ready update-branch · writes something that others see
high     gh|glab pr|mr|release|issue|workflow|run|gist|api · merge close create delete edit comment review cancel
    rerun disable enable -X --method -f -F --field --raw-field --input · changes things others see
medium   gh|glab · · uses the network
high     powershell|pwsh · -c -Command -command -e -enc -EncodedCommand · runs code that Quarterdeck cannot read
high     twilio · *:create *:update *:remove *:delete · changes things in an account
high     sam|copilot|amplify|zappa|chalice|surge|dokku|kamal|cap|ecs-cli|eksctl|kops|nomad|juju|vagrant · deploy delete
    destroy publish push promote rollback stop run purge · changes what is online
high     stripe|twilio|shopify|hubspot · create cancel delete update capture trigger push deploy post refund ·
    changes things in an account
# Databases
critical dropdb|mysqladmin · · deletes databases
high     bq|influx|etcdctl|consul|cbq|cockroach|nats|kafka-topics|kafka-topics.sh|rabbitmqctl · rm delete del drop
    --delete purge_queue delete_queue reset load insert cp put · changes or deletes data
high     prisma · --force-reset --accept-data-loss · resets a database
high     rake|rails|bin/rails|artisan|prisma|manage.py|flask|django-admin|alembic|flyway|knex|sequelize|typeorm ·
    db:drop db:reset db:wipe migrate:fresh migrate:reset reset flush downgrade clean schema:drop drop db:seed:replant ·
    resets a database
high     pg_restore|mysqlimport|mongorestore · · overwrites a database
# Credentials
critical security · find-generic-password find-internet-password dump-keychain export -w · reads the keychain
critical pass|gopass|op|bw|vault|lpass|secret-tool · show get read lookup item document export print kv · reads a
    password store
high     pass|gopass rm|insert|edit|generate|mv|cp|git|init · · changes a password store
high     vault|op|bw|lpass|infisical|akeyless · token login write create edit delete unlock auth operator policy rotate
    signin · handles a password store
high     aws-vault|doppler|chamber|sops|age|rage|teller|berglas|envchain|saml2aws|gopass · -d --decrypt exec* secrets
    read export run decrypt get download shell env · reads secrets
high     gpg|gpg2 · --export-secret-keys --export-secret-subkeys --decrypt -d --delete-secret-keys · uses private keys
high     ssh-keygen|ssh-add|ssh-copy-id|age-keygen · · handles keys
high     git credential|credential-store|credential-cache · · reads stored passwords
# Other machines
medium   ssh · git@* · asks a forge for its greeting
high     ssh|mosh|autossh · · runs on another machine
high     rsync · *:* · copies files to or from another machine
high     rsync · --delete* --remove-source-files · deletes files that are not in the other folder
medium   rsync · · copies files
high     scp|sftp|rclone|ftp|lftp|croc|wormhole · · copies files to or from another machine
high     nc|ncat|netcat|socat|telnet · · opens a raw connection
high     ngrok|cloudflared|localtunnel|lt|tailscale|bore · · opens this machine to the network
medium   lynx|w3m|fetch|links|yt-dlp · · uses the network
medium   ping|dig|nslookup|host|whois|traceroute|tracepath|mtr · · uses the network
high     nmap|masscan|tcpdump|tshark|nikto|sqlmap|hydra · · looks at or attacks a network
high     mail|mailx|sendmail|mutt|msmtp|swaks · · sends mail
# Agents
critical claude · --dangerously-skip-permissions --allow-dangerously-skip-permissions bypassPermissions · starts
    an agent that never asks for permission
high     claude config|mcp|plugin|setup-token|install|update · add add-json remove set enable disable install
    uninstall marketplace update import reset-project-choices · changes what an agent may do
critical
    codex|gemini|aider|opencode|goose|amp|cursor-agent|copilot|qwen|crush|droid|auggie|cline|kimi|grok|vibe
    · --dangerously* --yolo --full-auto --yes-always --yes -y --no-confirm --allow-all* --auto-approve* --force
    --trust-all-tools --approval-mode=yolo --skip-permissions* -a=never --ask-for-approval=never · starts an agent that
    never asks for permission
medium   claude|copilot|qwen|crush|droid|auggie|cline|codex|gemini|aider|opencode|goose|amp|cursor-agent · · starts
    another agent
high     tmux|screen · send-keys send -X kill-server kill-session new-window respawn-pane pipe-pane run-shell
    stuff · types into another terminal
high     open · -a -b -n --args · drives other programs
medium   open|xdg-open · http://localhost* http://127.0.0.1* *.html *.pdf *.png *.svg *.jpg *.md *.csv . · opens a
    document
high     xdotool|ydotool|osascript|wtype|xdg-open|open|dbus-send|gdbus|busctl · · drives other programs
high     xclip|xsel|pbpaste|wl-paste · · reads or changes the clipboard
high     strace|ltrace|gdb|lldb|ptrace|perf|bpftrace · -p --pid --attach · looks into another process
medium   nohup|disown|setsid|screen|tmux|daemonize · · leaves something running
high     alias · *=./* *=../* *=/tmp/* · changes what a command runs
medium   alias|unalias|trap|enable|hash · · changes what commands mean here
"""
"""The first matching row of a command counts. `a|b c|d` means the commands a and b with the subcommands c and d. The
required words are options, words and globs, of which one must occur; or nothing. A line that begins with blanks
continues the one before."""

READS = _set(
    "ls cat head tail less more grep egrep fgrep rg ag ack pwd echo printf which whereis type file stat wc sort"
    " uniq cut tr"
    " nl tac rev column diff cmp comm tree ps df du date cal uptime whoami id groups uname hostname arch nproc"
    " free lscpu"
    " true false test [ [[ basename dirname realpath readlink seq sleep jq yq xxd od hexdump strings md5sum"
    " sha1sum sha256sum"
    " sha512sum cksum b2sum fold fmt pr expand unexpand paste join look locale getconf tty cd pushd popd dirs help man"
    " info apropos whatis tput clear wait times ulimit umask fd bat exa eza hostid logname lsof pgrep pstree top htop"
    " iostat vmstat netstat ss lsblk expr bc dc tsort zcat zgrep bzcat xzcat locate let : read local return exit shift"
    " mktemp break continue getopts jobs fg bg builtin command shopt set unset declare typeset export readonly"
)
"""Commands that only read, or that only concern the shell that runs them."""

GIT_READS = _set(
    "status log diff show blame grep ls-files ls-tree rev-parse rev-list describe shortlog cat-file whatchanged"
    " name-rev merge-base for-each-ref show-ref count-objects fsck verify-commit verify-tag var version help range-diff"
    " diff-tree diff-index check-ignore symbolic-ref"
)

PROJECT_TOOLS = _set(
    "make cmake ninja bazel buck gradle gradlew mvn mvnw sbt cargo rustc go gcc g++ clang cc ld javac java dotnet swift"
    " xcodebuild npm yarn pnpm bun node deno tsc eslint prettier jest vitest mocha playwright cypress webpack"
    " vite rollup"
    " esbuild python python3 pytest tox nox mypy ruff black isort flake8 pylint pre-commit uv poetry hatch ruby bundle"
    " rake rspec rubocop rails php composer phpunit artisan perl lua mix elixir erl ghc stack cabal dart flutter zig"
    " tailwindcss postcss storybook nx lerna rimraf tsx ts-node nodemon concurrently husky lint-staged commitlint knex"
    " sequelize typeorm serve http-server typedoc depcheck cspell size-limit changeset alembic flask"
    " gunicorn uvicorn celery"
    " just task sphinx-build mkdocs hugo jekyll terraform tofu helm shellcheck shfmt hadolint actionlint"
)
"""Programs that run the code of the project."""

SHELLS = _set("sh bash zsh dash ksh fish ash csh tcsh mksh")
INTERPRETERS = {
    "python": "-c",
    "python2": "-c",
    "python3": "-c",
    "pypy3": "-c",
    "node": "-e -p --eval --print",
    "deno": "eval",
    "bun": "-e --eval",
    "perl": "-e -E -n",
    "ruby": "-e",
    "php": "-r",
    "lua": "-e",
    "Rscript": "-e",
    "osascript": "-e",
    "awk": "",
    "gawk": "",
}
"""Programs that run code, with the options that take code from the line."""

FETCHES = _set("curl wget http https xh aria2c httpie fetch lynx w3m nc ncat netcat socat scp sftp rsync")
SENDS = FETCHES | _set("ssh ftp lftp telnet rclone mail mailx sendmail croc wormhole openssl dig nslookup host")
"""Commands by which data can leave this machine."""

SENDING_OPTIONS = (
    "-d --data --data-raw --data-binary --data-urlencode --data-ascii -F --form -T --upload-file --json --post-data"
    " --post-file --body-data --body-file --method -X --request"
)
"""Options that make curl and wget send data."""

VALUES_OF_FETCHES = _set(
    "-d --data --data-raw --data-binary --json -F --form -H --header -X --request -o --output -w --write-out -A -e -b"
    " -u -m --max-time --retry --connect-timeout -O -P --post-data --method"
)
"""Options of programs that fetch whose value is no address. `-O` is wget's; the address after curl's `-O` is then not
seen to be one of this machine."""

SAVING_OPTIONS = frozenset(
    {("curl", "-o"), ("curl", "--output"), ("curl", "--output-dir"), ("wget", "-O"), ("wget", "-P")}
)
"""Options that save a download."""

WRAPPERS = _set("time timeout nice ionice stdbuf xargs parallel watch exec eval source . chronic flock")
"""Commands that run another one, which is assessed by itself."""

USUAL_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/", "\\")
"""Folders of the machine's own commands. A backslash only bypasses an alias."""

DELETES = _set("rm rmdir unlink trash trash-put gio shred srm")
WRITES_ALL = _set("tee touch mkdir truncate chmod chown chgrp sponge")
WRITES_LAST = _set("cp mv ln install rsync scp ditto")
WRITES_FIRST = _set("mv")
"""Commands that change the files named by all of their words, by the last one, or by the first one too."""

SEES_NAMES = _set(
    "ls stat test [ [[ file du find chmod chown mkdir touch fd tree which realpath readlink basename dirname"
)
"""Commands that see that a file exists, but not its content."""
KEY_USERS = _set("ssh-add ssh-keygen ssh-copy-id")
"""Commands that use a key without showing it. Others do so after `-i`."""
VIEWERS = _set(
    "cut sort uniq column paste join comm fold rev cat head tail less more bat nl tac strings xxd od hexdump"
    " base64 grep egrep fgrep rg sed awk jq yq diff cmp"
)
"""Commands that show the content of a file."""
PATTERN_FIRST = _set("grep egrep fgrep rg sed awk jq yq")
"""Viewers whose first word is a pattern or a script, not a file."""
PRINTS = _set("echo printf : true")
"""Commands whose words are plain text."""

VALUE_OPTIONS = {
    "git": "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix",
    "docker": "-H --host --context -c --config -l --log-level -p --project-name -f --file --project-directory",
    "podman": "--connection --url --log-level",
    "kubectl": "-n --namespace --context --cluster --kubeconfig -s --server --user --as --token",
    "helm": "-n --namespace --kube-context --kubeconfig",
    "npm": "--prefix -w --workspace --registry -C",
    "pnpm": "-C --dir --filter -F",
    "yarn": "--cwd",
    "cargo": "--manifest-path --color --config -Z",
    "gh": "-R --repo",
    "aws": "--profile --region --output --endpoint-url",
    "gcloud": "--project --account --configuration",
    "systemctl": "-H --host -M --machine -t --type",
    "terraform": "-chdir",
    "uv": "--directory --project",
    "make": "-C -f -j",
    "truncate": "-s --size -r --reference",
}
"""Options before a subcommand that take the next word."""

SQL_CLIENTS = _set(
    "psql mysql mariadb sqlite3 mongo mongosh redis-cli cqlsh clickhouse-client sqlcmd duckdb bq snowsql"
)
STEERING_VARIABLES = _set(
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH PATH PYTHONPATH PYTHONSTARTUP"
    " PYTHONHOME"
    " NODE_OPTIONS NODE_PATH PERL5LIB PERL5OPT RUBYOPT RUBYLIB BASH_ENV ENV PROMPT_COMMAND GIT_SSH"
    " GIT_SSH_COMMAND GIT_DIR"
    " GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_CONFIG_GLOBAL PAGER EDITOR VISUAL IFS SHELLOPTS BASHOPTS CLASSPATH"
    " JAVA_TOOL_OPTIONS HOME HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy SSL_CERT_FILE GOFLAGS"
    " RUSTC_WRAPPER"
)
"""Environment variables that decide which code a program loads, or whom it trusts."""

QD_READS = _set("sessions feed requests status doctor explain export --version --help version help")
"""Subcommands of `qd` that change nothing."""
