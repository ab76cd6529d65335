"""Python's tools: pytest and others as programs or after `python -m`, and the managers of packages."""

from __future__ import annotations

SHARED = {
    "packages": (
        "-r=@ -c=@ -e=:package -U -q -qq -v -vv -y -h -I --requirement=@ --constraint=@ --editable=:package --upgrade "
        "--upgrade-strategy= --no-deps --dry-run --pre --quiet --verbose --yes --no-cache-dir "
        "--disable-pip-version-check --force-reinstall --ignore-installed --user --no-input --progress-bar= "
        "--no-color --timeout= --retries= --only-binary= --no-binary= --prefer-binary --require-hashes "
        "--no-build-isolation --no-warn-script-location --root-user-action= --no-index --python-version= "
        "--platform= --abi= --implementation= --no-compile --compile --check-build-dependencies --group=@ "
        "--exists-action= --no-clean --require-virtualenv --ignore-requires-python"
    ),
    "uv": (
        "-q -v -h -p=:python -n -U -P= --quiet --verbose --help --offline --no-progress --color= --native-tls "
        "--no-cache "
        "--frozen --locked --no-sync --all-extras --extra= --no-extra= --no-dev --dev --only-dev --group= "
        "--no-group= --only-group= --all-groups --no-default-groups --no-editable --inexact --exact "
        "--no-install-project --package= --all-packages --python=:python --upgrade --upgrade-package= --refresh "
        "--reinstall --active --isolated --no-project --no-build --no-binary --resolution= --prerelease= "
        "--exclude-newer= --link-mode= --compile-bytecode --check --dry-run --no-config --managed-python "
        "--no-managed-python --depth= --prune= --invert --no-dedupe --outdated --universal --format= --directory=@ "
        "--project=@ --config-file=@ --index=!x --default-index=!x --index-url=!x -i=!x --extra-index-url=!x -f=!x "
        "--find-links=!x --allow-insecure-host=!x --env-file=!x --with=!x --with-editable=!x --with-requirements=!x "
        "--cache-dir=!o --index-strategy= --keyring-provider="
    ),
}

