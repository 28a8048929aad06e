#!/bin/sh
# deps.sh SOURCE: tools/deps.sh against pretended package tools: it installs what is missing, by name,
# and reaches for nothing at all when nothing is.
source=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/tree"
cp -r "$source/tools" "$work/tree/tools"

pretend() {
    printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}
pretend apt-get 'echo "$@" >>"$CALLS"'
pretend cargo 'echo "cargo $@" >>"$CALLS"; case "$*" in *--offline*) exit ${OFFLINE:-0};; esac; exit ${ONLINE:-0}'
pretend sudo 'exec "$@"'
pretend dpkg-query 'for p in "$@"; do :; done; [ "$p" = "$MISSING" ] && exit 1; echo "install ok installed"'

run() {
    : >"$work/calls"
    CALLS="$work/calls" PATH="$work/bin:$PATH" sh "$work/tree/tools/deps.sh" >"$work/out" 2>&1
}
fail() {
    echo "$1"
    cat "$work/out" "$work/calls"
    exit 1
}

MISSING='' run || fail "failed with everything present"
[ -s "$work/calls" ] && fail "reached for the network with everything present"

MISSING=libcmocka-dev
export MISSING
run || fail "failed to install a package"
grep -q "install.*libcmocka-dev" "$work/calls" || fail "did not install what was missing"
grep -q "valgrind" "$work/calls" && fail "installed what was present"
grep -q "libcmocka-dev" "$work/out" || fail "did not name what was missing"

MISSING=
mkdir -p "$work/tree/tests/interop/prio-rs"
touch "$work/tree/tests/interop/prio-rs/Cargo.toml"
run || fail "failed with the peer's crates present"
grep -q "cargo fetch --locked$" "$work/calls" && fail "fetched crates that were there"
[ -e "$work/tree/build/peers-fetched" ] || fail "did not record that the peer is there"

OFFLINE=1 ONLINE=0 run || fail "failed to fetch the peer's crates"
grep -q "cargo fetch --locked$" "$work/calls" || fail "did not fetch the peer's crates"
[ -e "$work/tree/build/peers-fetched" ] || fail "did not record that the peer was fetched"

OFFLINE=1 ONLINE=1 run || fail "a registry out of reach must not fail the build"
[ -e "$work/tree/build/peers-fetched" ] && fail "says the peer is there, but it is not"
echo "deps: names, installs, and stays silent"
