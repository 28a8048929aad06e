#!/bin/sh
# test_analysis_servers.sh SOTTO SOURCE: `sotto analysis` over a leader and a helper that run. Real devices answer four rounds of a
# search for phrases. Then a log, the helper and the leader are gone, one after another.
. "$2/tests/apps/analysis.sh"

# ---- a leader and a helper: four rounds that twelve devices answer -------------------------------------------------------------------
"$sotto" demo --keep >kept 2>err &
keeper=$!
for i in $(seq 300); do
    grep -q "Ctrl-C ends" kept && break
    sleep 0.2
done
folder=$(sed -n 's|^  \(.*\)/recipe.json .*|\1|p' kept)
[ -n "$folder" ] || { complain "no deployment"; cat kept err; exit 1; }
python3 - "$folder" <<'FRAME'
import json, sys
folder = sys.argv[1]
recipe = json.load(open(folder + "/recipe.json"))
recipe["recipe"], recipe["analysis"] = "ways", "com.example.commute"
del recipe["randomizer"]
recipe["encode"] = {"way": {"type": "categories", "values": ["a", "b"]}}
recipe["privacy"] = {"adjacency": "replacement", "by": "servers", "sigma": 1, "epsilon": 30, "delta": 1e-6, "min_cohort": 10}
recipe["recipe"] = "own"
json.dump(recipe, open("own.json", "w"))
recipe["recipe"], recipe["query"] = "pairs", "SELECT way, way || ' ' || way AS pair FROM commutes"
recipe["encode"]["pair"], recipe["encode"]["combine"] = recipe["encode"]["way"], ["way", "pair"]
json.dump(recipe, open("frame.json", "w"))
policy = json.load(open(folder + "/policy.json"))
policy["analyses"]["com.example.commute"].update(epsilon=100, reports=9)
policy["fields"]["commutes.way"].update(epsilon=100, reports=9, epsilon_local="none", by=["servers"])
json.dump(policy, open("allowed.json", "w"))
# What devices have allows less than the analyst's copy says: their ledgers decide.
policy["analyses"]["com.example.commute"]["reports"] = policy["fields"]["commutes.way"]["reports"] = 5
json.dump(policy, open("five.json", "w"))
FRAME
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    mkdir "device$i"
    cp five.json "device$i/policy.json"
    cp "$folder"/parties.json "$folder"/streams.json "device$i"
    echo '{"way": "ab"}' | "$sotto" device donate commutes --json-lines - --dir "device$i" >/dev/null || complain "device $i: no event"
    "$sotto" device consent yes --dir "device$i" >/dev/null || complain "device $i: no consent"
done

