#!/bin/sh
# Tests of sotto-golden itself: what it must not let pass, and what it must not trip over.
#   test_golden_runner.sh PROGRAM OWN_NUMBERS
set -u
. "$(dirname "$0")/../support/program.sh"
own=$2

# ends_with EXIT_CODE LAST_LINE: runs the program over the test's folder.
ends_with() {
    "$program" -v "$dir" >"$out" 2>&1
    code=$?
    [ "$code" -eq "$1" ] || complain "exit code $code, not $1"
    last=$(tail -n 1 "$out")
    [ "$last" = "$2" ] || complain "last line '$last', not '$2'"
}

header=sigma,eps,delta,query,value,kind,rel_tol,method,source
right=5.1,,1e-8,eps,1.00006384996,exact,1e-9,m,s

begin an_empty_folder_is_no_success
ends_with 1 "0 passed, 0 failed, 0 skipped"

begin wrong_usage_is_told_apart
"$program" "$dir/none" >"$out" 2>&1
[ $? -eq 2 ] || complain "a missing folder: exit code is not 2"
"$program" >"$out" 2>&1
[ $? -eq 2 ] || complain "no folder: exit code is not 2"
"$program" --no-such-option "$dir" >"$out" 2>&1
[ $? -eq 2 ] || complain "an unknown option: exit code is not 2"
"$program" --help >"$out" 2>&1 || complain "help: exit code is not 0"
says "usage: sotto-golden"

begin the_header_tells_the_format_not_the_name
printf '%s\n%s\n' $header $right >"$dir/anything.csv"
printf '\357\273\277%s\r\n%s\r\n' $header $right >"$dir/windows.csv"
ends_with 0 "2 passed, 0 failed, 0 skipped"

begin only_csv_counts_and_folders_are_walked
mkdir -p "$dir/x/y"
printf '%s\n%s\n' $header $right >"$dir/x/y/a.csv"
printf '%s\n%s\n' $header 5.1,,1e-8,eps,2,exact,1e-9,m,s >"$dir/a.txt"
ends_with 0 "1 passed, 0 failed, 0 skipped"

begin unknown_things_are_skipped_by_name
printf '%s\n%s\n%s\n' $header $right 5.1,,1e-8,entropy,1,exact,1e-9,m,s >"$dir/a.csv"
printf 'a,b\n1,2\n3,4\n' >"$dir/strange.csv"
: >"$dir/empty.csv"
ends_with 0 "1 passed, 0 failed, 3 skipped"
says "entropy"
says "strange.csv"
says "empty.csv"

begin nothing_but_skips_is_no_success
printf 'a,b\n1,2\n' >"$dir/strange.csv"
ends_with 1 "0 passed, 0 failed, 1 skipped"

begin too_low_too_loose_and_refused_all_fail
cat >"$dir/a.csv" <<END
$header
5.1,,1e-8,eps,1.00007,exact,1e-9,m,s
5.1,,1e-8,eps,0.99,exact,1e-9,m,s
-5.1,,1e-8,eps,1,exact,1e-9,m,s
5.1,,1e-8,eps,NA,exact,1e-9,m,s
-5.1,,1e-8,eps,NA,exact,1e-9,m,s
END
ends_with 1 "1 passed, 4 failed, 0 skipped"
says "a.csv:2: high is below the truth"
says "a.csv:3: high is loose"
says "a.csv:4: refused: sigma"
says "a.csv:5: answered"

begin malformed_rows_are_reported_and_the_rest_answered
cat >"$dir/a.csv" <<END
$header
5.1,,1e-8,eps,1.00006384996,exact,1e-9,m
5.1,,1e-8,eps,1.00006384996,exact,1e-9,"m,s
0x5,,1e-8,eps,1,exact,1e-9,m,s
nan,,1e-8,eps,1,exact,1e-9,m,s
,,1e-8,eps,1,exact,1e-9,m,s
5.1,,1e-8,eps,one,exact,1e-9,m,s

$right
END
ends_with 1 "1 passed, 6 failed, 0 skipped"
says "a.csv:2: 8 fields, not 9"
says "a.csv:3: field 8: a stray quote"
says "a.csv:4: sigma: '0x5'"
says "a.csv:5: sigma: 'nan'"
says "a.csv:6: sigma is empty"
says "a.csv:7: value: 'one'"

begin numbers_below_what_doubles_hold_are_judged
cat >"$dir/a.csv" <<END
$header
2,20,,delta,9.744331371591496e-348,exact,1e-11,m,s
10,20,,delta,2.828664358228318e-8688,exact,1e-10,m,s
10,20,,delta,2.8290e-8688,exact,1e-11,m,s
END
ends_with 1 "2 passed, 1 failed, 0 skipped"

begin json_has_one_object_a_row
printf '%s\n%s\n%s\n' $header $right -1,,1e-8,eps,1,exact,1,m,s >"$dir/a.csv"
"$program" --json "$dir" >"$out" 2>&1
says '^{"file":".*/a.csv","line":2,"low":1.0000[0-9]*,"high":1.0000[0-9]*,"seconds":[0-9.]*,"verdict":"passed",'
says '^{"file":".*/a.csv","line":3,"low":null,"high":null,"seconds":[0-9.]*,"verdict":"failed",'
[ "$(tail -n 1 "$out")" = "1 passed, 1 failed, 0 skipped" ] || complain "no summary"

# From here on the tree's own numbers.

begin answers_come_from_the_inputs_alone
cp "$own"/*.csv "$dir"
"$program" --json "$own" | sed 's/.*"line":\([0-9]*\),\("low".*\),"seconds".*/\1 \2/' | grep low >"$work/before"
python3 - "$dir" <<END
import csv, glob, sys
for path in glob.glob(sys.argv[1] + "/*.csv"):
    rows = list(csv.DictReader(open(path)))
    for row in rows:
        for key, other in (("value", "1"), ("decision", "allow"), ("reason", ""), ("claimed", "7"), ("verdict", "")):
            if key in row:
                row[key] = other
    with open(path, "w", newline="") as to:
        writer = csv.DictWriter(to, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
END
"$program" --json "$dir" | sed 's/.*"line":\([0-9]*\),\("low".*\),"seconds".*/\1 \2/' | grep low >"$work/after"
[ "$(wc -l <"$work/before")" -gt 50 ] || complain "nothing compared"
cmp "$work/before" "$work/after" >"$out" 2>&1 || complain "replacing every value changed an answer"

for file in "$own"/*.csv; do
    begin "changed_$(basename "$file" .csv)_is_noticed"
    # One significant digit of every value: none may pass unless it wants a refusal or an upper bound.
    python3 - "$file" "$dir/a.csv" <<END
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for row in rows:
    if "decision" in row:
        row["decision"] = "deny" if row["decision"] == "allow" else "allow"
    elif row["value"] != "NA":
        row["value"] = repr(float(row["value"]) * 0.7)
rows = [row for row in rows if row.get("value") != "NA" and row.get("kind") != "note"]
with open(sys.argv[2], "w", newline="") as to:
    writer = csv.DictWriter(to, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
END
    "$program" "$dir" >"$out" 2>&1
    tail -n 1 "$out" | grep -q '^0 passed' || complain "a changed value passes"
done

begin the_version_is_told
expect 0 "sotto-golden 0." --version

finish
