#!/bin/sh
# test_device.sh PROGRAM: `sotto device`, as a person types it: the keyboard example from events to a report in a file,
# Table 1's refusals, and what is said about each.
. "$(dirname "$0")/../support/program.sh"
corpus=$(cd "$(dirname "$0")/../../fuzz/corpus/listed_keys" && pwd)
cd "$work" || exit 1
verb=device
good="--idle --charging --network"
now="--now 2026-11-20T01:00:00Z"

# start DIR: files of a device that has not run yet; every device takes part
start() {
    mkdir "$1" "$1/sent"
    "$program" device new >"$1/streams.json" || complain "$1: not printed"
    "$program" recipe new --policy >"$1/policy.json" || complain "$1: not printed"
    "$program" recipe new --parties >"$1/parties.json" || complain "$1: not printed"
    "$program" recipe new | sed 's/"rate": 0.1/"rate": 1/' >"$1/50001.json"
    sed 's/50001/50002/' "$1/50001.json" >"$1/50002.json"
    echo '{"locale": "en_US"}' >"$1/about.json"
}

cat >events.jsonl <<END
{"age": 35, "ngram": "i went home"}

{"age": 36, "ngram": "hello world", "perplexity": 1.5, "event_time": "2026-11-20T00:10:00Z"}
{"age": null, "ngram": "\u001b[31mred", "event_id": "00112233445566778899aabbccddeeff", "event_time": 1795132800}
END

# ---- usage
verb="" expect 0 "sotto 0." --version
verb="" expect 2 "no verb '--versio'" --versio
expect 0 "a device's events, recipes, budgets" --help
for part in new events recipes receipts record ledger why forget consent reset donate offer parties enrol keys tokens tick; do
    expect 0 "usage: sotto device $part" $part --help
    says --json
done
expect 2 "no verb 'bake'" bake
expect 2 "what is '--loud'?" ledger --loud
expect 2 "what follows '--dir'?" ledger --dir
expect 2 "of what?" why
expect 2 "which time is 'noon'?" ledger --now noon
expect 2 "which number is 'many'?" events keyboard_ngrams --most many
expect 1 "can't read nowhere/policy.json: it is not there; \`sotto recipe new --policy\` prints one" ledger --dir nowhere
expect 1 "\`sotto device new\` prints one" ledger --dir nowhere --policy /dev/null --parties /dev/null

# ---- looking makes nothing
start a
expect 1 "there is no device yet" ledger --dir a
[ ! -e a/ledger.db ] || complain "looking made a ledger"