ROWS = """
pytest · project · :tests · -q -qq -qqq -v -vv -vvv -x -s -l -h -V -f -d -k= -m= -r= -n= -p=:plugin -W=:warning -c=!x
 -o=:override --markers --exitfirst --maxfail= --strict-config --strict-markers --strict --fixtures --funcargs
 --fixtures-per-test --pdb!x --pdbcls=!x --trace!x --capture= --runxfail --lf --last-failed --ff --failed-first --nf
 --new-first --cache-show=? --cache-clear --lfnf= --last-failed-no-failures= --sw --stepwise --sw-skip --stepwise-skip
 --sw-reset --durations= --durations-min= --verbose --no-header --no-summary --no-fold-skipped --force-short-summary
 --quiet --verbosity= --report-chars= --disable-warnings --disable-pytest-warnings --showlocals --no-showlocals --tb=
 --xfail-tb --show-capture= --full-trace --color= --code-highlight= --pastebin=!s --junitxml=:report
 --junit-xml=:report --junit-prefix= --pythonwarnings=:warning --max-warnings= --co --collect-only --pyargs!x --ignore=
 --ignore-glob= --deselect= --confcutdir=@ --noconftest --keep-duplicates --collect-in-virtualenv
 --continue-on-collection-errors --import-mode= --doctest-modules --doctest-report= --doctest-glob=
 --doctest-ignore-import-errors --doctest-continue-on-failure --config-file=!x --rootdir=@ --basetemp=!o --version
 --help --disable-plugin-autoload --trace-config --debug=?!w --override-ini=:override --assert= --setup-only
 --setup-show --setup-plan --setuponly --setupshow --setupplan --log-level= --log-format= --log-date-format=
 --log-cli-level= --log-cli-format= --log-cli-date-format= --log-file=:report --log-file-mode= --log-file-level=
 --log-file-format= --log-file-date-format= --log-auto-indent= --log-disable= --hypothesis-profile=
 --hypothesis-verbosity= --hypothesis-show-statistics --hypothesis-seed= --hypothesis-explain --numprocesses=
 --maxprocesses= --max-worker-restart= --dist= --loadscope-reorder --no-loadscope-reorder --tx=!x --px=!x --rsyncdir=!x
 --rsyncignore= --testrunuid= --maxschedchunk= --looponfail --timeout= --timeout-method=
 --timeout-disable-debugger-detection --session-timeout= --anyio-mode= --asyncio-mode= --asyncio-debug --cov=?:folder
 --cov-report=:cov_report --cov-config=@ --cov-append --cov-branch --no-cov --no-cov-on-fail --cov-fail-under=
 --cov-context= --cov-reset --reruns= --reruns-delay= --only-rerun= --forked --boxed --benchmark-only --benchmark-skip
 --benchmark-disable --ds= --dc= --reuse-db --create-db --nomigrations --no-migrations --migrations --randomly-seed=
 --randomly-dont-reorganize --snapshot-update --update-snapshots --snapshot-warn-unused --headed --browser=
 --html=:report --self-contained-html --json=:report --json-report --json-report-file=:report --report-log=:report
 --sugar --no-sugar --instafail --picked --testmon --count=
coverage · project · - · -h --help --version
coverage report · read · - · -m -i -h --show-missing --ignore-errors --include= --omit= --skip-covered
 --no-skip-covered --skip-empty --sort= --format= --precision= --fail-under= --rcfile=@ --data-file= -q --contexts=
coverage html|coverage xml|coverage json|coverage lcov|coverage combine|coverage erase · write · - · -d=> -o=> -i -q -a
 --include= --omit= --directory=> --skip-covered --keep --append --rcfile=@ --data-file= --pretty-print --show-contexts
 --title=
coverage run · project stop · @ · -a -p -m=!r --append --parallel-mode --branch --source= --include= --omit=
 --data-file= --rcfile=@ --timid --concurrency= --context= --module=!r
coverage debug · read · - · -
mypy · project · :sources · -h -v -V -m= -p= -c=!x -i --help --verbose --version --config-file=!x --warn-unused-configs
 --no-namespace-packages --ignore-missing-imports --follow-untyped-imports --follow-imports= --python-executable=!x
 --no-site-packages --no-silence-site-packages --python-version= --platform= --always-true= --always-false= --strict
 --disallow-any-expr --disallow-any-decorated --disallow-any-explicit --disallow-any-generics --disallow-any-unimported
 --disallow-subclassing-any --disallow-untyped-calls --untyped-calls-exclude= --disallow-untyped-defs
 --disallow-incomplete-defs --check-untyped-defs --disallow-untyped-decorators --implicit-optional
 --no-implicit-optional --no-strict-optional --warn-redundant-casts --warn-unused-ignores --no-warn-unused-ignores
 --no-warn-no-return --warn-return-any --warn-unreachable --allow-untyped-globals --allow-redefinition
 --no-implicit-reexport --strict-equality --extra-checks --disable-error-code= --enable-error-code=
 --show-error-context --show-column-numbers --show-error-end --hide-error-codes --show-error-codes
 --show-error-code-links --pretty --no-pretty --no-color-output --color-output --no-error-summary --error-summary
 --show-absolute-path --no-incremental --incremental --sqlite-cache --no-sqlite-cache --cache-fine-grained
 --skip-version-check --skip-cache-mtime-checks --show-traceback --tb --raise-exceptions --warn-incomplete-stub
 --scripts-are-modules --explicit-package-bases --namespace-packages --exclude= --exclude-gitignore --module=
 --package= --command=!x --output= --junit-format= --non-interactive!x --install-types!x --cache-dir=> --junit-xml=>
 --html-report=> --txt-report=> --xml-report=> --any-exprs-report=> --linecount-report=> --linecoverage-report=>
 --lineprecision-report=> --cobertura-xml-report=> --shadow-file=!x --custom-typeshed-dir=!x --custom-typing-module=!x
 --pdb!x -O=
dmypy|pyright|basedpyright|pylint|flake8|pyflakes|pycodestyle|pydocstyle|bandit|vulture|ty|pyre · project · - · -h -v
 -j= -r= -d= -e= -f= -l= -s= -p=@ -q -w --help --version --watch --stats --verbose --warnings --level= --threads=?
 --outputjson --lib --skipunannotated --pythonversion= --pythonplatform= --disable= --enable= --jobs= --reports=
 --score= --output-format= --msg-template= --errors-only --max-line-length= --select= --ignore= --extend-ignore=
 --extend-select= --max-complexity= --count --statistics --show-source --exclude= --per-file-ignores= --format=
 --min-confidence= --recursive= --rcfile=@ --config=@ --project=@ --persistent= --fail-under= --fail-on= --exit-zero
 --color= --diff --isolated --quiet --benchmark --doctests --severity-level= --confidence-level=
ruff · write · - · -h -V -v -q -s --help --version --color= --config=@ --isolated --verbose --quiet --silent
ruff check · read · :fixer!w · -w -n -e -q -v -s -h -o=:report --fix!w --unsafe-fixes --no-unsafe-fixes --show-fixes
 --diff --watch --fix-only!w --ignore-noqa --output-format= --output-file=:report --target-version= --preview
 --no-preview --extension= --statistics --add-noqa=?!w --show-files --show-settings --help --select= --ignore=
 --extend-select= --extend-ignore= --per-file-ignores= --extend-per-file-ignores= --fixable= --unfixable=
 --extend-fixable= --exclude= --extend-exclude= --respect-gitignore --no-respect-gitignore --force-exclude
 --no-force-exclude --no-cache --cache-dir=> --stdin-filename= --exit-zero --exit-non-zero-on-fix --verbose --quiet
 --silent --config=:ruff_config --isolated --color= --line-length= --no-fix
ruff format · write each · :format!w · -n -q -v -s -h --check --diff --extension= --target-version= --preview
 --no-preview --output-format= --help --no-cache --cache-dir=> --stdin-filename= --exit-non-zero-on-format
 --respect-gitignore --no-respect-gitignore --exclude= --extend-exclude= --force-exclude --line-length= --range=
 --verbose --quiet --silent --config=:ruff_config --isolated --color=
ruff rule|ruff config|ruff linter|ruff version|ruff help|ruff analyze * · read · - · --all --output-format= --help
 --direction= --python=
ruff clean|ruff server · write · - · -
black|isort|autopep8|yapf|autoflake|pyupgrade|docformatter|djlint · write each · :format!w · -c -d -q -v -h -i -r -l=
 -t= -S -C -p -j= -a --check --check-only --diff --color --no-color --quiet --verbose --version --help --line-length=
 --target-version= --pyi --ipynb --skip-string-normalization --skip-magic-trailing-comma --preview --unstable --fast
 --safe --workers= --include= --exclude= --extend-exclude= --force-exclude= --stdin-filename= --config=@ --profile=
 --settings-path=@ --atomic --float-to-top --filter-files --in-place --recursive --aggressive --max-line-length=
 --select= --ignore= --style= --parallel --remove-all-unused-imports --remove-unused-variables --py3-plus --py36-plus
 --py37-plus --py38-plus --py39-plus --py310-plus --py311-plus --wrap-length= --required-version= --line-ranges=
 --enable-unstable-feature= --skip-source-first-line --sp=@ --gitignore --show-files --only-modified
 --dont-order-by-type --combine-as --trailing-comma --multi-line= -m= --lines-after-imports= --reformat --lint
tox|nox · project · - · -q -v -vv -r -l -a -p=? -e= -s= -k= -t= -R -h --help --version -c=@ -f=@ --recreate --listenvs
 --list --listenvs-all --skip-missing-interpreters=? --notest --parallel=? --conf=@ --noxfile=@ --no-venv
 --reuse-existing-virtualenvs --stop-on-first-error --sessions= --tags= --keywords= --python=
 --error-on-missing-interpreters --no-install --quiet --verbose --skip-env= --colored= --
tox run|tox list|tox config|tox run-parallel|tox devenv|tox schema|tox depends|tox quickstart · project · - · -q -v -r
 -e= -p=? -k= --recreate --skip-missing-interpreters=? --notest --conf=@ -c=@ --result-json=> --no-list-dependencies
 --skip-pkg-install --
pip · read · - · -h -V -q -v --help --version --quiet --verbose --disable-pip-version-check --no-color --no-input
 --require-virtualenv
pip list|pip show|pip freeze|pip check|pip inspect|pip debug|pip hash|pip help|pip cache info|pip cache list|pip cache
 dir|pip index · read · - · -o -u -e -l -f -q -v --outdated --uptodate --editable --local --user --pre --format=
 --not-required --exclude-editable --include-editable --exclude= --files --all --verbose --disable-pip-version-check
 --path= -r= --requirement= --algorithm=
pip index versions · fetch · - · --pre --json --python-version= --platform=
pip install · fetch write project · :packages!r · @packages --target=!o -t=!o --prefix=!o --root=!o --src=!o -i=!s
 --index-url=!s --pypi-url=!s --extra-index-url=!s --find-links=!s -f=!s --trusted-host=!s --proxy=!s --cert=
 --client-cert=!c --report=> --log=> --python=!s --config-settings=!s -C=!s --global-option=!s
 --break-system-packages!o --cache-dir=!o
pip uninstall · write each · - · -y -r= --yes --requirement= -q --break-system-packages!o --root-user-action=
pip download|pip wheel|pip config *|pip cache *|pip search|pip lock · program fetch outside · - · -
pipx · read · - · --version --help
pipx list|pipx environment · read · - · --short --json --include-injected
pipx run|pipx install|pipx upgrade|pipx inject|pipx uninstall|pipx * · operand fetch stop · !r · -
uv · write project fetch · - · -q -v -h -V --quiet --verbose --help --version --offline --no-progress --color=
 --directory=@ --project=@ --no-config --config-file=@
uv sync|uv lock · write fetch project · - · @uv
uv tree|uv version|uv export|uv help · read · - · @uv -o=> --output-file=> --no-hashes --no-annotate --no-header
 --no-emit-project --bump=!w --short
uv add|uv remove · write fetch · :packages!r · @uv --optional= --editable --raw --rev= --tag= --branch= --bounds=
 --script=> -r=@ --requirements=@ --marker= -c=@ --constraints=@
uv run · project operand stop · - · @uv -m --module --script -s --gui-script --
uv pip list|uv pip show|uv pip freeze|uv pip tree|uv pip check · read · - · @uv --editable --exclude= --files -f
 --system --strict
uv pip install|uv pip sync · fetch write project · :packages!r · @uv @packages --system --break-system-packages!o
 --target=!o --prefix=!o --strict
uv pip uninstall|uv pip compile · write fetch · - · @uv @packages -o=> --output-file=> --system --generate-hashes
 --no-header --no-annotate --annotation-style= --strip-extras
uv venv · write · > · @uv --seed --prompt= --system-site-packages --relocatable --allow-existing --clear -c
uv init · write project · > · @uv --name= --lib --app --package --no-readme --vcs= --bare --script --description=
 --author-from= --build-backend= --no-pin-python --no-workspace
uv format|uv build · write project · @ · @uv --name= --lib --app --no-readme --vcs= --bare --wheel --sdist -o=>
 --out-dir=> --check --diff --no-workspace
uv python list|uv python find|uv python dir|uv cache dir|uv tool list|uv tool dir · read · - · @uv --only-installed
 --all-versions --show-paths
uv python *|uv cache *|uv tool *|uv self *|uv auth *|uv publish|uv generate-shell-completion · program fetch outside ·
 - · -
uvx · operand fetch stop · !r · -
poetry|pdm|hatch|rye|pixi · write project fetch · - · -q -v -vv -vvv -n -h -V --quiet --verbose --no-interaction
 --no-ansi --ansi --help --version -C=@ -P=@ --directory=@ --project=@
poetry show|poetry check|poetry about|poetry env info|poetry env list|poetry version|poetry list|poetry search|pdm
 list|pdm info|pdm show|pdm outdated|hatch status|hatch version|hatch env show|hatch dep show|rye show|rye list|pixi
 list|pixi info|pixi tree · read · - · -t -l -o -a -T -q -v -s -p --tree --latest --outdated --all --only= --with=
 --without= --top-level --no-dev --lock --short --path --full-path --python --json --graph --freeze
poetry install|poetry sync|poetry lock|poetry update|pdm install|pdm sync|pdm lock|pdm update|hatch build|poetry
 build|pdm build|rye sync|rye lock|rye build|rye test|rye fmt|rye lint|hatch fmt|hatch test|pixi install · write fetch
 project · - · -q -v -n -E= -G= -d -f= -e= -c -t= --no-interaction --no-root --only-root --only= --with= --without=
 --extras= --all-extras --all-groups --sync --dry-run --no-update --no-cache --regenerate --compile --dev --prod
 --group= --no-lock --frozen-lockfile --check --no-self --no-isolation --format= --clean --cover --parallel --all
 --lock
poetry add|poetry remove|pdm add|pdm remove|rye add|rye remove|pixi add|pixi remove · write fetch · :packages!r · -q -n
 -G= -D -E= -e -d --group= --dev --optional --extras= --python= --platform= --allow-prereleases --dry-run --lock
 --no-interaction --no-sync --no-lock --save-exact
poetry run|pdm run|hatch run|rye run|pixi run · project operand stop · - · -v -q -s -e= --env=
poetry publish|poetry config|poetry self *|poetry source *|poetry cache *|poetry env *|poetry new|poetry init|poetry
 export|poetry shell|pdm publish|pdm config|pdm self *|pdm use|pdm venv *|pdm cache *|hatch publish|hatch config
 *|hatch shell|hatch env *|hatch new|hatch python *|rye publish|rye self *|rye config|rye toolchain *|rye install|pixi
 shell|pixi global * · program send · - · -
pre-commit · write project · - · --version --help -h --color=
pre-commit run · write project · - · -a -v --all-files --files --verbose --hook-stage= --show-diff-on-failure --color=
 --from-ref= --to-ref= -s= -o= --last -c=@ --config=@
pre-commit install|pre-commit uninstall|pre-commit autoupdate|pre-commit clean|pre-commit gc|pre-commit
 install-hooks|pre-commit migrate-config|pre-commit try-repo · program write fetch · - · -
twine · program send secret · - · --version --help
twine check · read · - · --strict
manage.py|django-admin · project · - · -v= --version --help -h --verbosity= --no-color --force-color --traceback
 --settings=!x --pythonpath=!x
manage.py * · project · - · -v= -h -k= -n= -p= -t=@ -b= --verbosity= --no-color --force-color --traceback --settings=!x
 --pythonpath=!x --noinput --no-input --failfast --testrunner=!x --keepdb --reverse --debug-mode --debug-sql
 --parallel=? --tag= --exclude-tag= --pdb!x --buffer --timing --shuffle=? --durations= --plan --fake --fake-initial
 --run-syncdb --list --check --dry-run --merge --empty --name= --database= --deploy --fail-level= --noreload
 --nothreading --skip-checks --format= --indent= --natural-foreign --app= --update --clear --link
manage.py shell|manage.py shell_plus|manage.py runscript|manage.py dbshell|manage.py flush|manage.py
 loaddata|manage.py createsuperuser|manage.py changepassword · program · - · -* --*
alembic · project · - · -h -x=!x -c=@ -n= --config=@ --name= --raiseerr --version
alembic history|alembic current|alembic heads|alembic branches|alembic show|alembic check · project · - · -v -r= -i
 --verbose --rev-range= --indicate-current --resolve-dependencies
alembic upgrade|alembic revision|alembic merge|alembic stamp|alembic downgrade|alembic list_templates · project write ·
 - · -m= --message= --autogenerate --sql --tag= --head= --splice --branch-label= --version-path=@ --rev-id=
 --depends-on= --purge
py:json.tool · read · >second · -h --help --sort-keys --no-ensure-ascii --json-lines --indent= --tab --no-indent
 --compact
py:http.server · send outside · - · -b= -d= -p= -h --help --bind= --directory= --cgi!x --protocol=
py:venv|py:virtualenv · write · > · -h -p=:python --help --system-site-packages --clear --upgrade --without-pip
 --prompt= --upgrade-deps --copies --symlinks --python=:python --without-scm-ignore-files
py:compileall|py:py_compile · write · >!w · -q -qq -f -b -l -r= -j= -x= -i=!x -d= -s= -p= -h --help --workers=
 --invalidation-mode= --hardlink-dupes -
py:zipfile|py:tarfile · read · - · -h --help -l= -t= --list= --test= -c!w --create!w -e!o --extract!o --filter= -v
 --verbose --metadata-encoding=
py:site|py:sysconfig|py:platform · read · - · -h --help --user-site --user-base
py:this|py:calendar|py:uuid|py:tokenize|py:tabnanny|py:pyclbr|py:dis|py:ast|py:keyword|py:mimetypes|py:quopri · read ·
 - · -* --*
py:webbrowser|py:ftplib|py:telnetlib|py:smtpd|py:smtplib|py:poplib|py:nntplib|py:xmlrpc.server|py:socketserver|py:wsgiref.simple_server
 · send program · - · -* --*
py:pydoc|py:idlelib|py:antigravity|py:turtledemo|py:code|py:codeop|py:runpy|py:timeit|py:pdb|py:cProfile|py:profile|py:trace|py:pickle|py:pickletools|py:shelve|py:lib2to3
 · program outside · - · -* --*
py:asyncio|py:doctest|py:tracemalloc|py:faulthandler|py:zipapp|py:gzip|py:bz2|py:lzma|py:test|py:distutils|py:easy_install|py:setuptools|py:ensurepip
 · program outside · - · -* --*
unittest · project open · - · -h -v -q -f -c -b -k= --help --verbose --quiet --locals --failfast --catch --buffer
 --durations=
unittest discover · project · :tests · -h -v -q -f -c -b -k= -s=@ -p= -t=@ --help --verbose --quiet --locals --failfast
 --catch --buffer --start-directory=@ --pattern= --top-level-directory=@
"""
