#!/bin/sh
# Tests of `sotto budget`: what it answers, what it refuses and what it complains about.
#   test_budget.sh PROGRAM
set -u
. "$(dirname "$0")/../support/program.sh"

# exits CODE ARGUMENTS...
exits() {
    wanted=$1
    shift
    "$program" budget "$@" >"$out" 2>&1
    code=$?
    [ "$code" -eq "$wanted" ] || complain "exit code $code, not $wanted: $*"
}

claim="--trust split --hidden --dishonest 0 --delta 1e-8"
sgm="--mechanism sgm --q 0.02 --sigma 5.1 --rounds 2500 --adjacency add-remove"

begin example_5_is_answered_with_one_command
exits 8 account $sgm $claim --claim 0.8
says 'epsilon   <= 1.02039525'
says 'delta 1e-08'
says 'theorem   Poisson-subsampled Gaussian'
says 'adjacency add-remove'
says 'trust     split'
says 'honest    0 of the cohort'
says 'epsilon 0.8 does NOT hold'
says 'epsilon 0.8 goes with delta 2.01083e-06'

begin an_answer_that_is_known_roughly_says_so
exits 0 account --mechanism sgm --q 0.001 --sigma 0.5 --rounds 50 --adjacency add-remove $claim
says 'accuracy  [0-9.]* %: it may be smaller by as much, and is not larger'
exits 0 account --mechanism sgm --q 0.001 --sigma 0.5 --rounds 50 --adjacency add-remove $claim --json
says '"accuracy":0.0[12]'
exits 0 account $sgm $claim
says_not 'accuracy'

begin both_ends_of_a_range_are_in_it
exits 0 account --mechanism sgm --sigma 0.1 --q 0.5 --T 3 --adjacency add-remove $claim
exits 0 account --mechanism allocation --sigma 0.1 --slots 10 --adjacency add-remove $claim
exits 0 account --mechanism noise-shares --sigma 0.5 --sensitivity 1 --dimension 1 --cohort 100 --adjacency replacement $claim
exits 2 account --mechanism sgm --sigma 0.099 --q 0.5 --T 3 --adjacency add-remove $claim

begin an_unknown_option_names_the_help
exits 2 account $sgm $claim --bins 24
says "no option '--bins'; .sotto budget account --help. lists them"
exits 2 plan $sgm $claim --bins 24
says "no option '--bins'; .sotto budget plan --help. lists them"

begin repeated_check_ins_are_one_question
in="--mechanism check-in --variant fixed --window 1000 --probability 0.01 --local-epsilon 1 --adjacency replacement $claim"
exits 0 account $in --repetitions 1
says 'proof of Theorem 3.2'
exits 0 account $in --repetitions 100
says 'epsilon   <= 0.05'
says 'Balle et al. 2020, Corollary 3.3'
exits 2 account $in --repetitions 0

begin committees_are_judged_by_their_exact_tails
exits 0 committee --trust aero --corrupt 0.03 --size 45
says 'withstands 18 corrupt members'
says '1.34e-17'
says "Chernoff's bound *9.6e-14"
exits 4 committee --trust flamingo --corrupt 0.05 --dropout 0.1 --size 60
says 'refused: it does not fit the promise'
exits 0 committee --trust flamingo --corrupt 0.05 --dropout 0.1
says 'a committee of 473 withstands 63 corrupt members; the smallest that fits'
exits 4 committee --trust aero --corrupt 0.45
says 'refused: no committee'
exits 0 committee --trust aero --corrupt 0.03 --size 280 --tolerates 36 --devices 1000000000 --rate 1e-5 --json
says '"fits":true'
says '"overflows":3.5'

