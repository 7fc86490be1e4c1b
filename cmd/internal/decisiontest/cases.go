package decisiontest

import (
	"slices"
	"strings"

	"oriel/mechanisms"
)

// Inputs lists the event files of testdata, each with the settings of its replay. If a name has a hyphen, the file is
// named by the part before the hyphen. The files were generated once and must never change. They contain every form of
// an event, and about every eleventh line is malformed.
var Inputs = []struct {
	Name string
	Env  []string
}{
	{"logistic", []string{
		"LOSS=logistic", "UPDATE=projection", "SET=l2-ball", "RADIUS=5", "DIMENSION=5", "WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"named", []string{
		"LOSS=hinge", "UPDATE=projection", "SET=l1-ball", "RADIUS=30", "DIMENSION=7", "WINDOW=64", "STRONG_CONVEXITY=0.3",
		"START_REGULARIZER=2.5", "FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic", "ADJACENCY=zero-out",
	}},
	{"linear", []string{
		"LOSS=linear", "UPDATE=projection", "SET=box", "RADIUS=100", "DIMENSION=4", "WINDOW=8", "STRONG_CONVEXITY=0.7",
		"BATCH=3", "EMIT_EVERY=2", "OWN_CONVEXITY=true",
	}},
	{"portfolio", []string{
		"LOSS=portfolio", "UPDATE=llo", "SET=simplex", "RADIUS=1", "DIMENSION=6", "WINDOW=32", "STRONG_CONVEXITY=0.5",
		"CONSTANTS=proved", "ROUNDS=240",
	}},
	{"squared", []string{
		"LOSS=squared", "UPDATE=llo", "SET=l1-ball", "RADIUS=2", "DIMENSION=6", "WINDOW=1", "STRONG_CONVEXITY=0.1",
		"CLIP=0.3", "CONSTANTS=proved", "ROUNDS=1000", "CONFIDENCE=0.9", "OWN_CONVEXITY=true",
	}},
	{
		"logistic-ogd",
		[]string{"LOSS=logistic", "UPDATE=ogd", "SET=l2-ball", "RADIUS=5", "DIMENSION=5", "STRONG_CONVEXITY=0.01"},
	},
	{"logistic-memory", []string{
		"LOSS=logistic", "UPDATE=projection", "SET=l2-ball", "RADIUS=5", "DIMENSION=5", "WINDOW=lifetime", "MEMORY=16",
		"STRONG_CONVEXITY=0.01", "START_REGULARIZER=2",
	}},
	{"quantile", []string{
		"LOSS=quantile", "QUANTILE=0.75", "UPDATE=projection", "SET=l2-ball", "RADIUS=4", "DIMENSION=1", "WINDOW=16",
		"STRONG_CONVEXITY=0.02", "START_REGULARIZER=3",
	}},
	{"squared-leaves", []string{
		"LOSS=squared", "UPDATE=llo", "SET=l1-ball", "RADIUS=2", "DIMENSION=6", "WINDOW=8", "STRONG_CONVEXITY=0.1",
		"LABEL_MAX=0.25", "WEIGHT_MAX=0.5", "ROUNDS=240",
	}},
	{"quantile-leaves", []string{
		"LOSS=quantile", "QUANTILE=0.75", "UPDATE=projection", "SET=l2-ball", "RADIUS=4", "DIMENSION=1", "WINDOW=16",
		"STRONG_CONVEXITY=0.02", "START_REGULARIZER=3", "ADJACENCY=zero-out",
	}},
	{"logistic-memory-users-leaves", []string{
		"LOSS=logistic", "UPDATE=projection", "SET=l2-ball", "RADIUS=5", "DIMENSION=5", "WINDOW=lifetime", "MEMORY=16",
		"STRONG_CONVEXITY=0.01", "START_REGULARIZER=2", "USER_ID=key", "USER_SEPARATION=3", "USER_WINDOW=40",
	}},
	{"aggregate-memory", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL,hour=0:24:2", "VALUE=delay=-60:180",
		"STATISTICS=count,sum,mean*0.5,variance,p50,p99.9", "BINS=10", "ARMS=carrier", "ELSEWHERE=other", "WEIGHT_MAX=2",
		"MEMORIES=4,1000", "INCREMENTS=true", "EMIT_EVERY=3", "EPSILON=500", "WINDOW=lifetime", "MEMORY=16",
	}},
	{"aggregate-total", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL,hour=0:24:1", "VALUE=delay=-60:180", "STATISTICS=p10,p90", "EPSILON=80",
		"WINDOW=64", "BATCH=2", "ADJACENCY=zero-out",
	}},
	{"aggregate-tumbling", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL|B6,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=count,mean",
		"ARMS=hour", "EPSILON=200", "BATCH=48",
	}},
	{"aggregate-memory-leaves", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=mean,p50", "BINS=4",
		"ELSEWHERE=other", "WEIGHT_MAX=2", "EPSILON=500", "WINDOW=lifetime", "MEMORY=16",
	}},
	{"aggregate-tumbling-leaves", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL|B6,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=sum", "EPSILON=200",
		"BATCH=48",
	}},
	{"linear-flow", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=flow", "EDGES=testdata/square.edges", "RADIUS=3",
		"DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"linear-subsets", []string{
		"LOSS=linear", "UPDATE=llo", "SET=subsets", "PICK=2", "RADIUS=1", "DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.01",
		"ROUNDS=240",
	}},
	{"linear-projected-subsets", []string{
		"LOSS=linear", "UPDATE=projection", "SET=subsets", "PICK=3", "RADIUS=2", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01",
	}},
	{"linear-vertices", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=vertices", "VERTICES=testdata/corners.points",
		"RADIUS=2", "DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"linear-matching", []string{
		"LOSS=linear", "UPDATE=llo", "SET=matching", "RADIUS=2", "DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.01",
		"ROUNDS=240",
	}},
	{"linear-partition", []string{
		"LOSS=linear", "UPDATE=llo", "SET=partition", "BLOCKS=2:1,2:1", "RADIUS=1", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01", "ROUNDS=240",
	}},
	{"squared-ridge", []string{
		"OPERATOR=ridge", "UPDATE=moments", "DIMENSION=6", "LABEL_RANGE=-1:3", "EMIT_EVERY=3", "NOISE_SHIFT=0.25",
		"FEATURES_MAX=2", "WINDOW=lifetime", "MEMORY=16", "EPSILON=100",
	}},
	{"squared-ridge-tree", []string{
		"OPERATOR=ridge", "UPDATE=moments", "DIMENSION=6", "LABEL_RANGE=-2:2", "EMIT_EVERY=16", "WINDOW=32", "LABEL_SHARE=1",
		"BATCH=2",
	}},
	{"squared-innovation", []string{
		"OPERATOR=ridge", "UPDATE=innovation", "DIMENSION=6", "LABEL_RANGE=-1:3", "RESIDUAL_MAX=0.5", "EMIT_EVERY=1",
		"WINDOW=64", "STRONG_CONVEXITY=0.1",
	}},
	{"plays-ucb", []string{
		"OPERATOR=arms", "ARMS=AA,DL,UA", "BATCH=4", "PLAYS=6", "DELAY=2", "WINDOW=lifetime", "WIDTH=2", "EPSILON=4",
	}},
	{"plays-ucb-gaussian", []string{
		"OPERATOR=arms", "ARMS=AA,DL,UA", "BATCH=4", "PLAYS=6", "DELAY=0", "WINDOW=lifetime", "LOSS_RANGE=-1:2",
	}},
	{"plays-exp3", []string{
		"OPERATOR=arms", "RULE=exp3", "ARMS=AA,DL,UA,B6", "BATCH=4", "PLAYS=6", "DELAY=2", "WINDOW=lifetime", "EPSILON=20",
	}},
	{"plays-ball", []string{
		"OPERATOR=bandit", "SET=l2-ball", "RADIUS=2", "DIMENSION=3", "BATCH=4", "PLAYS=6", "DELAY=2", "WINDOW=horizon",
		"HORIZON=64", "BASELINE=0.5",
	}},
	{"plays-simplex", []string{
		"OPERATOR=bandit", "SET=simplex", "RADIUS=1", "DIMENSION=4", "BATCH=4", "PLAYS=6", "DELAY=1", "WINDOW=lifetime",
		"MEMORY=16", "SMOOTHING=0.25", "RATE=0.03125", "SHRINK=false", "LOSS_RANGE=-1:2", "EPSILON=40",
	}},
	{"plays-box-tree", []string{
		"OPERATOR=bandit", "SET=box", "RADIUS=1", "DIMENSION=2", "BATCH=4", "PLAYS=6", "DELAY=0", "WINDOW=64", "ROUNDS=64",
		"LIPSCHITZ=2",
	}},
	{"plays-doubling", []string{
		"OPERATOR=bandit", "SET=box", "RADIUS=1", "DIMENSION=3", "BATCH=4", "PLAYS=6", "DELAY=1", "WINDOW=horizon",
		"HORIZON=200", "UPDATE=projection", "DOUBLING=true", "EPSILON=40",
	}},
	{"contexts-served", []string{
		"OPERATOR=linucb", "PLAYED=served", "ARMS=no,perhaps,yes", "DIMENSION=4", "WINDOW=lifetime", "MEMORY=16",
		"EMIT_EVERY=4", "WAIT=20", "CAPACITY=8", "EPSILON=40",
	}},
	{"contexts-logged", []string{
		"OPERATOR=linucb", "PLAYED=logged", "ARMS=no,perhaps,yes", "DIMENSION=4", "WINDOW=horizon", "EMIT_EVERY=8",
		"BATCH=2", "CONFIDENCE=0.9", "HORIZON=256", "WAIT=4096", "CAPACITY=1024",
	}},
	{"plays-exp3-uniform", []string{
		"OPERATOR=arms", "RULE=exp3-uniform", "ARMS=AA,DL,UA,B6", "BATCH=4", "PLAYS=6", "DELAY=0", "WINDOW=lifetime",
		"EPSILON=2",
	}},
	{"sets-places", []string{
		"OPERATOR=submodular", "RULE=histogram", "PICK=2", "PLACES=testdata/places", "WINDOW=lifetime", "MEMORY=16",
		"EMIT_EVERY=8", "EPSILON=4",
	}},
	{"gains-argmax", []string{
		"OPERATOR=submodular", "RULE=argmax", "PICK=2", "ELEMENTS=5", "WINDOW=64", "EMIT_EVERY=4", "FUNCTION=probabilistic",
	}},
	{"linear-trees", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=trees", "EDGES=testdata/square.edges", "RADIUS=1",
		"DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"linear-ranking", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=ranking", "WORTHS=1,0.5", "RADIUS=2", "DIMENSION=4",
		"WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"linear-projected-ranking", []string{
		"LOSS=linear", "UPDATE=projection", "SET=ranking", "WORTHS=1,0.5,0.25", "RADIUS=1", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01",
	}},
	{"plays-null", []string{
		"OPERATOR=bandit", "SET=l2-ball", "RADIUS=1", "DIMENSION=3", "BATCH=4", "PLAYS=6", "DELAY=1", "WINDOW=horizon",
		"HORIZON=64", "BASELINE=0.5", "ADJACENCY=zero-out", "PRECISION=0.01", "EPSILON=40",
	}},
	{"linear-spectrahedron", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=spectrahedron", "RADIUS=1", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01",
	}},
	{"linear-projected-spectrahedron", []string{
		"LOSS=linear", "UPDATE=projection", "SET=spectrahedron", "RADIUS=1", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01",
	}},
	{"linear-trace-norm", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=trace-norm", "ROWS=2", "RADIUS=1", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01",
	}},
	{"aggregate-memory-ranks", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL,hour=0:24:1", "VALUE=delay=-60:180", "STATISTICS=p20,p50", "BINS=48",
		"EMIT_EVERY=40", "WINDOW=lifetime", "MEMORY=256", "EPSILON=400", "ELSEWHERE=other",
	}},
	{"linear-sparse-flow", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=flow", "EDGES=testdata/square.edges", "RADIUS=3",
		"DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.05", "DECISIONS=sparse",
	}},
	{"linear-sparse-l1-ball", []string{
		"LOSS=linear", "UPDATE=projection", "SET=l1-ball", "RADIUS=2", "DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.3",
		"DECISIONS=sparse",
	}},
	{"gains-drawn", []string{
		"OPERATOR=submodular", "RULE=draws", "PICK=2", "ELEMENTS=5", "WINDOW=horizon", "HORIZON=200", "EMIT_EVERY=4",
		"EPSILON=60",
	}},
	{"linear-sparse-matching", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=matching", "RADIUS=2", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.05", "START_REGULARIZER=4", "FIRST=vertex", "DECISIONS=sparse",
	}},
	{"gains-led", []string{
		"OPERATOR=submodular", "RULE=leaders", "PICK=2", "ELEMENTS=5", "WINDOW=256", "ROUNDS=200", "EMIT_EVERY=4", "DELTA=0",
		"EPSILON=200",
	}},
	{"gains-shares", []string{
		"OPERATOR=submodular", "RULE=shares", "PICK=2", "ELEMENTS=5", "WINDOW=lifetime", "MEMORY=64", "EMIT_EVERY=4",
		"COPIES=3", "EPSILON=100",
	}},
	{"worths-halving", []string{
		"OPERATOR=sets", "ELEMENTS=AA,DL,UA,B6", "PICK=2", "TRIES=2", "BATCH=4", "PLAYS=6", "DELAY=2", "WINDOW=lifetime",
		"EPSILON=20", "EPOCH=40",
	}},
	{"worths-drawn", []string{
		"OPERATOR=sets", "RULE=draws", "ELEMENTS=AA,DL,UA,B6", "PICK=2", "BATCH=4", "PLAYS=6", "DELAY=1", "WINDOW=horizon",
		"HORIZON=200", "SHARE=0.5", "EPSILON=60", "WORTH_RANGE=-1:1",
	}},
	{"gains-quadratic", []string{
		"OPERATOR=submodular", "RULE=shares", "PICK=2", "ELEMENTS=5", "WINDOW=64", "EMIT_EVERY=4", "FUNCTION=quadratic",
		"COPIES=2", "EPSILON=40",
	}},
	{"contexts-products", []string{
		"OPERATOR=linucb", "PLAYED=served", "ARM_FEATURES=testdata/helpings", "DIMENSION=4", "WINDOW=64",
		"EMIT_EVERY=8", "WAIT=20", "CAPACITY=32", "EPSILON=40",
	}},
	{"gains-short", []string{
		"OPERATOR=submodular", "RULE=argmax", "PICK=2", "ELEMENTS=5", "WINDOW=lifetime", "MEMORY=64", "EMIT_EVERY=4",
		"VALUES_NORM=1", "EPSILON=40",
	}},
	{"sets-gains", []string{
		"OPERATOR=submodular", "RULE=argmax", "PICK=2", "PLACES=testdata/places", "WINDOW=64", "EMIT_EVERY=8",
		"EPSILON=40",
	}},
	{"contexts-candidates-marked", []string{
		"OPERATOR=linucb", "PLAYED=served", "CANDIDATES=2", "DIMENSION=2", "WINDOW=64", "BATCH=4", "EMIT_EVERY=3", "WAIT=20",
		"EPSILON=40",
	}},
	{"aggregate-memory-shown", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL,hour=0:24:1", "VALUE=delay=-60:180", "STATISTICS=mean,count,p50",
		"BINS=16",
		"EMIT_EVERY=40", "WINDOW=lifetime", "MEMORY=256", "EPSILON=400", "ELSEWHERE=other", "ARMS=carrier",
	}},
	{"linear-flow-tangent", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=flow", "EDGES=testdata/square.edges", "RADIUS=3",
		"DIMENSION=4", "WINDOW=lifetime", "MEMORY=16", "STRONG_CONVEXITY=0.01", "START_REGULARIZER=1",
	}},
	{"linear-vertices-tangent", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=vertices", "VERTICES=testdata/segment.points",
		"RADIUS=2", "DIMENSION=4", "WINDOW=16", "STRONG_CONVEXITY=0.01",
	}},
	{"linear-trees-tangent", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=trees", "EDGES=testdata/chain.edges", "RADIUS=1",
		"DIMENSION=4", "WINDOW=lifetime", "MEMORY=16", "STRONG_CONVEXITY=0.01", "START_REGULARIZER=1",
	}},
	{"linear-at-most", []string{
		"LOSS=linear", "UPDATE=projection", "SET=subsets-at-most", "PICK=2", "RADIUS=1", "DIMENSION=4", "WINDOW=16",
		"STRONG_CONVEXITY=0.01",
	}},
	{"linear-partition-at-most", []string{
		"LOSS=linear", "UPDATE=projection", "SET=partition-at-most", "BLOCKS=2:1,2:1", "RADIUS=2", "DIMENSION=4",
		"WINDOW=lifetime", "MEMORY=16", "STRONG_CONVEXITY=0.01", "START_REGULARIZER=1",
	}},
	{"linear-forests", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=forests", "EDGES=testdata/square.edges", "RADIUS=1",
		"DIMENSION=4", "WINDOW=lifetime", "MEMORY=16", "STRONG_CONVEXITY=0.01", "START_REGULARIZER=1",
	}},
	{"plays-simplex-found", []string{
		"OPERATOR=bandit", "SET=simplex", "RADIUS=1", "DIMENSION=4", "BATCH=4", "PLAYS=6", "DELAY=1", "WINDOW=lifetime",
		"MEMORY=16", "SMOOTHING=0.25", "RATE=0.03125", "PRECISION=0.0625", "LOSS_RANGE=-1:2", "EPSILON=40",
	}},
	{"plays-flow-found", []string{
		"OPERATOR=bandit", "SET=flow", "EDGES=testdata/square.edges", "RADIUS=3", "DIMENSION=4", "BATCH=4", "PLAYS=6",
		"DELAY=0", "WINDOW=horizon", "HORIZON=64", "PRECISION=0.0625", "EPSILON=40",
	}},
	{"plays-box-found", []string{
		"OPERATOR=bandit", "SET=box", "LOW=0,-1", "HIGH=2", "DIMENSION=2", "BATCH=4", "PLAYS=6", "DELAY=2", "WINDOW=64",
		"ROUNDS=64", "UPDATE=projection", "BASELINE=0.5", "ADJACENCY=zero-out", "EPSILON=40",
	}},
	{"gains-led-noise", []string{
		"OPERATOR=submodular", "RULE=leaders", "PICK=2", "ELEMENTS=5", "WINDOW=lifetime", "MEMORY=64", "EMIT_EVERY=4",
		"EPSILON=200",
	}},
	{"gains-shares-noise", []string{
		"OPERATOR=submodular", "RULE=shares", "PICK=2", "ELEMENTS=5", "WINDOW=64", "EMIT_EVERY=4", "COPIES=3", "RATE=bounded",
		"EPSILON=100",
	}},
	{"contexts-weights", []string{
		"OPERATOR=linucb", "PLAYED=logged", "ARMS=no,perhaps,yes", "DIMENSION=4", "WINDOW=lifetime", "MEMORY=64",
		"EMIT_EVERY=8", "EPSILON=1000", "NOISE_SHIFT=0.5",
	}},
	{"gains-argmax-means", []string{
		"OPERATOR=submodular", "RULE=argmax", "PICK=2", "ELEMENTS=5", "WINDOW=64", "EMIT_EVERY=4", "EPSILON=40",
	}},
	{"linear-flow-means", []string{
		"LOSS=linear", "UPDATE=llo", "CONSTANTS=search", "SET=flow", "EDGES=testdata/square.edges", "RADIUS=3",
		"DIMENSION=4", "WINDOW=lifetime", "MEMORY=64", "STRONG_CONVEXITY=0.01", "START_REGULARIZER=1",
	}},
	{"aggregate-memory-filter", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=count,sum,mean,variance",
		"INCREMENTS=true", "EMIT_EVERY=20", "WINDOW=lifetime", "MEMORY=64", "EPSILON=400",
	}},
	{"squared-band-leaves", []string{
		"LOSS=squared", "UPDATE=projection", "SET=l2-ball", "RADIUS=2", "DIMENSION=6", "WINDOW=lifetime", "MEMORY=64",
		"STRONG_CONVEXITY=0.1", "START_REGULARIZER=4", "FEATURES_MAX=2", "BAND=0.8", "BAND_RANGE=-2:2", "BAND_STEP=0.03125",
		"EPSILON=40",
	}},
	{"logistic-band-leaves", []string{
		"LOSS=logistic", "UPDATE=projection", "SET=l2-ball", "RADIUS=5", "DIMENSION=5", "WINDOW=16", "STRONG_CONVEXITY=0.01",
		"FEATURES_MAX=1", "BAND=0.9", "BAND_STEP=0.0625", "EMIT_EVERY=2", "BATCH=2", "EPSILON=40",
	}},
}

