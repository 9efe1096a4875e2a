# The stages of `./lightspeed test`. Sourced by the launcher, whose functions it uses.
#
# One profile, release, serves the binary and the tests, so that dependencies compile once. Every
# stage runs even if one before it failed, unless it cannot: without a build there is nothing to test.
# `stage` is never called in a condition: bash would switch `set -e` off in everything below it.
# shellcheck shell=bash

suites=(browser adversarial chaos simulation)
passed=0
failed=0
summary=()
logs=""
build_minutes=0

test_usage() {
    cat <<'TEXT'
./lightspeed test [unit|packages|browser|adversarial|chaos|simulation|all] [--long]

  unit         format, lints, every crate's and the web app's tests, .sqlx against the migrations
  packages     every solution of every problem package, on the emulated device
  browser      a real browser against a real server
  adversarial  hostile submissions, judged by a real worker
  chaos        workers and servers killed at any moment
  simulation   many workers on virtual time
  --long       the long versions of the suites
TEXT
}

# Minutes that a stage may take in CI. The build's ten hold the lints as well.
budget() {
    case $1 in
    build | packages) echo 10 ;;
    lint) echo $((build_minutes < 10 ? 10 - build_minutes : 0)) ;;
    unit) echo 4 ;;
    simulation) echo 2 ;;
    *) echo 5 ;;
    esac
}

run_tests() {
    local what=all argument
    for argument in "$@"; do
        case $argument in
        --long) export LIGHTSPEED_TEST_LONG=1 ;;
        --help | -h)
            test_usage
            return 0
            ;;
        all | unit | packages | browser | adversarial | chaos | simulation) what=$argument ;;
        *)
            test_usage >&2
            printf '\nlightspeed: there is no suite `%s`\n' "$argument" >&2
            return 2
            ;;
        esac
    done
    cd "$root"
    logs=$target/test-logs
    rm -rf "$logs"
    mkdir -p "$logs"
    # A colour in a log would hide the numbers that are counted.
    export CARGO_TERM_COLOR=never NO_COLOR=1
    # Tests start from nothing: a service or a key of this machine must not leak into them.
    unset DATABASE_URL LIGHTSPEED_URL LIGHTSPEED_TOKEN LIGHTSPEED_WORKER_KEY LIGHTSPEED_DEVICE
    unset LIGHTSPEED_LISTEN

    ensure_rust
    ensure_python
    [ "$what" = packages ] || ensure_node
    stage build build_all
    if [ "$failed" = 0 ]; then
        prepare_toolchain
        run_suites "$what"
    fi
    conclude
}

run_suites() {
    local what=$1 suite
    case $what in all | unit)
        stage lint lint_all
        stage unit unit_all
        ;;
    esac
    case $what in all | packages) stage packages verify_packages ;; esac
    for suite in "${suites[@]}"; do
        case $what in all | "$suite") stage "$suite" suite "$suite" ;; esac
    done
}

# Runs one stage with its output shown and kept, and takes down its time and its counts.
stage() {
    local name=$1 begun=$SECONDS status minutes log
    shift
    minutes=$(budget "$name")
    log=$logs/$name.log
    printf '\n== %s (budget %s min)\n' "$name" "$minutes"
    set +e
    # A subshell with -e of its own: the first command that fails ends the stage.
    (set -e; "$@") 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    set -e
    local took=$((SECONDS - begun)) word=passed good bad
    good=$(count_passed "$log")
    bad=$(count_failed "$log")
    if [ "$status" != 0 ]; then
        word=FAILED
        [ "$bad" != 0 ] || bad=1
    elif [ "$bad" != 0 ]; then
        word=FAILED
    elif [ "$good" = 0 ]; then
        # What builds and lints holds no tests; any other stage without one has tested nothing.
        case $name in
        build | lint) good=1 ;;
        *)
            word=FAILED
            bad=1
            echo "no test ran"
            ;;
        esac
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
    local over=""
    [ "$took" -le $((minutes * 60)) ] || over="  over budget"
    summary+=("$(printf '%-12s %-7s %5d passed %4d failed  %3d:%02d of %2d:00%s' "$name" "$word" \
        "$good" "$bad" $((took / 60)) $((took % 60)) "$minutes" "$over")")
    [ "$name" != build ] || build_minutes=$((took / 60))
    printf '== %s %s in %d:%02d\n' "$name" "$word" $((took / 60)) $((took % 60))
}