begin degrees_are_judged_by_their_exact_tails
exits 0 committee --trust flamingo --corrupt 0.05 --dropout 0.05 --clients 512 --least 460
says 'a graph of 512 clients, 26 of them liars: degree 6[0-9], 2[0-9] neighbours must stay; the smallest that fits'
exits 4 committee --trust flamingo --corrupt 0.05 --dropout 0.05 --clients 512 --least 460 --degree 36 --neighbours 10
says 'refused: it does not fit the promise'
exits 0 committee --trust flamingo --corrupt 0.01 --dropout 0.05 --clients 1024 --least 922 --rounds 1000 --kappa 20 --json
says '"graph":{"clients":1024,"corrupt":11,"dropped":102,'
exits 4 committee --trust flamingo --corrupt 0.2 --dropout 0.05 --clients 60 --least 12
says 'refused: no graph of 60 clients fits'
exits 2 committee --trust flamingo --corrupt 0.05 --dropout 0.05 --clients 60 --degree 10
says '.--least: is missing'
says '.--neighbours: is missing'
exits 2 committee --trust aero --corrupt 0.05 --clients 60 --least 50
says '.--clients: aero has no such parameter'

begin mistakes_about_committees_are_named_together
exits 2 committee --corrupt 2 --size 3.5 --dropout 0.1
says '.--trust: is missing'
says '.--corrupt: wanted a number from 0 to 0.5'
says '.--size: wanted a whole number from 1 to 100000'
exits 2 committee --trust aero --corrupt 0.1 --dropout 0.1 --tolerates 3 --rate 0.1
says '.--dropout: aero has no such parameter'
says '.--tolerates: goes with --size'
says '.--devices: is missing'
exits 2 committee --trust flamingo --corrupt 0.1
says '.--dropout: is missing'

begin dummies_are_planned
exits 0 plan --find dummies --epsilon 0.1 --delta 1e-6 --cohort 1000000000 --dishonest 0 --trust split --hidden
says 'dummies   1409 '
says 'Talwar et al. 2024'
exits 0 plan --find dummies --epsilon 0.1 --delta 1e-6 --cohort 1000000 --dishonest 0.5 --trust split --hidden --rate 0.0001
says 'honest    500000 that do not take part'
says 'a rate of 0.0001 is worth epsilon 0.'
exits 0 plan --find dummies --epsilon 0.1 --delta 1e-6 --cohort 1000000 --dishonest 0.5 --trust split --hidden --json
says '"find":"dummies"'
exits 4 plan --find dummies --epsilon 0.1 --delta 1e-6 --cohort 1000000 --dishonest 0 --trust split
exits 4 plan --find dummies --epsilon 0.1 --delta 1e-6 --cohort 1000000 --dishonest 0 --trust flamingo
exits 2 plan --find dummies --epsilon 0.1 --delta 1e-6 --dishonest 0 --trust split --hidden
exits 2 plan --find dummies --epsilon 0.1 --delta 1e-6 --cohort 10 --sigma 3 --dishonest 0 --trust split --hidden

begin json_says_the_same
exits 8 account $sgm $claim --claim 0.8 --json
python3 - "$out" <<END || complain "not the JSON that was meant"
import json, sys
a = json.load(open(sys.argv[1]))
assert a["low"] <= 1.02039525369 <= a["high"] < a["low"] * 1.0001
assert a["claim_holds"] is False and abs(a["claim_delta"] / 2.01082398e-6 - 1) < 1e-6
assert a["adjacency"] == "add-remove" and a["trust"] == "split" and a["honest"] == 0
END

begin a_claim_has_an_exit_code_of_its_own
exits 0 account $sgm $claim --claim 1.0204
says 'epsilon 1.0204 holds'
exits 0 account $sgm $claim --claim 1.0204 --json
says '"claim_holds":true'
# Neither shown nor refuted is not shown: a script must not go on.
exits 8 account --mechanism noise-shares --sigma 30 --sensitivity 13 --cohort 1 --dimension 272 --adjacency replacement \
    --trust split --dishonest 0 --delta 1e-6 --claim 2 --json
