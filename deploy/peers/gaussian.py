"""Times OpenDP's integer Gaussian: gaussian.py SCALE DRAWS. Prints the version, then for each line of input the time of one call for a
vector of DRAWS integers, so long that what Python adds is nothing: ns a draw."""

import importlib.metadata
import sys
import time

import opendp.prelude as dp

dp.enable_features("contrib")
scale, draws = float(sys.argv[1]), int(sys.argv[2])
gaussian = dp.m.make_gaussian(dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float), scale=scale)
data = [0] * draws
print(importlib.metadata.version("opendp"), flush=True)
for _ in sys.stdin:
    start = time.perf_counter_ns()
    released = gaussian(data)
    took = time.perf_counter_ns() - start
    assert len(released) == draws and all(isinstance(x, int) for x in released)
    print(took / draws, flush=True)
