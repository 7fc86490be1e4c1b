"""The point of a decision, whichever form ORIEL_DECISIONS gives it, and what an action of linucb says to play. A consumer
needs this file alone, and no packages:

    from decisions import dense, score
    decision = json.loads(line)["decision"]
    point = dense(decision)
    cost = score(decision, {3: 0.5, 17: 2.0})

python3 decisions.py writes decisions.json: points in both forms.
"""

import json
import random


def dense(decision):
    """Gives a number for each coordinate."""
    if isinstance(decision, list):
        return decision
    point = [0.0] * decision["dimension"]
    for value, indices in zip(decision["values"], decision["indices"]):
        for i in indices:
            point[i] = value
    return point


def score(decision, weights):
    """Gives the inner product with weights, a dictionary by coordinate, without making the point dense."""
    if isinstance(decision, list):
        return sum(w * decision[i] for i, w in weights.items())
    return sum(value * sum(weights.get(i, 0.0) for i in indices)
               for value, indices in zip(decision["values"], decision["indices"]))


def to_play(action):
    """Gives the place of what to play for the context action["key"]. None: the action plays nothing, since it answers a
    reward, or a record that is no context or has no room to wait."""
    if action.get("answers", "context") != "context" or action["decision"][0] < 0:
        return None
    return int(action["decision"][0])


def sparse(point):
    """Gives the sparse form of a point: values that are not zero, falling, and the coordinates that have each."""
    values = sorted({x for x in point if x != 0.0}, reverse=True)
    return {"dimension": len(point), "values": values,
            "indices": [[i for i, x in enumerate(point) if x == value] for value in values]}


def cases():
    rng = random.Random(20130101)
    yield []
    yield [0.0]
    yield [0.0, 1.0, 0.0, 1.0]
    yield [5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 0.1, 1e21, 1e-7]
    for n in list(range(1, 12)) + [40]:
        for _ in range(4):
            weights = [rng.choice([1.0, 0.5, 2.0 ** -rng.randrange(1, 60), rng.random(), -rng.random()]) for _ in range(4)]
            point = [0.0] * n
            for w in weights:
                for i in rng.sample(range(n), rng.randrange(0, n // 2 + 1)):
                    point[i] += w
            yield point


def main():
    lines = []
    for point in cases():
        assert dense(sparse(point)) == point and dense(point) == point
        lines.append(json.dumps({"dense": point, "sparse": sparse(point)}, separators=(",", ":")))
    with open("decisions.json", "w") as f:
        f.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
