"""Compares Oriel's accounting with PyPI dp-accounting.

    accounting.py CLAIMS MATRICES

CLAIMS has one JSON object a line, as `go test ./mechanisms/dp -run Claims -args -grid CLAIMS` writes: losses composed in three currencies
(mu, rho, pure), epsilon, delta, and which of the numbers Oriel answered. Each answer is bounded on both sides by theirs:

  not below   the privacy loss distribution of mechanisms that have these losses (Gaussian noise for mu and rho, randomised response for pure),
              rounded optimistically: a claim below it is false
  not above   the closed formula of the Gaussian mechanism where mu is all there is; the same distribution rounded pessimistically where no rho
              is; else the Renyi accountant, asked at many orders

Closed formulas, and single Gaussian losses, have a relative tolerance of 1e-9, the precision of float64.

The answer to a budget is compared with theirs (mu), or checked as the delta it proves by their account (rho). Prints all figures. Exits 1 when an answer
is out of bounds, or when the bounds are too wide to tell a figure that is 1 % off: at least half of the answers must be told from it, on either side.

MATRICES has what `go test ./mechanisms/decay -run Matrices -args -matrices MATRICES` writes: for sums that forget, the integers of a filter, and mu and epsilon
of an event, or of events of a user so many steps apart, at some age. From the definition of the releases alone, without the response that Oriel computes with, numpy builds the matrix of their noise and
solves for how far an event moves it: the mu of the Gaussian mechanism that the releases are, but for the rounding of the carry. It bounds the claim
from below; from above, the same with the largest rounding there can be. dp-accounting turns both into epsilon.
"""

import json
import math
import sys

import numpy as np
from dp_accounting import dp_event, get_epsilon_gaussian, get_sigma_gaussian, rdp
from dp_accounting.pld import common, privacy_loss_distribution as pld, privacy_loss_mechanism
from dp_accounting.privacy_accountant import NeighboringRelation

FORMULA = 1e-9  # relative precision of the closed formulas in float64
PRODUCT = 1e-4  # how much above the worst rounding the claim of a user may be: events times rounding is one number there
ORDERS = 1e-3  # how much the Renyi accountant may lose by asking at finitely many orders


def gaussians(claim):
    """The standard deviations of Gaussian mechanisms of sensitivity 1 with the losses mu and rho = mu²/2."""
    return [1 / mu for mu in claim["mu"]] + [1 / math.sqrt(2 * rho) for rho in claim["rho"]]


def response(pure):
    """The noise parameter of two-way randomised response with loss pure."""
    return 2 / (1 + math.exp(pure))


def once(build):
    """Remembers what build returned for these losses, which are asked about at several epsilon and delta."""
    built = {}

    def remember(claim, *more):
        key = json.dumps([claim["mu"], claim["rho"], claim["pure"], *more])
        if key not in built:
            built[key] = build(claim, *more)
        return built[key]

    return remember


