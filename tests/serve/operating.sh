#!/bin/sh
# operating.sh docs/operating.md SOTTO: types every ```sh block of the page's first nine sections, in order, in an empty directory, and checks
# what an operator would see. Only the ports are others, so that a server of this machine's own is no obstacle.
ports=4
. "$(dirname "$0")/operating_head.sh"

# Without curl, which sotto itself does not need, the page is typed but for its devices and their answer.
command -v curl >/dev/null && answer=1 || answer=0
# Sections 10 to 15 have a test of their own, operating_services.sh.
awk -v answer=$answer '/^## / { on = (answer || !/See one answer/) && !/^## 1[0-9]/ }
    /^```sh$/ { run = on; next } /^```/ { run = 0 } run' "$page" |
    sed -e "s/127\.0\.0\.1:8787/127.0.0.1:$base/; s/127\.0\.0\.1:8788/127.0.0.1:$((base + 1))/" \
        -e "s/^\[leader\]$/[leader]\noperations = 127.0.0.1:$((base + 2))/" \
        -e "s/^\[helper\]$/[helper]\noperations = 127.0.0.1:$((base + 3))/" \
        -e 's/^sotto admin health /look /' -e 's/ &$/ \& echo $! >> pids/' >"$directory/page.sh"
[ "$(wc -l <"$directory/page.sh")" -gt 40 ] || fail "the page has lost its commands"
cd "$directory" || exit 1
types page.sh

expect 5 '^ready$'
expect 2 '^tasks: none yet'
expect 0 '^pairing:'
expect 0 '^rate check:'
expect 3 '^drained$'
[ "$(sed -n 's/^fingerprint //p' output | sort | uniq -c | wc -l)" -eq 1 ] || fail "fingerprints differ"
[ "$(grep -c '^fingerprint' output)" -eq 3 ] || fail "three prints of the fingerprint"
expect 3 "^leader URL http://127.0.0.1:$base/$"
expect 3 "^helper URL http://127.0.0.1:$((base + 1))/$"
tasks=$(wc -l <tasks.txt)
[ "$tasks" -gt 0 ] || fail "no task"
# printed by the leader, by the helper, and in the helper's list
expect $((3 * tasks)) '^task '
expect "$tasks" '^task [^ ]*  commute-1 version 1  20[^ ]*Z to 20.*  paired'
expect "$answer" '^12 reports; estimated counts with 95% intervals'
expect "$answer" '^ *bus '
[ "$(stat -c %a pairing.json)" = 600 ] || fail "pairing.json can be read by others"
[ "$(stat -c %a tokens.json)" = 600 ] || fail "tokens.json can be read by others"
grep -q 'verify_seed\|leader_token' tokens.json && fail "the collector is told the servers' secrets"
[ "$(wc -c <helper.key)" -eq 64 ] || fail "the old datastore key is not behind the new one"
[ "$(stat -c %a helper.key)" = 600 ] || fail "helper.key can be read by others"
[ "$(stat -c %a helper-backup.db)" = 600 ] || fail "the backup can be read by others"
for log in leader.log helper.log; do
    stopped "$log"
    grep -q 'datastore_key.made' "$log" || fail "$log: does not say that it made a key"
done

# A refusal is seen by whoever posts: the page's loop would have said so.
if [ "$answer" -eq 1 ]; then
    grep -q 'the leader rejected' output && { cat output; fail "a report was refused"; }
    grep -q "\[ ! -s device.n/answer \] || echo" page.sh || fail "the page does not look at the leader's answer"
fi

# ---- what must be refused ------------------------------------------------------------------------------------------