answer() { # FOLDER STEP: both operators add its task, and all devices answer
    step=$1/0$2 sent=sent$1$2
    for server in leader helper; do
        (cd "$folder" && "$sotto" admin task add "$work/$step/recipe.json" parties.json --config $server.ini --population 12) >out 2>err ||
            { complain "$step: no task at the $server"; cat err; }
    done
    url=$(python3 -c "
import json, subprocess
task = json.loads(subprocess.run(['$sotto', 'recipe', 'compile', '$step/recipe.json', '$folder/parties.json', '--json'], stdout=subprocess.PIPE).stdout)
print(json.load(open('$folder/parties.json'))['key:leader']['url'] + 'tasks/' + task['task_id'] + '/reports')")
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        mkdir "device$i/$sent"
        "$sotto" device offer "$step/recipe.json" --dir "device$i" >out 2>&1 || { complain "$step: device $i refuses"; cat out; }
        "$sotto" device tick --idle --charging --network --out "device$i/$sent" --dir "device$i" >out 2>&1 || { complain "$step: device $i: no report"; cat out; }
    done
    # A server serves a task within a second of its being added.
    python3 - "$url" device*/$sent/* <<'POST' || complain "$step: reports are not taken"
import sys, time, urllib.error, urllib.request
for path in sys.argv[2:]:
    for attempt in range(100):
        request = urllib.request.Request(sys.argv[1], open(path, "rb").read(), {"Content-Type": "application/ppm-dap;message=upload-req"}, method="POST")
        try:
            assert urllib.request.urlopen(request).status == 200
            break
        except urllib.error.HTTPError:
            time.sleep(0.2)
    else:
        sys.exit(1)
POST
}

cp -p "$folder/parties.json" "$folder/pairing.json" "$folder/collector-key.json" .
servers="--parties parties.json --pairing pairing.json --key collector-key.json"
expect 0 "give these bytes to devices, and to both operators" discover R --phrases 2 --alphabet ab --longest 3 --cells 6 --rounds 2 --epsilon 30 \
    --recipe frame.json --policy allowed.json $servers
expect 5 "its schedule is not over" discover R
expect 0 "schedule is not over" watch R
"$sotto" analysis watch R --json >out 2>err || complain "watch: no JSON"
python3 - <<'CHECK' || { complain "watch tells a count"; cat out; }
import json
d = json.load(open("out"))
assert set(d) - {"format", "version"} == {"simulated", "search", "stopped", "steps"}, d
for step in d["steps"]:
    assert set(step) <= {"step", "recipe", "state", "epsilon", "delta", "opens", "closes", "last"}, step
    assert "reports so far" not in step.get("last", ""), step
    # Behind its time, what the last request came to: words, no number.
    assert not any(c.isdigit() for c in step.get("last", "").partition("Z: ")[2]), step
CHECK
answer R 1
expect 0 "step 2 is R/02/recipe.json" discover R --close-early
answer R 2
expect 0 "step 3 is R/03/recipe.json" discover R --close-early
answer R 3
expect 0 "step 4 is R/04/recipe.json" discover R --close-early
answer R 4
expect 0 '"rounds": 4' discover R --close-early --json --wait 120
python3 - <<'CHECK' || failed=1
import json
d = json.load(open("out"))
# Real noise: besides the phrase of all twelve, something may be found that nobody has. A deviation of 0.9 is never off by 8.
found = {f["phrase"]: f["count"] for f in d["found"]}
assert d["done"] and d["counted"] and abs(found["ab ab"] - 12) < 8, d
assert "ab" in [w["word"] for w in d["words"]], d
CHECK
# A log that can't be reached: the step is kept, and nobody has it.
printf 'token' >log-token
key=$("$sotto" log key log.example --out log.key) || complain "no key of a log"
expect 7 "step 1 is kept, and not in the log yet, so no device has it" start G --recipe own.json --policy allowed.json $servers \
    --from http://127.0.0.1:9/ --log "$key" --token log-token
grep -q "sotto analysis result G" err || { complain "a log that is gone: it is not said what to type"; cat err; }
expect 7 "not in the log yet" result G
[ "$(grep -c asked G/journal.txt)" = 1 ] || complain "a log that is gone: the step is asked twice"
# A helper that is gone: reports wait at the leader, and the collector is told.
expect 0 "step 1 is" start Y --recipe own.json --policy allowed.json $servers
python3 - "$keeper" >helper <<'HELPER'
import json, os, sys
port = json.load(open("parties.json"))["key:helper"]["url"].rstrip("/").rsplit(":", 1)[1]
lines = [line.split() for line in open("/proc/net/tcp").read().splitlines()[1:]]
sockets = {"socket:[%s]" % l[9] for l in lines if l[1].endswith(":%04X" % int(port)) and l[3] == "0A"}
for pid in open("/proc/%s/task/%s/children" % (sys.argv[1], sys.argv[1])).read().split():
    for fd in os.listdir("/proc/%s/fd" % pid):
        try:
            if os.readlink("/proc/%s/fd/%s" % (pid, fd)) in sockets:
                print(pid)
                sys.exit()
        except OSError:
            pass
HELPER
[ -s helper ] || complain "no process of the helper"
answer Y 1
# Five reports are all that a ledger allows. The analyst may ask a sixth time, and hears nothing but that there is no answer.
sed 's/"recipe": "own"/"recipe": "sixth"/' own.json >sixth.json
expect 0 "step 1 is" start L --recipe sixth.json --policy allowed.json $servers
for server in leader helper; do
    (cd "$folder" && "$sotto" admin task add "$work/L/01/recipe.json" parties.json --config $server.ini --population 12) >out 2>err || complain "a sixth step: no task"
done
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    mkdir "device$i/sixth"
    "$sotto" device offer L/01/recipe.json --dir "device$i" >>offered 2>&1
    "$sotto" device tick --idle --charging --network --out "device$i/sixth" --dir "device$i" >>offered 2>&1
done
[ -z "$(ls device*/sixth | grep report)" ] || complain "a sixth step: a device answers beyond its ledger"
"$sotto" device why sixth --dir device1 >out 2>&1
grep -qF "5 of 5 reports are used" out || { complain "a sixth step: the person is not told why"; cat out offered; }
expect 5 "step 1 has no answer" result L --close-early --wait 1
grep -qi "refused\|ledger\|budget" err && { complain "a sixth step: the analyst is told what ledgers refused"; cat err; }
expect 0 "too few reports came so far" watch L
kill -KILL "$(cat helper)"
expect 7 "the helper can't be reached" result Y --close-early --wait 1
grep -q "Kept: 0 answered steps, and the recipe of step 1. The same command asks for this answer again" err || complain "a helper that is gone: what is kept?"
expect 0 "a server can't be reached" watch Y
# Servers that are gone: what is there stays.
expect 0 "step 1 is" start Z --recipe own.json --policy allowed.json $servers
kill -INT "$keeper"
wait "$keeper" # its helper was killed
keeper=
expect 7 "a server can't be reached" result Z --close-early --wait 1
grep -q "Kept: 0 answered steps, and the recipe of step 1" err || complain "servers that are gone: it is not said what is kept"
expect 0 "stopped: nothing more is asked" stop Z
exit $failed
