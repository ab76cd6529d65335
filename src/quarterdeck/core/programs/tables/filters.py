"""Filters of text: sed, awk, jq and yq with their scripts, sort, ripgrep and others. Manual pages; GTFOBins."""

from __future__ import annotations

SHARED = {
    "awk": (
        "-F= -v= --csv --posix -P -r --re-interval -S --sandbox -h --help -V --version -C -c --traditional "
        "--field-separator= --assign="
    ),
}

ROWS = """
sed|gsed · read · :sed · -n -E -r -u -z -s -b -e=:sed --quiet --silent --regexp-extended --unbuffered --null-data
 --separate --posix --debug --version --help --expression=:sed --line-length= --follow-symlinks -i=?!w --in-place=?!w
 -f=!x --file=!x -I=!x
awk|gawk|mawk|nawk|original-awk · read · :awk · @awk -f=!x --file=!x -e=!x --source=!x -E=!x --exec=!x -i=!x
 --include=!x -l=!x --load=!x -o=?!o --pretty-print=?!o -p=?!o --profile=?!o -d=?!o --dump-variables=?!o -D=?!x
 --debug=?!x -W=!x -b -O -N -M -n -t -s
jq|gojq|jaq · read · :jq · -n -r -j -a -s -c -C -M -S -e -R -h -V -0 --null-input --raw-output --join-output
 --ascii-output --slurp --compact-output --color-output --monochrome-output --sort-keys --exit-status --raw-input
 --tab --indent= --unbuffered --stream --stream-errors --seq --help --version --raw-output0 --args --jsonargs --arg==
 --argjson== --rawfile==:text --slurpfile==:text --argfile=!x -f=!x --from-file=!x -L=!x --library-path=!x
 --build-configuration -i!w --in-place!w
yq · read open · :yq · -r -e -n -M -C -c -j -N -P -h -V -v -y -Y -t -S -x -p= -o= -I= --raw-output --unwrapScalar=?
 --exit-status --null-input --no-colors --colors --prettyPrint --no-doc --input-format= --output-format= --indent=
 --tojson --xml-attribute-prefix= --version --help --verbose --string-interpolation=? --header-preprocess --arg==
 --argjson== --compact-output --slurp --yaml-output --sort-keys --expression=:yq --front-matter= -i!w --inplace!w
 --in-place!w -s=!o --split-exp=!o --split-exp-file=!o --from-file=!x -f=!x --security-disable-env-ops
 --security-disable-file-ops --csv-separator= --nul-output -0 --join-output --monochrome-output --indentless-lists
yq e|yq eval|yq ea|yq eval-all · read · :yq · -r -e -n -M -C -c -j -N -P -h -V -v -p= -o= -I= --unwrapScalar=?
 --exit-status --null-input --no-colors --colors --prettyPrint --no-doc --input-format= --output-format= --indent=
 --tojson --expression=:yq --front-matter= --string-interpolation=? -i!w --inplace!w -s=!o --split-exp=!o
 --split-exp-file=!o --from-file=!x
sort|gsort · read · - · -b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z -k= -t= -S= -T=> -o=>
 --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort
 --human-numeric-sort --numeric-sort --random-sort --reverse --sort= --version-sort --batch-size= --check=? --debug
 --key= --merge --parallel= --stable --buffer-size= --field-separator= --unique --zero-terminated --help --version
 --output=> --temporary-directory=> --compress-program=!x --files0-from=!x --random-source=
uniq · read · >second · -c -d -D -i -u -z -f= -s= -w= --count --repeated --all-repeated=? --group=? --ignore-case
 --unique --skip-fields= --skip-chars= --check-chars= --zero-terminated --help --version -#
xxd · read · >second · -a -b -C -c= -d -e -E -g= -i -l= -n= -o= -p -ps -plain -R= -s= -u -v -h -r!w
shuf · read · - · -e -i= -n= -r -z --echo --input-range= --head-count= --repeat --zero-terminated --random-source=
 --help --version -o=> --output=>
base64|base32|basenc · read · - · -d -D -i -w= -b= --decode --ignore-garbage --wrap= --help --version --base64
 --base64url --base32 --base16 -o=>
rg · read · - · -e= -f= -i -v -w -x -n -N -l -c -o -q -s -S -F -P -U -a -H -h -I -u -uu -uuu -L -0 -p -. -A= -B= -C=
 -g= -t= -T= -m= -M= -r= -d= -E= -j= -V -b -z!x --regexp= --file= --ignore-case --invert-match --word-regexp
 --line-regexp --line-number --no-line-number --files-with-matches --files-without-match --count --count-matches
 --only-matching --quiet --case-sensitive --smart-case --fixed-strings --pcre2 --multiline --multiline-dotall --text
 --with-filename --no-filename --unrestricted --follow --null --pretty --hidden --after-context= --before-context=
 --context= --glob= --iglob= --type= --type-not= --type-list --type-add= --type-clear= --max-count= --max-columns=
 --max-columns-preview --replace= --max-depth= --encoding= --threads= --version --help --files --json --vimgrep
 --column --no-column --heading --no-heading --color= --colors= --sort= --sortr= --stats --trim --no-ignore
 --no-ignore-vcs --no-ignore-parent --no-ignore-global --no-ignore-dot --no-ignore-files --ignore-file= --no-config
 --no-messages --debug --trace --passthru --passthrough --path-separator= --engine= --auto-hybrid-regex
 --context-separator= --field-match-separator= --field-context-separator= --no-context-separator
 --glob-case-insensitive --max-filesize= --mmap --no-mmap --one-file-system --include-zero --null-data --crlf
 --dfa-size-limit= --regex-size-limit= --byte-offset --binary --no-hidden --no-follow --no-unicode --line-buffered
 --block-buffered --hyperlink-format= --stop-on-nonmatch --require-git --no-require-git --ignore-file-case-insensitive
 --search-zip!x --pre=!x --pre-glob=!x --hostname-bin=!x --generate=
ag|ack · read · - · -i -v -w -l -L -c -o -q -s -S -F -Q -a -H -h -u -U -A= -B= -C= -G= -g= -m= -n -r -R -f -t -D -z!x
 -x -1 -0 --ignore-case --smart-case --literal --word-regexp --files-with-matches --files-without-matches --count
 --hidden --depth= --ignore= --ignore-dir= --nocolor --color --group --nogroup --column --numbers --nonumbers
 --max-count= --stats --silent --python --js --ts --version --help --type= --no-recurse --all-types --context=
 --after= --before= --filename --nofilename --only-matching --passthrough --print0 --vimgrep --path-to-ignore=
 --skip-vcs-ignores --unrestricted --pager=!x --output=!x --ackrc=!x --search-zip!x --files-from= --sort-files
diff|colordiff · read · - · -u -c -q -s -y -r -N -a -b -w -B -i -E -Z -d -p -t -T -e -n -H -U= -C= -W= -I= -x= -X= -D=
 -F= -S= -L= -# --unified=? --context=? --brief --report-identical-files --side-by-side --recursive --new-file --text
 --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-case --ignore-tab-expansion
 --ignore-trailing-space --minimal --show-c-function --expand-tabs --initial-tab --ed --rcs --width=
 --ignore-matching-lines= --exclude= --exclude-from= --label= --color=? --normal --suppress-common-lines
 --strip-trailing-cr --left-column --no-dereference --from-file= --to-file= --speed-large-files --help --version
 --palette= --unidirectional-new-file --starting-file= --changed-group-format= --unchanged-group-format=
 --new-line-format= --old-line-format= --unchanged-line-format= --line-format= --tabsize= -l!x --paginate!x
sdiff · read · - · -s -l -w= -W -B -b -i -o=!x --output=!x --diff-program=!x --width= --suppress-common-lines
tree · read · - · -a -d -l -f -x -L= -P= -I= -C -n -D -h -s -p -u -g -t -r -i -A -S -J -X -v -c -U -F -q -N -Q -H= -T=
 --gitignore --gitfile= --ignore-case --matchdirs --prune --dirsfirst --filesfirst --sort=? --noreport --charset=
 --filelimit= --du --si --inodes --device --timefmt= --version --help --fromfile --metafirst --info --hintro=
 --houtro= -o=> -R!w
bat|batcat · read · - · -p -pp -n -A -l= -H= -r= -f -P -m= -d -s -S -u --plain --number --show-all --language=
 --highlight-line= --line-range= --color= --theme= --style= --paging= --wrap= --decorations= --list-languages
 --list-themes --file-name= --tabs= --terminal-width= --map-syntax= --diff --no-paging --version --help --pager=!x
 --config-file=!x --generate-config-file!o
delta · read · - · -n -s --line-numbers --side-by-side --paging= --color-only --dark --light --syntax-theme= --width=
 --navigate --version --help --pager=!x --config=!x
less|more · read · :less · -e -E -f -F -g -G -i -I -K -L -m -M -n -N -q -Q -r -R -s -S -u -U -V -w -W -X -# -h= -j=
 -p= -x= -y= -z= -b= --chop-long-lines --raw-control-chars --RAW-CONTROL-CHARS --quit-if-one-screen --no-init
 --LINE-NUMBERS --version --help -o=!o -O=!o -k=!x -T=!x -t=!x --log-file=!o --LOG-FILE=!o --lesskey-file=!x
 --lesskey-src=!x --lesskey-content=!x --tag-file=!x
file · read · - · -b -i -L -h -k -l -n -N -p -r -s -0 -e= -f= -F= -P= -v -d -E -m=!x -M=!x -z!x -Z!x -C!o -S --brief
 --mime --mime-type --mime-encoding --extension --apple --dereference --no-dereference --keep-going --no-buffer
 --no-pad --print0 --raw --special-files --version --help --exclude= --files-from= --separator= --magic-file=!x
 --uncompress!x --uncompress-noreport!x --compile!o --no-sandbox
pandoc · read · - · -f=:format_name -t=:format_name -r=:format_name -w=:format_name -s --from=:format_name
 --to=:format_name --read=:format_name --write=:format_name --standalone --wrap= --columns= --toc --version --help
 --output=> -o=> -F=!x -L=!x --filter=!x --lua-filter=!x --pdf-engine=!x --extract-media=> --template=!x -V= -M=
 --variable= --metadata= --toc-depth= -N --number-sections --citeproc --mathjax=? --highlight-style=
 --list-input-formats --list-output-formats
xmllint · read · - · --format --noout --xpath= --pretty= --nonet --html --recover --version --help --shell!x --output=>
 -o=> --schema= --dtdvalid= --stream --debug --encode= --c14n --nowarning --noblanks --huge
od|hexdump|hd|strings|comm|join|paste|column|fold|fmt|pr|expand|unexpand|tsort|numfmt|factor · read · - · -* --*
seq|look|cmp|cksum|sum|b2sum|md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|shasum · read · - · -* --*
zgrep|zegrep|zfgrep|bzgrep|xzgrep|bzcat|xzcat|zstdcat|lz4cat|zcmp|zdiff|uname|id|whoami|groups · read · - · -* --*
users|who|w|uptime|free|nproc|lscpu|lsblk|lsmod|vmstat|iostat|tty|arch|cal|lsattr · read · - · -* --*
iconv · read · - · -f= -t= -c -l -s -o=> --from-code= --to-code= --list --silent --verbose --help --version --output=>
"""
