#!/bin/sh
# test_threats.sh SOURCE: threats.py finds a row without a test, a test and a case that do not exist, and a finding that has no row.
source=$1
here=$(cd "$(dirname "$0")" && pwd)
page=$(mktemp) || exit 1
trap 'rm -f "$page"' EXIT
failed=0

# finds WHAT SED: the page, changed by SED, is refused with WHAT.
finds() {
    sed "$2" "$source/docs/threat-model.md" >"$page"
    said=$(python3 "$here/threats.py" "$source" "$page")
    case $said in *"$1"*) ;; *) echo "FAILED: not found: $1" && failed=1 ;; esac
}

finds 'names no test' 's/| `build_hardened` |$/| looked at |/'
finds 'not said to be an attack that is not stopped' 's/| `build_hardened` |$/| - |/'
finds 'no such test: build_softened' 's/`build_hardened`/`build_softened`/'
finds 'no row for: no control-flow' 's/`build_hardened`/`build_units`/'
finds 'has no case old_suites_are_spoken' 's/old_suites_are_not_spoken/old_suites_are_spoken/'
finds 'only 0 rows' '/^|/d'
exit $failed
