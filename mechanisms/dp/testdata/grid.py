"""Writes the grids of the package's tests. Needs PyPI mpmath; checks itself against PyPI dp-accounting when that is installed.

    python3 grid.py

delta.csv: epsilon, mu (both hexadecimal float64), delta(epsilon; mu) to 40 digits, at 400 working digits.
mu.csv: epsilon, delta (both hexadecimal float64), the exact mu to 40 digits, at 90 working digits.
"""

import mpmath

mpmath.mp.dps = 400


def delta(epsilon, mu):
    e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
    phi = lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2
    return phi(-e / m + m / 2) - mpmath.exp(e) * phi(-e / m - m / 2)


def digits(x):
    return mpmath.nstr(x, 40, min_fixed=1, max_fixed=0)


def mu_of(epsilon, target):
    low, high = mpmath.mpf("1e-30"), mpmath.mpf(2**20)
    for _ in range(160):
        middle = mpmath.sqrt(low * high) if high > 2 * low else (low + high) / 2
        if delta(epsilon, middle) <= target:
            low = middle
        else:
            high = middle
    return low


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
    try:
        import dp_accounting
    except ImportError:
        return
    for epsilon, target in budgets:
        if 0.01 <= epsilon <= 10 and 1e-12 <= target <= 0.3:
            sigma = dp_accounting.get_sigma_gaussian(epsilon, target)
            assert abs(sigma * float(mu_of(epsilon, target)) - 1) < 1e-6, (epsilon, target)


main()
