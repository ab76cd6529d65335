"""Compilers and build tools: make(1), `cargo help`, `go help`, and those of other languages."""

from __future__ import annotations

SHARED = {
    "build": (
        "-h -q -v -vv -X -o -B -e -U -am -amd -N -ntp -l=:log -T= -pl= -P= -j= -k -n -S -d -t=@ -C=@ -f=@ -c=@ -p=@ "
        "-b=@ -x= -R= -L= -E= -w --help --version --quiet --verbose --info --debug "
        "--warn --stacktrace --full-stacktrace "
        "--scan!s --offline --daemon --no-daemon --parallel --no-parallel --continue --build-cache --no-build-cache "
        "--dry-run --rerun-tasks --refresh-dependencies --tests= --console= --max-workers= --configuration-cache "
        "--no-configuration-cache --batch-mode --no-transfer-progress --fail-fast --fail-at-end --fail-never "
        "--projects= --also-make --also-make-dependents --activate-profiles= --threads= --errors --update-snapshots "
        "--non-recursive --file=@ --output-on-failure --test-dir=@ --build=@ --target= --config= --configuration= "
        "--preset= --clean-first --build-run-dir --list --list-tests --trace --only= --seed= --max-failures= "
        "--stale --failed --cover --slowest= --format= --fail-level= --parallel-workers= --display-cop-names "
        "--autocorrect!w -a!w -A!w --auto-correct!w --filter= --no-build --no-restore --logger= --verbosity= "
        "--framework= -m= --nologo --collect= --blame --settings=@ --coverage --color=? --no-color --testdox "
        "--testsuite= --group= --exclude-group= --stop-on-failure --tasks --all --prereqs -D=:define --test_output= "
        "--test_filter= --keep_going --jobs= --runs_per_test= --config= --release --profile= --plain --no-pub "
        "--reporter= --tags= --exclude-tags= --concurrency= --env= --check-formatted --warnings-as-errors --force "
        "--summary --init-script=!x -I=!x --include-build=!x --"
    ),
    "cargo": (
        "-v -vv -q -h -p= -F= -r -j= --verbose --quiet --color= --help --package= --workspace --exclude= --all "
        "--lib --bins --bin= --examples --example= --tests --test= --benches --bench= --all-targets --doc "
        "--features= --all-features --no-default-features --release --profile= --jobs= --keep-going --target= "
        "--unit-graph --timings=? --ignore-rust-version --locked --offline --frozen --message-format= --no-run "
        "--no-fail-fast --no-deps --document-private-items --future-incompat-report --manifest-path=@ "
        "--target-dir=> --artifact-dir=> --config=!x -Z=!x -C=@ --open!x --explain= --lockfile-path=@"
    ),
    "go": (
        "-n -v -x -race -msan -asan -cover -work -a -json -trimpath -mod= -modcacherw -buildvcs=? -buildmode= "
        "-compiler= -installsuffix= -linkshared -tags= -p= -covermode= -coverpkg= -pgo= -h -help -o=:report -C=@ "
        "-modfile=@ -overlay=@ -exec=!x -toolexec=!x -vettool=!x -ldflags=:ldflags -gcflags=:ldflags -asmflags=!x "
        "-gccgoflags=!x -pkgdir=!o"
    ),
    "gotest": (
        "-run= -bench= -benchmem -benchtime= -count= -cpu= -failfast -fullpath -list= -parallel= -short -shuffle= "
        "-skip= -timeout= -vet= -coverprofile=:report -cpuprofile=:report -memprofile=:report -blockprofile=:report "
        "-mutexprofile=:report -trace=> -outputdir=> -test.v -test.run= -test.bench= -test.count= -test.short "
        "-test.timeout= -update!w -c!w -fuzz= -fuzztime= -fuzzminimizetime= -args -memprofilerate= "
        "-blockprofilerate= -artifacts!w"
    ),
}