refuses 7 "nothing answers at 127.0.0.1:$((base + 3)): does the server run?" sotto admin health --config helper.ini
refuses 7 "nothing answers at 127.0.0.1:$((base + 2)): does the server run?" sotto admin drain --config leader.ini
refuses 2 'what is' sotto admin task add recipe.json parties.json --colour red --config helper.ini
refuses 2 'secrets are no flags' sotto serve helper --config helper.ini --datastore-key 00ff
refuses 2 'this file is for a helper' sotto serve leader --config helper.ini
refuses 1 'exists' sotto admin backup helper-backup.db --config helper.ini
refuses 4 'collector.s file' sotto admin pair take tokens.json --config helper.ini
[ "$(sotto admin batch list --config helper.ini 2>&1)" = none ] || fail "a batch is held that nobody filled"
[ -z "$(sotto admin batch list --config helper.ini --json 2>&1)" ] || fail "no batches are no JSON"
refuses 1 'no batch' sotto admin batch release 1-2-3 --reason because --config helper.ini
refuses 2 'reason' sotto admin batch release 1-2-3 --config helper.ini
[ "$(sotto admin segment list --config leader.ini 2>&1)" = none ] || fail "a segment can't be read"
[ -z "$(sotto admin segment list --config leader.ini --json 2>&1)" ] || fail "no segments are no JSON"
refuses 1 'no segment 17' sotto admin segment abandon 17 --reason because --config leader.ini
refuses 2 'reason' sotto admin segment abandon 17 --config leader.ini
for reason in '' "$(printf 'because\n\033[1m')" "$(printf '\377')"; do
    refuses 2 'a line of text' sotto admin batch release 1-2-3 --reason "$reason" --config helper.ini
    refuses 2 'a line of text' sotto admin segment abandon 17 --reason "$reason" --config leader.ini
done
refuses 2 'number' sotto admin segment abandon all --reason because --config leader.ini
sotto admin gc --config helper.ini --json | grep -q '"repairs": 0, "tokens": 0, "broken": 0' || fail "gc does not tell all"
# Under names of its own, which the parties file then has.
pair_new() { # LEADER HELPER COLLECTOR KEY FILE
    sed "s/\"key:leader-2026a\"/\"$1\"/; s/\"key:helper-2026a\"/\"$2\"/" parties.json >named.json
    sotto admin pair new --leader "$1" --helper "$2" --collector "$3" --collector-key "$4" --parties named.json "$5"
}
refuses 1 'can.t write' pair_new a b c collector-public.txt pairing.json
refuses 1 'the parties file has no helper key:leader-2026a' sotto admin pair new --leader key:leader-2026a \
    --helper key:leader-2026a --collector c --collector-key collector-public.txt --parties parties.json third.json
refuses 1 'the parties file has no leader key:leader-2026z' sotto admin pair new --leader key:leader-2026z \
    --helper key:helper-2026a --collector c --collector-key collector-public.txt --parties parties.json third.json
refuses 2 'collector-key FILE' sotto admin pair new --leader a --helper b --collector c third.json
refuses 2 'parties FILE' sotto admin pair new --leader a --helper b --collector c \
    --collector-key collector-public.txt third.json
refuses 1 'is not the line' pair_new a b c parties.json third.json
sed 's|"url": "http://127|"url": "http://user@127|' parties.json >users.json
refuses 1 'leader_url: an absolute http or https URL' sotto admin pair new --leader key:leader-2026a \
    --helper key:helper-2026a --collector c --collector-key collector-public.txt --parties users.json third.json
[ -e third.json ] && fail "a pairing without the collector's key or the servers' URLs was written"
# Another's key in the collector's place: the id is the same, and the task is not added all the same.
sotto collect key stranger.key >stranger-public.txt 2>/dev/null
sed "s/$(cat collector-public.txt)/$(cat stranger-public.txt)/" parties.json >other-parties.json
for side in helper leader; do
    refuses 4 "another collector key than pairing .*what .sotto collect key. printed" sotto admin task add \
        recipe.json other-parties.json --expect "$(sed -n 's/^task \([^ ]*\).*/\1/p' tasks.txt)" --config $side.ini