says '"claim_holds":null'
exits 4 account $sgm --trust flamingo --dishonest 0 --delta 1e-8 --claim 0.8
exits 2 account $sgm $claim --claim 0.8 --epsilon 1
exits 2 account $sgm $claim --claim 0.8 --curve sigma=1:2
printf 'mechanism,sigma,releases\ngaussian,5.1,20\ngaussian,5.1,30\n' >"$work/batch.csv"
exits 8 account --batch "$work/batch.csv" --adjacency add-remove $claim --claim 5.5
says '^line 2: claim epsilon 5.5 holds'
says '^line 3: claim epsilon 5.5 does not hold'
exits 0 account --batch "$work/batch.csv" --adjacency add-remove $claim --claim 6.5
exits 8 account --batch "$work/batch.csv" --compose --adjacency add-remove $claim --claim 8.3
says 'claim     epsilon 8.3 does NOT hold'
exits 0 account --batch "$work/batch.csv" --compose --adjacency add-remove $claim --claim 8.4

begin what_is_printed_is_as_true_as_the_number
"$program" budget account $sgm $claim --claim 0.8 --json >"$dir/json"
"$program" budget account $sgm $claim --claim 0.8 >"$out"
python3 - "$dir/json" "$out" <<END || complain "rounded the wrong way"
import json, re, sys
a, text = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
number = lambda before: float(re.search(re.escape(before) + r"([0-9.e-]+)", text).group(1))
assert a["high"] <= number("<= ") <= a["high"] * (1 + 1e-9)
assert a["low"] * (1 - 1e-9) <= number("(at least ") <= a["low"]
assert a["low"] * (1 - 1e-11) <= number("has at least ") <= a["low"]
assert a["claim_delta"] <= number("goes with delta ") <= a["claim_delta"] * (1 + 1e-5)
END

begin every_answer_says_how_long_it_took
exits 0 plan --find sigma --epsilon 1 --mechanism gaussian --adjacency add-remove $claim
says 'time '
says_not 'time      0.000 ms'
exits 0 plan --find sigma --epsilon 1 --mechanism gaussian --adjacency add-remove $claim --json
says '"seconds":0.0*[1-9]'
exits 0 account --batch "$work/batch.csv" --compose --adjacency add-remove $claim
says_not 'time      0.000 ms'
exits 0 account --batch "$work/batch.csv" --compose --adjacency add-remove $claim --json
says '"seconds":0.0*[1-9]'

begin a_delta_can_be_asked_for
exits 0 account $sgm --trust split --hidden --dishonest 0 --epsilon 0.8
says 'delta     <= 2.0108'
exits 2 account $sgm $claim --epsilon 3
says 'give --epsilon or --delta'
printf 'mechanism,sigma,adjacency,delta\ngaussian,5.1,add-remove,\ngaussian,5.1,add-remove,1e-6\n' >"$work/batch.csv"
exits 2 account --batch "$work/batch.csv" --trust central --epsilon 1
says '^line 2: delta <= '
says '^line 3: .*give --epsilon or --delta'

begin central_trust_is_for_plain_questions
exits 0 account $sgm --trust central --delta 1e-8
says 'epsilon   <= 1.02039525'
says 'trust     central: one server sees everybody.s data and is trusted'
exits 0 account $sgm --trust central --delta 1e-8 --json
says '"trust":"central","participation_hidden":true'
exits 0 plan --find sigma --epsilon 1 --mechanism sgm --q 0.02 --rounds 2500 --adjacency add-remove --trust central --delta 1e-8
says 'sigma     5.1957939'
exits 2 account --mechanism shuffled --eps0 2 --n 1000 --adjacency replacement --trust central --delta 1e-6
says 'dishonest is missing'

begin a_refusal_exits_4_and_a_mistake_2
check_in="--mechanism check-in --eps0 2 --window 1000 --adjacency replacement --trust split --hidden --dishonest 0 --delta 1e-6"
exits 4 account $check_in --variant fixed --cohort 5
says 'refused: cohort: no theorem'
exits 4 account $check_in --variant averaged --cohort 5000 --p0 0.5
says 'refused: probability: only the fixed window has a theorem'
exits 2 account $check_in --variant averaged
says 'cohort is missing: devices that report'
says_not refused
exits 2 account --mechanism discrete-gaussian --sigma 1 --sensitivity 5000 --adjacency replacement --trust split --dishonest 0 --delta 1e-6
says_not refused
exits 2 account --mechanism discrete-gaussian --sigma 1 --sensitivity 5000 --adjacency replacement --trust split --dishonest 0 --delta 1e-6 --json
says '^{"mistakes":\["sensitivity / sigma = 5000: accepted is 0 to 1000"\]}'

