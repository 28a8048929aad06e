#!/bin/sh
# install.sh BUILD SOURCE CMAKE CC FAKE_LEADER ONE_SERVER: installs into an empty directory and builds examples/ against it, by
# find_package and by pkg-config.
build=$1
source=$2
cmake=$3
cc=$4
fake=$5
one_server=$6
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
set -e

"$cmake" --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
# No variable of the environment switches a rule off in what is installed (src/base/rule.h).
if grep -rlF SOTTO_RULE_OFF "$work/prefix"; then
    echo "installed with rules that can be switched off"
    exit 1
fi
# Units start the program that was installed with them; they are the one thing that knows the prefix.
for role in leader helper gateway relay log witness issuer attester aggregator; do
    unit=$work/prefix/lib/systemd/system/sotto-$role.service
    grep -qxF "ExecStart=$work/prefix/bin/sotto serve $role --config /etc/sotto/$role.ini" "$unit" ||
        { echo "sotto-$role.service starts another program:"; grep ^ExecStart "$unit"; exit 1; }
    page=$(sed -n 's/^Documentation=file://p' "$unit")
    [ -f "$page" ] || { echo "sotto-$role.service names a page that is not there: $page"; exit 1; }
done
DESTDIR=$work/staged "$cmake" --install "$build" --prefix /opt/sotto >"$work/log" || { cat "$work/log"; exit 1; }
grep -q '^ExecStart=/opt/sotto/bin/sotto ' "$work/staged/opt/sotto/lib/systemd/system/sotto-leader.service" ||
    { echo "a staged unit does not start what it will be installed with"; exit 1; }
# An installed tree can be moved: nothing else in it may name the place it was built or installed for.
mv "$work/prefix" "$work/moved"

"$cmake" -S "$source/examples" -B "$work/examples" -DCMAKE_PREFIX_PATH="$work/moved" \
    -DCMAKE_C_COMPILER="$cc" >"$work/log" || { cat "$work/log"; exit 1; }
"$cmake" --build "$work/examples" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
for example in sum_vec seal recipe; do
    "$work/examples/$example" >/dev/null
    "$work/examples/${example}_static" >/dev/null
done
# The host's device needs a recipe that is open today, which every device answers; it answers it once.
today=$(date -u +%F)
later=$(date -u -d '2 days' +%F)
after=$(date -u -d '4 days' +%F)
dates="s/2026-11-20T/${today}T/; s/2026-11-27T/${later}T/; s/\"from\": \"[^\"]*/\"from\": \"${today}T00:00:00Z/"
dates="$dates; s/\"until\": \"[^\"]*/\"until\": \"${later}T00:00:00Z/; s/\"rate\": 0.1/\"rate\": 1/"
for kind in host host_static; do
    mkdir "$work/$kind"
    for file in policy parties; do
        "$work/moved/bin/sotto" recipe new --$file | sed "$dates" >"$work/$kind/$file.json"
    done
    "$work/moved/bin/sotto" recipe new | sed "$dates" >"$work/$kind/recipe.json"
    # Silent until the person says yes, and no longer once they have said no, whoever they said it to.
    said=$(cd "$work/$kind" && "$work/examples/$kind" policy.json parties.json recipe.json 50001) || { echo "$said"; exit 1; }
    echo "$said" | grep -q "^50001: no-consent: " || { echo "nobody was asked: $said"; exit 1; }
    for sent in 1 0; do
        yes=$([ $sent -eq 0 ] || echo yes)
        said=$(cd "$work/$kind" && "$work/examples/$kind" policy.json parties.json recipe.json 50001 $yes) || { echo "$said"; exit 1; }
        [ "$(echo "$said" | grep -c "sealed bytes leave")" -eq $sent ] || { echo "not $sent reports: $said"; exit 1; }
        echo "$said" | grep -q "^50001: answered: " || { echo "does not say that it answered: $said"; exit 1; }
    done
    # `sotto device` opens the same files, by streams of its own; and a host says why it is silent.
    "$work/moved/bin/sotto" device new >"$work/$kind/streams.json"
    "$work/moved/bin/sotto" device record 50001 --dir "$work/$kind" | grep -q " acknowledged " || exit 1
    sed "s/50001/50002/; s/${today}T/${later}T/; s/${later}T00:00:00Z\", \"prec/${after}T00:00:00Z\", \"prec/" \
        "$work/$kind/recipe.json" >"$work/$kind/later.json"
    said=$(cd "$work/$kind" && "$work/examples/$kind" policy.json parties.json later.json 50002) || { echo "$said"; exit 1; }
    echo "$said" | grep -q "^50002: not-open-yet: The recipe opens at ${later}T00:00:00Z\." || { echo "does not say why: $said"; exit 1; }
    "$work/moved/bin/sotto" device consent no --dir "$work/$kind" >/dev/null || exit 1
    said=$(cd "$work/$kind" && "$work/examples/$kind" policy.json parties.json later.json 50002) || { echo "$said"; exit 1; }
    echo "$said" | grep -q "^50002: no-consent: " || { echo "the person's no was undone: $said"; exit 1; }
    said=$("$work/examples/$kind") && exit 1
    [ "$said" = "usage: host POLICY PARTIES RECIPE NAME [yes|no]" ] || { echo "no usage: $said"; exit 1; }
