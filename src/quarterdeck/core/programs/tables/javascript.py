"""JavaScript's tools: npm and its like, linters and test runners. `npm help <command>`, `pnpm help`, `yarn --help`."""

from __future__ import annotations

SHARED = {
    "npm": (
        "-s -d -q -w= -l -a -f -y -h --silent --quiet --verbose --loglevel= --workspace= --workspaces --ws "
        "--include-workspace-root --iwr --if-present --ignore-scripts --foreground-scripts --color=? --no-color "
        "--unicode --json --long --parseable --depth= --all --omit= --include= --production --only= --dry-run "
        "--force --no-audit --audit=? --no-fund --fund=? --no-progress --progress=? --prefer-offline "
        "--prefer-online --offline --legacy-peer-deps --strict-peer-deps --package-lock-only --package-lock=? "
        "--no-package-lock --no-save --engine-strict --bin-links=? --no-bin-links --install-links --link "
        "--no-update-notifier --help --version --yes --no-optional --timing --audit-level= --since= --no-workspaces "
        "--stream --parallel --recursive -r --filter= -F= --no-bail --bail --aggregate-output --reporter= "
        "--frozen-lockfile --no-frozen-lockfile --lockfile-only --fix-lockfile --workspace-root --sort --no-sort "
        "--resume-from= --report-summary --shamefully-hoist --ignore-workspace --prod --dev --no-lockfile "
        "--immutable --immutable-cache --check-cache --mode= --inline-builds --topological -p -t -A -W -R -i -j= "
        "--jobs= --include-dependencies --exclude= --verbose --no-private --focus --check-files --pure-lockfile "
        "--non-interactive --prefix=@ -C=@ --dir=@ --cwd=@ --script-shell=!x --node-options=!x --shell=!x "
        "--userconfig=!x --globalconfig=!x --registry=!s --cache=!o -g!o --global!o --location=!o --editor=!x "
        "--viewer=!x --browser=!x --git=!x --node-gyp=!x --python=!x --init-module=!x --onload-script=!x "
        "--before-script=!x --config=!x --scripts-prepend-node-path=!x --shell-emulator --shell-mode!x -c=!x "
        "--call=!x --modules-dir=!o --store-dir=!o --modules-folder=!o --cache-folder=!o --use-yarnrc=!x "
        "--rc-filename=!x --yarn-path=!x"
    ),
    "save": (
        "-D -P -S -O -E -B --save --save-dev --save-prod --save-optional --save-exact --save-peer --save-bundle "
        "--dev --peer --optional --exact --tilde --caret --save-workspace-protocol --tag= --before= --os= --cpu= "
        "--libc= --cached --prefer-dedupe --install-strategy= --allow-build= --save-catalog -T -o"
    ),
    "tests": (
        "-i -w= -t= -b -e -f -o -h -v -u --runInBand --maxWorkers= --testNamePattern= --testPathPattern= "
        "--testPathPatterns= --bail=? --ci --no-ci --coverage=? --coverageReporters= --collectCoverageFrom= "
        "--coverageProvider= --detectOpenHandles --forceExit --findRelatedTests --listTests --changedSince= "
        "--onlyChanged --onlyFailures --passWithNoTests --silent=? --verbose=? --watch=? --watchAll=? --watchman=? "
        "--no-watchman --no-cache --cache --clearCache --colors --color --no-color --expand --json --logHeapUsage "
        "--maxConcurrency= --showConfig --testTimeout= --updateSnapshot --ci=? --selectProjects= --ignoreProjects= "
        "--shard= --debug --testMatch= --testRegex= --testPathIgnorePatterns= --errorOnDeprecated --notify "
        "--randomize --seed= --workerThreads --run --reporter=:reporter --coverage.enabled=? --coverage.reporter= "
        "--coverage.provider= --dom --environment= --globals --retry= --update --passWithNoTests --allowOnly "
        "--dangerouslyIgnoreUnhandledErrors --threads=? --no-threads --pool= --isolate=? --no-isolate --typecheck=? "
        "--project= --hideSkippedTests --silent --related --version --help --standalone --mode= "
        "--disable-console-intercept --hookTimeout= --test-timeout= --no-file-parallelism --fileParallelism=? "
        "--exclude= --dir=@ --root=@ -r=!x --config=!x -c=!x --rootDir=@ --roots=@ --setupFiles=!x "
        "--outputFile=:report --coverageDirectory=:report --cacheDirectory=> --preset=!x --reporters=:reporter "
        "--transform=!x --testEnvironment=!x --runner=!x --testRunner=!x --resolver=!x --globalSetup=!x "
        "--globalTeardown=!x --setupFilesAfterEnv=!x --testResultsProcessor=!x --watchPlugins=!x "
        "--snapshotSerializers=!x --modulePaths=!x --moduleDirectories=!x --dependencyExtractor=!x --haste=!x "
        "--env=:reporter"
    ),
}