begin help_lists_adjacencies_and_every_way_to_plan
exits 0 account --help
says '^      --adjacency add-remove|replacement|deletion  --scale'
says '^      --adjacency replacement  --local-epsilon'
exits 0 plan --help
says 'sotto budget plan --find dummies --epsilon E --trust T --dishonest F --delta D$'
says 'cohort N \[--hidden\] \[--rate Q\]'

begin laplace_and_geometric_noise_have_answers
exits 0 account --mechanism laplace --scale 10 --adjacency add-remove --trust central --delta 1e-6
says 'epsilon   <= 0.09999800'
says 'Laplace mechanism (Dwork et al. 2006)'
exits 0 account --mechanism laplace --scale 10 --one-hot --adjacency replacement --trust flamingo --dishonest 0 --delta 1e-6
says 'epsilon   <= 0.19999800'
exits 0 account --mechanism geometric --scale 10 --sensitivity 3 --releases 4 --adjacency replacement --trust central --epsilon 0.5
says 'delta     <= 0.07756'
exits 0 plan --find scale --epsilon 1 --mechanism laplace --adjacency add-remove --trust central --delta 1e-9
says 'scale     1  '
exits 0 account --mechanism laplace --scale 10 --adjacency add-remove --trust central --delta 0
says 'epsilon   <= 0.1000000001 '
says 'at        delta 0'
says 'basic composition'
exits 0 account --mechanism geometric --scale 10 --sensitivity 3 --releases 4 --adjacency replacement --trust central --delta 0
says 'epsilon   <= 1.2'
exits 0 account --mechanism pure --release-epsilon 0.5 --rounds 4 --adjacency replacement --trust central --delta 0 --json
says '"delta":0.0,'
exits 0 plan --find scale --epsilon 1 --mechanism laplace --adjacency add-remove --trust central --delta 0
says 'scale     1.00000001  '
exits 2 account --mechanism gaussian --sigma 10 --adjacency add-remove --trust central --delta 0
says 'delta: 0 is out of range: it accepts 1e-300 to 0.999999'
exits 2 account --mechanism laplace --scale 0.001 --adjacency add-remove --trust central --delta 1e-6
says 'scale = 0.001: accepted is 0.01 to 1e9 times the distance 1'
exits 2 account --mechanism geometric --scale 2 --adjacency add-remove --trust central --delta 1e-6
says 'sensitivity is missing'

begin what_gains_nothing_says_so
exits 0 account $check_in --variant fixed
says 'epsilon   <= 2 '
says "theorem   each report's own local DP: no amplification by check-ins"
says 'gain      none'
exits 0 account $check_in --variant fixed --json
says '"no_gain":true'
exits 0 account --mechanism shuffled --eps0 2 --n 20 --adjacency replacement --trust split --dishonest 0 --delta 1e-6
says 'epsilon   <= 2 '
says 'too few reports for amplification by shuffling'
exits 0 account --mechanism rappor --eps0 2 --n 20 --adjacency replacement --trust split --dishonest 0 --delta 1e-6 --json
says '"no_gain":true'
exits 0 account --mechanism shuffled --eps0 2 --n 2000 --adjacency replacement --trust split --dishonest 0 --delta 1e-6
says_not 'gain  '
exits 0 account --mechanism donation --release-epsilon 1 --slots 2 --delta-each 1e-9 --adjacency add-remove --trust split --hidden --dishonest 0 --delta 1e-6
says 'no amplification by donation times'

begin all_mistakes_are_told_at_once
exits 2 account --mechanism sgm --q 2 --rounds 2.5 --delta 1 --adjacency remove --foo --sigma nan word
for word in rate:.2 rounds:.2.5 delta:.1 adjacency:.*remove foo sigma:.*nan word trust.is.missing dishonest.is.missing; do
    says "$word"
done
says 'rate: 2 is out of range: sampled-gaussian accepts 1e-9 to 1$'
says_not 'rate is missing'
exits 2 account
says "mechanism is missing: what is released; accepted: a mechanism of .sotto budget account --help."

