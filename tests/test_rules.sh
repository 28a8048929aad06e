#!/bin/sh
# test_rules.sh SOURCE: what tests/rules.sh says of a rule whose test fails, passes, is skipped or hangs without it.
script=$1/tests/rules.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tests" "$work/build"
failed=0

cat >"$work/build/rules_fake" <<'END'
#!/bin/sh
case $SOTTO_RULE_OFF in
caught) exit 1 ;;
skipped) exit 77 ;;
hangs) exec sleep 60 ;;
esac
echo "OK $1"
END
chmod +x "$work/build/rules_fake"

# expect SECONDS RULE STATUS TEXT: the one rule, switched off, ends the script so, and it says so. Only the test that hangs has
# few seconds: a busy machine may need some for the others.
expect() {
    echo "$2 | fake | a_test | a rule" >"$work/tests/rules.txt"
    said=$(SOTTO_RULES_SECONDS=$1 sh "$script" "$work" "$work/build" fake 2>&1)
    status=$?
    if [ $status -ne "$3" ] || ! echo "$said" | grep -q "^$2: $4"; then
        echo "$2: status $status, said: $said"
        failed=1
    fi
}

expect 60 caught 0 'caught, '
expect 60 passes 1 'not caught by a_test'
expect 60 skipped 1 'a_test was skipped'
expect 2 hangs 1 'a_test hangs'
exit $failed
