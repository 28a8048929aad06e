#!/bin/sh
# test_demo.sh SOTTO: the demo's sum is the truth, and mistakes are answered with their exit codes.
sotto=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

expect() { # CODE WHAT COMMAND...
    wanted=$1 what=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    got=$?
    if [ "$got" -ne "$wanted" ]; then
        echo "$what: wanted exit $wanted, got $got"
        failed=1
    fi
}

expect 0 "a small demo" "$sotto" demo --devices 3000 --json
python3 - "$work/out" <<'CHECK' || failed=1
import json, sys
d = json.load(open(sys.argv[1]))
assert d["histogram"] == d["truth"], "the sum is not the truth"
assert d["accepted"] + d["malformed"] + d["rejected"] == d["devices"] == 3000
assert d["malformed"] + d["rejected"] == d["cheats"] == 3000 - sum(d["truth"])
CHECK
expect 0 "help" "$sotto" demo --help
expect 0 "the list of verbs" "$sotto" --help
expect 2 "no verb" "$sotto"
expect 2 "an unknown verb" "$sotto" nosuch
expect 2 "an unknown option" "$sotto" demo --nosuch
expect 2 "devices without a number" "$sotto" demo --devices
grep -q "takes a number" "$work/err" || { echo "it does not say what --devices takes"; failed=1; }
expect 2 "no devices" "$sotto" demo --devices 0
expect 1 "a full disk" sh -c '"$1" demo --devices 10 >/dev/full' sh "$sotto"
exit $failed
