#!/bin/sh
# run-with-npm.sh SOURCE FOLDER SCRIPT [ARGUMENT...]
#
# Runs the script of the folder SOURCE with the packages that tools/deps.sh put into FOLDER/node_modules. Where there are none, or no
# node, the test is skipped: exit 77 and a sentence. SOTTO_REQUIRE_PEERS=1 makes that a failure.
set -u

source=$1
folder=$2
script=$3
shift 3

no_peer() {
    if [ "${SOTTO_REQUIRE_PEERS:-0}" = 1 ]; then
        echo "failed: $1, and SOTTO_REQUIRE_PEERS=1 asks for $(basename "$source")" >&2
        exit 1
    fi
    echo "skipped: $1, so there is no $(basename "$source") to exchange tokens with" >&2
    exit 77
}

command -v node >/dev/null 2>&1 || no_peer "node is not installed"
[ -d "$folder/node_modules" ] || no_peer "its packages were not fetched (make deps does)"
# A module finds its packages beside itself.
cp "$source/$script" "$folder/$script" || no_peer "$folder can't be written"
exec node "$folder/$script" "$@"
