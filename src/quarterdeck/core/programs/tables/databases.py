"""Database clients: psql(1), mysql(1), sqlite3(1), redis-cli. A statement is read as far as to know that it only
reads."""

from __future__ import annotations

SHARED = {
    "mysql": (
        "-h=:db_host -P= -u= -D= -t -N -B -s -v -vv -A -C -E -X -H -r -f -q -n -i -b -L -w -T -V -? --host=:db_host "
        "--port= --user= --database= --table --skip-column-names --batch --silent --verbose --no-auto-rehash "
        "--compress --vertical --xml --html --raw --force --quick --protocol= --ssl-mode= --default-character-set= "
        "--connect-timeout= --version --help -e=:sql --execute=:sql -p=?!c --password=?!c -S= --socket= "
        "--safe-updates --column-names --show-warnings --binary-as-hex --pager=?!x --tee=!o --init-command=!x "
        "--defaults-file=!x --defaults-extra-file=!x --defaults-group-suffix=!x --plugin-dir=!x --login-path=!c "
        "--local-infile=?!x --delimiter=!x --prompt= --skip-ssl --ssl-ca= --ssl-cert=!c --ssl-key=!c --no-defaults "
        "--reconnect --skip-reconnect --skip-line-numbers --unbuffered"
    ),
}

ROWS = """
psql · read · :psql · -a -b -e -E -n -q -s -S -A -H -t -x -z -0 -w -W -l -1 -V -X -? -h=:db_host -p= -U= -d=:db_host
 -F= -P=:pset -R= -T= -c=:sql --echo-all --echo-errors --echo-queries --echo-hidden --no-readline --quiet --single-step
 --single-line --no-align --html --tuples-only --expanded --field-separator= --field-separator-zero --record-separator=
 --record-separator-zero --table-attr= --csv --no-password --password --list --single-transaction --version --no-psqlrc
 --help=? --host=:db_host --port= --username= --dbname=:db_host --pset=:pset --command=:sql -f=!x --file=!x -o=!o
 --output=!o -L=!o --log-file=!o -v=!x --set=!x --variable=!x
mysql|mariadb · read · :mysql · @mysql
mysqldump|mariadb-dump · read · - · @mysql --all-databases --databases --tables --no-data --no-create-info
 --single-transaction --routines --triggers --where= --result-file=> -r=> --skip-lock-tables --add-drop-table
 --column-statistics=? -d -T=!o --tab=!o --log-error=!o
pg_dump|pg_dumpall · read · - · -a -b -c -C -s -O -x -v -w -W -h=:db_host -p= -U= -d=:db_host -n= -N= -t= -T= -F= -j=
 -Z= -S= --data-only --schema-only --clean --create --no-owner --no-privileges --no-acl --table= --schema=
 --exclude-table= --format= --verbose --if-exists --inserts --column-inserts --host=:db_host --port= --username=
 --dbname=:db_host --version --help -f=> --file=>
pg_isready · read · - · -h= -p= -U= -d= -q -t= --host= --port= --username= --dbname= --quiet --timeout=
sqlite3|sqlite|duckdb · read exact · :sqlite · -header -noheader -column -csv -json -line -list -html -markdown -table
 -box -tabs -quote -ascii -separator= -newline= -nullvalue= -readonly -safe -batch -bail -version --version -help
 --help -echo -stats -mmap= -memtrace -nofollow -deserialize -interactive -init=!x -cmd=!x --init=!x --cmd=!x -A!x
 -append!x -vfs=!x -unsafe-testing!x -c=:sql -s=:sql
redis-cli|valkey-cli · read · :redis · -h=:db_host -p= -s= -n= -a=!c -u=!c -r= -i= -c -x -X= -d= -D= -e --host=:db_host
 --raw --no-raw --csv --json --latency --stat --scan --pattern= --count= --bigkeys --memkeys --hotkeys --tls
 --no-auth-warning --user= --pass=!c --askpass!c --version --help --quoted-input --show-pushes= -2 -3 --pipe!s
 --eval=!x --rdb=!o --functions-rdb=!o --cluster=!s --replica --lru-test=!s --ldb!x --cert=!c --key=!c --cacert=
 --insecure!c
mongosh|mongo|cqlsh|clickhouse-client|influx|etcdctl|consul|bq|snowsql|sqlcmd · program send · - · -* --*
"""