done
sotto admin task add recipe.json parties.json --config helper.ini >/dev/null 2>&1 || fail "the right key is refused"
# Another's URL in a server's place, in one file for both, so that the ids are the same.
for which in 8787:leader 8788:helper; do
    sed "s|127.0.0.1:$((base + ${which%:*} - 8787))/|127.0.0.1:9/|" parties.json >other-parties.json
    for side in helper leader; do
        refuses 4 "the task has another ${which#*:} URL than pairing .*: compare the parties file with" \
            sotto admin task add recipe.json other-parties.json --config $side.ini
    done
done
# A leader that could not call its helper's URL; the helper calls nobody.
sed "s|http://127.0.0.1:$((base + 1))/|http://helper.example/|" parties.json >other-parties.json
sotto admin pair new --leader key:leader-2026a --helper key:helper-2026a --collector c \
    --collector-key collector-public.txt --parties other-parties.json plain.json >/dev/null || fail "no pairing"
refuses 4 'plain http is for loopback only' sotto admin pair take plain.json --config leader.ini
sed '/"helper_url"/d' pairing.json >old.json && chmod 600 old.json
refuses 1 'no URLs of the servers, as in those of earlier versions: pair again, under other names' \
    sotto admin pair take old.json --config helper.ini
sed 's/"min_cohort": *[0-9]*/"min_cohort": 11/' recipe.json >other.json
refuses 4 'task ids differ' sotto admin task add other.json parties.json --config helper.ini \
    --expect "$(sed -n 's/^task \([^ ]*\).*/\1/p' tasks.txt)"
refuses 1 'no task id' sotto admin task add recipe.json parties.json --config helper.ini --expect ''
refuses 1 'is not a task id' sotto admin task add recipe.json parties.json --config helper.ini --expect 'one two'
refuses 2 'takes a number from 1 to 100000000000, or COHORT=NUMBER; nothing changed' \
    sotto admin task add recipe.json parties.json --population 0 --config helper.ini
refuses 2 'from 1 to 100000000000' \
    sotto admin task add recipe.json parties.json --population 100000000001 --config helper.ini
sed 's/"key:leader-2026a"/"key:leader-2026z"/' recipe.json >other.json
refuses 1 'the parties file has no key:leader-2026z, which is this server (leader) in the recipe' \
    sotto admin task add other.json parties.json --config leader.ini
sed 's/SELECT /SELEC /' recipe.json >other.json
refuses 3 'near "SELEC": syntax error' sotto admin task add other.json parties.json --config helper.ini
sed 's/"opens": "[0-9]*-/"opens": "2020-/' recipe.json >other.json
refuses 4 "no key of .* for the schedule's start (2020-.*); the last: 20.*Z to 20.*Z" \
    sotto admin task add other.json parties.json --config helper.ini
sotto recipe new --parties >strangers.json
refuses 4 'no key of this server' sotto admin task add recipe.json strangers.json --config helper.ini
# Another's key beside its own, before it and behind it.
mkdir mixed
cp leader-key.json collector-public.txt mixed
sed -n '/^cat > parties.json/,/^END$/p' page.sh >mixed/page.sh
for order in 'leader-key.json helper-key.json' 'helper-key.json leader-key.json'; do
    (cat "${order% *}" && echo , && cat "${order#* }") >mixed/helper-key.json
    (cd mixed && sh -eu page.sh) || fail "no parties file"
    refuses 4 'config [0-9]* (20.*Z to 20.*Z) is no key of this server: correct the parties file' \
        sotto admin task add recipe.json mixed/parties.json --config helper.ini
done
pair_new key:leader-2026a key:helper-2026a c collector-public.txt second.json >/dev/null
refuses 4 'paired already' sotto admin pair take second.json --config helper.ini
pair_new a b c stranger-public.txt fourth.json >/dev/null
refuses 4 'another collector key than collector-public.txt: nothing was taken in' \
    sotto admin pair take fourth.json --collector-key collector-public.txt --config helper.ini