# ---- events in
expect 2 "which events?" donate keyboard_ngrams --dir a
expect 0 "3 events were added" donate keyboard_ngrams --json-lines events.jsonl --dir a $now
expect 0 '"added":2' donate keyboard_ngrams --json-lines - --json --dir a $now <events.jsonl
expect 0 "age=36  ngram=hello world  perplexity=1.5" events keyboard_ngrams --dir a
expect 0 'ngram=\x1b[31mred' events keyboard_ngrams --dir a
expect 0 '"ngram":"i went home","perplexity":null}' events keyboard_ngrams --dir a --json
expect 0 "2026-11-20" events keyboard_ngrams --dir a --most 1
[ "$(wc -l <out)" -eq 1 ] || complain "--most 1 shows more"
mkdir one && cp a/*.json one
echo '{"age": 35}' >one.jsonl
expect 0 "1 event was added to keyboard_ngrams. It stays on this device." donate keyboard_ngrams --json-lines one.jsonl --dir one $now
expect 1 "no stream 'health'" events health --dir a
printf '{"age": 1}\n{"age": "se3ret"}\n' >bad.jsonl
expect 3 "age: not of its type, which is integer" donate keyboard_ngrams --json-lines bad.jsonl --dir a
grep -q "line 2; 1 event before it was added" out || complain "does not say where"
says_not se3ret
echo '{"ngram": se3ret}' >bad.jsonl
expect 3 "not JSON" donate keyboard_ngrams --json-lines bad.jsonl --dir a
says_not se3ret
{
    echo '{"age": 2}'
    printf '{"ngram": "%05000d"}\n' 7
    echo '{"age": 3}'
} >bad.jsonl
expect 3 "ngram: more than 4096 bytes" donate keyboard_ngrams --json-lines bad.jsonl --dir a $now
says "line 2; 1 event before it was added"
echo '{"secret": 1}' >bad.jsonl
expect 3 "keyboard_ngrams has no field 'secret'" donate keyboard_ngrams --json-lines bad.jsonl --dir a
[ "$(stat -c %a a/events.db)" = 600 ] && [ "$(stat -c %a a/ledger.db)" = 600 ] || complain "others may read the files"

# ---- nothing happens before yes
expect 0 "takes part in nothing" consent --dir a
expect 0 "50001: kept" offer a/50001.json --dir a $now
expect 0 "no-consent" why 50001 --dir a $now
expect 0 "known to this device alone" why 50001 --dir a $now
cp -r a early
"$program" device consent yes --dir early --now 2026-11-19T08:00:00Z >/dev/null
expect 0 "not-open-yet: The recipe opens at 2026-11-20T00:00:00Z." why 50001 --dir early --now 2026-11-19T08:00:00Z
expect 0 "closed: The recipe closed at 2026-11-27T00:00:00Z." why 50001 --dir early --now 2026-11-28T08:00:00Z
expect 0 "Nobody has said yes" tick $good --dir a --out a/sent $now
expect 2 "yes or no?" consent maybe --dir a
expect 0 "yes: this device takes part" consent yes --dir a $now

# ---- Table 1 as printed: the second recipe is refused by check 1
expect 0 "50002: kept" offer a/50002.json --dir a $now
expect 0 "Not a good time without --network: only" tick --idle --charging --dir a --out a/sent $now
expect 0 "Not a good time without --idle --charging --network: only" tick --dir a --out a/sent $now
expect 2 "a/nowhere: no directory to write to; make it first" tick $good --dir a --out a/nowhere $now
expect 0 "not-eligible: The device was offline when it last looked" why 50001 --dir a $now
expect 0 "not-eligible" tick --dry-run --idle --dir a $now
expect 2 "--out or --dry-run?" tick --dry-run --out a/sent --dir a
expect 0 "ready" tick --dry-run $good --dir a $now
expect 0 "epsilon 0 of 0.5" ledger --dir a $now
expect 0 "Reports made: 1; waiting: 1, since no --out names a directory for them." tick $good --dir a $now
expect 0 "transport" why 50001 --dir a $now
expect 0 "spent        50001: read keyboard_ngrams.age keyboard_ngrams.ngram" record --dir a
says_not " left "
expect 0 "waits on this device" receipts --dir a
expect 0 "to be posted to https://leader.example.com/tasks/" tick $good --dir a --out a/sent $now
expect 0 " left " record 50001 --dir a
[ "$(ls a/sent | wc -l)" -eq 1 ] || complain "not one report"
expect 0 "answered" why 50001 --dir a $now
# A later version is no second chance to be asked.
cp -r a later
sed 's/"version": 1/"version": 2/' a/50001.json >later/50001.json
expect 0 "50001: kept, and not answered again under this name. It was answered" offer later/50001.json --dir later $now
expect 0 "Reports made: 0; waiting: 0. " tick $good --dir later --out a/sent $now
# What is written for a relay is not delivered by being written.
cp -r early relayed
mkdir -p relayed/sent
key='"hpke": [{"config": "030020000100010020ae3bf1cd87c2d2ed25af4a1a239eed04a990f00e7403e4c8065927de010fd17a",
    "from": "2026-01-01T00:00:00Z", "until": "2027-07-01T00:00:00Z"}]'
{
    echo '{"relay": {"role": "relay", "url": "https://relay.example/leader"},'
    echo '"gateway": {"role": "gateway", "url": "https://gateway.example/",' "$key" '},'
    sed '1s/^{//' a/parties.json
} >relayed/parties.json
expect 0 "waiting: 1, since with a relay only the gateway's answer counts." tick $good --dir relayed --out relayed/sent $now
says "to be posted to https://relay.example/leader"
expect 4 "1 of 1 reports are used" why 50002 --dir a $now
grep -qF "check 1 of 3" out || complain "does not say which check"
expect 4 '"check":1' why 50002 --dir a $now --json
expect 1 "unknown" why nothing --dir a $now
expect 1 '"why":"unknown"' why nothing --dir a $now --json
expect 0 "epsilon 0.3 of 0.5" ledger --dir a $now
expect 0 "acknowledged by the leader" receipts --dir a
expect 0 "among 20000 honest reports" receipts --dir a --recipe a/50001.json
expect 0 '"bytes":5880' receipts --dir a --json
# The bits are the same wherever they are shown, and the bins are those of the bits.
bits=$(sed -n 's/.*"randomised":"\([0-9a-f]*\)".*/\1/p' "$out")
[ ${#bits} -eq 68 ] || complain "not the bits of 272 bins"
expect 0 "\"randomised\":\"$bits\"" record 50001 --dir a --json
expect 0 "        told ${bits%????}" record 50001 --dir a
expect 0 "             ${bits%????}" receipts --dir a
if command -v python3 >/dev/null; then
    "$program" recipe compile a/50001.json a/parties.json --json >a/task.json
    expect 0 '"told":' receipts --dir a --json --recipe a/50001.json
    python3 - a/task.json "$out" <<'END' || complain "other bins than the bits say"
import json, sys
labels = json.load(open(sys.argv[1]))["labels"]
receipt = json.load(open(sys.argv[2]))
bits = bytes.fromhex(receipt["randomised"])
told = [label for i, label in enumerate(labels) if bits[i // 8] >> i % 8 & 1]
assert told == receipt["told"] and len(told) == receipt["bits_set"], (told, receipt["told"])
END
    expect 0 "by itself" receipts --dir a --recipe a/50001.json
fi

# ---- check 3, and what is no recipe
sed 's/40000/3000/; s/50001/50003/' a/50001.json >a/50003.json
sed 's/"min_cohort": 20000/"min_cohort": 100/' a/policy.json >a/lax.json
expect 4 "refused by check 3 of 3" offer a/50003.json --dir a --policy a/lax.json $now
grep -qF "would do" out || complain "does not say which cohort would do"
sed 's/SELECT age, ngram/SELECT age, ngram, rowid/; s/50001/50004/' a/50001.json >a/50004.json
expect 4 "denied" offer a/50004.json --dir a $now
expect 4 "field" why 50004 --dir a $now
# More than the policy gives the whole analysis, and something that is only too early or too late.
sed 's/"epsilon": 0.30/"epsilon": 0.60/; s/50001/50005/' a/50001.json >a/50005.json
expect 4 "more than the policy gives the whole analysis" offer a/50005.json --dir a $now
expect 4 "policy" why 50005 --dir a $now
sed 's/50001/50006/' a/50001.json >a/50006.json
expect 1 "stale" offer a/50006.json --dir a --now 2026-12-20T00:00:00Z
echo '{' >a/bad.json
expect 3 "lists every mistake" offer a/bad.json --dir a
expect 3 "streams:" ledger --dir a --streams a/bad.json
expect 3 "streams: line 2, column 3: recipe: not an object" ledger --dir a --streams a/50001.json
# bad_streams SED TEXT: the example, changed, is refused in these words
bad_streams() {
    sed "$1" a/streams.json >a/bad.json
    expect 3 "$2" ledger --dir a --streams a/bad.json
}
bad_streams 's/"real"/"imaginary"/' "streams: line 3, column 51: keyboard_ngrams.fields.perplexity: "
bad_streams 's/"30d"/"soon"/' "keyboard_ngrams.max_age: "
bad_streams 's/10000/0/' "keyboard_ngrams.max_rows: too small"
bad_streams 's/"max_rows": 10000/"rows": 1/' "unknown key"
bad_streams '/max_age/d' "keyboard_ngrams.max_age: missing"
bad_streams 's/"fields": {[^}]*}/"fields": {}/' "stream keyboard_ngrams: 0 fields"
bad_streams 's/"age"/"Age"/' "field 'Age': not a valid name"

# ---- another device: check 2 refuses on age where three reports are allowed
start b
sed 's/"reports": 1/"reports": 3/; s/1e-6/3e-6/; s/"epsilon": 0.5/"epsilon": 0.9/' b/policy.json >b/three.json
mv b/three.json b/policy.json
expect 0 "yes" consent yes --dir b $now
expect 0 "kept" offer b/50001.json --dir b $now
expect 0 "kept" offer b/50002.json --dir b $now
expect 0 "Reports made: 1" tick $good --dir b $now
expect 4 "keyboard_ngrams.age" why 50002 --dir b $now
grep -qF "check 2 of 3" out || complain "does not say check 2"
# A value that is not listed, or not known, means no report.
start c
rm c/about.json
expect 0 "yes" consent yes --dir c $now
expect 0 "kept" offer c/50001.json --dir c $now
expect 0 "cohort-value" why 50001 --dir c $now --field locale=de_DE
expect 0 "ready" why 50001 --dir c $now --field locale=en_GB
expect 2 "which NAME=VALUE is 'locale'?" why 50001 --dir c --field locale

# ---- a parties file that a key of the policy signed takes the place of the first
start p
key=$("$program" parties key p/vendor.key 2>/dev/null)
verb=parties expect 1 "exists already" key p/vendor.key
verb=parties expect 0 "is secret" key p/stranger.key
sed "s/\"min_cohort\"/\"parties_keys\": {\"vendor\": \"$key\"}, \"min_cohort\"/" p/policy.json >p/policy && mv p/policy p/policy.json
sed 's/2027-07-01/2027-08-01/' p/parties.json >p/new.json
"$program" parties sign p/new.json --key p/vendor.key --serial 7 >p/new.signed || complain "not signed"
"$program" parties sign p/parties.json --key p/vendor.key --serial 6 >p/old.signed || complain "not signed"
"$program" parties sign p/new.json --key p/stranger.key --serial 8 >p/stranger.signed || complain "not signed"
"$program" parties sign p/new.json --key p/vendor.key --serial 17949600000 >p/far.signed || complain "not signed"
"$program" parties sign p/new.json --key p/vendor.key >p/dated.signed || complain "not signed"
sed '1s/7/9/' p/new.signed >p/forged.signed
"$program" parties show p/new.signed | cmp -s - p/new.json || complain "not the file that was signed"
verb=parties expect 0 "the signatures are those that the policy wants" check p/new.signed --policy p/policy.json
says_not "take it"
verb=parties expect 0 "take it, unless they took a later serial" \
    check p/new.signed --policy p/policy.json --application p/parties.json
sed 's/"url": "https:/"url": "https:\/\/elsewhere.example.org\/?/' p/new.json >p/moved.json
"$program" parties sign p/moved.json --key p/vendor.key --serial 7 >p/moved.signed || complain "not signed"
verb=parties expect 4 "other names, roles or URLs" \
    check p/moved.signed --policy p/policy.json --application p/parties.json
verb=parties expect 4 "ahead of the clock" check p/far.signed --policy p/policy.json
verb=parties expect 0 "serial 7" check p/new.signed --policy p/policy.json
says "signed by $key"
verb=parties expect 4 "signed by 0 of the keys" check p/stranger.signed --policy p/policy.json
verb=parties expect 6 "does not hold" check p/forged.signed --policy p/policy.json
verb=parties expect 4 "names no key" check p/new.signed --policy a/policy.json
verb=parties expect 3 "no signed parties file" check p/new.json
verb=parties expect 3 "not an object" sign p/policy.json --key p/vendor.key
verb=parties expect 4 "serial 7 already" sign p/new.signed --key p/stranger.key --serial 8
verb=parties expect 2 "--key: it is needed" sign p/new.json
verb=parties expect 3 "whole number" sign p/new.json --key p/vendor.key --serial 07
expect 0 "taken" parties p/new.signed --dir p $now
expect 0 "taken" parties p/new.signed --dir p $now
expect 1 "is known, and later" parties p/old.signed --dir p $now
expect 4 "signed by 0 of the keys" parties p/stranger.signed --dir p $now
expect 6 "does not hold" parties p/forged.signed --dir p $now
expect 3 "no signed parties file" parties p/new.json --dir p $now
expect 0 "parties      : serial 7" record --dir p $now
says_not told
expect 4 "ahead of the clock" parties p/far.signed --dir p $now
expect 0 '"ok":true' parties p/dated.signed --json --dir p # the time of signing is the true one

# ---- tokens: the key of the device, an issuer's list, and where each token stands
start k
"$program" parties key k/issuer.key >k/issuer.txt 2>"$out" || complain "no key"
"$program" parties key k/stranger.key >"$out" 2>&1 || complain "no key"
sed -i "s/\"min_cohort\"/\"issuers\": {\"key:issuer\": \"$(cat k/issuer.txt)\"}, \"min_cohort\"/" k/policy.json
sed 's/"opens":10/"opens":179520000/g; s/"closes":200/"closes":1795900000/g' "$corpus/two_collections" >k/keys.json
"$program" parties sign k/keys.json --token-keys --key k/issuer.key >k/keys.signed || complain "not signed"
"$program" parties sign k/keys.json --token-keys --key k/stranger.key >k/stranger.signed || complain "not signed"
sed '$s/}$/} /' k/keys.signed >k/forged.signed
verb=parties expect 3 "no list of token keys" sign k/parties.json --token-keys --key k/issuer.key
expect 0 "the attester's operator enrols it" enrol --dir k $now
cp "$out" k/enrolled
[ "$(stat -c %a k/enrolment.key)" = 600 ] || complain "others may read the enrolment key"
expect 0 "$(head -n 1 k/enrolled)" enrol --dir k $now # the same again
expect 0 '"key":"' enrol --json --dir k $now
expect 4 "no issuer that the policy names signed it" keys k/stranger.signed --dir k $now
expect 6 "does not hold" keys k/forged.signed --dir k $now
expect 3 "no signed list of token keys" keys k/keys.json --dir k $now
expect 0 "taken" keys k/keys.signed --dir k $now
expect 0 '"ok":true' keys k/keys.signed --json --dir k $now
expect 0 "planned  2026-11-20T18:40:00Z to" tokens --dir k $now
says "(key:issuer; asked for from 2026-11-20T"
expect 0 '{"state":"planned","analysis":"a","issuer":"key:issuer","opens":1795200000,"closes":1795900000,"at":' tokens --json --dir k $now

# ---- forgetting keeps the ledger and says why
expect 0 "ledger stays" forget --dir b $now
expect 0 "No events" events keyboard_ngrams --dir b
expect 0 "epsilon 0.3 of 0.9" ledger --dir b $now
expect 0 "given-up" why 50001 --dir b $now
expect 0 "The events of keyboard_ngrams are erased" forget keyboard_ngrams --dir a
expect 0 "no: this device takes part in nothing" consent no --dir a $now

# ---- a lost ledger closes the device, until it is reset with nothing left
rm b/ledger.db*
expect 4 "ledger-closed" why 50001 --dir b $now
grep -qF "sotto device reset --yes" out || complain "does not say what to do"
expect 4 "denied" tick $good --dir b $now
expect 2 "say --yes" reset --dir b
expect 0 '"all_spent":true' reset --yes --json --dir b $now
expect 0 "all of it counts as spent" ledger --dir b $now
says "epsilon 0.9 of 0.9, delta 3e-06 of 3e-06, 3 of 3 reports"
expect 0 '"name":"keyboard_ngrams.perplexity","epsilon":1.0' ledger --json --dir b $now
says '"reports":3,.*"unknown":true,"all_spent":true'
says_not '"epsilon":0.0'
expect 0 "fully spent" reset --yes --dir b $now
# ---- a reset of a ledger that can be read keeps what left the device
expect 0 "fully spent" reset --yes --dir a $now
expect 0 "spent        50001: read keyboard_ngrams.age keyboard_ngrams.ngram" record --dir a $now
says "told ${bits%????}"
says " reset .*what stands above may lack entries"
expect 0 "acknowledged by the leader" receipts --dir a $now
expect 0 "no: this device takes part in nothing" consent --dir a $now

# ---- what is printed as JSON is JSON
if command -v python3 >/dev/null; then
    for words in "events keyboard_ngrams" recipes receipts record ledger "why 50001" "consent yes" forget \
        "tick $good" "tick --dry-run" "offer a/bad.json"; do
        "$program" device $words --json --dir a $now 2>/dev/null |
            python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)' || complain "$words --json: not JSON"
    done
fi
finish