// onlyUnder maps cases that need a particular mechanism to the name of the mechanism.
var onlyUnder = map[string]string{
	"logistic-memory": "blt", "logistic-memory-users-leaves": "blt",
	"aggregate-memory": "blt", "aggregate-total": "blt", "aggregate-tumbling": "once-gaussian",
	"aggregate-memory-leaves": "blt", "aggregate-tumbling-leaves": "once-gaussian", "aggregate-memory-ranks": "blt",
	"linear-flow": "blt", "linear-subsets": "tree-laplace", "linear-projected-subsets": "tree-gamma",
	"linear-matching": "tree-gaussian", "linear-vertices": "blt",
	"linear-partition": "tree-gaussian",
	"squared-ridge":    "blt", "squared-ridge-tree": "tree-gaussian", "squared-innovation": "blt",
	"plays-ucb": "once-gamma", "plays-ucb-gaussian": "once-gaussian", "plays-exp3": "once-gamma", "plays-ball": "blt",
	"plays-simplex": "blt", "plays-box-tree": "tree-gamma",
	"plays-doubling":     "blt",
	"plays-null":         "blt",
	"plays-exp3-uniform": "once-gamma",
	"linear-trees":       "blt", "linear-ranking": "blt", "linear-projected-ranking": "tree-laplace",
	"linear-spectrahedron": "blt", "linear-projected-spectrahedron": "tree-gaussian", "linear-trace-norm": "blt",
	"linear-sparse-matching": "blt", "linear-sparse-flow": "blt", "linear-sparse-l1-ball": "tree-gaussian",
	"contexts-served": "blt", "contexts-logged": "tree-gaussian",
	"sets-places": "blt", "gains-argmax": "tree-gaussian", "gains-drawn": mechanisms.ExponentialMechanism,
	"gains-led": "tree-gamma", "gains-shares": "blt", "worths-halving": "once-gamma",
	"worths-drawn":    mechanisms.ExponentialMechanism,
	"gains-quadratic": "blt", "contexts-products": "blt",
	"aggregate-memory-shown": "blt", "contexts-candidates-marked": "tree-gaussian",
	"linear-flow-tangent": "blt", "linear-vertices-tangent": "tree-gaussian", "linear-trees-tangent": "blt",
	"linear-at-most": "tree-gamma", "linear-partition-at-most": "blt", "linear-forests": "blt",
	"plays-simplex-found": "blt", "plays-flow-found": "tree-gaussian", "plays-box-found": "tree-gamma",
	"gains-short": "blt", "sets-gains": "blt", "gains-led-noise": "blt", "gains-shares-noise": "tree-laplace",
	"contexts-weights": "blt", "gains-argmax-means": "tree-gaussian",
	"linear-flow-means": "blt", "aggregate-memory-filter": "blt",
	"squared-band-leaves": "blt", "logistic-band-leaves": "tree-gaussian",
}

// Plays reports whether the case's records name actions in their keys.
func (c Case) Plays() bool {
	kind, _, _ := strings.Cut(c.Events, "-")
	return slices.Contains([]string{"plays", "contexts", "worths"}, kind)
}
