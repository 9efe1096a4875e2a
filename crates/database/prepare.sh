#!/bin/sh
# Writes /.sqlx anew (or, with --check, says whether it is current) against the server named by the
# URL. A scratch database is made there and dropped. Needs psql and cargo.
set -eu
check=no
if [ "$1" = --check ]; then check=yes; shift; fi
url=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=lightspeed_prepare_$$
out=$(mktemp -d)
psql "$url" -qc "CREATE DATABASE $scratch"
trap 'psql "$url" -qc "DROP DATABASE $scratch"; rm -rf "$out"' EXIT
# The scratch database in place of the URL's own: postgres://user@host/NAME?options
base=${url%%\?*}
options=${url#"$base"}
scratch_url=${base%/*}/$scratch$options
for migration in "$root"/migrations/*.sql; do
    psql "$scratch_url" -q1 -v ON_ERROR_STOP=1 -f "$migration" >/dev/null
done
cd "$root"
# The macros run only when the crate is compiled, so it is touched first.
touch crates/database/src/lib.rs
SQLX_OFFLINE=false DATABASE_URL=$scratch_url SQLX_OFFLINE_DIR=$out \
    cargo check -q ${LIGHTSPEED_PREPARE_MANIFEST:+--manifest-path "$LIGHTSPEED_PREPARE_MANIFEST"} \
    -p database
if [ "$check" = yes ]; then
    diff -r "$out" .sqlx
else
    mkdir -p .sqlx
    rm -f .sqlx/query-*.json
    cp "$out"/query-*.json .sqlx/
fi