sotto admin pair show --config helper.ini | grep -q 'leader a ' && fail "a stranger's pairing was taken in"
grep -q 'was not compared' output errors && fail "a key that was compared is called another"
pair_new d e f stranger-public.txt fifth.json >/dev/null
sotto admin pair take fifth.json --config leader.ini >out 2>&1 || fail "no pairing without a key to compare"
grep -q "collector's key was not compared" out || { cat out; fail "does not say that the key was not compared"; }
pair_new g h i stranger-public.txt sixth.json >/dev/null
sotto admin pair take sixth.json --config leader.ini --json 2>/dev/null >out
grep -q '"key_compared": false}$' out || { cat out; fail "JSON does not say that the key was not compared"; }
refuses 1 'is not the line' sotto admin pair take fourth.json --collector-key parties.json --config helper.ini
chmod 644 fourth.json
refuses 4 'fourth.json holds secrets, and others may read it: chmod 600' sotto admin pair take fourth.json --config helper.ini
# A pipe that only we can read is as good as a file that only we can read.
for pair in 'j k' 'l m'; do
    pair_new "${pair% *}" "${pair#* }" n stranger-public.txt "piped-${pair% *}.json" >/dev/null
done
(cat piped-j.json | sotto admin pair take /dev/stdin --config leader.ini) >out 2>&1 || { cat out; fail "no pairing from a pipe"; }
mkfifo -m 600 own.fifo && mkfifo -m 644 shown.fifo
cat piped-l.json >own.fifo &
sotto admin pair take own.fifo --config leader.ini >out 2>&1 || { cat out; fail "no pairing from a FIFO"; }
cat piped-l.json >shown.fifo 2>/dev/null &
refuses 4 'shown.fifo holds secrets, and others may read it: chmod 600' sotto admin pair take shown.fifo --config leader.ini
wait
chmod 644 helper.key
refuses 4 'helper.key holds secrets, and others may read it: chmod' sotto admin keys list --config helper.ini
refuses 1 'helper.key holds secrets, and others may read it: chmod' sotto serve helper --config helper.ini
chmod 600 helper.key
refuses 4 'late reports' sotto admin gc --keep-days 3 --config helper.ini
mv helper.key away.key
refuses 1 'missing' sotto serve helper --config helper.ini
[ -f helper.key ] && fail "a second datastore key was made"
mv away.key helper.key

# ---- what a list says ------------------------------------------------------------------------------------------------

shows() {
    text=$1
    shift
    "$@" >out 2>&1 || { cat out; fail "fails: $*"; }
    grep -q -- "$text" out || { cat out; fail "does not say '$text': $*"; }
}
for side in helper leader; do
    urls="leader URL http://127.0.0.1:$base/  helper URL http://127.0.0.1:$((base + 1))/"
    shows "^fingerprint .*  leader key:leader-2026a  helper key:helper-2026a  $urls  collector key $(cat collector-public.txt)$" \
        sotto admin pair show --config $side.ini
    shows "\"helper_url\": \"http://127.0.0.1:$((base + 1))/\", \"collector_key\": \"$(cat collector-public.txt)\"}" \
        sotto admin pair show --config $side.ini --json
done
shows '"recipe": "commute-1", "version": 1, "cohort": 0, "cohort_values": {}, "opens": "20' sotto admin task list --config leader.ini --json
# Which part of a recipe that has several.
sed 's/"commute-1"/"commute-2"/; s/"encode": {/"cohorts": {"os": ["a", "b"]}, &/' recipe.json >parts.json
shows '^task [^ ]*  cohort os b$' sotto admin task add parts.json parties.json --population 24 --config leader.ini
shows '"cohort": 1, "cohort_values": {"os": "b"}}' sotto admin task add parts.json parties.json --json --config leader.ini
shows '^task [^ ]*  commute-2 version 1, cohort os b  20' sotto admin task list --config leader.ini
# Each cohort has a population of its own, which its batches are checked against.
shows '^each of the 2 cohorts is checked against all 24 devices; --population COHORT=N' \
    sotto admin task add parts.json parties.json --population 24 --config leader.ini
