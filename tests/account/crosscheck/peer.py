"""peer.py: what dp-accounting says: one PLD rounded in favour of the mechanism, one against it.

Only deltas of 1e-8 and more are asked: its transforms have an absolute error that hides smaller ones.
"""
from math import expm1, log1p

from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld

from questions import question, spread

# Cells of one round's losses, which the peer fills one by one: few for most questions, many for one in twenty.
COARSE, FINE = 1250, 15000
CELLS_OF_ALL_ROUNDS = 100000


def draw(rng):
    row = draw_question(rng, spread(rng, 1e-8, 1e-2))
    row["cells"] = FINE if rng.random() < 0.05 else COARSE
    return row


def draw_question(rng, delta):
    kind = rng.random()
    if kind < 0.7:
        rounds = int(spread(rng, 1, 30 if rng.random() < 0.6 else 5000))
        return question("sgm", sigma=spread(rng, 0.6, 20), rate=spread(rng, 1e-3, 0.9), rounds=rounds, delta=delta)
    if kind < 0.8:
        return question("gaussian", sigma=spread(rng, 0.6, 50), releases=int(spread(rng, 1, 100)), delta=delta)
    if kind < 0.9:
        return question("discrete-gaussian", sigma=spread(rng, 0.6, 30), sensitivity=rng.randint(1, 4), delta=delta)
    return question("pure", release_epsilon=spread(rng, 0.005, 1.5), rounds=int(spread(rng, 1, 300)), delta=delta)


def grid(row, high):
    """The step of the peer's loss grid."""
    if row["mechanism"] == "pure":
        # Losses are multiples of the release epsilon, so these steps make both estimates exact.
        return float(row["release-epsilon"])
    sigma = float(row["sigma"]) / float(row["sensitivity"] or 1)
    once = 1 / (2 * sigma * sigma) + 10 / sigma
    if row["rate"]:
        once = min(once, log1p(float(row["rate"]) * expm1(once)) - log1p(-float(row["rate"])))
    return max(once / row["cells"], 4 * high / CELLS_OF_ALL_ROUNDS)


def law(row, step, against):
    if row["mechanism"] == "pure":
        # Nothing is cut off: the peer has no optimistic law here, and what it cuts it adds to delta.
        one = pld.from_privacy_parameters(common.DifferentialPrivacyParameters(float(row["release-epsilon"]), 0), step)
        return one.self_compose(int(row["rounds"]), tail_mass_truncation=0)
    if row["mechanism"] == "discrete-gaussian":
        return pld.from_discrete_gaussian_mechanism(float(row["sigma"]), int(row["sensitivity"]), None, against, step)
    one = pld.from_gaussian_mechanism(float(row["sigma"]), pessimistic_estimate=against,
                                      value_discretization_interval=step, sampling_prob=float(row["rate"] or 1),
                                      use_connect_dots=against)
    return one.self_compose(int(row["rounds"] or row["releases"]))


COLUMNS = ["cells", "step", "optimistic_delta_at_high", "pessimistic_delta_at_low", "optimistic_epsilon",
           "pessimistic_epsilon", "settled_epsilon"]


def judge(row, low, high):
    """The peer's columns and the verdict. Our high must hold by its optimistic law, our low by its pessimistic one."""
    step, delta = grid(row, float(high)), float(row["delta"])
    optimistic, pessimistic = law(row, step, False), law(row, step, True)
    at_high = float(optimistic.get_delta_for_epsilon(float(high)))
    at_low = float(pessimistic.get_delta_for_epsilon(float(low)))
    bounds = [float(optimistic.get_epsilon_for_delta(delta)), float(pessimistic.get_epsilon_for_delta(delta))]
    ok = at_high <= delta * (1 + 1e-9) and (float(low) == 0 or at_low >= delta * (1 - 1e-9))
    return dict(zip(COLUMNS[1:], [f"{step:.6g}", f"{at_high:.12g}", f"{at_low:.12g}"] + [f"{b:.12g}" for b in bounds])), ok
