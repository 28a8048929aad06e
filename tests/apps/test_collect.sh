#!/bin/sh
# test_collect.sh SOTTO FAKE_LEADER: what an analyst types, against servers whose batch is known.
sotto=$1
fake=$2
work=$(mktemp -d) || exit 1
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# ask CODE ARGUMENTS...: `sotto collect` with the usual files; output in $work/out and $work/err.
ask() {
    wanted=$1
    shift
    "$sotto" collect --recipe "$work/recipe.json" --parties "$work/parties.json" --pairing "$work/pairing.json" \
        --key "$work/key" "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ $code -eq "$wanted" ] || fail "$*: exit $code, wanted $wanted: $(cat "$work/err")"
}
# The same, whether or not the example's week is over.
run() {
    ask "$@" --close-early
}
says() {
    grep -q "$1" "$work/out" || fail "the answer lacks: $1"
}
complains() {
    grep -q "$1" "$work/err" || fail "the complaint lacks: $1; it is: $(cat "$work/err")"
}

# The key: only its owner can read it, and it is never replaced.
config=$("$sotto" collect key "$work/key" --id 9 2>/dev/null) || fail "no key"
[ "$(stat -c %a "$work/key")" = 600 ] || fail "others can read the key"
case $config in 0900200001000100*) ;; *) fail "not a configuration: $config" ;; esac
grep -q "$config" "$work/key" || fail "the file has another public half"
before=$(cksum <"$work/key")
"$sotto" collect key "$work/key" >/dev/null 2>"$work/err" && fail "a key was replaced"
complains "not replaced"
[ "$before" = "$(cksum <"$work/key")" ] || fail "the key has changed"
"$sotto" collect key "$work/other" --json 2>/dev/null | grep -q '"config": "01' || fail "no JSON of a key"
"$sotto" collect key >/dev/null 2>&1
[ $? -eq 2 ] || fail "a key without a file"
"$sotto" collect key "$work/x" --id 256 >/dev/null 2>&1
[ $? -eq 2 ] || fail "a key of number 256"

"$sotto" recipe new >"$work/recipe.json"
mkfifo "$work/hold" "$work/ready"
"$fake" "$work/recipe.json" "$work/key" "$work" <"$work/hold" >"$work/ready" &
leader=$!
exec 3>"$work/hold"
trap 'exec 3>&-; kill $leader 2>/dev/null; rm -rf "$work"' EXIT
read -r line <"$work/ready"
[ "$line" = ready ] || { echo "the fake leader does not start"; exit 1; }

run 0 --cohort en_US
says "^cohort locale en_US: 41000 reports; estimated counts with 95% intervals"
says "^  cohort locale en_US$"
says "amplified by sampling: not claimed"
says "amplified by aggregation: yes"
says "rejected by the leader: 7 report_replayed"
says "rejected by the helper: 7 report_replayed"
says "volume (Sybil) check at the helper: TOO MANY .* released"
says "and .* bins with smaller counts"
[ "$(grep -c '%  [0-9]* to [0-9]*' "$work/out")" -eq 20 ] || fail "not 20 bars"
run 0 --cohort 0 --bins 3 --wait 0
[ "$(grep -c '  .*  *[0-9.]*%  [0-9]* to [0-9]*' "$work/out")" -eq 3 ] || fail "not 3 bars with percentages"
run 0 --cohort 0 --bins 3 --csv "$work/a.csv" --svg "$work/a.svg"
says "^receipt$"
[ "$(head -1 "$work/a.csv")" = "bin,label,sum,count,deviation,low,high,share,low_all,high_all,above_zero" ] || fail "no header in the CSV"
[ "$(wc -l <"$work/a.csv")" -gt 20 ] || fail "the CSV lacks bins"
[ "$(grep -c '<rect class="bar"' "$work/a.svg")" -eq 3 ] || fail "not 3 bars in the picture"
# One page without script, of which a browser loads nothing else.
run 0 --cohort 0 --bins 3 --rate 0.1 --adjust --html "$work/a.html" --csv "$work/a.csv"
says "of all devices, each of which took part with chance 0.1:"
says "adjusted counts are 0 or more and add up to all that were counted: they are biased"
says "not distinguishable from 0"
grep -q "default-src 'none'; style-src 'sha256-" "$work/a.html" || fail "no policy in the page"
grep -qi '<script\|href=\|src="\|url(\|http:\|https:' "$work/a.html" && fail "the page has a script, or asks for something"
for part in "<h2>By age" "<h2>Phrases of ngram" "<h2>Table" "<h2>Receipt" "<h2>Recipe" "<h2>Log proof" "by sampling"; do
    grep -q "$part" "$work/a.html" || fail "the page lacks $part"
