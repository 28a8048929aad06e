#!/bin/sh
# test_demo_flamingo.sh SOTTO: one server answers the demo's question although devices drop out and a decryptor is killed.
sotto=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
TMPDIR=$work
export TMPDIR

says() { # TEXT
    grep -q -- "$1" "$work/out" || { echo "the demo does not say: $1"; failed=1; }
}

"$sotto" demo --trust flamingo --devices 30 --check >"$work/out" 2>"$work/err" || { cat "$work/out" "$work/err"; exit 1; }
says 'it saw who took part'
says 'inputs are not validated'
says 'committee: 10 decryptors; 7 must sign, and 1 may lie'
says 'this committee proves nothing'
says 'amplified by aggregation: no'
says 'amplified by sampling: no: the server sees who takes part'
says 'of 30 devices dropped'
says '1 of 10 decryptors was killed'
says 'The committee made its key over the aggregator'"'"'s board'
says 'witnesses of the$'
says 'made their key themselves; one was switched off, and 2 gave the'
[ "$failed" -eq 0 ] || cat "$work/out" "$work/err"
! ls -d "$work"/sotto-demo-* 2>/dev/null || { echo "files are left"; failed=1; }
for wrong in '--trust' '--trust other' '--trust aero --keep' '--trust aero --devices 79' '--trust flamingo --keep' '--trust flamingo --devices 3000' '--devices 24'; do
    "$sotto" demo $wrong >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || { echo "sotto demo $wrong: not a mistake of usage"; failed=1; }
done
# The range that is named is that of the trust model.
for wrong in '--trust flamingo --devices 10' '--devices 10 --trust flamingo' '--trust flamingo --devices ten'; do
    "$sotto" demo $wrong 2>&1 | grep -q 'from 24 to 2000' || { echo "sotto demo $wrong: names another range"; failed=1; }
done
"$sotto" demo --devices 30 2>&1 | grep -q 'from 200 to 1000000' || { echo "sotto demo --devices 30: names another range"; failed=1; }
exit $failed
