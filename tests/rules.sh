#!/bin/sh
# rules.sh SOURCE BUILD PROGRAM: every rule that tests/rules.txt lists for this program, switched off alone, must fail the test
# that guards it, which must pass while it holds. Ends with "N rules, N caught".
# rules.sh SOURCE BUILD --listed: the source and tests/rules.txt have the same rules.
# rules.sh SOURCE BUILD --count: adds up what the programs' last runs caught; every row of tests/rules.txt must be among it.
source=$1
build=$2
what=$3
results=$build/rules
failed=0

complain() {
    echo "$1"
    failed=1
}

# rule|program|test, a line each.
rows() {
    grep -v '^#' "$source/tests/rules.txt" | grep . | cut -d'|' -f1-3 | tr -d ' '
}

used() {
    grep -rhoE 'SOTTO_RULE\([a-z_]+\)' "$source/src" --include='*.c' | sed 's/.*(\(.*\))/\1/' | LC_ALL=C sort -u
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

# Everything in force: the test exists and passes. Asked once for each test.
passes() {
    case " $passed " in *" $1 "*) return 0 ;; esac
    timeout -k 5 120 "$program" "$1" 2>&1 </dev/null | grep -q "OK.*$1" || return 1
    passed="$passed $1"
}

without() {
    SOTTO_RULE_OFF=$1 timeout -k 5 120 "$program" "$2" >/dev/null 2>&1 </dev/null
}

try_rule() {
    began=$(date +%s)
    if ! passes "$2"; then
        complain "$1: rules_$what has no test $2, or it fails with every rule in force"
    elif without "$1" "$2"; then
        complain "$1: not caught by $2"
    else
        caught=$((caught + 1))
        echo "$1: caught, $(($(date +%s) - began)) s"
    fi
}

try_program() {
    program=$build/rules_$what
    rules=0
    caught=0
    passed=
    mkdir -p "$results" && rm -f "$results/$what" || exit 1
    [ -x "$program" ] || { echo "no program rules_$what"; exit 1; }
    for row in $(rows | grep "^[a-z_]*|$what|"); do
        rules=$((rules + 1))
        rest=${row#*|}
        try_rule "${row%%|*}" "${rest#*|}"
    done
    echo "$caught" >"$results/$what"
    echo "$rules rules, $caught caught"
    [ "$rules" -gt 0 ] && [ "$rules" -eq "$caught" ] || failed=1
}

case $what in
--listed) compare_lists ;;
--count) count_results ;;
*) try_program ;;
esac
exit $failed
