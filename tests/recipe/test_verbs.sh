#!/bin/sh
# test_verbs.sh PROGRAM HOSTILE: `sotto recipe`, as a person types it: what it prints and how it ends.
. "$(dirname "$0")/../support/program.sh"
hostile=$2
verb=recipe
cd "$work" || exit 1
"$program" recipe new >recipe.json || complain "no JSON"
"$program" recipe new --policy >policy.json || complain "no JSON"
"$program" recipe new --parties >parties.json || complain "no JSON"

expect 0 "It may claim" lint recipe.json
expect 0 "It may claim" lint recipe.json --policy policy.json
says "becomes another or none"
expect 0 '"ok":true' lint recipe.json --json
says '"none_told":false'
sed 's/"no-value"/"silence"/' recipe.json >silent.json
expect 0 "told by its silence: no epsilon here bounds it" lint silent.json
says_not "or none"
expect 0 "None of this hides whether you have a value at all" explain silent.json
expect 0 "What protects you" explain recipe.json
expect 0 "usage: sotto recipe lint" lint --help
expect 0 "[20,30) | hello world <end>" compile recipe.json parties.json
expect 0 '"task_id":"' compile recipe.json parties.json --policy policy.json --cohort 1 --json
"$program" recipe compile recipe.json parties.json | grep -q '^task_id        [A-Za-z0-9_-]\{43\}$' ||
    complain "a task has another name than at its servers"
expect 0 "# Recipes, policies, parties and streams" reference
expect 1 "cohort 2: there are 2" compile recipe.json parties.json --cohort 2
expect 1 "can't read" lint nowhere.json
expect 2 "which recipe?" lint
expect 2 "which parties?" compile recipe.json
expect 2 "what is '--loud'?" lint recipe.json --loud
expect 2 "no verb 'bake'" bake
expect 3 "cohort-of-one.json:22:75: error: privacy.min_cohort: too small" lint "$hostile/cohort-of-one.json"
expect 3 "accepted: a whole number from 10" lint "$hostile/cohort-of-one.json"
expect 3 "claims less than the" lint "$hostile/epsilon-below-the-truth.json"
expect 3 "duplicate object key" explain "$hostile/duplicate-key.json"
expect 3 "deeper than 12" lint "$hostile/never-closed.json"
expect 3 '"ok":false' lint "$hostile/unknown-key.json" --json
expect 3 "non-sensitive" lint "$hostile/targeting-one-person.json" --policy policy.json

sed 's/SELECT age,/SELECT age, perplexity,/' recipe.json >more.json
expect 0 'more.json:6:3: warning: query: column "perplexity" is not in encode' lint more.json
sed 's/SELECT age,/SELECT/' recipe.json >less.json
expect 3 "less.json:10:5: error: encode.age: the query has no column of this name" lint less.json

if command -v python3 >/dev/null; then
    "$program" recipe compile recipe.json parties.json --json | python3 -m json.tool >/dev/null || complain "no JSON"
    "$program" recipe lint "$hostile/key-with-escape-codes.json" --json | python3 -m json.tool >/dev/null || complain "no JSON"
fi
if [ "$("$program" recipe lint - <recipe.json | head -1)" != "-: ok. It may claim:" ]; then
    complain "lint does not read standard input"
fi
finish
