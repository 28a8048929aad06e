#!/bin/sh
# rules.sh SOURCE BUILD: every rule of tests/rules.txt, switched off alone, must fail the test that guards it,
# which must pass while it holds. Ends with "N rules, N caught".
source=$1
build=$2
rules=0
caught=0
failed=0
listed=$(mktemp) && used=$(mktemp) && passed=$(mktemp) || exit 1
trap 'rm -f "$listed" "$used" "$passed"' EXIT

complain() {
    echo "$1"
    failed=1
}

grep -v '^#' "$source/tests/rules.txt" | grep . | tr -d ' ' | cut -d'|' -f1 | LC_ALL=C sort >"$listed"
grep -rhoE 'SOTTO_RULE\([a-z_]+\)' "$source/src" --include='*.c' |
    sed 's/.*(\(.*\))/\1/' | LC_ALL=C sort -u >"$used"
for rule in $(LC_ALL=C comm -23 "$listed" "$used"); do
    complain "$rule: listed in tests/rules.txt, but no code has it (or it is listed twice)"
done
for rule in $(LC_ALL=C comm -13 "$listed" "$used"); do
    complain "$rule: in the code, but not in tests/rules.txt"
done

# A program passes as a whole once; after that only single tests are run.
passes() {
    grep -qx "$1" "$passed" && return 0
    "$build/rules_$1" >/dev/null 2>&1 || return 1
    echo "$1" >>"$passed"
}

without() {
    SOTTO_RULE_OFF=$1 timeout -k 5 120 "$build/rules_$2" "$3" >/dev/null 2>&1 </dev/null
}

while IFS='|' read -r rule program test what; do
    case $rule in '' | '#'*) continue ;; esac
    rule=$(echo $rule) program=$(echo $program) test=$(echo $test)
    rules=$((rules + 1))
    if [ ! -x "$build/rules_$program" ]; then
        complain "$rule: no program rules_$program"
    elif ! passes "$program"; then
        complain "$rule: rules_$program fails with every rule in force"
    elif ! "$build/rules_$program" "$test" 2>&1 | grep -q "OK.*$test"; then
        complain "$rule: rules_$program has no test $test"
    elif without "$rule" "$program" "$test"; then
        complain "$rule: not caught by $test ($what )"
    else
        caught=$((caught + 1))
    fi
done <"$source/tests/rules.txt"
echo "$rules rules, $caught caught"
[ "$failed" -eq 0 ] && [ "$rules" -gt 0 ] && [ "$rules" -eq "$caught" ]
