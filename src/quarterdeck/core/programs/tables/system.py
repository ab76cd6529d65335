"""Programs that look at or steer this machine, and those that only start another program: systemctl(1), journalctl(1),
timeout(1), xargs(1) and others."""

from __future__ import annotations

SHARED = {
    "systemctl": (
        "-h -t= -p= -a -l -r -q -f -n= -o= -P= --help --version --system --user --type= --state= --failed "
        "--property= --all --full --recursive --reverse --with-dependencies --after --before --job-mode= "
        "--show-types --value --quiet --no-block --wait --no-legend --legend= --no-pager --plain --lines= --output= "
        "--no-warn --timestamp= --now --force --no-reload --no-ask-password --runtime --global --preset-mode= "
        "--signal= -s= --kill-whom= --kill-who= --dry-run --show-transaction -T --what= -H=!c --host=!c -M=!c "
        "--machine=!c --root=!o --image=!o --message= --check-inhibitors= -i"
    ),
}

ROWS = """
systemctl · read inherit · - · @systemctl
systemctl log-level|systemctl log-target|systemctl service-watchdogs · read · !o · @systemctl
systemctl show-environment · secret · - · @systemctl
systemctl status|systemctl show|systemctl cat|systemctl list-*|systemctl is-*|systemctl help|systemctl
 get-default|systemctl whoami · read · - · @systemctl
systemctl start|systemctl stop|systemctl restart|systemctl reload|systemctl try-restart|systemctl
 reload-or-restart|systemctl kill|systemctl reset-failed|systemctl enable|systemctl disable|systemctl
 reenable|systemctl preset|systemctl mask|systemctl unmask|systemctl daemon-reload|systemctl daemon-reexec|systemctl
 freeze|systemctl thaw|systemctl clean|systemctl isolate|systemctl set-default · outside each · :units · @systemctl
systemctl * · outside program · - · @systemctl
journalctl · read · - · -a -b=? -c= -e -f -g= -h -k -l -m -n= -N -o= -p= -q -r -S= -t= -u= -U= -x -F= -T= --all
 --boot=? --catalog --cursor= --after-cursor= --disk-usage --dmesg --facility= --field= --fields --follow --full
 --grep= --case-sensitive=? --header --help --identifier= --lines=? --list-boots --list-catalog --list-namespaces
 --merge --no-full --no-hostname --no-pager --no-tail --output= --output-fields= --pager-end --priority= --quiet
 --reverse --show-cursor --since= --system --unit= --until= --user --user-unit= --utc --verify --version
 --truncate-newline --invocation= --list-invocations --vacuum-size=!o --vacuum-time=!o --vacuum-files=!o --rotate!o
 --flush!o --sync!o --relinquish-var!o --smart-relinquish-var!o --cursor-file=!o --root=!o --directory=!o -D=!o
 --file=!o -i=!o --image=!o --namespace= -M=!c --machine=!c --setup-keys!c --verify-key=!c --update-catalog!o --force
 --interval=
timeout|gtimeout · read stop · - · -k= -s= -v -p -f --kill-after= --signal= --verbose --preserve-status --foreground
 --help --version
nice · read stop · - · -n= -# --adjustment= --help --version
time|gtime · read stop · - · -p -v -V -a -f= -o=> --portability --verbose --format= --append --output=> --help
 --version
stdbuf · read stop · - · -i= -o= -e= --input= --output= --error= --help --version
xargs|gxargs · read stop · - · -0 -r -t -x -p -o -n= -L= -P= -I= -d= -E= -s= -R= -S= -J= -i=? -l=? -e=? --null
 --no-run-if-empty --verbose --exit --interactive --open-tty --max-args= --max-lines=? --max-procs= --replace=?
 --delimiter= --eof=? --max-chars= --show-limits --help --version -a= --arg-file= --process-slot-var=!x
command · read stop · - · -v -V -p
env · read stop · :env · -i -0 -u= -v -C=@ --ignore-environment --null --unset= --debug --chdir=@ --help --version
 --list-signal-handling --block-signal=? --default-signal=? --ignore-signal=? -S=!x --split-string=!x -P=!x
printenv · secret · - · -0 --null --help --version
test|[ · read · - · -* -v!x -R!x
sleep|true|false|:|pwd · read · - · -L -P --help --version
printf · read · - · -v=!x --help --version
date|gdate · read · :date · -u -R -I=? -d= -r= -j -n -v= -f= --date= --reference= --utc --universal --rfc-email
 --rfc-3339= --iso-8601=? --help --version --debug --resolution -s=!o --set=!o --file=
man|tldr|info|apropos|whatis · read · - · -f -k -a -w -W -h -V -d -i -I -K= -s= -S= -e= --whatis --apropos --all
 --where --path --help --version --ignore-case --regex --wildcard --names-only --sections= -P=!x -H=!x -T=!x -t!x -C=!x
 -B=!x -X=!x -l=!x --pager=!x --html=!x --troff!x --groff-html=!x --browser=!x --preprocessor=!x --config-file=!x
 --local-file=!x -M= -L= -m= -r= -p=!x -E=
openssl · read · - · -help --help
openssl version|openssl x509|openssl verify|openssl asn1parse|openssl rand|openssl dgst|openssl crl|openssl req|openssl
 list|openssl sha256|openssl md5|openssl ciphers|openssl prime|openssl base64|openssl help · read exact · - · -a -v -b
 -d -f -o -p -in= -inform= -outform= -text -noout -subject -issuer -dates -startdate -enddate -serial -fingerprint
 -hash -modulus -purpose -ext= -nameopt= -certopt= -sha256 -sha1 -sha512 -md5 -hex -r -base64 -A -pubkey -checkend=
 -CAfile= -untrusted= -verify -hmac= -alias -email -ocsp_uri -sha384 -c -e -dumpParam -out=> -signkey=!c -key=!c
 -CAkey=!c -passin=!c -keyout=!o -engine=!x -provider=!x -provider-path=!x -config=!x -writerand=!o -new!c -newkey=!c
 -sign=!c -x509
openssl * · program secret · - · -* --*
crontab · read · !o · -l -u=!o -e!o -r!o -i
brew|apt|apt-get|apt-cache|dnf|yum|apk|snap|flatpak · read · - · -h -v -V -q -y --help --version
dpkg · read exact · - · -l -L= -s= -S= -W -p= -C --list --listfiles= --status= --search= --print-architecture --show
 --version --help --get-selections --verify --print-avail= --audit --compare-versions
rpm · read exact · - · -q -qa -qi -ql -qf -qc -qd -qR -qip -qlp -qpi -qpl -V -Va -h --version --help --query --all
 --info --list --requires --provides --changelog --last --whatrequires= --whatprovides= --qf= --queryformat=
pacman · read exact · - · -Q -Qi -Ql -Qs -Qe -Qm -Qn -Qo -Qdt -Qu -Ss -Si -Sl -Sg -F -Fl -V -h --version --help --query
brew list|brew info|brew search|brew outdated|brew deps|brew uses|brew config|brew doctor|brew --prefix|brew
 leaves|brew home|brew desc|apt list|apt show|apt search|apt policy|apt depends|apt rdepends|apt-cache *|dnf list|dnf
 info|dnf search|dnf repolist|yum list|yum info|yum search|apk info|apk search|apk list|snap list|snap info|snap
 find|flatpak list|flatpak info|flatpak search · fetch · - · -a -i -q -v --installed --upgradable --all-versions
 --versions --cask --formula --json=? --tree --names-only --full --installed-on-request --all --greedy -1
 --no-all-versions
brew *|apt *|apt-get *|dnf *|yum *|apk *|snap *|flatpak * · outside fetch each · :system_package · -y -q -qq -f -n -s
 -d -u -m -V -t= -S -x --yes --assume-yes --assumeyes --quiet --no-install-recommends --install-recommends
 --no-install-suggests --reinstall --purge --autoremove --auto-remove --fix-broken --fix-missing --download-only
 --dry-run --simulate --just-print --only-upgrade --no-upgrade --upgrade --cask --formula --formulae --casks --classic
 --channel= --no-cache --virtual= --repository=!x --allow-untrusted!x --nogpgcheck!x --allow-unauthenticated!x --best
 --refresh --force --verbose --greedy --zap --prune=? --all --HEAD --build-from-source --overwrite --debug --user
 --system --noninteractive --skip-broken --target-release= --no-quarantine!x --no-progress --show-progress
 --ignore-pinned --only-dependencies --help -h
ip · read · - · -4 -6 -o -d -s -br -brief -j -p -c -h -details -stats -json -pretty -color=? -all -f= -family= -n=!o
 -netns=!o -b=!x -batch=!x -V
ip addr|ip a|ip address|ip link|ip l|ip route|ip r|ip neigh|ip n|ip rule|ip netns|ip tunnel|ip maddr|ip mroute|ip
 monitor · read · :shows · -4 -6 -d -s -br -j -p
ifconfig|route|arp · read · :shows · -a -n -e -v -s -4 -6
hostname · read · !o · -a -A -d -f -i -I -s -V -h -y --alias --all-fqdns --all-ip-addresses --domain --fqdn --help
 --ip-address --long --short --version -F=!o --file=!o -b!o --boot!o
ps · read · :ps · -* --*
ansible|ansible-vault|ansible-galaxy · send program · - · -* --*
ansible-playbook · send each · @ · -v -vv -vvv -vvvv -C -D -K!c -k!c -b -l= -t= -f= -u= -c= -T= -e=:ansible
 -i=:inventory -M=!x -m=!x -a=!x --check --diff --syntax-check --list-tasks --list-tags --list-hosts --step --limit=
 --tags= --skip-tags= --forks= --user= --connection= --timeout= --start-at-task= --flush-cache --force-handlers
 --become --become-method= --become-user= --extra-vars=:ansible --inventory=:inventory --inventory-file=:inventory
 --module-path=!x --private-key=!c --key-file=!c --ask-become-pass!c --ask-pass!c --ask-vault-pass!c --vault-id=!c
 --vault-password-file=!c --version --help -h --ssh-common-args=!x --ssh-extra-args=!x --scp-extra-args=!x
 --sftp-extra-args=!x --playbook-dir=@
"""
