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
says "replace one value by another, or remove it"
says "at worst .*an analyst who brings [0-9]* reports of his own"
says "them, faces one device's report"
expect 0 '"ok":true' lint recipe.json --json
says '"none_told":false'
sed 's/"no-value"/"silence"/' recipe.json >silent.json
expect 0 "stays silent, which shows: no epsilon here bounds it" lint silent.json
says_not "or none"
expect 0 "None of this hides whether you have a value at all" explain silent.json
expect 0 "What protects you" explain recipe.json
expect 0 "usage: sotto recipe lint" lint --help
expect 0 "[20,30) | hello world <end>" compile recipe.json parties.json
expect 0 '"task_id":"' compile recipe.json parties.json --policy policy.json --cohort 1 --json
"$program" recipe compile recipe.json parties.json | grep -q '^task_id        [A-Za-z0-9_-]\{43\}$' ||
    complain "a task has another name than at its servers"
# The query, as devices compile it; and what a new device would decide.
"$program" recipe new --streams >streams.json || complain "no JSON"
expect 0 "accepts it: the query reads keyboard_ngrams.age, keyboard_ngrams.ngram" \
    lint recipe.json --policy policy.json --streams streams.json
expect 0 "accepts it if its streams have these fields" lint recipe.json --policy policy.json
expect 0 '"decision":"accept"' lint recipe.json --policy policy.json --streams streams.json --json
sed 's/SELECT age/SELEC age/' recipe.json >misspelt.json
expect 3 'near "SELEC": syntax error' lint misspelt.json
expect 3 'near "SELEC": syntax error' compile misspelt.json parties.json
sed 's/FROM keyboard_ngrams"/FROM keyboard_ngrams; DROP TABLE x"/' recipe.json >two.json
expect 3 "more than one statement" lint two.json
sed 's/SELECT age, ngram FROM keyboard_ngrams/SELECT secret AS age, ngram FROM passwords/' recipe.json >secret.json
expect 3 "passwords.secret: the policy does not allow this field" lint secret.json --policy policy.json
says "a new device with this policy refuses it: query: passwords.secret"
expect 3 "no such table: passwords" lint secret.json --streams streams.json
sed 's/"reports": 1/"reports": 0/' policy.json >none.json
expect 3 "a new device with this policy refuses it: privacy: " lint recipe.json --policy none.json
expect 3 '"decision":"refuse"' lint recipe.json --policy none.json --json
sed 's/keyboard_ngrams/Keyboard/' streams.json >unnamed.json
expect 3 "not a valid name" lint recipe.json --streams unnamed.json
expect 0 "# Recipes, policies, parties and streams" reference
expect 1 "cohort 2: there are 2" compile recipe.json parties.json --cohort 2
expect 1 "nowhere.json: can't read it: No such file" lint nowhere.json
expect 2 "RECIPE: it is needed" lint
expect 2 "PARTIES: it is needed" compile recipe.json
expect 2 "--loud: no such option" lint recipe.json --loud
# Options of other verbs are none of this one: nothing is taken and then not used.
expect 2 "--cohort: no such option" lint recipe.json --cohort 1
expect 2 "--with: no such option" explain recipe.json --with recipe.json
expect 2 "one file at a time" new --policy --parties
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

slots='"start": "2026-11-20T00:00:00Z", "slot": "1h"'
sed "s/{\"type\": \"poisson\", \"rate\": 0.1}/{\"type\": \"donation\", \"slots\": 5, $slots}/" recipe.json >donation.json
sed 's/"slots": 5/"slots": 6/' donation.json >other.json
expect 0 "min_cohort      is reached with a chance of" lint donation.json --with donation.json
says "empty slots     0 of 5 expected (Balle et al. 2020, Proposition 3.4)"
expect 3 "error: participation.slots: not that of recipe" lint donation.json --with donation.json --with other.json
expect 0 "The first head is the slot in which it takes part" explain donation.json
sed 's/"on_no_match"/"dummies": 0.001, "on_no_match"/' recipe.json >dummies.json
expect 0 "hide in the number of reports who takes part" lint dummies.json
expect 0 "dummies of honest devices hide in the number of reports" explain dummies.json
expect 0 '"epsilon_count":0.2' lint dummies.json --json
sed 's/{"type": "poisson", "rate": 0.1}/{"type": "importance", "rate_default": 0.1, "rate_other": 0.4}/' recipe.json >importance.json
expect 0 "where it is seen who does: the local epsilon" lint importance.json
says "not claimed: the recipe names no relay"
says "a new device    refuses it, whatever its policy: participation: refused by devices: whether"
says_not "dummies"
expect 0 '"decision":"refuse","why":"participation: refused by devices' lint importance.json --json
says_not "dummies_needed"
sed 's/"adjacency": "replacement"/"adjacency": "deletion"/' recipe.json >deletion.json
expect 0 "refuses it, whatever its policy: privacy.adjacency: refused by devices" lint deletion.json
sed 's/"population"/"anonymity": {"relay": "r", "gateway": "g", "tokens": "type-2", "attester": "a", "issuer": "i", "log": "l"}, "population"/' \
    importance.json >hidden.json