# Sums what nextest, cargo test, vitest, node and `problem verify` say of themselves.
count_passed() { count "$1" passed; }
count_failed() { count "$1" failed; }
count() {
    sed 's/\x1b\[[0-9;]*m//g' "$1" | awk -v word="$2" '
        /^ *Summary \[/ || /^test result:/ || /^ +Tests +[0-9]/ || /^packages: / {
            for (i = 2; i <= NF; i++) {
                this = $i
                gsub(/[^a-z]/, "", this)
                if (this == word) { number = $(i - 1); gsub(/[^0-9]/, "", number); sum += number }
            }
        }
        /^[^ ]+ (pass|fail) [0-9]+$/ { if ($2 "ed" == word) sum += $3 }
        END { print sum + 0 }'
}

conclude() {
    printf '\n'
    printf '%s\n' "${summary[@]}"
    printf '\n%d passed, %d failed\n' "$passed" "$failed"
    [ "$failed" = 0 ]
}

have_nextest() { cargo nextest --version >/dev/null 2>&1; }

build_all() {
    have_nextest || echo "cargo-nextest is not installed; using cargo test"
    cargo build --release --locked --workspace --bin lightspeed
    if have_nextest; then
        cargo nextest run --release --locked --workspace --no-run
    else
        cargo test --release --locked --workspace --no-run
    fi
    build_web
}

prepare_toolchain() {
    LIGHTSPEED_TOOLCHAIN=$("$binary" __toolchain) || die "the CUDA compiler could not be installed"
    export LIGHTSPEED_TOOLCHAIN
    # What a test starts without a folder of its own must not touch the state of this checkout.
    export LIGHTSPEED_STATE=$target/test-state
}

lint_all() {
    cargo fmt --all --check
    cargo clippy --quiet --release --locked --workspace --all-targets -- -D warnings
    npm_in_web lint
    npm_in_web check
    sqlx_is_fresh
}

unit_all() {
    npm_in_web test
    if have_nextest; then
        "$binary" __with-postgres -- cargo nextest run --release --locked --workspace --no-fail-fast \
            -E "not (package(end-to-end) and binary(/^($(IFS='|'; echo "${suites[*]}"))\$/))"
    else
        unit_by_cargo_test
    fi
}

unit_by_cargo_test() {
    local file name tests=()
    for file in tests/tests/*.rs; do
        name=$(basename "$file" .rs)
        case " ${suites[*]} " in *" $name "*) ;; *) tests+=(--test "$name") ;; esac
    done
    "$binary" __with-postgres -- cargo test --release --locked --workspace --exclude end-to-end --no-fail-fast
    "$binary" __with-postgres -- cargo test --release --locked -p end-to-end --lib "${tests[@]}"
}

npm_in_web() { (cd "$root/web" && npm run --silent "$1"); }

# Compiles the queries against the migrated schema and compares what comes out with what is committed.
# A build folder of its own, so that the real one stays as it is.
sqlx_is_fresh() {
    local fresh=$target/sqlx-fresh/queries
    rm -rf "$fresh"
    mkdir -p "$fresh"
    CARGO_TARGET_DIR=$target/sqlx-fresh cargo clean --quiet -p database 2>/dev/null || true
    SQLX_OFFLINE=false SQLX_OFFLINE_DIR=$fresh CARGO_TARGET_DIR=$target/sqlx-fresh \
        "$binary" __with-postgres --migrated -- cargo check --quiet --locked -p database
    diff -rq "$fresh" "$root/.sqlx" || {
        echo "the committed .sqlx does not match the queries and migrations: run crates/database/prepare.sh"
        return 1
    }
}

verify_packages() {
    local package good=0 bad=0
    for package in problems/*/problem.toml; do
        if "$binary" problem verify "$(dirname "$package")" --device emulated; then
            good=$((good + 1))
        else
            bad=$((bad + 1))
        fi
    done
    echo "packages: $good passed, $bad failed"
    [ "$good" != 0 ] && [ "$bad" = 0 ]
}

# One end-to-end suite. A suite that is missing or holds no test fails.
suite() {
    local name=$1
    if [ "$name" = browser ]; then
        ensure_browser
        npm_in_web test:pages
    fi
    if have_nextest; then
        "$binary" __with-postgres -- cargo nextest run --release --locked --workspace --no-fail-fast \
            --no-tests=fail -E "package(end-to-end) and binary(=$name)"
    else
        "$binary" __with-postgres -- cargo test --release --locked -p end-to-end --test "$name"
    fi
}

ensure_browser() {
    local name
    for name in "${LIGHTSPEED_CHROMIUM:-}" chromium chromium-browser google-chrome; do
        if [ -n "$name" ] && have "$name"; then
            LIGHTSPEED_CHROMIUM=$(command -v "$name")
            export LIGHTSPEED_CHROMIUM
            return
        fi
    done
    install_packages "a browser is missing" chromium
    LIGHTSPEED_CHROMIUM=$(command -v chromium)
    export LIGHTSPEED_CHROMIUM
}
