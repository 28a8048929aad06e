#!/bin/sh
# rules.sh SOURCE BUILD PROGRAM: every rule that tests/rules.txt lists for this program, switched off alone, must fail the test
# that guards it, which must pass while it holds. Ends with "N rules, N caught".
# rules.sh SOURCE BUILD --listed: the source and tests/wrong/ together, and tests/rules.txt, have the same rules; those in the
# source are guards, and the edits fit it.
# rules.sh SOURCE BUILD --passes PROGRAM TEST: complains unless the test passes with every rule in force.
# rules.sh SOURCE BUILD --one RULE PROGRAM TEST: one row of tests/rules.txt.
# rules.sh SOURCE BUILD --count: adds up what the programs' last runs caught; every row of tests/rules.txt must be among it.
source=$1
build=$2
what=$3
results=$build/rules
failed=0
# How long a test may take. The slowest one needs 40 s on a busy machine.
limit=${SOTTO_RULES_SECONDS:-300}

complain() {
    echo "$1"
    failed=1
}

# rule|program|test, a line each.
rows() {
    grep -v '^#' "$source/tests/rules.txt" | grep . | cut -d'|' -f1-3 | tr -d ' '
}

used() {
    { grep -rhoE 'SOTTO_RULE\([a-z_]+\)' "$source/src" "$source/apps" --include='*.c'
      grep -rhoE '^[+].*' "$source/tests/wrong" | grep -oE 'SOTTO_RULE\([a-z_]+\)'; } |
        sed 's/.*(\(.*\))/\1/' | LC_ALL=C sort -u
}

compare_lists() {
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    rows | cut -d'|' -f1 | LC_ALL=C sort >"$work/listed"
    used >"$work/used"
    for rule in $(LC_ALL=C comm -23 "$work/listed" "$work/used"); do
        complain "$rule: listed in tests/rules.txt, but no code has it (or it is listed twice)"
    done
    for rule in $(LC_ALL=C comm -13 "$work/listed" "$work/used"); do
        complain "$rule: in the code, but not in tests/rules.txt"
    done
    echo "$(wc -l <"$work/listed") rules listed, $(wc -l <"$work/used") in the code"
    python3 -B "$source/tests/wrong.py" --check "$source" || failed=1
}

count_results() {
    rules=$(rows | wc -l)
    caught=0
    for program in $(rows | cut -d'|' -f2 | sort -u); do
        if [ -s "$results/$program" ]; then
            caught=$((caught + $(cat "$results/$program")))
        else
            complain "rules_$program: has not run to its end"
        fi
    done
    echo "$rules rules, $caught caught"
    [ "$rules" -gt 0 ] && [ "$rules" -eq "$caught" ] || failed=1
}

# Everything in force: the test exists and passes.
passes() {
    timeout -k 5 "$limit" "$program" "$1" 2>&1 </dev/null | grep -q "OK.*$1"
}

# One rule off: the test must fail. One that hangs has not noticed: it would hang as well where something else is wrong, and
# nobody could tell which. `timeout` ends with 124, or with 137 where the program had to be killed.
try_rule() {
    began=$(date +%s)
    SOTTO_RULE_OFF=$1 timeout -k 5 "$limit" "$program" "$2" >/dev/null 2>&1 </dev/null
    case $? in
    0) echo "$1: not caught by $2" ;;
    77) echo "$1: $2 was skipped" ;;
    124 | 137) echo "$1: $2 hangs, and was ended after $limit s" ;;
    *) echo "$1: caught, $(($(date +%s) - began)) s" ;;
    esac
}

# A test whose rule is off mostly waits for what will not come, so a few run at once.
try_program() {
    mkdir -p "$results" && rm -f "$results/$what" || exit 1
    [ -x "$program" ] || { echo "no program rules_$what"; exit 1; }
    mine=$(rows | grep "^[a-z_]*|$what|")
    said=$(echo "$mine" | cut -d'|' -f3 | sort -u | xargs -P 3 -n 1 sh "$0" "$source" "$build" --passes "$what")
    [ -z "$said" ] || complain "$said"
    said=$(echo "$mine" | tr '|' ' ' | xargs -P 3 -n 3 sh "$0" "$source" "$build" --one)
    echo "$said"
    rules=$(echo "$mine" | grep -c .)
    caught=$(echo "$said" | grep -c ': caught, ')
    echo "$rules rules, $caught caught"
    [ "$rules" -gt 0 ] && [ "$rules" -eq "$caught" ] || failed=1
    [ $failed -ne 0 ] || echo "$caught" >"$results/$what"
}

program=$build/rules_$what
case $what in
--listed) compare_lists ;;
--count) count_results ;;
--passes)
    program=$build/rules_$4
    passes "$5" || complain "rules_$4 has no test $5, or it fails with every rule in force"
    ;;
--one)
    program=$build/rules_$5
    try_rule "$4" "$6"
    ;;
*) try_program ;;
esac
exit $failed
