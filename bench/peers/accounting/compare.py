"""compare.py OURS.jsonl: asks the peers what sotto-bench asked and prints both, with the ratio of times.

OURS.jsonl is what `sotto-bench --filter privacy/account --json` printed. Each peer is taken at the fastest of its
settings whose answer is within 1 % of ours; time is process CPU time of one call (the best of three), imports excluded.
A peer with no such setting is shown with its closest answer, and does not count.
"""
import json
import statistics
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import dp_accounting
from dp_accounting import dp_event, mechanism_calibration
from dp_accounting.pld import pld_privacy_accountant
from dp_accounting.rdp import rdp_privacy_accountant

try:
    from prv_accountant import Accountant
except ImportError:
    Accountant = None


def event(q, sigma, rounds):
    return dp_event.SelfComposedDpEvent(
        dp_event.PoissonSampledDpEvent(q, dp_event.GaussianDpEvent(sigma)), rounds)


def pld(q, sigma, rounds, delta, grid):
    accountant = pld_privacy_accountant.PLDAccountant(value_discretization_interval=grid)
    return accountant.compose(event(q, sigma, rounds)).get_epsilon(delta)


def rdp(q, sigma, rounds, delta):
    return rdp_privacy_accountant.RdpAccountant().compose(event(q, sigma, rounds)).get_epsilon(delta)


def prv(q, sigma, rounds, delta, error):
    accountant = Accountant(noise_multiplier=sigma, sampling_probability=q, delta=delta,
                            max_compositions=rounds, eps_error=error)
    return accountant.compute_epsilon(num_compositions=rounds)[2]


def calibrate(make, q, rounds, eps, delta):
    return mechanism_calibration.calibrate_dp_mechanism(
        make, lambda sigma: event(q, sigma, rounds), eps, delta,
        mechanism_calibration.LowerEndpointAndGuess(0.5, 4), tol=1e-3)


def settings(task, numbers):
    """The peers' settings for a task, each as (name, call)."""
    if task == "sgm":
        q, sigma, rounds, delta = numbers[0], numbers[1], int(numbers[2]), numbers[3]
        for grid in (1e-2, 5e-3, 3e-3, 2e-3, 1.5e-3, 1e-3, 7e-4, 5e-4, 3e-4, 1e-4, 3e-5):
            yield f"dp-accounting PLD {grid:g}", lambda g=grid: pld(q, sigma, rounds, delta, g)
        yield "dp-accounting RDP", lambda: rdp(q, sigma, rounds, delta)
        if Accountant is not None and rounds <= 100000:  # beyond, half a minute and more a call
            for error in (0.1, 0.03, 0.01, 0.005):
                yield f"prv-accountant {error:g}", lambda e=error: prv(q, sigma, rounds, delta, e)
    if task == "sigma":
        q, rounds, eps, delta = numbers[0], int(numbers[1]), numbers[2], numbers[3]
        for grid in (1e-2, 5e-3, 2e-3, 1.5e-3, 1e-3):
            yield f"dp-accounting PLD {grid:g}", lambda g=grid: calibrate(
                lambda: pld_privacy_accountant.PLDAccountant(value_discretization_interval=g), q, rounds, eps, delta)
        yield "dp-accounting RDP", lambda: calibrate(
            rdp_privacy_accountant.RdpAccountant, q, rounds, eps, delta)


def measure(call):
    best, value = float("inf"), None
    for _ in range(3):
        start = time.process_time()
        value = call()
        best = min(best, time.process_time() - start)
        if best > 5:
            break
    return best, value


def main():
    ours = {}
    for line in open(sys.argv[1], encoding="utf-8"):
        item = json.loads(line)
        ours[item["name"]] = item
    print(f"dp-accounting {dp_accounting.__version__ if hasattr(dp_accounting, '__version__') else ''}, "
          f"prv-accountant {'there' if Accountant else 'missing: skipped'}")
    print(f"{'task':28} {'ours':>12} {'ms':>8}  {'fastest setting within 1 %':30} {'its answer':>12} {'ms':>9} {'ratio':>8}")
    ratios = []
    for name, item in ours.items():
        short = name.removeprefix("privacy/account/")
        task, _, rest = short.partition("/")
        if task not in ("sgm", "sigma") or rest.endswith("/warm") or rest.endswith("/result"):
            continue
        answer = ours[name + "/result"]["value"]
        found = []
        for setting, call in settings(task, [float(x) for x in rest.split(",")]):
            try:
                seconds, value = measure(call)
            except Exception as problem:  # a peer that fails is a fact about the peer
                print(f"  {setting}: {type(problem).__name__}: {problem}")
                continue
            found.append((abs(value / answer - 1) > 0.01, seconds, value, setting))
        if not found:
            continue
        ms, best = item["ns_per_op"] / 1e6, float("inf")
        for peer in sorted({setting.split()[0] for *_, setting in found}):
            its = [f for f in found if f[3].startswith(peer)]
            near = [f for f in its if not f[0]]
            far, seconds, value, setting = min(near, key=lambda f: f[1]) if near else min(
                its, key=lambda f: abs(f[2] / answer - 1))
            ratio = seconds * 1e3 / ms
            if not far:
                best = min(best, ratio)
            print(f"{short:28} {answer:12.7g} {ms:8.3f}  {setting + (' (off)' if far else ''):30} {value:12.7g} "
                  f"{seconds * 1e3:9.1f} {ratio:7.1f}x", flush=True)
        if best < float("inf"):
            ratios.append(best)
    if ratios:
        print(f"against the faster peer: least {min(ratios):.1f}x, median {statistics.median(ratios):.1f}x, "
              f"over {len(ratios)} tasks")


if __name__ == "__main__":
    main()