done
# An analyst's program asks servers whose batch is known, and shows the answer in each format.
analyst() {
    mkdir "$work/$1"
    "$work/moved/bin/sotto" collect key "$work/$1/key" --id 9 >/dev/null 2>&1
    "$work/moved/bin/sotto" recipe new >"$work/$1/recipe.json"
    mkfifo "$work/$1/hold" "$work/$1/ready"
    "$fake" "$work/$1/recipe.json" "$work/$1/key" "$work/$1" <"$work/$1/hold" >"$work/$1/ready" &
    leader=$!
    exec 3>"$work/$1/hold"
    read -r line <"$work/$1/ready"
    [ "$line" = ready ] || { echo "the fake leader does not start"; exit 1; }
    SOTTO_COLLECTOR_TOKEN=$(sed -n 's/.*"collector_token": *"\([^"]*\)".*/\1/p' "$work/$1/pairing.json")
    export SOTTO_COLLECTOR_TOKEN
    for format in text json csv svg; do
        "$work/examples/$1" "$work/$1/recipe.json" "$work/$1/parties.json" "$work/$1/key" $format \
            >"$work/$1/out.$format" 2>"$work/$1/err" || { cat "$work/$1/err"; exit 1; }
    done
    exec 3>&-
    wait $leader || true
    grep -q "^cohort locale en_US: 41000 reports; estimated counts" "$work/$1/out.text" || { echo "$1: no answer"; exit 1; }
    python3 - "$work/$1/out" <<'END' || { echo "$1: the formats differ"; exit 1; }
import csv, json, sys
import xml.etree.ElementTree as xml
answer = json.load(open(sys.argv[1] + ".json"))
rows = list(csv.DictReader(open(sys.argv[1] + ".csv", newline="")))
assert len(rows) == len(answer["bins"]) > 20
for row, item in zip(rows, answer["bins"]):
    assert row["label"] == item["label"] and int(row["bin"]) == item["bin"] and int(row["sum"]) == item["sum"]
    assert all(float(row[name]) == item[name] for name in ("count", "deviation", "low", "high"))
picture = xml.parse(sys.argv[1] + ".svg").getroot()
bars = [rect for rect in picture.iter("{http://www.w3.org/2000/svg}rect") if rect.get("class") == "bar"]
assert picture.tag == "{http://www.w3.org/2000/svg}svg" and len(bars) == 20
END
    said=$("$work/examples/$1") && exit 1
    case $said in usage:*) ;; *) echo "no usage: $said"; exit 1 ;; esac
}
analyst analyst
analyst analyst_static
# What docs/collecting.md shows of it is the example's own text.
awk '$0 == "```c" {inside = 1; next} $0 == "```" {inside = 0} inside' "$source/docs/collecting.md" >"$work/shown"
grep -q sotto_view_answer "$work/shown" || { echo "docs/collecting.md: no piece of the example was found"; exit 1; }
grep -vxFf "$source/examples/analyst.c" "$work/shown" && { echo "docs/collecting.md: not in examples/analyst.c"; exit 1; }
# What docs/device.md says to type, and what it says comes of it.
block() {
    awk -v begin="\`\`\`$1" '$0 == begin {inside = 1; next} $0 == "```" {inside = 0} inside' "$source/docs/device.md"
}
mkdir "$work/typed"
block bash >"$work/typed.sh"
block text >"$work/expected"
grep -q "sealed bytes leave" "$work/expected" || { echo "docs/device.md: no run of the host was found"; exit 1; }
(cd "$work/typed" && PATH=$work/examples:$work/moved/bin:$PATH sh -eu "$work/typed.sh") >"$work/typed.out" 2>&1 ||
    { cat "$work/typed.out"; exit 1; }
diff "$work/expected" "$work/typed.out" || { echo "docs/device.md: the host says something else"; exit 1; }
[ "$(wc -l <"$source/examples/host.c")" -le 60 ] || { echo "host.c: more than 60 lines"; exit 1; }
for page in man1/sotto.1 man1/sotto-admin.1 man1/sotto-budget.1 man1/sotto-collect.1 man1/sotto-demo.1 man1/sotto-device.1 \
    man1/sotto-parties.1 man1/sotto-recipe.1 man1/sotto-serve.1 man3/libsotto-device.3 man3/libsotto-analyst.3; do
    [ -f "$work/moved/share/man/$page" ] || { echo "no $page"; exit 1; }
done
echo "find_package: ok"

pc=$(find "$work/moved" -name sotto.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
LD_LIBRARY_PATH=$(pkg-config --variable=libdir sotto)
export LD_LIBRARY_PATH
"$cc" -std=c11 -o "$work/seal" "$source/examples/seal.c" $(pkg-config --cflags --libs sotto)
"$work/seal" >/dev/null
"$cc" -std=c11 -o "$work/hosts" "$source/examples/host.c" $(pkg-config --cflags --libs sotto-device)
"$cc" -std=c11 -o "$work/recipe" "$source/examples/recipe.c" $(pkg-config --cflags --libs sotto-analyst)
"$work/recipe" >/dev/null
"$cc" -std=c11 -o "$work/asks" "$source/examples/analyst.c" $(pkg-config --cflags --libs sotto-analyst)
"$work/asks" >/dev/null && exit 1
[ $? -eq 2 ] || { echo "analyst: does not run"; exit 1; }
# A device of an application takes part in a round over a real aggregator, and pays from its ledger.
"$cc" -std=c11 -o "$work/one_server_device" "$source/tests/build/one_server_device.c" $(pkg-config --cflags --libs sotto-device-full)
SOTTO_ONE_SERVER_DEVICE=$work/one_server_device "$one_server" || exit 1
echo "pkg-config: ok"