@once
def distribution(claim, pessimistic):
    # The least loss is a hundred intervals: every mechanism's losses are rounded up, or down, to whole ones.
    least = min([1 / s for s in gaussians(claim)] + claim["pure"])
    interval = min(1e-3, least / 100)
    parts = [
        pld.from_gaussian_mechanism(s, pessimistic_estimate=pessimistic, value_discretization_interval=interval, use_connect_dots=pessimistic)
        for s in gaussians(claim)
    ] + [
        pld.from_randomized_response(response(e), 2, pessimistic_estimate=pessimistic, value_discretization_interval=interval)
        for e in claim["pure"]
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total.compose(part)
    return total


@once
def renyi(claim):
    orders = 1 + np.exp(np.linspace(math.log(0.02), math.log(1e5), 1000))
    accountant = rdp.RdpAccountant(orders, NeighboringRelation.REPLACE_ONE)
    for mu in claim["mu"]:
        accountant.compose(dp_event.GaussianDpEvent(1 / mu))
    for rho in claim["rho"]:
        accountant.compose(dp_event.ZCDpEvent(rho))
    for pure in claim["pure"]:
        accountant.compose(dp_event.RandomizedResponseDpEvent(response(pure), 2))
    return accountant


def formula(claim):
    sigma = 1 / math.sqrt(sum(mu * mu for mu in claim["mu"]))
    if claim["solved"] == "epsilon":
        return get_epsilon_gaussian(sigma, claim["delta"])
    return privacy_loss_mechanism.GaussianPrivacyLoss(sigma).get_delta_for_epsilon(claim["epsilon"])


def ask(accountant, claim):
    if claim["solved"] == "epsilon":
        if hasattr(accountant, "get_epsilon_for_delta"):
            return accountant.get_epsilon_for_delta(claim["delta"])
        return accountant.get_epsilon(claim["delta"])
    if hasattr(accountant, "get_delta_for_epsilon"):
        return accountant.get_delta_for_epsilon(claim["epsilon"])
    return accountant.get_delta(claim["epsilon"])


def bounds(claim):
    """Returns (Oriel's figure, lower bound, upper bound, whose the upper bound is)."""
    solved = claim["solved"]
    if solved == "mu":
        mu = 1 / get_sigma_gaussian(claim["epsilon"], claim["delta"])
        return claim["mu"][0], mu * (1 - FORMULA), mu * (1 + FORMULA), "formula"
    if solved == "rho":  # what the other side proves with this rho
        delta = renyi(claim).get_delta(claim["epsilon"])
        return claim["delta"], delta * (1 - ORDERS), delta * (1 + FORMULA), "renyi"
    figure = claim[solved]
    if not claim["rho"] and not claim["pure"]:
        truth = formula(claim)
        if len(claim["mu"]) == 1:
            return figure, truth * (1 - FORMULA), truth * (1 + FORMULA), "formula"
        return figure, ask(distribution(claim, False), claim) * (1 - FORMULA), truth * (1 + FORMULA), "formula"
    lower = ask(distribution(claim, False), claim) * (1 - FORMULA)
    if not claim["rho"]:
        return figure, lower, ask(distribution(claim, True), claim) * (1 + FORMULA), "distribution"
    return figure, lower, ask(renyi(claim), claim) * (1 + FORMULA), "renyi"


def text(losses):
    values = [f"{x:.4g}" for x in losses]
    if len(set(values)) == 1 and len(values) > 1:
        return f"{len(values)}x{values[0]}"
    return "+".join(values) or "-"


def dense(claim):
    """mu of all releases up to an age without rounding, and with all that rounding can add."""
    unit, steps = 2.0**30, claim["age"]
    poles, residues = np.array(claim["poles"]) / unit, np.array(claim["residues"]) / unit
    lags = np.subtract.outer(np.arange(steps), np.arange(steps))
    filtered, decayed = np.eye(steps), np.where(lags >= 0, (claim["decay"] / unit) ** np.maximum(lags, 0), 0.0)
    for q, r in zip(poles, residues):
        filtered -= np.where(lags >= 1, r * q ** np.maximum(lags - 1, 0), 0.0)
    shift = np.linalg.solve(decayed @ filtered, decayed[:, 0])
    places = range(0, min(claim["events"] * claim["apart"], steps), claim["apart"])
    leaves = np.zeros(steps)
    leaves[list(places)] = claim["distance"]
    exact = np.linalg.solve(decayed @ filtered, decayed @ leaves)
    eta = 0.5 + 2.0**-8 * np.sum(residues / (1 - poles))
    rounded = np.abs(exact) + 2 * eta * math.sqrt(claim["coordinates"]) * (np.cumsum(np.abs(shift)) - np.abs(shift))
    return np.linalg.norm(exact) / claim["scale"], np.linalg.norm(rounded) / claim["scale"]


def matrices(path):
    with open(path, encoding="utf-8") as lines:
        claims = [json.loads(line) for line in lines]
    print(f"{'decay':>11} {'age':>5} {'mu':>14} {'not below':>14} {'not above':>14} {'epsilon':>12} {'not below':>12} {'not above':>12}")
    wrong, loose = 0, 0
    for claim in claims:
        low, high = dense(claim)
        low, high = low * (1 - FORMULA), high * (1 + (FORMULA if claim["events"] == 1 else PRODUCT))
        least, most = (get_epsilon_gaussian(1 / mu, claim["delta"]) for mu in (low, high))
        right = low <= claim["mu"] <= high and least * (1 - FORMULA) <= claim["epsilon"] <= most * (1 + FORMULA)
        wrong += not right
        loose += high > 1.01 * low
        print(
            f"{claim['decay']:>11} {claim['age']:>5} {claim['mu']:>14.10g} {low:>14.10g} {high:>14.10g} "
            f"{claim['epsilon']:>12.8g} {least:>12.8g} {most:>12.8g} {'' if right else 'WRONG'}"
        )
    print(f"{len(claims)} claims of dense matrices, {wrong} out of bounds, {loose} with bounds that are 1 % apart")
    return 1 if wrong or loose or not claims else 0


def main(path):
    with open(path, encoding="utf-8") as lines:
        claims = [{k: v if v is not None else [] for k, v in json.loads(line).items()} for line in lines]
    print(f"{'mu':>16} {'rho':>16} {'pure':>10} {'epsilon':>10} {'delta':>9}  {'asked':7} {'Oriel':>13} {'not below':>13} {'not above':>13}")
    wrong, too_low, too_high = 0, 0, 0
    for claim in claims:
        figure, lower, upper, whose = bounds(claim)
        right = lower <= figure <= upper
        wrong += not right
        too_low += 0.99 * figure < lower
        too_high += 1.01 * figure > upper
        print(
            f"{text(claim['mu']):>16} {text(claim['rho']):>16} {text(claim['pure']):>10} {claim['epsilon']:>10.5g} {claim['delta']:>9.2e}  "
            f"{claim['solved']:7} {figure:>13.7g} {lower:>13.7g} {upper:>13.7g} {whose:12} {'' if right else 'WRONG'}"
        )
    print(f"{len(claims)} claims, {wrong} out of bounds; 1 % lower, {too_low} would be, and 1 % higher, {too_high}")
    return 1 if wrong or 2 * min(too_low, too_high) < len(claims) or not claims else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]) | matrices(sys.argv[2]))