begin ranges_named_are_those_that_hold
# Both ends of every range that --help prints are accepted, and what lies outside is not.
python3 - "$program" >"$out" 2>&1 <<'END' || complain "a range of --help does not hold"
import re, subprocess, sys

program = sys.argv[1]
text = subprocess.run([program, "budget", "account", "--help"], stdout=subprocess.PIPE, text=True).stdout
text = text[text.index("\nmechanisms,"):text.index("\ntrust models:")]
usual = {"sigma": "1", "rate": "0.1", "rounds": "3", "slots": "10", "sensitivity": "1", "dimension": "2", "cohort": "1000",
         "local-epsilon": "1", "release-epsilon": "1", "delta-each": "1e-9", "variant": "fixed", "window": "10", "scale": "1"}
tried = 0


def outcome(mechanism, options):
    adjacency = "add-remove" if re.match("sampled|allocated|donation", mechanism) else "replacement"
    words = [word for name, value in options.items() for word in ("--" + name, value)]
    done = subprocess.run([program, "budget", "account", "--mechanism", mechanism, "--adjacency", adjacency, "--trust",
                           "split", "--hidden", "--dishonest", "0", "--delta", "1e-6"] + words,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


for block in re.findall(r"^  ([a-z-]+).*: .*\n((?:      .*\n?)+)", text, re.M):
    mechanism, rest = block[0], " ".join(block[1].split())
    needed = re.sub(r"\[[^]]*\]", "", rest)
    base = {name: usual[name] for name in re.findall(r"--([a-z-]+) (?=[\d.]|fixed)", needed)}
    for name, low, high in re.findall(r"--([a-z-]+) ([\d.e-]+) to ([\d.e-]+)", rest):
        options = dict(base)
        if mechanism == "check-in" and name == "cohort":
            options["variant"] = "averaged"
        for end, sign in ((low, -1), (high, 1)):
            code, said = outcome(mechanism, dict(options, **{name: end}))
            # Limits of two options together are told in words of their own.
            if f"--{name}:" in said or code == 1:
                sys.exit(f"{mechanism} --{name} {end}: {said}")
            beyond = "%.17g" % (float(end) * 1.5 if sign > 0 else float(end) / 2)
            code, said = outcome(mechanism, dict(options, **{name: beyond}))
            if code != 2 or f"--{name}:" not in said or f"{low} to {high}" not in said:
                sys.exit(f"{mechanism} --{name} {beyond}: {code} {said}")
            tried += 1
if tried < 60:
    sys.exit(f"only {tried} ends were found")
END

begin options_of_other_mechanisms_are_mistakes
exits 2 account $sgm $claim --cohort 7
says '--cohort has no place in sampled-gaussian'
exits 2 account --mechanism gaussian --sigma 1 --clip 1 --one-hot --adjacency replacement $claim
says 'exclude each other'

begin unearned_amplification_is_refused
exits 4 account $sgm --trust flamingo --dishonest 0 --delta 1e-8
says 'refused: trust flamingo'
exits 4 account $sgm --trust aero --dishonest 0 --delta 1e-8
exits 4 account $sgm --trust split --dishonest 0 --delta 1e-8
says 'relay and tokens'
says '--hidden asserts that a relay and anonymous tokens hide who takes part'
says '--mechanism counted-gaussian'
exits 4 account $sgm --trust split --dishonest 0 --delta 1e-8 --json
says '"hint":"--hidden asserts'
exits 4 plan --find rounds --epsilon 1 --mechanism sgm --q 0.02 --sigma 5.1 --adjacency add-remove --trust split --dishonest 0 --delta 1e-8
says '--hidden asserts'
exits 4 account --mechanism sgm --rounds 2500 --q 0.02 --adjacency add-remove --trust split --dishonest 0 --delta 1e-8 --curve sigma=1:9
says '--hidden asserts'
exits 4 account $sgm --trust flamingo --dishonest 0 --delta 1e-8
says '--mechanism counted-gaussian'
says_not '--hidden'
exits 0 account --mechanism counted-gaussian --q 0.02 --sigma 5.1 --rounds 2500 --adjacency add-remove --trust flamingo --dishonest 0 --delta 1e-8
exits 4 account --mechanism shuffled --eps0 4 --n 10000 --adjacency replacement --trust aero --dishonest 0 --delta 1e-8
exits 4 account $sgm --trust flamingo --hidden --dishonest 0 --delta 1e-8
exits 4 account --mechanism sgm --q 0.02 --sigma 5.1 --rounds 2500 --adjacency replacement $claim
says 'adjacency replacement'

begin the_dishonest_are_not_counted_on
exits 0 account --mechanism shuffled --eps0 4 --cohort 20000 --adjacency replacement --trust split --dishonest 0.5 --delta 1e-10
says '10000 honest counted on'
says 'epsilon   <= 0.8939'
exits 2 account --mechanism shuffled --eps0 4 --cohort 20000 --adjacency replacement --trust split --dishonest 1 --delta 1e-10

begin a_plan_has_every_member_of_an_answer
"$program" budget account $sgm $claim --json >"$dir/account"
exits 0 plan --find sigma --epsilon 1 --mechanism sgm --q 0.02 --rounds 2500 --adjacency add-remove $claim --json
python3 - "$dir/account" "$out" <<END || complain "a plan tells less than an answer"
import json, sys
account, plan = (json.load(open(name)) for name in sys.argv[1:])
assert set(account) <= set(plan), set(account) - set(plan)
assert {"find", "target_epsilon", "value", "limit"} == set(plan) - set(account)
for name in ("mechanism", "quantity", "delta", "adjacency", "trust", "participation_hidden", "assumes", "dishonest"):
    assert account[name] == plan[name], name
END

begin plans_answer_the_inverse
exits 0 plan --find sigma --epsilon 1 --mechanism gaussian --adjacency add-remove $claim
says 'sigma     5.1003088'
exits 0 plan --find rounds --epsilon 1 --mechanism sgm --q 0.02 --sigma 5.1 --adjacency add-remove $claim
says 'rounds    2405   the most rounds that keep epsilon'
exits 0 plan --find cohort --epsilon 1 --mechanism shuffled --eps0 3 --adjacency replacement --trust split --dishonest 0 --delta 1e-6 --json
says '"value":14[0-9][0-9],'
exits 4 plan --find cohort --epsilon 1e-5 --mechanism shuffled --eps0 12 --adjacency replacement --trust split --dishonest 0 --delta 1e-6
exits 2 plan --find sigma --epsilon 1 --mechanism gaussian --sigma 3 --adjacency add-remove $claim
exits 2 plan --find colour --mechanism gaussian --adjacency add-remove $claim
says 'epsilon is missing'

begin a_batch_reports_lines_and_answers_the_rest
cat >"$work/batch.csv" <<END
mechanism,sigma,rate,rounds,adjacency
sgm,5.1,0.02,2500,add-remove
sgm,-1,0.02,2500,add-remove
sgm,5.1
sgm,5.1,0.02,2500,replacement
gaussian,5.1,,,add-remove
END
exits 2 account --batch "$work/batch.csv" $claim
says '^line 2: epsilon <= 1.0203'
says '^line 3: --sigma: -1'
says '^line 4: 2 fields, not 5'
says_not '^line 4: .*is missing'
says '^line 5: refused: adjacency'
says '^line 6: epsilon <= 1.0000'
says '^2 answered, 1 refused, 2 malformed'

begin spaces_around_commas_are_no_mistake
printf 'mechanism, sigma ,rate,\trounds, adjacency\n sgm, 5.1 ,0.02, 2500,add-remove \ngaussian,5.1, ,,add-remove\n' >"$work/batch.csv"
exits 0 account --batch "$work/batch.csv" $claim
says '^line 2: epsilon <= 1.0203'
says '^line 3: epsilon <= 1.0000'

begin a_batch_without_a_question_is_a_mistake
: >"$work/batch.csv"
exits 2 account --batch "$work/batch.csv" $claim
says 'batch.csv: no question in it'
printf 'mechanism,sigma\n\n' >"$work/batch.csv"
exits 2 account --batch "$work/batch.csv" $claim --compose
echo '[]' >"$work/batch.json"
exits 2 account --batch "$work/batch.json" $claim --json
printf 'mechanism,"sig\n' >"$work/batch.csv"
exits 2 account --batch "$work/batch.csv" $claim
says 'batch.csv: line 1: field 2: a stray quote'

begin a_batch_may_be_json
cat >"$work/batch.json" <<END
[{"mechanism": "sgm", "sigma": 5.1, "rate": 0.02, "rounds": 2500, "adjacency": "add-remove"},
 7, {"mechanism": "gaussian", "sigma": "5.1", "releases": 50, "adjacency": "add-remove", "hidden": false}]
END
exits 2 account --batch "$work/batch.json" $claim --json
says '^{"line":1,"mechanism":"sampled-gaussian".*"high":1.0203'
says '^{"line":2,"mistakes":\["not an object"\]}'
says '^{"line":3,"mechanism":"gaussian".*"high":8.3433'
exits 2 account --batch "$work/batch.json" $claim
says '^element 1: epsilon <= 1.0203'
says '^element 2: not an object'
says_not '^element 2: .*is missing'
echo '[{"a": 1, "a": 2}]' >"$work/batch.json"
exits 2 account --batch "$work/batch.json" $claim
exits 1 account --batch "$work/none.csv" $claim

begin a_batch_composes_unless_its_trust_is_mixed
printf 'mechanism,sigma,releases,trust\ngaussian,5.1,20,aero\ngaussian,5.1,30,aero\n' >"$work/batch.csv"
exits 0 account --batch "$work/batch.csv" --compose --adjacency add-remove --dishonest 0 --delta 1e-8
says 'epsilon   <= 8.3433'
printf 'mechanism,sigma,releases,trust\ngaussian,5.1,20,aero\ngaussian,5.1,30,flamingo\n' >"$work/batch.csv"
exits 4 account --batch "$work/batch.csv" --compose --adjacency add-remove --dishonest 0 --delta 1e-8
says 'no common claim'

begin a_curve_is_drawn_and_saved
exits 0 account --mechanism sgm --sigma 5.1 --rounds 2500 --adjacency add-remove $claim --curve rate=0.001:0.1:20 \
    --csv "$work/curve.csv" --svg "$work/curve.svg"
says 'epsilon against rate'
[ "$(wc -l <"$work/curve.csv")" -eq 21 ] || complain "not 20 points"
head -n 1 "$work/curve.csv" | grep -q '^rate,low,high$' || complain "no header"
grep -q '<path class="curve" d="M' "$work/curve.svg" || complain "no path"
python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/curve.svg" || complain "not XML"
grep -q '>dishonest 0, hidden, delta 1e-08, sigma 5.1, rounds 2500<' "$work/curve.svg" || complain "the picture does not say of what"
exits 0 account --mechanism check-in --variant fixed --window 10 --adjacency replacement $claim --curve eps0=0.1:1:3 --svg "$work/curve.svg"
grep -q ', fixed, window 10<' "$work/curve.svg" || complain "the picture does not say which check-ins"
exits 2 account --mechanism sgm --sigma 5.1 --rounds 2500 --adjacency add-remove $claim --curve rate=0.1:0.001
exits 2 account --mechanism sgm --sigma 5.1 --rounds 2500 --adjacency add-remove $claim --curve colour=1:2
exits 4 account --mechanism sgm --sigma 5.1 --rounds 2500 --adjacency replacement $claim --curve rate=0.001:0.1

begin help_lists_everything
"$program" budget --help >"$out" 2>&1 || complain "exit code is not 0"
says 'account'
says 'plan'
"$program" budget account --help >"$out" 2>&1 || complain "exit code is not 0"
for word in mechanism local-epsilon sampled-gaussian noise-shares check-in curve central flamingo: aero: decryptors; do
    says "$word"
done
"$program" budget >"$out" 2>&1
[ $? -eq 2 ] || complain "no verb: exit code is not 2"
"$program" budget lend >"$out" 2>&1
[ $? -eq 2 ] || complain "an unknown verb: exit code is not 2"

finish
