#!/bin/sh
# test_learn_ranks.sh SOTTO SOURCE: `sotto sim learn` over ranks of MPI gives the bits of one process, goes on from its checkpoint, and
# ends on all ranks when one fails. Ranks that share memory take devices from one counter; ranks without it divide them beforehand, as
# those of several machines do.
sotto=$1 source=$2
command -v mpirun >/dev/null || { echo "mpirun is not installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
TMPDIR=$work
# What MPI itself keeps until a process ends is not ours.
ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
export TMPDIR ASAN_OPTIONS
cd "$work" || exit 1
mkdir raw && python3 "$source/tests/apps/make_learn_data.py" raw || exit 1
"$sotto" learn data mnist --from raw --writers raw --out digits >/dev/null || exit 1

ranks() { # COUNT OPTIONS...
    count=$1
    shift
    # shellcheck disable=SC2086 # several words
    mpirun --oversubscribe --allow-run-as-root $apart -n "$count" "$sotto" sim learn --quiet "$@" >out 2>err
}
apart=

complain() {
    echo "$1"
    cat out err
    failed=1
}

same() { # WHAT: the last two runs printed the same model and transcript, and nothing twice
    sed -n 's/.*\("digest".*\), "seconds".*/\1/p' one >wanted
    sed -n 's/.*\("digest".*\), "seconds".*/\1/p' out >got
    [ -s wanted ] && cmp -s wanted got || complain "$1: another model, or several"
}

set -- --data digits --model logistic --noise 0.7 --delta 1e-3 --evaluate 4 --json
"$sotto" sim learn --quiet "$@" --rounds 6 --cohort 6 >one || exit 1
ranks 2 "$@" --rounds 3 --cohort 6 --checkpoint point || complain "two ranks"
ranks 3 "$@" --rounds 6 --cohort 6 --checkpoint point --shares || complain "three ranks, in shares"
same "three ranks that go on where two ended"

# Slots without a device, so that dummies are divided as well.
set -- --data digits --model logistic --schedule fix --slots 20 --per-step 4 --check-in 0.5 --randomizer one-bit --local-epsilon 0.5 --delta 1e-3 --json
"$sotto" sim learn --quiet "$@" >one || exit 1
ranks 2 "$@" --threads 2 || complain "check-ins over two ranks"
same "check-ins over two ranks"
apart="--mca osc ^sm"
ranks 2 "$@" || complain "check-ins over two ranks without memory in common"
same "check-ins over two ranks without memory in common"
apart=

# One rank without its data, and one with other options: all end, and the reason is said once.
ranks 1 --data digits --rounds 2 : -n 1 "$sotto" sim learn --quiet --data nowhere --rounds 2 && complain "a rank without data: it went on"
grep -q "nowhere: there is no such file" err && grep -q "rank 1 failed" err || complain "a rank without data"
ranks 1 --data digits --rounds 2 : -n 1 "$sotto" sim learn --quiet --data digits --rounds 2 --clip 2 && complain "other options: it went on"
[ "$(grep -c "ranks do not have the same data and options" err)" -eq 1 ] || complain "other options"
exit $failed