shows '^task ' sotto admin task add parts.json parties.json --population a=20 --population b=4 --config leader.ini
shows '^task .*, cohort os a  .* population 20$' sotto admin task list --config leader.ini
shows '^task .*, cohort os b  .* population 4$' sotto admin task list --config leader.ini
shows '^task ' sotto admin task add parts.json parties.json --population 1=5 --config leader.ini
shows '^task .*, cohort os a  .* population 20$' sotto admin task list --config leader.ini
shows '^task .*, cohort os b  .* population 5$' sotto admin task list --config leader.ini
refuses 2 "no cohort 'c'; it has:" sotto admin task add parts.json parties.json --population c=5 --config leader.ini
refuses 2 'or COHORT=NUMBER' sotto admin task add parts.json parties.json --population a=0 --config leader.ini
shows '"cohort": 0, "cohort_values": {"os": "a"}, "opens"' sotto admin task list --json --config leader.ini
cp helper.key away.key && head -c 32 /dev/urandom >helper.key
shows 'BROKEN, serves no task: pairing.secrets: sealed with a datastore key' sotto admin pair show --config helper.ini
shows '"broken": "pairing.secrets: ' sotto admin pair show --config helper.ini --json
cp away.key helper.key
# Keys that come into use later are there from the start, and in the parties file with their times.
[ "$(grep -c '"from": "20[^"]*Z", "until": "20[^"]*Z", "next": "20[^"]*Z"}' helper-key.json)" -eq 3 ] || fail "keys to come are not exported"
# A successor of the key that is wanted at once, and the page's own way of writing the parties file with it.
shows '^config *[0-9]* *active *since 20[^ ]*Z, expires 20[^ ]*Z$' sotto admin keys list --config helper.ini
shows '^config *[0-9]* *pending *since 20[^ ]*Z, active from 20[^ ]*Z$' sotto admin keys rotate --config helper.ini
grep -q 'no key was made' out && fail "a key that was made is called none"
shows 'no key was made: one is pending, and comes first' sotto admin keys rotate --config helper.ini
[ "$(grep -c '^config' out)" -eq 4 ] || fail "a second key was made"
shows '"state": "pending", "since": "[^"]*", "until": "20[^"]*Z"}' sotto admin keys list --config helper.ini --json
if command -v sqlite3 >/dev/null; then
    sqlite3 helper.db "UPDATE hpke_key SET state = 2, use_from = since
        WHERE use_from = (SELECT min(use_from) FROM hpke_key WHERE state = 1)" || fail "no key to use"
    mkdir rotated && cp leader-key.json collector-public.txt rotated
    sotto admin keys export --json --config helper.ini >rotated/helper-key.json || fail "no keys to export"
    [ "$(grep -c '"config"' rotated/helper-key.json)" -eq 4 ] || fail "not all keys are exported"
    sed -n '/^cat > parties.json/,/^END$/p' page.sh >rotated/page.sh
    (cd rotated && sh -eu page.sh) || fail "no parties file"
    shows '^task ' sotto admin task add recipe.json rotated/parties.json --config helper.ini
    # The older one is deleted, and the page's way of writing the parties file then.
    old=$(sotto admin keys list --config helper.ini | tail -n 1 | sed 's/^config *\([0-9]*\) .*/\1/')
    shows '^config .* active' sotto admin keys delete "$old" --config helper.ini
    [ "$(grep -c '^config' out)" -eq 3 ] || { cat out; fail "a deleted key is listed"; }
    grep -q "^config *$old " out && fail "another key was deleted"
    refuses 1 "no HPKE configuration $old" sotto admin keys delete "$old" --config helper.ini
    sotto admin keys export --json --config helper.ini >rotated/helper-key.json
    (cd rotated && sh -eu page.sh) || fail "no parties file"
    [ "$(grep -c '"config"' rotated/helper-key.json)" -eq 4 ] || fail "the deleted key is not in the file"
    shows '^task ' sotto admin task add recipe.json rotated/parties.json --config helper.ini
fi
for id in all 256 -1 ''; do
    refuses 2 'number up to 255\|what is' sotto admin keys delete "$id" --config helper.ini
done
refuses 2 'missing' sotto admin keys delete --config helper.ini
# A batch that is held, and two segments of a job that lacks its datastore key, of the task that is listed first.
if command -v sqlite3 >/dev/null; then
    time='[0-9-]*T[0-9:]*Z'
    sqlite3 helper.db "INSERT INTO held (task, first_bucket, end_bucket, batch, arrived, expected, since)
        SELECT n, 500000, 500002, x'', 30, 10, 0 FROM task ORDER BY added, n LIMIT 1" || fail "no batch to hold"
    task=$(sotto admin task list --config helper.ini | sed -n '1s/^task \([^ ]*\) .*/\1/p')
    sotto admin batch list --config helper.ini >held.txt
    batch=$(cut -d ' ' -f 1 held.txt)
    grep -q -- "^[0-9]*-500000-500002  task $task  $time to $time  30 reports came, 10 were expected: held" held.txt ||
        { cat held.txt; fail "a held batch is not told by its task and time"; }
    shows "\"task\": \"$task\", \"from\": \"$time\", \"until\": \"$time\", \"arrived\": 30" \
        sotto admin batch list --config helper.ini --json
    # Behind so many that its line is on no first page. A pager in the middle of them leaves nothing open in the database: what is
    # erased could not leave the WAL.
    sqlite3 helper.db "INSERT INTO held (task, first_bucket, end_bucket, batch, arrived, expected, reason, since)
        WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 1200)
        SELECT n, i, i + 1, x'', 3, 1, 'because', 0 FROM numbers, (SELECT n FROM task ORDER BY added, n LIMIT 1);
        UPDATE held SET since = 1 WHERE reason IS NULL" || fail "no more batches"
    mkfifo pager
    sotto admin batch list --config helper.ini >pager &
    exec 9<pager
    read -r first <&9
    [ "$(sqlite3 helper.db "UPDATE held SET since = since + 1; PRAGMA wal_checkpoint(TRUNCATE)")" = '0|0|0' ] ||
        fail "a list that waits for its pager keeps the WAL"
    [ "$(cat <&9 | tail -n 1 | cut -d ' ' -f 1)" = "$batch" ] || fail "a held batch is not listed behind others"
    exec 9<&-
    wait
    shows "^released $batch: 30 reports came, 10 were expected" \
        sotto admin batch release "$batch" --reason because --config helper.ini
    shows "\"batch\": \"$batch\".*\"held\": false, \"reason\": \"because\"" \
        sotto admin batch list --config helper.ini --json
    why='job.request: sealed with a datastore key that is gone: 0badcafe'
    sqlite3 leader.db "INSERT INTO job (n, task, id, state, bucket, batch, request, reports, added)
            SELECT 7, n, x'07', 1, 500000, x'000000000007a120', x'00', 5, 0 FROM task ORDER BY added, n LIMIT 1;
        INSERT INTO segment (n, task, bucket, reports, skip, job, owner, added, unreadable)
            SELECT 17, task, bucket, 4, x'01', n, 1, 0, '$why' FROM job WHERE n = 7;
        INSERT INTO segment (n, task, bucket, reports, skip, job, owner, added, unreadable)
            SELECT 18, task, bucket, 2, x'00', n, 1, 0, '$why' FROM job WHERE n = 7" || fail "no segments"
    task=$(sotto admin task list --config leader.ini | sed -n '1s/^task \([^ ]*\) .*/\1/p')
    shows "^17  task $task  $time to $time  3 reports in a job of 5 that was sent  $why: its batch waits" \
        sotto admin segment list --config leader.ini
    shows "\"task\": \"$task\", \"from\": \"$time\", \"until\": \"$time\", .*\"reports\": 2, \"together\": 5" \
        sotto admin segment list --config leader.ini --json
    # A body that can't be had is not in a copy, which is written all the same and says so.
    sqlite3 leader.db "INSERT INTO segment_body (segment, body) VALUES (17, x'ffffffffffffffffffffffffffffffff')"
    refuses 1 'not in it: segment 17, 3 reports: ' sotto admin backup leader-backup.db --config leader.ini
    grep -q '^written; ' out && grep -q 'lacks 1 segments' out || { cat out; fail "does not say what is written"; }
    sqlite3 leader-backup.db "SELECT unreadable FROM segment WHERE n = 17" | grep -q '^not in the backup: ' ||
        fail "the copy does not know what it lacks"
    refuses 1 '^{"missing": \[{"segment": 17, "reports": 3, "why": ".*"}\], "written": true}$' \
        sotto admin backup second-backup.db --config leader.ini --json
    refuses 4 'key-is-lost 0badcafe' sotto admin segment abandon 17 --reason because --config leader.ini
    grep -q '^datastore keys of this configuration: [0-9a-f]\{8\}$' out || fail "does not say which keys are there"
    refuses 4 'key-is-lost 0badcafe' \
        sotto admin segment abandon 17 --reason because --key-is-lost 00000000 --config leader.ini
    shows '^abandoned 5 reports' \
        sotto admin segment abandon 17 --reason because --key-is-lost 0badcafe --config leader.ini
    shows "^17  task $task .* 3 reports  $why: abandoned: because" sotto admin segment list --config leader.ini
    grep -q "^18  task $task .* 2 reports  in the job of segment 17; $why: abandoned: because" out ||
        fail "what went with a job is not recorded"
    sqlite3 helper.db "UPDATE pairing SET secrets = x'00'" || fail "no pairing to damage"
    shows '^task [^ ]*  BROKEN, not served: .*  commute-1 version 1$' sotto admin task list --config helper.ini
    grep -q '  paired' out && fail "a pairing that does not open is called one"