expect 0 "not claimed: nothing prices importance sampling where the number of reports is known" lint hidden.json
says "Issuer and attester, each alone, can make tokens as they like"
expect 0 "Issuer and attester are trusted to admit real devices only" explain hidden.json
expect 0 "ok. It may claim" lint recipe.json
says_not "make tokens"
sed 's/"type-2", "attester": "a", "issuer": "i"/"arc", "attester": "a"/' hidden.json >arc.json
expect 0 "anonymity.tokens: only devices with libsotto-device-full answer" lint arc.json
expect 0 "either server could make credentials for reports of its own" explain arc.json
says_not "Issuer and attester"
sed 's/"arc", "attester": "a"/"arc"/' arc.json >half.json
expect 3 "tokens goes with attester" lint half.json
says "tokens arc with an attester and without an issuer"
sed 's/"arc", "attester": "a"/"arc", "attester": "a", "issuer": "i"/' arc.json >half.json
expect 3 "issuer goes with tokens" lint half.json
sed '/"recipe": /d' recipe.json >nameless.json
expect 3 "recipe: missing: names this recipe" lint nameless.json
expect 4 'the parties have no relay "r" with gateway "g"' compile hidden.json parties.json
sed 's/"gateway": "g", //' hidden.json >half.json
expect 3 "relay goes with gateway" lint half.json
sed 's/"tokens": "type-2", //' hidden.json >half.json
expect 3 "issuer goes with tokens" lint half.json
says "tokens type-2 with an attester and an issuer, or none of them"
sed 's/, "log": "[^"]*"//; s/"log": "[^"]*", //' hidden.json >unlogged.json
expect 0 "unless the issuer gives your device a key of its own" explain unlogged.json
expect 0 "carries an anonymous token" explain hidden.json
says_not "unless the issuer"
says_not "seed 0"
expect 0 "not claimed: the recipe names no relay" lint recipe.json
sed 's/"one-hot", "form": "asymmetric"/"choice"/; s/"epsilon": 0.30/"epsilon": 0.5/' recipe.json >choice.json
expect 0 "Who takes part can be seen" explain recipe.json
says "dummies, which are reports on \"no value\" of devices that do not take part"
expect 0 "at most 1 bit set" lint choice.json
sed 's/"slot": "1h"/"slot": "2d"/' donation.json >late.json
expect 0 "1 of 5 slots begin after \`closes\`" lint late.json
sed 's/"pick"/"interval": {"type": "last", "duration": "3d"}, "pick"/' recipe.json >interval.json
expect 0 "the query reads keyboard_ngrams.age, keyboard_ngrams.ngram, keyboard_ngrams.event_time" lint interval.json
expect 3 "error: interval: keyboard_ngrams.event_time: the policy does not allow this field" lint interval.json --policy policy.json
says "accepted: fields that the policy lists for this analysis"

