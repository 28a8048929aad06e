#!/bin/sh
# test_places.sh SOURCE: places.py finds a file, a folder, a function, a test and a name that are not there, and a room that no page names.
source=$1
here=$(cd "$(dirname "$0")" && pwd)
over=$(mktemp -d) || exit 1
trap 'rm -rf "$over"' EXIT
failed=0

mkdir -p "$over/docs/protocols" "$over/src/newroom" "$over/src/serve/newservice" || exit 1
cp "$source/docs/architecture.md" "$source/docs/life-of-a-report.md" "$over/docs" && cp "$source/src/serve/README.md" "$over/src/serve" || exit 1
printf '\n`no_such_file.c` and src/base/nowhere are `sotto_%s`.\n' no_such_thing >>"$over/docs/architecture.md"
printf '\n`flush.c` `no_such_function` runs.\n' >>"$over/docs/life-of-a-report.md"
printf '\n`../../docs/nothing.md`\n' >>"$over/src/serve/README.md"
cp "$source/docs/protocols/flamingo.md" "$over/docs/protocols" || exit 1
printf '\n`flamingo/client.c: add_self, no_%s`, `aggregate_dkg: no_such_%s`, `no_such_long_%s`\n' such_step test name >>"$over/docs/protocols/flamingo.md"
said=$(python3 "$here/places.py" "$source" "$over") && { echo "FAILED: mistakes are no failure"; failed=1; }
for wanted in 'architecture.md: there is no no_such_file.c' 'architecture.md: there is no src/base/nowhere' \
    'architecture.md: nothing is called sotto_no''_such_thing' 'life-of-a-report.md: flush.c has no no_such_function' \
    'src/serve/README.md: there is no ../../docs/nothing.md' 'does not name src/newroom' \
    'flamingo.md: flamingo/client.c has no no_such_step' 'flamingo.md: aggregate_dkg has no test no_such_''test' 'flamingo.md: nothing is called no_such_long_''name' 'does not name src/serve/newservice'; do
    echo "$said" | grep -qF "$wanted" || { echo "FAILED: not said: $wanted"; failed=1; }
done
[ "$(echo "$said" | wc -l)" -eq 10 ] || { echo "FAILED: ten mistakes, and no more"; failed=1; }
[ $failed -eq 0 ] || echo "$said"
exit $failed
