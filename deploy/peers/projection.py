"""Times OSQP's projection on the flows of a square grid: projection.py SIDE. Prints the version, then for each line of
input the time of one projection, ns. Each starts from the one before, whose point was a little elsewhere: as a learner
would have it."""

import importlib.metadata
import sys
import time

import numpy as np
import osqp
from scipy import sparse

side = int(sys.argv[1])
edges = [
    (i * side + j, to)
    for i in range(side)
    for j in range(side)
    for to in ([i * side + j + 1] if j + 1 < side else []) + ([(i + 1) * side + j] if i + 1 < side else [])
]
n, vertices = len(edges), side * side
tails, heads = np.array(edges).T
balance = sparse.coo_matrix(
    (np.repeat([1.0, -1.0], n), (np.concatenate([tails, heads]), np.tile(np.arange(n), 2))), shape=(vertices, n)
).tocsc()[: vertices - 1]
out = np.zeros(vertices - 1)
out[0] = 1
rows = sparse.vstack([balance, sparse.identity(n)], format="csc")
low, high = np.concatenate([out, np.zeros(n)]), np.concatenate([out, np.full(n, np.inf)])

random = np.random.default_rng(1)
point = random.normal(size=n)
solver = osqp.OSQP()
solver.setup(
    sparse.identity(n, format="csc"), -point, rows, low, high, eps_abs=1e-5, eps_rel=1e-5, verbose=False, max_iter=20000
)
assert solver.solve().info.status == "solved"
print(importlib.metadata.version("osqp"), flush=True)
for _ in sys.stdin:
    took = 0
    for _ in range(5):
        point += 0.1 * random.normal(size=n)
        start = time.perf_counter_ns()
        solver.update(q=-point)
        answer = solver.solve()
        took += time.perf_counter_ns() - start
        assert answer.info.status == "solved"
    print(took / 5, flush=True)