fi

# ---- start to ready, over an empty database --------------------------------------------------------------------------

mkdir fresh && printf '[helper]\nlisten = 127.0.0.1:0\noperations = 127.0.0.1:%u\n' $((base + 3)) >fresh/helper.ini
began=$(date +%s%N)
sotto serve helper --config fresh/helper.ini 2>fresh/log &
echo $! >>pids
until sotto admin health --config fresh/helper.ini >/dev/null 2>&1; do
    [ $(($(date +%s%N) - began)) -lt 60000000000 ] || fail "not ready after a minute"
done
echo "start to ready, empty database: $((($(date +%s%N) - began) / 1000000)) ms"
shows '{"reached": true, "ready": true, "lines": \["tasks: none yet.*"\]}' sotto admin health --json --config fresh/helper.ini
# It has the port of another configuration, and must not answer for it.
refuses 7 "another server answers at 127.0.0.1:$((base + 3))" sotto admin health --config helper.ini
# Its only key, beside the running server: the successor comes first, and the server says what it saw.
old=$(sotto admin keys list --config fresh/helper.ini | sed -n 's/^config *\([0-9]*\) *active .*/\1/p')
shows 'known to every replica first' sotto admin keys delete "$old" --config fresh/helper.ini
[ "$(grep -c '^config *[0-9]* *active ' out)" -eq 1 ] || { cat out; fail "no successor is active"; }
until grep -q "hpke_key.state config_id=$old state=deleted" fresh/log; do
    [ $(($(date +%s%N) - began)) -lt 120000000000 ] || { cat fresh/log; fail "the server does not see that its key has gone"; }
    sleep 1
done
sotto admin drain --config fresh/helper.ini >/dev/null || fail "the fresh server does not drain"
