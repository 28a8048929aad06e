#!/bin/sh
# test_verbs.sh SOTTO: a log and a witness as processes; a recipe is published, verified offline, proved and monitored; a log that forks
# is found out.
set -u
sotto=$1
directory=$(mktemp -d) || exit 1
. "$(dirname "$0")/../support/base_port.sh"
base=$(base_port 5)
pids=

finish() {
    code=$?
    [ "$code" -eq 0 ] || cat "$directory"/*.err
    for pid in $pids; do kill "$pid" 2>/dev/null; done
    wait
    rm -rf "$directory"
    exit "$code"
}
trap finish EXIT
trap 'exit 1' INT TERM
cd "$directory" || exit 1

fail() {
    echo "test_verbs.sh: $1"
    exit 1
}

# is CODE COMMAND...: runs it, expects its exit code; what it said is in out and err.
is() {
    wanted=$1
    shift
    "$@" >out 2>verb.err
    code=$?
    [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: $*"
}

start() { # NAME PORT
    "$sotto" serve "$1" --listen "127.0.0.1:$2" --operations "127.0.0.1:$(($2 + 2))" >/dev/null 2>>"$1.err" &
    pids="$pids $!"
    last=$!
    for i in $(seq 600); do
        grep -q server.started "$1.err" && return
        sleep 0.1
    done
    fail "$1 did not start"
}

is 0 "$sotto" log key log.example/a --out log-signing.key
log=$(cat out)
is 0 "$sotto" log key witness.example/w --out witness-signing.key --cosigns
witness=$(cat out)
is 1 "$sotto" log key log.example/a --out log-signing.key
is 2 "$sotto" log key --out none
grep -q 'NAME: it is needed' verb.err || fail "key does not ask for a name"
is 2 "$sotto" log key https://log.example/a --out none
grep -q 'NAME is a URL without its scheme: log.example/a' verb.err || fail "a name with a scheme is taken"
echo "$log" >witness.logs
echo "$witness http://127.0.0.1:$((base + 1))/" >witnesses
(umask 077 && echo a-token-of-the-publisher >log.token && echo another-token-of-nobody >other.token)
start witness $((base + 1))
printf '[log]\nwitnesses = witnesses\n' >sotto.ini
"$sotto" serve log --config sotto.ini --listen "127.0.0.1:$base" --operations "127.0.0.1:$((base + 2))" >/dev/null 2>>log.err &
pids="$pids $!"
server=$!
for i in $(seq 600); do grep -q log.confirmed log.err && break; sleep 0.1; done

url=http://127.0.0.1:$base
"$sotto" recipe new >recipe.json
is 6 "$sotto" recipe publish recipe.json --from "$url" --log "$log" --witness "$witness" --token other.token --out none
[ ! -e none ] || fail "a bundle of what was not published"
grep -q 'status 401: it does not know this --token' verb.err || fail "publish does not say why"
is 0 "$sotto" recipe publish recipe.json --from "$url" --log "$log" --witness "$witness" --token log.token --out bundle
is 1 "$sotto" recipe publish recipe.json --from "$url" --log "$log" --witness "$witness" --token log.token --out nowhere/bundle
grep -q 'nowhere/bundle: .* Nothing was published' verb.err || fail "published without a place for the bundle"
is 1 "$sotto" recipe publish recipe.json --from "$url" --log "$log" --witness "$witness" --token nowhere --out none
grep -q 'nowhere: can.t be read' verb.err || fail "publish does not say which file"
is 2 "$sotto" recipe publish recipe.json --from "$url" --log "$log" --out none
grep -q -- '--token: it is needed' verb.err || fail "publish does not say which option"
echo '{}' >bad.json
is 3 "$sotto" recipe publish bad.json --from "$url" --log "$log" --witness "$witness" --token log.token --out none

# Signed parties files and lists of keys; what devices could not read, and what nobody signed, is not published.
"$sotto" recipe new --parties >parties.json
echo '{"keys": []}' >keys.json
is 0 "$sotto" parties key signing.key
"$sotto" parties sign parties.json --key signing.key --serial 7 >parties.signed || fail "no signed parties file"
"$sotto" parties sign keys.json --token-keys --key signing.key --serial 8 >keys.signed || fail "no signed list of keys"
publish() { # CODE FILE OPTIONS...
    wanted=$1
    shift
    is "$wanted" "$sotto" log publish "$@" --from "$url" --log "$log" --witness "$witness" --token log.token
}
publish 3 parties.json --out none
grep -q 'parties.json: neither a signed parties file nor a signed list' verb.err || fail "publish does not say what it takes"
publish 3 recipe.json --out none
sed 's/keys": \[\]/keys": [1]/' keys.signed >unreadable.signed
publish 3 unreadable.signed --out none
grep -q 'entry 0 is not valid' verb.err || fail "publish does not say what devices could not read"
publish 2 parties.signed
[ ! -e none ] || fail "a bundle of what was not published"

# Offline.
is 0 "$sotto" log verify bundle --log "$log" --witness "$witness" --out copy.json
cmp -s recipe.json copy.json || fail "another recipe came out"
grep -q '^0 recipe ' out || fail "verify does not name the entry"
grep -q '^holds: in the log .* at size 1; at least 1 of 1 witnesses cosigned it$' out || fail "no verdict"
[ ! -s verb.err ] || fail "verify with a witness complains"
is 0 "$sotto" log verify bundle --log "$log"
grep -q 'no witness was asked for' verb.err || fail "verify without a witness does not say so"
is 6 "$sotto" log verify bundle --log "$log" --witness "$log"
is 2 "$sotto" log verify bundle --what
is 2 "$sotto" log verify bundle
grep -q 'whose log? --log' verb.err || fail "verify does not ask whose log"
is 3 "$sotto" log verify bundle --log nobody
grep -q -- '--log: no public key as .sotto log key. prints it' verb.err || fail "verify does not say which key"
echo "$log" >log.pub
is 3 "$sotto" log verify bundle --log log.pub
grep -qF 'that is a file: give its text, "$(cat log.pub)"' verb.err || fail "verify does not say how to give a key"
head -c 300 bundle >cut
is 3 "$sotto" log verify cut --log "$log" --witness "$witness"
grep -q ' cut: ' verb.err || fail "verify does not say which file"

is 0 "$sotto" log proof --index 0 --from "$url" --log "$log" --witness "$witness"
grep -q '^c2sp.org/tlog-proof@v1$' out || fail "no proof"
is 1 "$sotto" log proof --index 1 --from "$url" --log "$log"
grep -q 'no entry 1: the tree has 1, numbered from 0' verb.err || fail "proof does not say how many there are"
for index in -1 x 0x 99999999999999999999; do is 3 "$sotto" log proof --index $index --from "$url" --log "$log"; done
is 3 "$sotto" log proof --index 0 --from ftp://log.example/ --log "$log"
is 1 "$sotto" log proof --index 0 --from nowhere --log "$log"
grep -q "nowhere: no log's directory: it has no checkpoint" verb.err || fail "proof does not say that it is no log"
is 3 "$sotto" log monitor --from "$url" --state log.pub --log "$log"
grep -q ' log.pub: ' verb.err || fail "the monitor does not say which file"

is 0 "$sotto" log monitor --from "$url" --state state --log "$log" --witness "$witness" --json
grep -q '"type": "recipe"' out || fail "the monitor tells of no recipe"
cp state before && ln state link
is 0 "$sotto" log monitor --from "$url" --state state --log "$log"
[ state -ef link ] && fail "the monitor writes over its state: a run that is killed leaves half of it"
cmp -s before link || fail "the old state is not as it was"
[ ! -s out ] || fail "the monitor tells of an entry twice"
is 7 "$sotto" log monitor --from http://127.0.0.1:$((base + 4)) --state none --log "$log"
# Not cosigned by a witness that nobody asked: that is no fork, and nothing is told or kept.
is 0 "$sotto" log key witness.example/x --out nobody.key --cosigns
nobody=$(cat out)
is 5 "$sotto" log monitor --from "$url" --state none --log "$log" --witness "$nobody"
[ ! -s out ] && [ ! -e none ] && [ ! -e none.fork ] || fail "the monitor believes a tree that is not cosigned"
is 5 "$sotto" log proof --index 0 --from "$url" --log "$log" --witness "$nobody"

publish_later() {
    publish 0 parties.signed --out parties.bundle --json
    grep -q '"type": "parties", "serial": 7, "bundle": "parties.bundle"' out || fail "publish does not say what it published"
    publish 0 keys.signed --out keys.bundle
    is 0 "$sotto" log verify parties.bundle --log "$log" --witness "$witness" --out copy.signed --json
    grep -q '"type": "parties".*"serial": 7' out || fail "another entry than a parties file"
    cmp -s parties.signed copy.signed || fail "another parties file came out"
    is 0 "$sotto" log verify keys.bundle --log "$log" --witness "$witness" --out copy.signed --json
    grep -q '"type": "issuer keys"' out || fail "another entry than a list of keys"
    cmp -s keys.signed copy.signed || fail "another list came out"
}

# A device with a policy that names the log: it takes what is on it, and nothing else.
mkdir phone
"$sotto" device new >phone/streams.json
"$sotto" recipe new --parties >phone/parties.json
"$sotto" recipe new --policy | sed "s|\"min_cohort\"|\"logs\": {\"main\": {\"key\": \"$log\", \"witnesses\": [\"$witness\"], \"fresh_days\": 365}}, \"min_cohort\"|" \
    >phone/policy.json
device() { # CODE VERB...
    wanted=$1
    shift
    is "$wanted" "$sotto" device "$@" --dir phone --now 2026-11-20T08:00:00Z
}
device 4 offer recipe.json
grep -q 'from a public log alone' verb.err || fail "a recipe without a proof is taken"
device 4 why 50001
device 0 offer bundle
device 0 log
grep -q 'a tree of 1 entries was seen' out || fail "the device saw no tree"
device 0 log main --evidence none
grep -q 'no fork of this log was seen' verb.err || fail "evidence of no fork"
[ ! -e none.before ] || fail "evidence of no fork is written"
device 1 log nobody
grep -q 'the policy names no log "nobody"' verb.err || fail "a log that the policy lacks"
sed 's/50001/50003/' recipe.json >third.json
is 0 "$sotto" recipe publish third.json --from "$url" --log "$log" --witness "$witness" --token log.token --out third --url https://recipes.example/third
is 0 "$sotto" log verify third --log "$log" --witness "$witness" --json
grep -q '"url": "https://recipes.example/third"' out || fail "the log does not say where a recipe is"
device 1 offer third
grep -q 'its feed is needed' verb.err || fail "a larger tree is believed without its feed"
is 0 "$sotto" log feed bundle third --from "$url" --log "$log" --witness "$witness" --out log-files/feed
is 0 "$sotto" log feed bundle third --from log-files --log "$log" --witness "$witness" --out log-files/feed --json
grep -q '"entries": 2, "bundles": 2, "bytes": 16384' out || fail "another feed"
is 2 "$sotto" log feed bundle --from log-files --log "$log"
is 5 "$sotto" log feed bundle --from log-files --log "$log" --witness "$log" --out none
grep -q 'cosigned by 0 witnesses; 1 are wanted' verb.err || fail "the feed does not say what it waits for"
[ ! -e none ] || fail "a feed of a tree that is not cosigned"
cp log-files/feed feed
device 0 offer feed
grep -q '2 taken' out || fail "the feed's recipes are not taken"
device 0 record
grep -q 'log .*2 entries' out || fail "the record has no tree"
is 0 "$sotto" log monitor --from "$url" --state state --log "$log"
publish_later

# The same file again adds nothing, whether its bundle is there or not.
publish 0 parties.signed --out again.bundle
is 0 "$sotto" log monitor --from "$url" --state other-state --log "$log" --json
[ "$(grep -c '"type": "parties"' out)" = 1 ] || fail "a file that is published twice is in the log twice"
is 0 "$sotto" log verify again.bundle --log "$log" --witness "$witness" --out copy.signed
grep -q '^2 parties ' out || fail "the bundle of a file that was there is of another entry"
cmp -s parties.signed copy.signed || fail "another parties file came out of the second bundle"

# A release, of an answer as collect prints it; a recipe whose target rests on it.
hash=$(printf '%064d' 7)
printf '{"reports": 60000, "cohort": 0, "cohort_values": {"locale": "en_US"}, "from": "2026-05-01T00:00:00Z", "until": "2026-05-08T00:00:00Z", "receipt": {"recipe_hash": "%s"}}' \
    "$hash" >answer.json
publish 0 answer.json --out release --json
grep -q '"type": "release", "count": 60000, "bundle": "release"' out || fail "publish does not say what it published of a release"
is 0 "$sotto" log verify release --log "$log" --witness "$witness" --json
grep -q "\"digest\": \"$hash\".*\"count\": 60000, \"receipt\": \"$(sha256sum <answer.json | cut -d' ' -f1)\", \"cohort_values\": {\"locale\": \"en_US\"}" out ||
    fail "another release is in the log"
sed 's/60000/"many"/' answer.json >bad-answer.json
publish 3 bad-answer.json --out none
grep -q 'bad-answer.json: not an answer as .sotto collect --json. prints it' verb.err || fail "publish takes any JSON for a release"
# For auditors: a policy as it is shipped, and the digest of a library.
publish 0 phone/policy.json --out policy.bundle --json
grep -q '"type": "policy", "name": ".*", "bundle": "policy.bundle"' out || fail "publish does not say which policy"
is 0 "$sotto" log verify policy.bundle --log "$log" --witness "$witness" --out copy.json
cmp -s phone/policy.json copy.json || fail "another policy came out"
sed 's/"honest"/"honesty"/' phone/policy.json >bad-policy.json
publish 3 bad-policy.json --out none
publish 0 "$sotto" --library 'libsotto-device 9.9' --out library.bundle --json
grep -q '"type": "library", "name": "libsotto-device 9.9"' out || fail "publish does not say which library"
is 0 "$sotto" log verify library.bundle --log "$log" --witness "$witness" --json
grep -q "\"digest\": \"$(sha256sum <"$sotto" | cut -d' ' -f1)\"" out || fail "another library is in the log"

sed "s|\"min_cohort\"|\"targeting_floor\": 30000, \"targeting_rate\": 0.5, \"min_cohort\"|" phone/policy.json >floor.json
aim() { # FILE
    sed "s|\"cohorts\": {\"locale\": \[[^]]*\]}|\"targeting\": {\"locale\": [\"en_US\"]}$1|" recipe.json
}
aim "" >unfounded.json
is 3 "$sotto" recipe lint unfounded.json --policy floor.json
grep -q 'the policy wants a logged release of 30000 such devices; the recipe names none' out verb.err || fail "lint takes a target without a release"
aim ", \"release\": {\"recipe\": \"$hash\", \"bundle\": \"$(od -An -v -tx1 release | tr -d ' \n')\"}" >founded.json
is 0 "$sotto" recipe lint founded.json --policy floor.json
is 0 "$sotto" recipe explain founded.json
grep -q 'a logged release of recipe 0000000000000000..., which ended at 2026-05-08T00:00:00Z, has 60000 reports' out || fail "explain does not say what a target rests on"

# A state that can't be read is not one that was never there.
ln -s loop loop
is 1 "$sotto" log monitor --from log-files --state loop --log "$log"

# The same key, another log: both checkpoints are evidence.
kill "$server"
wait "$server"
mv log-files old-files
mv log.db old.db
"$sotto" serve log --listen "127.0.0.1:$base" --operations "127.0.0.1:$((base + 2))" >/dev/null 2>>log2.err &
pids="$pids $!"
for i in $(seq 600); do grep -q server.started log2.err && break; sleep 0.1; done
sed 's/50001/50002/' recipe.json >other.json
is 0 "$sotto" recipe publish other.json --from "$url" --log "$log" --token log.token --out other
is 0 "$sotto" recipe publish third.json --from "$url" --log "$log" --token log.token --out other-third
is 6 "$sotto" log feed other-third --from "$url" --log "$log" --out feed
grep -q 'the log forked' verb.err || fail "a feed of a fork is made"
is 6 "$sotto" log feed bundle --from "$url" --log "$log" --witness "$witness" --out feed
grep -q 'the log forked' verb.err || fail "a fork that the witness does not cosign is no fork to the feed"
# As an auditor runs it: the witness does not cosign a fork, and that hides nothing.
is 6 "$sotto" log monitor --from "$url" --state state --log "$log" --witness "$witness"
grep -q 'fork: its tree of 2 entries is not the one that was seen' verb.err || fail "the quorum hides a fork"
cmp -s state state.seen || fail "no evidence of what was seen, where the fork is not cosigned"
[ -s state.fork ] || fail "no evidence of a fork that is not cosigned"
rm state.seen state.fork
is 6 "$sotto" log monitor --from "$url" --state state --log "$log"
grep -q 'fork: its tree of 2 entries is not the one that was seen' verb.err || fail "no word of a fork"
cmp -s state state.seen || fail "no evidence of what was seen"
[ -s state.fork ] || fail "no evidence of the fork"

# The same on a device: a witness that signed both trees changes nothing.
sed "s|, \"witnesses\": \[\"$witness\"\]||" phone/policy.json >lax.json
mv lax.json phone/policy.json
is 0 "$sotto" log feed other-third --from "$url" --log "$log" --out forked
device 6 offer forked
grep -q 'the log forked: two signed trees, of 2 and 2 entries' verb.err || fail "the device takes a fork"
device 6 log main --evidence proof
cmp -s proof.before state.seen || fail "no evidence of what the device saw"
cmp -s proof.after state.fork || fail "no evidence of the fork"
device 4 offer feed
device 0 log main --resolve
device 0 offer feed
is 0 "$sotto" recipe publish recipe.json --from "$url" --log "$log" --token log.token --out 'a "bundle"' --json
grep -qxF '{"bundle": "a \"bundle\""}' out || fail "a name with quotes is not one JSON text"