# Accuracy, before asking.
expect 0 "accuracy        at 95%, with 50000 reports: each bin +-" lint recipe.json
says "charged         epsilon 0.3 from the ledger of each device that answers"
says "best for this   subset with epsilon_local"
expect 0 '"best_randomizer":{"randomizer":"subset"' lint recipe.json --json
expect 0 "wanted: a half-width of at most 0.5%, at epsilon 0.3" price recipe.json --half-width 0.5%
says "^> crowd, subset"
says "is charged 0.3"
expect 0 "wanted: a half-width of at most 0.5%, with a cohort of 40000" price recipe.json --half-width 0.5% --cohort 40000
expect 0 "wanted: to tell counts of 2000 devices of a cohort from 0" price recipe.json --see 2000
expect 0 "budgets left    com.example.keyboard-ngrams: epsilon 0.43" price recipe.json --half-width 1% --cohort 50000 --policy policy.json
says "no: privacy: field keyboard_ngrams.age: the policy does not allow noise by servers"
expect 5 "needs at least 268000 devices; with 20000, all of them asked" price recipe.json --half-width 0.1% --population 20000
says "What helps: a larger error, more devices"
expect 4 "No number of devices is enough." price recipe.json --see 5
says "servers .*no: no number of devices reaches that at epsilon .*; a cohort of [0-9]* does at epsilon"
says_not "needs at least"
expect 4 "It is by servers: add --by servers" price recipe.json --largest-error 0.2% --cohort 40000 --epsilon 0.5
expect 4 '"ok":false' price recipe.json --largest-error 0.1% --cohort 40000 --epsilon 0.3 --json
expect 4 "how many answer by importance depends" price importance.json
sed 's/"rate_default": 0.1/"rate_default": 0.1, "default_share": 0.9/' importance.json >shared.json
expect 4 "whether a device answers would depend on its value, and be seen" price shared.json
sed 's/"rate_default": 0.1/"rate_default": 0.1, "default_share": 0.9/' hidden.json >sparse.json
expect 0 "> best" price sparse.json --out rates.json
expect 0 "ok. It may claim" lint rates.json
expect 0 '"name":"even split","found":true' price sparse.json --json
expect 2 "goals and --by are of recipes without importance sampling" price sparse.json --half-width 1%
expect 0 "In the recipe, in place of its \`randomizer\`, \`participation\`, \`privacy\`:" price recipe.json --half-width 0.5% --by servers,shares --out priced.json
# What is printed can be pasted over what it names.
sed '1,/^In the recipe/d' "$out" >fragment
awk '/^  "randomizer"/ { while ((getline line < "fragment") > 0) print line; next } /^  "(participation|privacy)"/ { next } { print }' recipe.json >pasted.json
expect 0 "ok. It may claim" lint priced.json
# Another recipe has another name, or devices that answered the first would answer neither.
first=$(sed -n 's/.*"recipe": "\([^"]*\)".*/\1/p' recipe.json)
grep -q "\"recipe\": \"$first.2\"" priced.json || complain "a priced recipe has the name of the first"
expect 0 "" price recipe.json --half-width 0.5% --out named.json --name mine
grep -q '"recipe": "mine"' named.json || complain "--name is not the recipe's"
expect 2 "devices answer a recipe of one name once" price recipe.json --half-width 0.5% --out named.json --name "$first"
expect 2 "a name has 1 to 64 of the characters" price recipe.json --half-width 0.5% --out named.json --name "a b"
expect 2 "--name goes with --out" price recipe.json --half-width 0.5% --name mine
expect 0 "ok. It may claim" lint pasted.json
: >empty.json
expect 3 "prints one to start from" lint empty.json

# The next question of a search for a quantile.
cp "$(dirname "$0")"/../../examples/launch-times/recipe.json launches.json
cp "$(dirname "$0")"/../../examples/launch-times/policy.json launches-policy.json
hash=$(sha256sum launches.json | cut -d " " -f 1)
printf '{"confidence": 0.95, "figures": [{"name": "quantile 0.5", "low": 1024, "high": 1536}, {"name": "quantile 0.95", "low": 8192, "high": 8192}],
 "receipt": {"recipe_hash": "%s"}}' "$hash" >answer.json
