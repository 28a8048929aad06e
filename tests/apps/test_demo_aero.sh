#!/bin/sh
# test_demo_aero.sh SOTTO: encrypted sums answer the demo's question, and a server that lies is caught. Minutes of proofs and windows: the short
# form looks at options alone, and serve_board_heads plays such rounds with a double of proofs. SOTTO_TEST_LONG makes it long.
sotto=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

says() { # TEXT
    grep -q -- "$1" "$work/out" || { echo "the demo does not say: $1"; failed=1; }
}

"$sotto" demo --trust aero --devices 79 2>"$work/err"
[ $? -eq 2 ] && grep -q 'from 80 to 500' "$work/err" || { echo "79 devices: not refused with the range"; failed=1; }
"$sotto" demo --trust aero --keep 2>"$work/err"
[ $? -eq 2 ] && grep -q 'with one server only' "$work/err" || { echo "--keep is not refused"; failed=1; }
[ -n "$SOTTO_TEST_LONG" ] || exit $failed

"$sotto" demo --trust aero --devices 80 --check >"$work/out" 2>"$work/err" || { cat "$work/out" "$work/err"; exit 1; }
says 'it saw who took part'
says 'inputs are validated'
says 'committee: 15 members, of whom 8 may lie'
says 'noise committee: 16 members, of whom 8 may lie and 2 be missing'
says 'set b87, 159 bits of security, 158 with all hints'
says 'amplified by aggregation: no'
says 'amplified by sampling: not claimed: whoever adds up sees who takes part'
says '1 member of the committee that was switched off'
says 'on the log: key at [0-9]*, certificate at [0-9]*, promises at [0-9]*, leaves at [0-9]*, sums at [0-9]*, verdict at [0-9]*'
says 'Caught: device [0-9]* looked at that leaf'
says 'nothing was opened'
says 'Devices read boards that the witness had cosigned'
! grep -q 'a trial\|prove nothing' "$work/out" || { echo "the sizes protect nobody"; failed=1; }
[ "$failed" -eq 0 ] || cat "$work/out" "$work/err"
exit $failed
