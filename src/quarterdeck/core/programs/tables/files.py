"""Programs that find, pack, copy, move and delete files: find(1), fd(1), tar(1), zip(1) and the coreutils; GTFOBins."""

from __future__ import annotations

SHARED = {
    "copy": (
        "-a -b -d -f -i -H -l -L -n -p -P -r -R -s -S= -t=> -T -u -v -x -Z --archive --backup=? --force "
        "--interactive --link --dereference --no-clobber --no-dereference --preserve=? --no-preserve= --parents "
        "--recursive --reflink=? --remove-destination --sparse= --strip-trailing-slashes --symbolic-link --suffix= "
        "--target-directory=> --no-target-directory --update=? --verbose --one-file-system --attributes-only "
        "--copy-contents --help --version -m= --mode= -D -o=!o -g=!o --owner=!o --group=!o --relative --logical "
        "--physical -c -C -#"
    ),
}

ROWS = """
find|gfind · read exact · :find_starts · -H -L -P -D= -O1 -O2 -O3 -and -or -not -a -o -daystart -depth -d -follow
 -maxdepth= -mindepth= -mount -noleaf -regextype= -warn -nowarn -xdev -ignore_readdir_race -noignore_readdir_race
 -help --help -version --version -amin= -anewer= -atime= -cmin= -cnewer= -ctime= -empty -executable -false -fstype=
 -gid= -group= -ilname= -iname= -inum= -ipath= -iregex= -iwholename= -links= -lname= -mmin= -mtime= -name= -newer=
 -newerXY= -newermt= -newerct= -newerat= -newermm= -nogroup -nouser -path= -perm= -readable -regex= -samefile= -size=
 -true -type= -uid= -used= -user= -wholename= -writable -xtype= -context= -ls -print -print0 -printf= -prune -quit -E
 -X -x -s -f= -exec=; -execdir=;!x -ok=; -okdir=;!x -delete!w -fprint=> -fprint0=> -fprintf=> -fls=> -files0-from=!x
fd|fdfind · read · - · -H -I -u -s -i -g -F -a -l -L -p -0 -1 -q -h -V -d= -t= -e= -E= -S= -c= -j= -o= --hidden
 --no-ignore --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path
 --list-details --follow --full-path --max-depth= --min-depth= --exact-depth= --type= --extension= --exclude= --size=
 --changed-within= --changed-before= --owner= --color= --threads= --max-results= --print0 --prune --no-ignore-vcs
 --no-ignore-parent --no-require-git --strip-cwd-prefix=? --quiet --base-directory= --path-separator= --search-path=
 --show-errors --one-file-system --help --version --format= --and= -x!x -X!x --exec!x --exec-batch!x --batch-size=
tar|gtar|bsdtar · read · :tar · -t -v -z -j -J -Z -a -p -k -m -n -s -S -h -o -w -W -l -i -B -G -R -f= -b= -g=> -K= -H=
 -V= -N= -L= -X=:text -T=:text -C=:tar_folder --list --verbose --gzip --bzip2 --xz --zstd --lzip --lzma --lzop
 --compress --uncompress --auto-compress --no-auto-compress --preserve-permissions --keep-old-files --touch
 --same-order --sparse --dereference --interactive --verify --file=:archive --exclude= --exclude-from= --exclude-vcs
 --exclude-vcs-ignores --exclude-caches --wildcards --no-wildcards --no-wildcards-match-slash --wildcards-match-slash
 --anchored --no-anchored --ignore-case --strip-components= --transform= --xform= --show-transformed-names --totals
 --format= --owner= --group= --numeric-owner --mode= --mtime= --sort= --no-recursion --recursion --null
 --files-from=:text --full-time --block-number --quoting-style= --warning= --ignore-failed-read --ignore-zeros
 --one-file-system --same-owner --no-same-owner --no-same-permissions --utc --test-label --occurrence=?
 --starting-file= --directory=:tar_folder --help --version --usage --overwrite --skip-old-files --keep-newer-files
 --force-local --label= --newer= --blocking-factor= --record-size= --one-top-level=?> --checkpoint=? --pax-option= -x!w
 -c -u!w -r!w -A!w -d --extract!w --get!w --create --update!w --append!w --catenate!w --concatenate!w --delete!w --diff
 --compare -P!o --absolute-names!o -I=!x --use-compress-program=!x --to-command=!x --checkpoint-action=!x
 --rsh-command=!x --rmt-command=!x --info-script=!x --new-volume-script=!x -F=!x --index-file=> --remove-files!o -M!x
 --multi-volume!x -O --to-stdout --volno-file=> --listed-incremental=> --recursive-unlink!o --unlink-first -U
zip · write · :zip · -r -q -v -j -9 -# -x= -i= -y -u -f -d -m!o -e -X -D -g -l -n= -@ -o -FS --recurse-paths --quiet
 --exclude= --include= --symlinks --junk-paths --update --freshen --delete -T!x -TT=!x --test!x --unzip-command=!x
 --output-file=> -O=> --filesync -b=> -P=!c
unzip · write · - · -l -v -t -Z -z -p -c -n -o -q -qq -j -C -L -a -b -u -f -x= -d=> -P=!c -X!o -K!o -:!o -V -h
gzip|gunzip|zcat|bzip2|bunzip2|xz|unxz|zstd|unzstd|lz4 · write · > · -c -d -f -h -k -l -n -N -q -r -t -v -V -S= -T= -#
 -z -e -19 --stdout --to-stdout --decompress --uncompress --force --keep --list --no-name --name --quiet --recursive
 --test --verbose --fast --best --threads= --rm --help --version -o=> --long=? --ultra --compress
7z|7za|7zr|unrar|rar|cpio|ar|split|csplit · write program · - · -*
cp|mv|install|ln · write · :copy!w · @copy
rm|unlink|rmdir · write each · >!w · -f -r -R -i -I -d -v -p --force --recursive --dir --verbose --interactive=?
 --one-file-system --preserve-root=? --no-preserve-root!o --parents --ignore-fail-on-non-empty --help --version
mkdir|mkfifo · write each · >!w · -p -v -m= -Z --parents --verbose --mode= --help --version
touch · write each · >!w · -a -c -d= -f -h -m -r= -t= --no-create --date= --reference= --time= --no-dereference --help
 --version
truncate · write each · >!w · -c -o -r= -s= --no-create --io-blocks --reference= --size= --help --version
tee|sponge · write each · >!w · -a -i -p --append --ignore-interrupts --output-error=? --help --version
chown|chgrp · write each2 · :chmod!w · -R -v -c -f -h -H -L -P --recursive --verbose --changes --silent --quiet
 --reference= --from= --preserve-root --no-preserve-root!o --no-dereference --help --version
chmod · write each2 · :chmod!w · -R -v -c -f -h --recursive --verbose --changes --silent --quiet --reference=
 --preserve-root --no-preserve-root!o --help --version
rimraf|trash|trash-put|shred · write each · >!w · -f -r -v -u -z -n= --force --glob --no-glob --verbose --remove=?
 --iterations= --zero
patch · write · >first · -p= -R -N -s -f -t -b -l -F= -d=@ -i= -u -c -e!x --ed!x -n -E -Z -V= -z= -# --dry-run
 --reverse --forward --strip= --input= --directory=@ --backup --verbose --quiet --silent --batch --force --fuzz=
 --ignore-whitespace --merge=? --posix --remove-empty-files --no-backup-if-mismatch --reject-file=> -r=> -o=>
 --output=> --suffix= --help --version
"""
