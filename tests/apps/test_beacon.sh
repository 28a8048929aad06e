#!/bin/sh
# test_beacon.sh SOTTO: four witnesses as processes make the key of a beacon, and give its value although one is gone. docs/operating.md has
# these commands.
sotto=$1
work=$(mktemp -d) || exit 1
running=
failed=0

clean() {
    [ -z "$running" ] || kill $running 2>/dev/null
    rm -rf "$work"
}
trap clean EXIT

complain() {
    echo "$1"
    failed=1
}

cd "$work" || exit 1
printf 'a-token-of-the-aggregator\n' >beacon.token
chmod 600 beacon.token
: >logs
for i in 1 2 3 4; do
    "$sotto" log key "witness.example/$i" --out "witness-$i.key" --cosigns >"witness-$i.pub" || exit 1
    cat "witness-$i.pub" >>beacon.list
done
for i in 1 2 3 4; do
    cat >"witness-$i.ini" <<END
[witness]
listen = 127.0.0.1:0
operations = 127.0.0.1:0
database = sqlite:witness-$i.db
datastore_key = witness-$i.datastore
key = witness-$i.key
logs = logs
beacon_witnesses = beacon.list
beacon_token = beacon.token
END
    "$sotto" serve witness --config "witness-$i.ini" 2>"log-$i" &
    running="$running $!"
    [ $i -gt 1 ] || first=$!
done
for i in 1 2 3 4; do
    port=
    for turn in $(seq 200); do
        port=$(sed -n 's/.*server\.started.* port=\([0-9]*\).*/\1/p' "log-$i")
        [ -n "$port" ] && break
        sleep 0.1
    done
    [ -n "$port" ] || { cat "log-$i"; exit 1; }
    echo "$(cat "witness-$i.pub") http://127.0.0.1:$port/" >>witnesses
done
# Two that nobody started: all of them are named, and a file that is there stays as it is.
port=1
while read -r key url; do
    [ $port -gt 2 ] || url=http://127.0.0.1:$port/
    echo "$key $url"
    port=$((port + 1))
done <witnesses >silent
echo before >beacon.key
"$sotto" admin beacon make --witnesses silent --token beacon.token --out beacon.key >out 2>&1 && complain "made without two witnesses"
for line in '2 of 4 witnesses do not answer' 'witness 1 does not answer: http://127.0.0.1:1/' 'witness 2 does not answer: http://127.0.0.1:2/'; do
    grep -qF "$line" out || complain "not named, $line: $(cat out)"
done
[ "$(grep -c 'does not answer: ' out)" -eq 2 ] || complain "another witness is silent: $(cat out)"
[ "$(cat beacon.key)" = before ] || complain "written without a key"
# It is written beside and renamed: who has the old file open reads all of it.
exec 3<beacon.key
"$sotto" admin beacon make --witnesses witnesses --token beacon.token --out beacon.key >out 2>&1 || { cat out log-*; exit 1; }
grep -q '4 witnesses made their key, and 4 signed for it; any 2 of them give the beacon' out || complain "make says: $(cat out)"
[ "$(cat <&3)" = before ] || complain "the key was written over the old file"
exec 3<&-
cp beacon.key first.key
"$sotto" admin beacon make --witnesses witnesses --token beacon.token --out beacon.key >out 2>&1 || complain "not fetched again: $(cat out)"
cmp -s first.key beacon.key || complain "the key is another one"

session=$(printf '%064d' 7)
registry=$(printf '%064d' 9)
ask() { # KEY SESSION EPOCH
    "$sotto" admin beacon ask --witnesses witnesses --token beacon.token --key "$1" --session "$2" --registry "$registry" --epoch "$3" --json
}
ask beacon.key "$session" 1 >one || complain "no beacon"
kill "$first"
wait "$first" 2>/dev/null
ask beacon.key "$session" 1 >two || complain "no beacon without the first witness"
value() { sed 's/.*"beacon":"\([0-9a-f]*\)".*/\1/' "$1"; }
[ "$(value one)" = "$(value two)" ] || complain "another value: $(cat one two)"
cmp -s one two && complain "the first witness is still there"
# The epoch is settled.
ask beacon.key "$(printf '%064d' 8)" 1 >out 2>&1 && complain "a second session in an epoch"
grep -q 'parts of the beacon' out || complain "ask says: $(cat out)"
# A key that witnesses did not sign is none.
sed 's/"record": "\(.\{200\}\)./"record": "\10/; s/"record": "\(.\{201\}\)./"record": "\1f/' beacon.key >forged.key
ask forged.key "$session" 1 >out 2>&1 && complain "a forged key is taken"
printf 'another-token-of-somebody\n' >beacon.token
"$sotto" admin beacon make --witnesses witnesses --token beacon.token --out other.key >out 2>&1 && complain "made without the token"
[ ! -e other.key ] || complain "a file without a key"
for wrong in 'make' 'ask' 'make --witnesses witnesses' 'ask --epoch x' 'other'; do
    "$sotto" admin beacon $wrong >out 2>&1
    [ $? -eq 2 ] || complain "sotto admin beacon $wrong: not a mistake of usage"
done
# What is wrong in a file or a word is not a server that is away.
echo "$(cat witness-1.pub)" >urls
cp beacon.token token
for wrong in '3 make --witnesses urls --token token --out other.key' '3 ask --witnesses witnesses --token token --key urls --session '"$session --registry $registry"' --epoch 1' \
             '2 ask --witnesses witnesses --token token --key beacon.key --session 7 --registry '"$registry"' --epoch 1'; do
    "$sotto" admin beacon ${wrong#* } >out 2>&1
    [ $? -eq ${wrong%% *} ] || complain "sotto admin beacon $wrong: $(cat out)"
done
exit $failed