done
[ "$(head -1 "$work/a.csv" | tr , '\n' | grep -c '^all_')" -eq 7 ] || fail "the CSV lacks all devices"
run 0 --cohort 0 --by age --csv "$work/a.csv"
says "^by age, whatever the other columns hold:$"
[ "$(wc -l <"$work/a.csv")" -eq 9 ] || fail "not a line for each age"
run 2 --cohort 0 --by size
complains "no column size"
run 2 --cohort 0 --rate 1.5
complains "from 0 to 1"
run 2 --cohort 0 --proof "$work/a.csv"
complains "asks for no log"
run 1 --cohort 0 --csv "$work/nowhere/a.csv"
complains "nowhere/a.csv can't be written: No such file or directory"
grep -q "is chance" "$work/out" && fail "three likely counts are called chance"
run 0 --cohort 0 --bins 0
says "a count below 0 or above 41000 is chance"
run 0 --cohort 0 --json --from 2026-11-20T00:00:00Z --until 2026-11-27T00:00:00Z
python3 - "$work/out" <<'PYTHON' || fail "the JSON is not as it should be"
import json, sys
a = json.load(open(sys.argv[1]))
assert a["cohort"] == 0 and a["cohort_values"] == {"locale": "en_US"}
assert a["receipt"]["cohort_values"] == {"locale": "en_US"}
assert a["reports"] == 41000 and a["confidence"] == 0.95
assert a["from"] == "2026-11-20T00:00:00Z" and a["until"] == "2026-11-21T00:00:00Z"
truth = [16000, 8000] + [0] * (len(a["bins"]) - 2)
missed = sum(not b["low"] <= t <= b["high"] for b, t in zip(a["bins"], truth))
assert missed <= len(truth) // 5, missed
assert abs(a["bins"][0]["count"] - 16000) < 2000
assert abs(a["bins"][0]["share"] - a["bins"][0]["count"] / 41000) < 1e-12
assert a["bins"][0]["label"] and a["bins"][0]["bin"] == 0
assert a["bins"][0]["above_zero"] and all(b["low_all"] <= b["low"] and b["high"] <= b["high_all"] for b in a["bins"])
assert [len(c["bins"]) for c in a["columns"]] == [8, 34] and len(a["tree"]["phrases"]) == 6
assert "rate" not in a and a["adjusted"] is False  # closed early: nobody knows who would have come
r = a["receipt"]
assert len(r["task"]) == 43 and set(r["task"]) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), r["task"]
assert r["helper_rejections"] == {"report_replayed": 7} and r["sampling"] is False and r["aggregation"] is True
for who in "leader", "helper":
    assert r[who + "_rate_checked"] is True and r[who + "_rate_released"] is True
PYTHON

echo counts >"$work/mode"
run 0 --cohort 0
says "rejected by the helper: unknown; it does not tell"
says "volume (Sybil) check at the helper: unknown; it does not tell"
run 0 --cohort 0 --json
says '"helper_rate_checked": null'
says '"helper_rate_released": null'
echo apart >"$work/mode"
run 6 --cohort 0
complains "belong together"
[ -s "$work/out" ] && fail "something was shown of shares that don't belong together"
echo waiting >"$work/mode"
before=$(date +%s%3N)
run 5 --cohort 0 --wait 3
[ $(($(date +%s%3N) - before)) -ge 3000 ] || fail "it did not wait as long as it was told to"
complains "not ready"
complains "the request stays open"
complains "held"
complains "withdraw takes"
before=$(date +%s%3N)
run 5 --cohort 0 --wait 0
[ $(($(date +%s%3N) - before)) -lt 30000 ] || fail "it waits although it was told not to"
complains "the request stays open"
grep -q "waiting for the batch" "$work/err" && fail "it says that it waits, and was told not to"
# What was asked too early is taken back; --close-early is nothing that this needs.
ask 0 --cohort 0 --until 2090-01-01T00:00:00Z --withdraw
says "^withdrawn: "
ask 1 --cohort 0 --withdraw
complains "no such request"
echo waiting >"$work/mode"
ask 0 --cohort 0 --withdraw --json
says '^{"withdrawn": true}$'
rm "$work/mode"
ask 1 --cohort 0 --withdraw
complains "too late"
[ -s "$work/out" ] && fail "something was shown of an answer that was not asked for"