ROWS = """
npm · read project write fetch inherit · - · @npm -v --version
npm ls|npm list|npm ll|npm la|npm explain|npm why|npm root|npm prefix|npm query|npm fund|npm help|npm help-search|npm
 completion|npm bin|npm sbom · read · - · @npm
npm test|npm t|npm tst|npm start|npm stop|npm restart|npm run|npm run-script|npm rum|npm urn|npm rebuild · project · -
 · @npm --
npm install|npm i|npm in|npm add|npm isntall|npm link|npm ln|npm update|npm up|npm upgrade|npm install-test|npm it ·
 write fetch project · :npm_packages!r · @npm @save
npm ci|npm clean-install|npm ic|npm install-clean|npm install-ci-test|npm cit|npm dedupe|npm ddp|npm find-dupes|npm
 prune|npm uninstall|npm un|npm remove|npm rm|npm r|npm unlink|npm shrinkwrap · write fetch project · - · @npm @save
npm audit|npm outdated|npm view|npm info|npm show|npm v|npm search|npm s|npm find|npm ping|npm doctor|npm docs|npm
 diff|npm whoami|npm repo|npm bugs|npm audit * · fetch · - · @npm
npm audit fix · write fetch project · - · @npm
npm pack · write project fetch · :npm_packages!r · @npm --pack-destination=>
npm version · write project · - · @npm --pack-destination=> -m= --message= --no-git-tag-version
 --git-tag-version=? --preid= --allow-same-version
npm config get|npm get · read · :secret_key · @npm
npm pkg get|npm config list|npm config ls|npm cache ls|npm cache verify · read · - · @npm
npm pkg *|npm config *|npm set|npm set-script|npm init|npm create|npm innit|npm exec|npm x|npm explore|npm edit|npm
 cache *|npm token *|npm login|npm logout|npm adduser|npm profile *|npm publish|npm unpublish|npm deprecate|npm owner
 *|npm access *|npm team *|npm org *|npm dist-tag *|npm hook *|npm star|npm unstar|npm stars|npm trust *|npm stage
 *|npm install-scripts *|npm approve-scripts|npm undeprecate · program send · - · @npm
npx|bunx|pnpx · operand fetch stop · !r · -y -q -s -h --yes --no --no-install --quiet --silent --help --version
 --prefer-offline --offline -p=!x --package=!x -c=!x --call=!x
pnpm · read project write fetch inherit · - · @npm -v --version
pnpm list|pnpm ls|pnpm why|pnpm root|pnpm licenses *|pnpm store path|pnpm store status|pnpm help|pnpm bin · read · - ·
 @npm
pnpm outdated|pnpm audit|pnpm view|pnpm info|pnpm ping|pnpm search · fetch · - · @npm
pnpm install|pnpm i|pnpm import|pnpm fetch|pnpm prune|pnpm dedupe|pnpm rebuild|pnpm link|pnpm unlink|pnpm patch|pnpm
 patch-commit|pnpm approve-builds · write fetch project · - · @npm @save
pnpm add|pnpm update|pnpm up|pnpm upgrade · write fetch project · :npm_packages!r · @npm @save --latest -L
 --interactive
pnpm remove|pnpm rm|pnpm uninstall|pnpm un · write project · - · @npm @save
pnpm exec|pnpm dlx · operand fetch stop · !r · @npm
pnpm create|pnpm publish|pnpm config *|pnpm set *|pnpm get *|pnpm env *|pnpm server *|pnpm setup|pnpm self-update|pnpm
 deploy|pnpm store *|pnpm login|pnpm init · program send · - · @npm
pnpm run|pnpm run-script · project · - · @npm
pnpm run *|pnpm run-script *|pnpm test|pnpm t|pnpm start|pnpm pack|pnpm version|pnpm * · project · - · @npm @tests --
yarn · read project write fetch inherit · - · @npm -v --version
yarn install|yarn dedupe|yarn check|yarn import|yarn link|yarn unlink|yarn autoclean|yarn rebuild · write fetch project
 · - · @npm @save
yarn add|yarn up|yarn upgrade|yarn upgrade-interactive · write fetch project · :npm_packages!r · @npm @save -L --latest
 --cached
yarn remove · write project · - · @npm @save
yarn list|yarn why|yarn bin|yarn licenses *|yarn config list|yarn config get|yarn workspaces list|yarn workspaces
 info|yarn help|yarn versions|yarn workspace list · read · - · @npm --pattern=
yarn info|yarn outdated|yarn audit|yarn npm info|yarn npm audit · fetch · - · @npm
yarn exec|yarn dlx|yarn node · operand fetch stop · !r · @npm
yarn create|yarn publish|yarn config *|yarn global *|yarn npm *|yarn set *|yarn plugin *|yarn policies *|yarn cache
 *|yarn login|yarn logout|yarn owner *|yarn tag *|yarn team *|yarn init|yarn self-update|yarn sdks · program send · - ·
 @npm
yarn run|yarn test|yarn start|yarn workspace *|yarn workspaces *|yarn version|yarn pack|yarn stage|yarn * · project · -
 · @npm @tests --
bun · read project write fetch · - · -v --version -h --help --revision -e=!x -p=!x -r=!x --eval=!x --print=!x
 --preload=!x --require=!x --cwd=@ --config=!x -c=!x --bun --watch --hot --silent --smol --filter=
bun install|bun i|bun ci · write fetch project · - · @npm @save
bun add|bun update · write fetch project · :npm_packages!r · @npm @save
bun remove|bun rm · write project · - · @npm @save
bun test · project · - · @tests --timeout= --only --todo --coverage-reporter= --coverage-dir=> --rerun-each=
 --preload=!x
bun pm ls|bun outdated|bun audit|bun why|bun info · read fetch · - · @npm
bun x|bun exec|bun create|bun publish|bun pm *|bun upgrade|bun link|bun init|bun build|bun repl|bun patch · program
 fetch · - · -
bun run|bun * · project stop · @ · @npm --
eslint · project · :linter!w · -h -v --ext= --fix!w --fix-dry-run --fix-type= --no-eslintrc --env= --global= --rule=
 --quiet --max-warnings= --cache --cache-strategy= --no-error-on-unmatched-pattern --no-inline-config
 --report-unused-disable-directives --report-unused-disable-directives-severity= --color --no-color --debug --version
 --help --print-config= --ignore-path= --ignore-pattern= --no-ignore --stats --pass-on-no-patterns --no-warn-ignored
 --exit-on-fatal-error --flag= --stdin --stdin-filename= --env-info --concurrency= -c=!x --config=!x -f=:formatter
 --format=:formatter -o=:report --output-file=:report --cache-location=> --cache-file=> --rulesdir=!x --plugin=!x
 --parser=!x --resolve-plugins-relative-to=!x --init!x --parser-options= --inspect-config!x --prune-suppressions!w
 --suppress-all!w
prettier · project write · :linter · -c -l -h -u --check --list-different --no-config --no-editorconfig --ignore-path=
 --log-level= --loglevel= --no-color --color --stdin-filepath= --parser= --tab-width= --print-width= --single-quote
 --trailing-comma= --no-semi --version --help --ignore-unknown --no-error-on-unmatched-pattern --cache
 --cache-strategy= --prose-wrap= --end-of-line= --find-config-path= --file-info= --support-info -w!w --write!w
 --config=!x --plugin=!x --plugin-search-dir=!x --cache-location=> --with-node-modules --use-tabs --check-ignore-pragma
tsc · project dash · @ · -h -v -w -t= -m= -noEmit=? -watch -version -help -all -showConfig -listFiles -listFilesOnly
 -pretty=? -strict=? -target= -module= -lib= -jsx= -skipLibCheck=? -noUnusedLocals=? -noUnusedParameters=?
 -explainFiles -traceResolution -extendedDiagnostics -diagnostics -noErrorTruncation -allowJs=? -checkJs=?
 -esModuleInterop=? -moduleResolution= -incremental=? -preserveWatchOutput -force -dry -verbose -clean
 -resolveJsonModule=? -isolatedModules=? -noImplicitAny=? -strictNullChecks=? -emitDeclarationOnly -declaration -d
 -sourceMap -removeComments -stopBuildOnErrors -noEmitOnError=? -b=?@ -build=?@ -p=@ -project=@ -outDir=> -outFile=>
 -declarationDir=> -tsBuildInfoFile=> -generateTrace=> -generateCpuProfile=> -init!w -rootDir=
jest|vitest|vitest run|vitest watch|vitest related|vitest list|vitest bench|vitest dev · project open · - · @tests
mocha|ava|tap|playwright test|cypress run|wdio run|karma start · project · @ · -b -g= -f= -i -t= -s= -w -h -v -u=
 -R=:reporter --bail --grep= --fgrep= --invert --timeout= --slow= --watch --recursive --exit --parallel --jobs=
 --retries= --reporter=:reporter --color --no-color --forbid-only --check-leaks --full-trace --sort --delay
 --extension= --ignore= --exclude= --ui=:reporter --list --headed --project= --workers= -j= --shard= --debug
 --last-failed --max-failures= -x --update-snapshots --pass-with-no-tests --repeat-each= --quiet --browser=:formatter
 --spec=@ --headless --component --e2e --config=!x -c=!x --require=!x -r=!x --file=!x
playwright|cypress|wdio|karma · project · - · -h --help --version -V
playwright *|cypress *|wdio *|karma * · program fetch · - · -
next|vite|nuxt|astro|turbo|webpack|rollup|esbuild|parcel|gulp|grunt|svelte-check|vue-tsc|stylelint|oxlint|biome|swc|tsup
 · project write · :linter!w · -h -v -w -m= -p= -c=!x --help --version --watch --mode= --port= --host=? --filter=
 --force --dry-run --dry=? --no-cache --cache --verbose --silent --open=? --turbo --turbopack --check --noEmit
 --threshold= --fail-on-warnings --write --apply --reporter= --scope= --since= --parallel=? --all --target= -t= --base=
 --head= --projects= --exclude= --configuration= --prod --production --skip-nx-cache --quiet --max-warnings=
 --allow-empty-input --debug --output-style= --graph=?> --concurrency= --config=!x --fix!w --tsconfig=@ --project=@
prisma · read project write · - · -h -v --help --version --schema=@ --config=@
prisma generate|prisma format|prisma validate|prisma init · project write · - · --schema=@ --config=@ --watch
 --generator= --no-engine --no-hints --data-proxy --check --datasource-provider= --sql -h
prisma migrate dev|prisma migrate status|prisma migrate diff|prisma db pull · project write · - · --schema=@ --name=
 -n= --create-only --skip-generate --skip-seed --from-empty --to-schema-datamodel=@ --script --print -h
prisma * · project outside · - · -* --*
deno · read project · - · -h -V -q --version --help --quiet
deno test|deno bench|deno check|deno lint|deno fmt · project · @ · -A -q -h -c=@ --help --quiet --config=@ --allow-all
 --allow-read=? --allow-net=? --allow-env=? --allow-write=? --allow-run=? --allow-sys=? --allow-ffi=? --no-check
 --check --filter= --parallel --coverage=? --watch=? --fail-fast=? --doc --reporter= --shuffle=? --trace-leaks
 --permit-no-files --ignore= --fix!w --import-map=@ --lock=@ --node-modules-dir=? --no-lock --frozen=?
 --junit-path=:report --cached-only --json --rules --compact --no-prompt --seed= --env-file=?:text --preload=@
 --reload=?!f
deno run|deno task · project stop · @ · -A -q -h -c=@ --help --quiet --config=@ --allow-all --allow-read=?
 --allow-net=? --allow-env=? --allow-write=? --allow-run=? --allow-sys=? --allow-ffi=? --no-check --check --filter=
 --parallel --coverage=? --watch=? --fail-fast=? --doc --reporter= --shuffle=? --trace-leaks --permit-no-files
 --ignore= --fix!w --import-map=@ --lock=@ --node-modules-dir=? --no-lock --frozen=? --junit-path=:report --cached-only
 --json --rules --compact --no-prompt --seed= --env-file=?:text --preload=@ --reload=?!f
deno info|deno doc|deno list|deno outdated|deno types · read fetch · - · --json --filter= --private -h
deno install|deno add|deno remove|deno cache · write fetch project · !r · -A -q -h -c=@ --help --quiet --config=@
 --allow-all --allow-read=? --allow-net=? --allow-env=? --allow-write=? --allow-run=? --allow-sys=? --allow-ffi=?
 --no-check --check --filter= --parallel --coverage=? --watch=? --fail-fast=? --doc --reporter= --shuffle=?
 --trace-leaks --permit-no-files --ignore= --fix!w --import-map=@ --lock=@ --node-modules-dir=? --no-lock --frozen=?
 --junit-path=:report --cached-only --json --rules --compact --no-prompt --seed= --env-file=?:text --preload=@
 --reload=?!f --dev -D
deno * · program fetch · - · -* --*
"""