ROWS = """
make|gmake · project each · :make · -B -i -k -n -s -q -t -w -d -b -m -L -S -v -h -r -R -p!c -j=? -l=? -O=?
 --always-make --ignore-errors --keep-going --just-print --dry-run --recon --silent --quiet --question --touch
 --print-directory --no-print-directory --jobs=? --load-average=? --output-sync=? --debug=? --version --help --trace
 --warn-undefined-variables --no-builtin-rules --no-builtin-variables --print-data-base!c --no-keep-going --no-silent
 -W= -o= --what-if= --old-file= --shuffle=? --check-symlink-times -f=!x -C=@ -I=!x --file=!x --makefile=!x
 --directory=@ --include-dir=!x -E=!x --eval=!x -e!x --environment-overrides!x
cargo · write project fetch · - · -V -v -q -h --version --list --verbose --quiet --color= --help --offline --frozen
 --locked --explain= -C=@ --config=!x -Z=!x
cargo build|cargo b|cargo check|cargo c|cargo test|cargo t|cargo bench|cargo run|cargo r|cargo clippy|cargo doc|cargo
 d|cargo rustdoc|cargo nextest run|cargo nextest list|cargo llvm-cov|cargo hack|cargo udeps|cargo machete|cargo
 deny|cargo audit|cargo outdated|cargo miri|cargo make|cargo xtask|cargo criterion · project · - · @cargo
 --fix!w --allow-dirty --allow-staged --
cargo fmt · write · :rustfmt · @cargo --check --=:rustfmt
cargo tree|cargo metadata|cargo locate-project|cargo pkgid|cargo read-manifest|cargo verify-project|cargo help|cargo
 version|cargo report · read · - · @cargo -e= --edges= -i= --invert=? --prune= --depth= --prefix= --no-dedupe -d
 --duplicates --charset= -f= --format= --format-version= --filter-platform=
cargo clean|cargo update|cargo generate-lockfile|cargo fix|cargo package|cargo
 remove|cargo rm|cargo fetch · write fetch project · - · @cargo --precise= -n --dry-run --recursive --broken-code
 --edition --edition-idioms --allow-dirty --allow-staged --name= --vcs= --edition= --dev --build --list --no-verify
 --versioned-dirs
cargo new|cargo init|cargo vendor · write fetch · > · @cargo --name= --vcs= --edition= --registry=!s --versioned-dirs
 --respect-source-config --no-delete -s=@ --sync=@
cargo add · write fetch · !r · @cargo --dev --build --optional --no-optional --rename= --registry=!s --git=!x --branch=
 --tag= --rev= --path=@ -n --dry-run --public
cargo search|cargo info · fetch · - · @cargo --limit= --registry=!s
cargo watch|cargo install|cargo uninstall|cargo publish|cargo login|cargo logout|cargo owner|cargo yank|cargo
 rustc|cargo git-checkout|cargo expand|cargo flamegraph · program fetch send each · - · -
go · read project write fetch dash · - · -h -help -C=@
go build|go vet|go list|go clean|go fix|go mod verify|go mod graph|go mod why · project · - · @go -m -f= -e -u -deps
 -test -find -export -compiled -versions -retracted -reuse= -i -cache -testcache -modcache -fuzzcache -vendor -c=
go test · project · :go_package · @go @gotest --
go fmt|go mod tidy|go mod vendor|go mod init|go work use|go work sync|go work init|go work vendor · write project · - ·
 @go -e -go= -compat= -s -r
go doc|go version|go help|go mod edit|go work edit|go tool · read · - · @go -m -all -src -u -short -cmd -c -json -print
 -fmt -require=!w -replace=!w -dropreplace=!w -droprequire=!w -go=!w -module=!w
go env · read · - · -json -changed -w!x -u!x
go mod download · write fetch · - · @go
go run · project stop · :go_run · @go
go get · write fetch · !r · @go -d -t -u=? -insecure!s
go install|go generate|go bug|go tool *|go telemetry *|go mod *|go work * · program fetch · - · -
gofmt|goimports|gofumpt · write · :fixer · -d -e -l -s -r= -w!w -h -extra -lang= -modpath= -local= -format-only -v
 -cpuprofile=!o
golangci-lint · read · - · -v -h --version --color=
golangci-lint run|golangci-lint fmt|golangci-lint linters|golangci-lint version|golangci-lint config · project ·
 :linter!w · -v -j= -E= -D= -p= -h --fix!w --timeout= --new --new-from-rev= --enable= --disable= --enable-all
 --disable-all --out-format= --issues-exit-code= --fast --tests=? --config=@ -c=@ --no-config --color= --concurrency=
 --allow-parallel-runners --print-issued-lines=? --max-issues-per-linter= --max-same-issues= --build-tags=
mvn|mvnw|gradle|gradlew|sbt|ant|mill|ninja|scons · project each · :build_words · @build
bazel|buck2|ctest|meson|stack|cabal|swift|flutter|phpunit|artisan · project · :build_words · @build
zig · project write · @ · -h --help -O= --verbose --summary= --release=? -j=? -D=? --prefix=> -p=>
just · project each · :build_words · -h -V -l -n -q -v -u -E=:text -f=@ -d=@ -c!x --help --version --list --summary
 --show=? -s= --dry-run --quiet --verbose --unsorted --justfile=@ --working-directory=@ --dump --evaluate --variables
 --fmt!w --check --color= --no-deps --one --yes --choose!x --command!x --set!x --shell=!x --shell-arg=!x --edit!x
 --init!w
task · project each · :build_words · -h -l -a -n -s -v -w -f -p -x -y -c -o= -I= -C= -t=@ -d=@ --help --version --list
 --list-all --dry --silent --verbose --watch --force --parallel --exit-code --yes --color=? --summary --status --json
 --output= --taskfile=@ --dir=@ --interval= --concurrency= --sort= --init!w -i!w -g!o --global!o --
gcc|g++|cc|c++|clang|clang++|rustc|javac · write · :sources · -c -S -E -v -w -g -h -s -o=> --help --version
 --print-targets -O=? -std=? -I= -L= -l= -D=? -U= -M -MM -MD -MP -MF=> -MT= -MQ= -x= -pedantic -shared -static -fPIC
 -fsyntax-only -pthread -pipe -dumpversion -dumpmachine -ansi -rdynamic --edition= --crate-type= --crate-name=
 --emit=:emit --test --target= --out-dir=> -d=> -cp=:classpath -classpath=:classpath --class-path=:classpath --release=
 -Xlint=? -W=:compiler -f=:compiler -m=? -march=? -mtune=? -isystem= -include= -nostdlib -print-search-dirs -proc:none
 -encoding= -source= -target= -Werror -Wall -Wextra
cmake · project write · :build_words · -S=@ -B=> -G= -A= -T= -N -L -LA -LAH -D=:define -U= -W=? -h -t=:cmake_target
 -j=? -v --version --help=? --build=> --target=:cmake_target --parallel=? --config= --clean-first --verbose --fresh
 --preset= --list-presets=? --log-level= --workflow --trace --debug-output --warn-uninitialized --no-warn-unused-cli
 --system-information=? --graphviz=:report -Wno-dev -Wdev --install=!o --open=!x -C=!x -P=!x -E!x --toolchain=@
 --resolve-package-references= --use-stderr --=:native
dotnet · project fetch · - · -h -d --help --version --info --list-sdks --list-runtimes --diagnostics
dotnet build|dotnet test|dotnet run|dotnet clean|dotnet restore|dotnet watch|dotnet publish|dotnet pack|dotnet
 msbuild|dotnet format|dotnet vstest · project · :build_words · -h -c= -f= -r= -v= -o=:report -l= -t -d -a= -s=@ -n=
 -e= -p=:property --help --configuration= --framework= --runtime= --verbosity= --output=:report --no-restore --no-build
 --no-dependencies --no-incremental --nologo --force --filter= --logger= --collect= --list-tests --blame --blame-hang
 --blame-crash --results-directory=:report --settings=@ --test-adapter-path=@ --diag=:report --no-logo
 --self-contained=? --no-self-contained --version-suffix= --interactive --project=@ --no-launch-profile
 --launch-profile= --os= --arch= --property=:property --include-symbols --include-source --verify-no-changes --include=
 --exclude= --severity= --diagnostics= --no-cache --disable-parallel --locked-mode --use-lock-file
 --ignore-failed-sources --source=!x --configfile=!x --environment= --tl=? --ucr --artifacts-path=:report
 --disable-build-servers --parallel --no-parallel -m=? -maxcpucount=? --
dotnet list *|dotnet nuget list *|dotnet sln list|dotnet sdk check|dotnet tool list|dotnet workload list · read · - ·
 --outdated --vulnerable --deprecated --include-transitive --format= -g --global --local
dotnet sln *|dotnet new *|dotnet add reference|dotnet remove reference · write · - · -n= -o=> -f= --name= --output=>
 --framework= --language= -lang= --in-root
dotnet add package|dotnet add * package · write fetch · !r · -v= --version= -f= -n --no-restore --prerelease -s=!x
 --source=!x
dotnet * · program send · - · -* --*
dart · project write · - · -h -v --help --version --verbose --quiet
dart analyze|dart fix|dart format|dart info · project write · :format!w · -h -l= -n -o= -v --fatal-infos
 --fatal-warnings --no-fatal-warnings --format= --set-exit-if-changed --output= --line-length= --show= --summary=
 --indent= --page-width= --language-version= --dry-run --apply --code=
dart test|dart run|dart compile * · project stop · @ · -h -n= -N= -t= -x= -p= -j= -r= --name= --plain-name= --tags=
 --exclude-tags= --platform= --concurrency= --reporter= --coverage= --timeout= --run-skipped --total-shards=
 --shard-index= --chain-stack-traces --fail-fast --enable-asserts -o=>
dart pub get|dart pub upgrade|dart pub downgrade|dart pub deps|dart pub outdated · write fetch · - · -h -n --offline
 --dry-run --precompile --style= --json --major-versions --no-dev
dart pub *|dart * · program send · - · -
mix · project · :build_words · -h -v --help --version --force --all --stale --failed --cover --trace --seed= --only=
 --exclude= --include= --max-failures= --warnings-as-errors --check-formatted --dry-run --color --no-color
 --check-unused --partitions= --slowest= --formatter=!x --require=!x
gem · read · - · -v -h --version --help
gem list|gem search|gem info|gem env|gem environment|gem outdated|gem specification|gem which|gem contents|gem
 dependency|gem help · fetch · - · -l -r -d -a -e -i --local --remote --details --all --exact --versions --installed
 --version= -v= --no-details --prerelease --pre
gem install|gem uninstall|gem update|gem cleanup|gem build · write fetch project each · :packages!r · -N -v= -f -q -x
 -a -I -n=!o -i=!o -s=!x -P= --no-document --version= --force --quiet --conservative --user-install --no-user-install
 --pre --prerelease --minimal-deps --system!o --install-dir=!o --bindir=!o --source=!x --clear-sources!x
 --http-proxy=!x --local --remote --executables --all --config-file=!x
gem * · program send · - · -* --*
rake · project each · :build_words · -h -v -q -s -n -m -t -T=? -P -W=? -A -D=? -j=? -V --help --version --quiet --silent
 --dry-run --multitask --trace=? --tasks=? --prereqs --where=? --all --describe=? --jobs=? --verbose --no-search -N
 --rules --build-all --suppress-backtrace= -f=!x -e=!x -E=!x -r=!x -I=!x -R=!x -p=!x --rakefile=!x --execute=!x
 --require=!x --libdir=!x
rspec · project · @ · -h -v -b -c -f=:reporter -e= -E= -t= -w -p=? -P= -n= --help --version --backtrace --color
 --no-color --force-color --format=:reporter --example= --example-matches= --tag= --fail-fast=? --no-fail-fast --order=
 --seed= --profile=? --dry-run --only-failures --next-failure --pattern= --exclude-pattern= --bisect=? --warnings
 --failure-exit-code= --order-by= -r=!x -I=!x -O=!x -o=> --require=!x --options=!x --default-path=!x --out=> --init!w
 --drb!x
rubocop · project · :linter!w · -h -v -V -l -L -D -S -E -F -P -d -f= -a!w -A!w -x!w --help --version --lint
 --list-target-files --display-cop-names --no-display-cop-names --extra-details --display-style-guide --fail-fast
 --format= --only= --except= --fail-level= --parallel --no-parallel --debug --autocorrect!w --autocorrect-all!w
 --auto-correct!w --fix-layout!w --cache= --force-exclusion --only-recognized-file-types --no-color --color
 --show-cops=? --stdin= --safe --disable-pending-cops --enable-pending-cops -c=!x --config=!x -r=!x --require=!x
 --plugin=!x -o=> --out=> --auto-gen-config!w --init!w
"""
