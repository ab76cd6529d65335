"""Programs that speak to other machines: curl(1), wget(1), ssh(1), rsync(1), dig(1)."""

from __future__ import annotations

SHARED = {
    "ping": (
        "-4 -6 -a -A -b -c= -D -f -h -i= -I= -l= -L -m= -M= -n -O -p= -q -Q= -R -r -s= -S= -t= -T= -U -v -V -w= "
        "-W= -z= --help"
    ),
}

ROWS = """
curl · read · :urls!f · -s -S -f -L -i -I -v -k -g -G -# -0 -1 -2 -3 -4 -6 -N -Z -j -q -R -V -h -l -B -A= -e= -m= -r=
 -y= -Y= -z= -C= -a -t= -p -M -H=:header -o=> -O!w -J!w -D=> -c=> -b=:cookie -w=:write_out -X=:method -d=!s -F=!s
 -T=!s -K=!x -x=!s -U=!c -u=!c -E=!c -n!c -Q=!s -P=!s -:!s --silent --show-error --fail --fail-early --fail-with-body
 --location --include --head --verbose --insecure --globoff --get --progress-bar --http1.0 --http1.1 --http2
 --http2-prior-knowledge --http3 --http3-only --http0.9 --ipv4 --ipv6 --no-buffer --parallel --parallel-immediate
 --parallel-max= --junk-session-cookies --disable --remote-time --version --help --list-only --use-ascii --user-agent=
 --referer= --max-time= --range= --speed-time= --speed-limit= --time-cond= --continue-at= --append --compressed
 --connect-timeout= --retry= --retry-delay= --retry-max-time= --retry-connrefused --retry-all-errors --max-redirs=
 --max-filesize= --limit-rate= --rate= --keepalive-time= --no-keepalive --no-alpn --no-npn --no-sessionid
 --no-progress-meter --path-as-is --proto= --proto-redir= --ssl --ssl-reqd --ssl-no-revoke --tlsv1 --tlsv1.0 --tlsv1.1
 --tlsv1.2 --tlsv1.3 --tls-max= --ciphers= --tls13-ciphers= --curves= --cacert= --capath= --crlfile= --cert-status
 --cert-type= --key-type= --pinnedpubkey= --raw --tcp-fastopen --tcp-nodelay --tr-encoding --styled-output
 --suppress-connect-headers --trace-time --xattr --fail-early --expect100-timeout= --happy-eyeballs-timeout-ms=
 --ignore-content-length --http1.1 --remove-on-error --no-clobber --skip-existing --manual --stderr=> --header=:header
 --output=> --remote-name!w --remote-name-all!w --remote-header-name!w --output-dir=> --create-dirs --dump-header=>
 --cookie-jar=> --cookie=:cookie --write-out=:write_out --request=:method --data=!s --data-ascii=!s --data-binary=!s
 --data-raw=!s --data-urlencode=!s --url-query=!s --json=!s --form=!s --form-string=!s --upload-file=!s --config=!x
 --next!s --url=:url --user=!c --netrc!c --netrc-file=!c --netrc-optional!c --oauth2-bearer=!c --aws-sigv4=!c
 --cert=!c --key=!c --pass=!c --proxy=!s --preproxy=!s --proxy1.0=!s --proxy-user=!c --proxytunnel!s --socks4=!s
 --socks4a=!s --socks5=!s --socks5-hostname=!s --resolve=!s --connect-to=!s --unix-socket=!x --abstract-unix-socket=!x
 --interface=!s --dns-servers=!s --doh-url=!s --quote=!s --mail-from=!s --mail-rcpt=!s --post301!s --post302!s
 --post303!s --location-trusted!c --request-target=!s --engine=!x --libcurl=> --trace=> --trace-ascii=> --hsts=>
 --alt-svc=> --etag-save=> --etag-compare= --delegation=!c --negotiate!c --ntlm!c --anyauth!c --basic!c --digest!c
 --krb=!c --noproxy= --random-file= --egd-file=!x --telnet-option=!s --variable=!c --expand-data=!s --proto-default=!s
wget · write · :web_files!f · -V -h -d -q -v -F -t= -c -N -S -T= -w= -Q= -4 -6 -x -E -U= -A= -R= -D= -H -L -I= -X= -nv
 -nc -nd -nH!o -np -p -r -l= -k -m -K -B= -O=> -P=> -o=> -a=> -i=!x -e=!x -b!o --version --help --debug --quiet
 --verbose --no-verbose --force-html --base= --no-config --tries= --retry-connrefused --retry-on-http-error=
 --no-clobber --no-netrc --continue --start-pos= --progress= --show-progress --timestamping --no-if-modified-since
 --no-use-server-timestamps --server-response --spider --timeout= --dns-timeout= --connect-timeout= --read-timeout=
 --wait= --waitretry= --random-wait --no-proxy --quota= --limit-rate= --no-dns-cache --restrict-file-names=
 --ignore-case --inet4-only --inet6-only --prefer-family= --no-iri --no-directories --force-directories
 --no-host-directories!o --protocol-directories --cut-dirs= --no-cache --default-page= --adjust-extension
 --ignore-length --header=:header --compression= --max-redirect= --referer= --save-headers --user-agent=
 --no-http-keep-alive --no-cookies --content-disposition --content-on-error --https-only --no-check-certificate
 --ca-certificate= --ca-directory= --secure-protocol= --ciphers= --no-hsts --no-glob --recursive --level=
 --convert-links --mirror --page-requisites --accept= --reject= --accept-regex= --reject-regex= --domains=
 --exclude-domains= --follow-tags= --ignore-tags= --span-hosts --relative --include-directories= --exclude-directories=
 --no-parent --output-document=> --directory-prefix=> --output-file=> --append-output=> --rejected-log=> --hsts-file=>
 --warc-file=> --save-cookies=> --report-speed= --execute=!x --input-file=!x --config=!x --use-askpass=!x
 --post-data=!s --post-file=!s --body-data=!s --body-file=!s --method=:method --user=!c --password=!c --http-user=!c
 --http-password=!c --ftp-user=!c --ftp-password=!c --proxy-user=!c --proxy-password=!c --certificate=!c
 --private-key=!c --load-cookies=!c --auth-no-challenge!c --background!o --delete-after!o --backups=!o
 --bind-address=!s
http|https|xh|xhs|httpie · read · :httpie!f · -v -h -b -p= -s= -f -F -I -4 -6 --verbose --headers --body --print=
 --style= --follow --check-status --timeout= --ignore-stdin --pretty= --json -j --all --offline --stream -o=>
 --output=> -d!w --download!w --form --multipart -a=!c --auth=!c --session=!c --cert=!c --proxy=!s
ssh · operand send stop2 · !r · -4 -6 -a -C -q -T -t -tt -v -vv -vvv -n -x -y -l= -p= -c= -m= -b= -e= -V -G -N -f -k
 -K!c -A!c -X!o -Y!o -g!o -M -s -B= -E=> -F=!x -i=!c -I=!x -J=!x -L=!o -R=!o -D=!o -w=!o -W=!x -o=:ssh_option -O= -Q=
 -S=!x
scp · send outside · - · -3 -4 -6 -A!c -B -C -p -q -R -r -T -v -O -s -c= -l= -P= -o=:ssh_option -D=!x -F=!x -i=!c -J=!x
 -S=!x -X=
sftp · send outside · - · -4 -6 -a -C -f -N -p -q -r -v -B= -b=!x -c= -l= -P= -R= -o=:ssh_option -D=!x -F=!x -i=!c -J=!x
 -S=!x -s=!x
rcp|croc|wormhole|ftp|lftp|rclone · send outside · - · -*
rsync · write · :rsync · -a -v -r -l -p -t -g -o -D -z -h -n -i -u -c -q -x -P -H -A -X -S -W -d -k -K -L -R -b -C -E
 -O -J -m -y -0 -4 -6 -f= -B= -e=:rsh -T=> -F --archive --verbose --recursive --links --perms --times --group --owner
 --compress --human-readable --dry-run --itemize-changes --update --checksum --quiet --one-file-system --progress
 --partial --delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded --exclude=
 --include= --exclude-from= --include-from= --filter= --stats --info= --existing --ignore-existing --size-only
 --max-size= --min-size= --bwlimit= --timeout= --relative --no-perms --no-owner --no-group --no-times --no-relative
 --chmod= --copy-links --safe-links --hard-links --sparse --whole-file --inplace --append --backup --suffix=
 --list-only --out-format= --numeric-ids --modify-window= --mkpath --fuzzy --force --prune-empty-dirs --cvs-exclude
 --devices --specials --acls --xattrs --omit-dir-times --rsh=:rsh --rsync-path=!x --files-from=!x --backup-dir=>
 --partial-dir=> --temp-dir=> --compare-dest=> --copy-dest=> --link-dest= --log-file=> --write-batch=>
 --only-write-batch=> --read-batch=!x --remote-option=!x -M=!x --daemon!x --config=!x --password-file=!c
 --remove-source-files!o --super!o --early-input=!x --address= --port=
dig|nslookup|host|whois|ping|ping6|traceroute|tracepath|mtr · fetch · - · @ping -type=? -query=? -debug -port=
 -timeout= -x= -k= -f=!x -C -u -P -e -F= -H= -N= -d --tcp --report -B
nc|ncat|netcat|socat|telnet|tcpdump|nmap · program send · - · -*
"""