# What is wrong with files and arguments is said before anybody is asked.
run 2
complains "2 cohorts"
complains "^  --cohort 1  locale en_GB$"
run 2 --cohort fr_FR
complains "no cohort 'fr_FR'; it has:"
complains "^  --cohort 0  locale en_US$"
complains "^  --cohort 1  locale en_GB$"
run 2 --cohort 2
run 2 --cohort 0 next
complains "intervals of time"
run 2 --cohort 0 --from yesterday
run 2 --cohort 0 --nonsense
# An interval that is not over is closed by asking: only for somebody who says so.
ask 5 --cohort 0 --until 2090-01-01T00:00:00Z
complains "would close it"
run 0 --cohort 0 --until 2090-01-01T00:00:00Z
ask 6 --cohort 0 --from 2026-11-01T00:00:00Z --until 2026-11-02T00:00:00Z
complains "another time"
run 1 --cohort 0 --from 2026-11-20T00:30:00Z
complains "3600 seconds"
chmod 640 "$work/key"
run 4 --cohort 0
complains "chmod 600"
chmod 600 "$work/key"
run 4 --cohort 0 --key "$work/other"
complains "no collector with this key"
run 3 --cohort 0 --pairing "$work/key"
complains "not a pairing file"
"$sotto" collect key "$work/third" >"$work/third.txt" 2>/dev/null
"$sotto" admin pair new --leader key:leader-2026a --helper key:helper-2026a --collector key:collector-2026a \
    --collector-key "$work/third.txt" --parties "$work/parties.json" "$work/pairing2.json" --tokens "$work/tokens2.json" \
    >/dev/null || fail "no pairing"
run 4 --cohort 0 --pairing "$work/tokens2.json"
complains "paired for another key"
# Tokens go to nobody whom a parties file brings in later, as the leader or as the helper.
for role in leader helper; do
    awk -v role="\"$role\"" '$0 ~ role { on = 1 } on && /"url"/ { sub(/http:[^"]*/, "http://127.0.0.1:9/"); on = 0 } 1' \
        "$work/parties.json" >"$work/parties2.json"
    cmp -s "$work/parties.json" "$work/parties2.json" && fail "the same parties"
    run 4 --cohort 0 --parties "$work/parties2.json"
    complains "paired for other URLs than the parties file has"
done
sed 's/key:leader-2026a/key:leader-2026b/' "$work/recipe.json" >"$work/recipe2.json"
run 1 --cohort 0 --recipe "$work/recipe2.json"
sed 's/"min_cohort": 40000/"min_cohort": 40/' "$work/recipe.json" >"$work/recipe2.json"
run 3 --cohort 0 --recipe "$work/recipe2.json"
"$sotto" collect --recipe "$work/recipe.json" >/dev/null 2>&1
[ $? -eq 2 ] || fail "files that are missing"

exec 3>&-
wait $leader
# Its port stays nobody's meanwhile: another test's server would answer.
port=$(sed -n 's|.*"http://127.0.0.1:\([0-9]*\)/.*|\1|p' "$work/parties.json" | head -1)
python3 - "$port" "$work/keep" <<'KEEP' &
import os, socket, sys, time
kept = socket.socket()
kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
kept.bind(("127.0.0.1", int(sys.argv[1])))
open(sys.argv[2], "w").close()
while os.path.exists(sys.argv[2]):
    time.sleep(0.05)
KEEP
keeper=$!
until [ -e "$work/keep" ] || ! kill -0 $keeper 2>/dev/null; do sleep 0.05; done
if [ -e "$work/keep" ]; then
    run 7 --cohort 0 --wait 2
    complains "the leader"
else
    echo "the leader's port was taken at once: not asked there"
fi
rm -f "$work/keep"
wait $keeper
[ $failed -eq 0 ] && echo "collect: all well"
exit $failed
