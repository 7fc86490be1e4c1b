"""Bounds a privacy loss from below with the CanaryScoreAuditor of PyPI jax-privacy, beside the claim.

    canary.py --epsilon E [--delta D] [--at-least F] [--alpha A] SCORES

SCORES is what `oriel audit --scores SCORES` writes: a line canary,score for each run, after a header; canary is a fair coin, 1 or 0, and score the
log-likelihood ratio of the run. Exits 1 when a bound is above the claim, or when the best one is below F times the claim's epsilon. Two bounds, each
wrong with probability A at most:

  counts     epsilon_clopper_pearson at all thresholds, corrected for their number
  Gaussian   epsilon_from_gdp at threshold 0, also as mu; for D > 0. At all thresholds it would be no bound: version 2.0.0 takes the absolute value of
             the mu of each, which a threshold far in the tails, where both error rates are known badly, turns into a large figure
"""

import argparse
import importlib.util
import math
import pathlib
import sys

import numpy as np
from dp_accounting import get_sigma_gaussian


def auditing():
    """Returns jax_privacy.auditing without its package, whose __init__ imports JAX; the module itself does not."""
    package = importlib.util.find_spec("jax_privacy").submodule_search_locations[0]
    spec = importlib.util.spec_from_file_location("auditing", pathlib.Path(package) / "auditing.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["auditing"] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


def read(path):
    with open(path, encoding="utf-8") as lines:
        if next(lines).strip() != "canary,score":
            sys.exit(f"{path}: does not begin with canary,score")
        rows = [line.strip().split(",") for line in lines]
    scores = {"0": [], "1": []}
    for number, (canary, score) in enumerate(rows, start=2):
        if canary not in scores or math.isnan(float(score)):
            sys.exit(f"{path}:{number}: not 0 or 1 and a number")
        scores[canary].append(float(score))
    return np.array(scores["1"]), np.array(scores["0"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", type=float, required=True)
    parser.add_argument("--delta", type=float, default=0.0)
    parser.add_argument("--at-least", type=float, default=0.0)
    parser.add_argument("--alpha", type=float, default=0.001)
    parser.add_argument("scores")
    a = parser.parse_args()

    held_in, held_out = read(a.scores)
    auditor = auditing().CanaryScoreAuditor
    bounds = {"counts": auditor(held_in, held_out).epsilon_clopper_pearson(a.alpha, a.delta, one_sided=False)}
    if a.delta > 0:
        bounds["Gaussian"] = auditor(held_in > 0, held_out > 0).epsilon_from_gdp(a.alpha, a.delta)

    print(f"{a.scores}: {held_in.size} runs with the canary, {held_out.size} without; claimed epsilon {a.epsilon:g} at delta {a.delta:g}")
    print(f"  {'bound by':10} {'epsilon':>9} {'of claim':>9} {'mu':>9} {'of claim':>9}")
    for name, epsilon in bounds.items():
        line = f"  {name:10} {epsilon:9.4f} {epsilon / a.epsilon:9.3f}"
        if name == "Gaussian" and epsilon > 0:
            mu, claimed = 1 / get_sigma_gaussian(epsilon, a.delta), 1 / get_sigma_gaussian(a.epsilon, a.delta)
            line += f" {mu:9.4f} {mu / claimed:9.3f}"
        print(line)

    best = max(bounds.values())
    if best > a.epsilon:
        print(f"  REFUTED: the loss is at least {best:.4f}, above the claim")
        return 1
    if best < a.at_least * a.epsilon:
        print(f"  TOO LOW: {best:.4f} is below {a.at_least:g} of the claim")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
