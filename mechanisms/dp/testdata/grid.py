"""Writes the grids of the package's tests. Needs PyPI mpmath; checks itself against PyPI dp-accounting when that is installed.

    python3 grid.py

Arguments are hexadecimal float64, the last column is a figure of 40 or 60 digits, worked out at 90 or more.

delta.csv: epsilon, mu, delta(epsilon; mu)
mu.csv: epsilon, delta, the exact mu
mixed.csv: epsilon, pure, mu, delta of randomised response (pure) composed with a Gaussian (mu)
renyi-delta.csv: epsilon, rho, pure, the least delta over all Renyi orders; pure 0 is zCDP alone
renyi-epsilon.csv: delta, rho, pure, the least epsilon over all Renyi orders
pure-rho.csv, pure-mu.csv: epsilon, what an epsilon-DP mechanism is in the other currency
"""

import itertools

import mpmath

mpmath.mp.dps = 400


def delta(epsilon, mu):
    e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
    phi = lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2
    return phi(-e / m + m / 2) - mpmath.exp(e) * phi(-e / m - m / 2)


def digits(x, count=40):
    return mpmath.nstr(x, count, min_fixed=1, max_fixed=0)


def mu_of(epsilon, target):
    low, high = mpmath.mpf("1e-30"), mpmath.mpf(2**20)
    for _ in range(160):
        middle = mpmath.sqrt(low * high) if high > 2 * low else (low + high) / 2
        if delta(epsilon, middle) <= target:
            low = middle
        else:
            high = middle
    return low


def mixed(epsilon, pure, mu):
    """The hockey-stick divergence of the product, by its definition: over the two outcomes of randomised response."""
    e, p = mpmath.mpf(epsilon), 1 / (1 + mpmath.exp(-mpmath.mpf(pure)))
    signed = lambda x: delta(x, mu) if x >= 0 else 1 - mpmath.exp(x) + mpmath.exp(x) * delta(-x, mu)
    return p * signed(e - pure) + (1 - p) * signed(e + pure)


def divergence(alpha, rho, pure):
    p = 1 / (1 + mpmath.exp(-mpmath.mpf(pure)))
    response = mpmath.log(p**alpha * (1 - p) ** (1 - alpha) + (1 - p) ** alpha * p ** (1 - alpha)) / (alpha - 1)
    return alpha * mpmath.mpf(rho) + response


def least(f):
    """The least value of a function of alpha > 1 with one valley, by golden section on log(alpha - 1)."""
    a, b = mpmath.mpf(-60), mpmath.mpf(60)
    section = (mpmath.sqrt(5) - 1) / 2
    g = lambda u: f(1 + mpmath.exp(u))
    x, y = b - section * (b - a), a + section * (b - a)
    gx, gy = g(x), g(y)
    for _ in range(180):
        if gx <= gy:
            b, y, gy = y, x, gx
            x = b - section * (b - a)
            gx = g(x)
        else:
            a, x, gx = x, y, gy
            y = a + section * (b - a)
            gy = g(y)
    return min(gx, gy)


def renyi_delta(epsilon, rho, pure):
    log = lambda a: (a - 1) * (divergence(a, rho, pure) - epsilon + mpmath.log(1 - 1 / a)) - mpmath.log(a)
    return mpmath.exp(min(mpmath.mpf(0), max(mpmath.mpf(-1000), least(log))))  # e^-1000 is below every float64


def renyi_epsilon(target, rho, pure):
    log = mpmath.log(mpmath.mpf(target))
    return least(lambda a: divergence(a, rho, pure) + mpmath.log(1 - 1 / a) - (log + mpmath.log(a)) / (a - 1))


def pure_mu(epsilon):
    corner = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
    low, high = mpmath.mpf(0), mpmath.mpf(100)
    for _ in range(300):
        middle = (low + high) / 2
        if mpmath.erfc(middle / 2 / mpmath.sqrt(2)) / 2 > corner:
            low = middle
        else:
            high = middle
    return high


def table(name, figure, *arguments):
    with open(name, "w") as out:
        for x in itertools.product(*arguments):
            out.write(",".join(float(v).hex() for v in x) + "," + digits(figure(*x), 60) + "\n")


def main():
    with open("delta.csv", "w") as out:
        for epsilon in [0.0, 1e-20, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, 7.3, 30.0, 700.0, 1e5, 1e300]:
            for mu in [1e-20, 1e-12, 1e-6, 1e-3, 0.02, 0.1, 0.2064, 0.5, 1.0, 3.0, 10.0, 40.0, 500.0, 1e4]:
                if epsilon / mu - mu / 2 > 60 or epsilon / mu - mu / 2 < -60:
                    continue
                out.write(f"{float(epsilon).hex()},{float(mu).hex()},{digits(delta(epsilon, mu))}\n")
    mpmath.mp.dps = 90
    budgets = [(e, d) for e in [1e-6, 1e-2, 0.1, 0.5, 1.0, 3.0, 10.0, 100.0, 5000.0] for d in [1e-300, 1e-30, 1e-12, 1e-6, 1e-3, 0.3, 0.999]]
    with open("mu.csv", "w") as out:
        for epsilon, target in budgets:
            out.write(f"{float(epsilon).hex()},{float(target).hex()},{digits(mu_of(epsilon, target))}\n")
    mpmath.mp.dps = 120
    table("mixed.csv", mixed, [0.0, 1e-3, 0.5, 1.0, 4.0, 30.0], [1e-9, 0.01, 0.5, 1.0, 20.0], [1e-3, 0.1, 1.0, 5.0])
    losses = [0.0, 1e-6, 0.01, 0.5, 3.0, 100.0]
    table("renyi-delta.csv", renyi_delta, [0.0, 1e-3, 0.3, 2.0, 30.0], [1e-12, 1e-4, 0.02, 0.5, 10.0], losses)
    table("renyi-epsilon.csv", renyi_epsilon, [1e-300, 1e-30, 1e-6, 0.1], [1e-12, 1e-4, 0.02, 0.5, 10.0], losses)
    table("pure-rho.csv", lambda e: mpmath.mpf(e) * mpmath.tanh(mpmath.mpf(e) / 2), [1e-100, 1e-12, 2.0**-31, 2.0**-30, 1e-6, 0.01, 1.0, 7.0, 100.0, 799.0, 801.0])
    table("pure-mu.csv", pure_mu, [1e-12, 1e-6, 0.01, 0.1, 1.0, 7.0, 100.0, 700.0])
    mpmath.mp.dps = 90
    try:
        import dp_accounting
    except ImportError:
        return
    for epsilon, target in budgets:
        if 0.01 <= epsilon <= 10 and 1e-12 <= target <= 0.3:
            sigma = dp_accounting.get_sigma_gaussian(epsilon, target)
            assert abs(sigma * float(mu_of(epsilon, target)) - 1) < 1e-6, (epsilon, target)


main()