expect 0 "recipe    launch-times.2: 17 bins from 768 to 1792, in steps of 64" refine launches.json --answer answer.json --policy launches-policy.json --out next.json
says "com.example.launches allows a device 4 such answers in all"
says "quantile  0.5 is from 1024 to 1536 (95%), of numbers rounded to steps of 512"
expect 0 "It may claim" lint next.json --policy launches-policy.json
expect 0 "launch-times.3: 9 bins from 896 to 976, in steps of 10" refine next.json --low 928 --high 944 --bins 9
expect 0 '"from_first": false' refine launches.json --answer answer.json --json
expect 0 "the interval has the upper end of the recipe's range in it" refine launches.json --answer answer.json --quantile 0.95
expect 1 "not an answer to this recipe" refine next.json --answer answer.json
expect 1 "it has no such quantile" refine launches.json --answer answer.json --quantile 0.4
expect 4 "have no smaller steps than 512: the interval is as long as the noise makes it" refine launches.json --low 0 --high 8192
expect 4 "has no quantile to refine" refine recipe.json --low 1 --high 2
expect 2 "no interval within the recipe's range" refine launches.json --low 5 --high 2
expect 2 "where is the quantile?" refine launches.json
expect 2 "--bins is a whole number" refine launches.json --low 512 --high 512 --bins 2
expect 2 "devices answer a recipe of one name once" refine launches.json --low 512 --high 512 --name launch-times
sed 's/"epsilon": 3/"epsilon": 0.5/' launches-policy.json >poor.json
expect 3 "the next recipe" refine launches.json --answer answer.json --policy poor.json
sed 's/"reports": 4/"reports": 1/' launches-policy.json >once.json
expect 0 "allows a device 1 such answers in all: devices that answered before refuse this one" refine launches.json --answer answer.json --policy once.json
printf '{"figures": [' >broken.json
expect 1 "broken.json" refine launches.json --answer broken.json
expect 2 "one goal at a time" price recipe.json --half-width 5 --see 5
expect 2 "a goal is a number above 0" price recipe.json --half-width five
expect 2 "--epsilon is a number from" price recipe.json --epsilon 31
expect 2 "--cohort is a whole number" price recipe.json --cohort 9
expect 2 "--by takes crowd" price recipe.json --by committee
sed -e '/"randomizer"/d' -e '/"cohorts"/d' -e 's/"count": 4/"count": 1/' -e 's/"min_cohort": 40000/"min_cohort": 8000, "by": "committee", "sigma": 100/' \
    "$hostile/trust-aero-by-crowd.json" >encrypted.json
expect 2 "--by takes committee: nobody else adds noise to encrypted sums" price encrypted.json --by crowds
sed -e 's/"rate": 0.1}/"rate": 0.00001}/' -e 's/"population": 1000000/"population": 1000000000/' encrypted.json >sums.json
expect 0 "118 columns and 20 bits of work: 103.1 bits of soundness, that work included; with 189 and 0, 133.1" lint sums.json
expect 0 '"opening":"fast","proof_columns":118,"proof_work":20' lint sums.json --json
expect 2 "--rank-error is of quantiles" price recipe.json --rank-error 1%
expect 2 "--rate: it lacks its value" price recipe.json --rate
expect 2 "--rate is of recipes whose participation is poisson" price donation.json --rate 0.5
expect 2 "RECIPE: it is needed" price
expect 3 "duplicate object key" price "$hostile/duplicate-key.json"
expect 1 "can't write it" price recipe.json --half-width 0.5% --out nowhere/priced.json
expect 0 "usage: sotto recipe price" price --help

if command -v python3 >/dev/null; then
    python3 "$(dirname "$0")/fragments.py" "$program" recipe.json || complain "what price prints is not what lint says"
    "$program" recipe compile recipe.json parties.json --json | python3 -m json.tool >/dev/null || complain "no JSON"
    "$program" recipe lint "$hostile/key-with-escape-codes.json" --json | python3 -m json.tool >/dev/null || complain "no JSON"
fi
# A learning recipe, and the tasks of its rounds.
cp "$hostile/../learning.json" learning.json
expect 0 "for 4 participations of a device" lint learning.json
says "numbers fit .* at most 2^30 steps"
says "only devices with libsotto-device-full answer"
says "answers it if its policy allows: the query reads"
expect 0 '"decision":"accept"' lint learning.json --json
says '"bound_factor":1.2'
expect 0 "A model named lenet with 48846 parameters" explain learning.json
says "one every 1 hour, out of"
says "noise of standard deviation 4 or more: 8 times the clip"
expect 2 "a learning recipe has a task for each round" compile learning.json parties.json
sed 's/"epsilon": 2.9/"epsilon": 2/' learning.json >cheap.json
expect 3 "claims less than the 2.41987 that 4 participations cost with one server's noise" lint cheap.json
sed 's/32768/1073741824/' learning.json >fine.json
expect 3 "numbers do not fit: a server's noise, at most 2^20 steps" lint fine.json
expect 2 "rounds after 0 take --model" round learning.json --round 3
expect 2 "the recipe has fewer rounds" round learning.json --round 150
expect 2 "64 lower-case digits" round learning.json --model 12
"$program" recipe round learning.json >round.txt || complain "no record"
expect 0 '"round":0' compile round.txt parties.json --json
expect 0 "PINE, length 48846" compile round.txt parties.json
sed 's/^round 0/round 00/' round.txt >badround.txt
expect 3 "wanted a line with the round" compile badround.txt parties.json

if [ "$("$program" recipe lint - <recipe.json | head -1)" != "-: ok. It may claim:" ]; then
    complain "lint does not read standard input"
fi
finish
