"""fragments.py PROGRAM RECIPE: a part of a recipe that `sotto recipe price` prints, put into the recipe, lints to the numbers
that stand beside it: for every way, every goal, and every statistic."""
import json
import subprocess
import sys

program, path = sys.argv[1:]
frame = json.load(open(path))
checked = 0


def ask(verb, recipe, *more):
    json.dump(recipe, open("asked.json", "w"))
    done = subprocess.run([program, "recipe", verb, "asked.json", "--json", *more], stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def check(recipe, *more):
    global checked
    price = ask("price", recipe, *more)
    assert price["ok"], (more, price)
    for way in price["ways"]:
        if not way["meets"]:
            continue
        other = {key: value for key, value in recipe.items() if key != "randomizer"}
        other.update(json.loads("{" + way["fragment"] + "}"))
        lint = ask("lint", other)
        assert lint["ok"], lint
        same = [(lint["accuracy"], way["accuracy"])]
        for part, keys in (("claim", ("by", "epsilon_local", "epsilon", "delta", "theorem", "noise_sigma", "report_bytes")),
                           ("forecast", ("reach", "reports_in_a_release"))):
            same += [(lint[part][key], way[key]) for key in keys]
        for a, b in same:
            assert a == b, (more, way["by"], a, b)
        checked += 1


def of(statistic):
    recipe = {key: value for key, value in frame.items() if key not in ("randomizer", "encode")}
    recipe.update(query="SELECT age FROM keyboard_ngrams", statistic=statistic,
                  privacy={**frame["privacy"], "by": "servers", "sigma": 1000})
    if statistic != "count":
        recipe["encode"] = {"age": {"type": "integer", "min": 0, "max": 100}}
    return recipe


check(frame)
check(frame, "--half-width", "0.5%")
check(frame, "--largest-error", "2%")
check(frame, "--see", "3000", "--cohort", "50000")
check(of("count"), "--half-width", "0.2%")
check(of("count"), "--see", "500", "--epsilon", "1")
check(of("sum"), "--half-width", "40000")
check(of("mean"), "--half-width", "0.1", "--cohort", "60000")
check(of("quantiles"), "--rank-error", "0.5%")
assert checked > 30, checked
