package linucb

import (
	"math"
	"strings"
	"unicode/utf8"

	"oriel/operators"
	"oriel/operators/moments"
	"oriel/operators/pending"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// Definition is the entry of linucb in the registry of operators.
var Definition = operators.Definition{
	Name: "linucb", Text: "contextual bandit: weights of each arm from private second moments, and the arm to play",
	Settings: settings, Events: events,
	New: configure,
}

// These are the values of ORIEL_PLAYED.
const (
	logged = "logged"
	served = "served"
)

// These are the values of ORIEL_SOLVE.
const (
	always  = "always"
	doubled = "doubled"
)

const (
	maxArms = 1 << 10
	maxWait = 1 << 20
	maxName = 64 // bytes of a key

	// maxArm is the largest number of bytes of an arm's name. With it all texts of an action but its key are shorter
	// than 64 bytes. Avro writes the length of a longer text in two bytes, so space could not fill up a longer name.
	maxArm = 62
)

var settings = []setting.Row{
	{
		Name: "PLAYED", Kind: setting.Text, Unit: "name", Choices: []string{logged, served}, Required: true,
		Decodes: true,
		Text: "logged: an event is context, arm and reward. served: actions go to a second topic, and the " +
			"reward follows under the context's record key",
	},
	{
		Name: "ARMS", Kind: setting.List, Unit: "name,…", Range: "2 to 1024 names of 1 to 62 bytes, each once, without quotes and backslashes",
		Entry: armEntry, Text: "names of the arms; each arm has its own weights; not with ORIEL_CANDIDATES",
	},
	{
		Name: "ARM_FEATURES", Kind: setting.File, Unit: "file",
		Range: "2 to 1024 lines name:number:number:…, one for each arm, all with equally many numbers",
		Entry: productEntry, Text: "the arms and their public features, instead of ORIEL_ARMS: learning about one arm helps arms like it. " +
			"Replay must have the same file",
	},
	{
		Name: "CANDIDATES", Kind: setting.Count, Unit: "candidates",
		Bounds: setting.From(2, maxArms).OrZero(), Default: "0", Decodes: true,
		Text: "number of candidates of an event, each with ORIEL_DIMENSION features, and one vector of weights " +
			"for all. 0: arms are in ORIEL_ARMS",
	},
	{
		Name: "DIMENSION", Kind: setting.Count, Unit: "features",
		Bounds: setting.From(1, moments.MaxFeatures), Required: true, Decodes: true,
		Text: "dimension d of contexts, or of a candidate's features: each step adds noise to d² numbers of " +
			"each arm",
	},
	{
		Name: "REWARD_RANGE", Kind: setting.Text, Form: setting.IsRange,
		Unit: "low:high", Range: "ends up to 1e12 in size", Default: "0:1",
		Text: "public range of rewards: rewards outside are clamped to it. Weights of zero predict its middle",
	},
	moments.Setting("FEATURES_MAX", "1",
		"X, the largest norm of a context, or of a candidate's features: longer vectors are scaled down to it"),
	moments.Setting("LABEL_SHARE", "1",
		"s, rounded down to a multiple of 1/1024: noise is (1 + s²) on second moments of features, and (1 "+
			"+ s²)/s on moments with the reward"),
	moments.Setting("START_REGULARIZER", "1",
		"λ, public regulariser: the regulariser counts like this many pseudo-events with the middle reward in each direction"),
	moments.Setting("NOISE_SHIFT", "1.5",
		"f: released second moments are shifted by f times the edge of their noise's spectrum, "+
			"2√d·sd. Not with ORIEL_CONFIDENCE"),
	{
		Name: "WIDTH", Kind: setting.Number, Unit: "factor", Bounds: setting.From(0, 1000), Default: "0.25",
		Text: "β, width of the confidence bound: a larger β explores more. It has no proof, but is mostly better than the proved width. The noise explores too",
	},
	{
		Name: "CONFIDENCE", Kind: setting.Number, Unit: "probability",
		Bounds: setting.From(0.5, 0.999999).OrZero(), Default: "0",
		Text: "β is the proved width that covers the true weights with this probability at all steps, for " +
			"rewards linear in the context, with ORIEL_WINDOW=horizon. 0: ORIEL_WIDTH",
	},
	{
		Name: "WEIGHTS_MAX", Kind: setting.Number, Unit: "half reward ranges",
		Bounds: setting.From(1e-6, 1e6).OrZero(), Default: "0",
		Text: "S, largest norm of an arm's weights; longer ones are scaled down. With ORIEL_CONFIDENCE the " +
			"true weights must be no longer. 0: from ORIEL_DIMENSION",
	},
	moments.EmitEvery,
	{
		Name: "SOLVE", Kind: setting.Text, Unit: "name", Choices: []string{always, doubled}, Default: always,
		Text: "always: new weights with each emission. doubled: only if the determinant of an arm's second " +
			"moments has doubled; not with ORIEL_MEMORY",
	},
	{
		Name: "WAIT", Kind: setting.Count, Unit: "steps",
		Bounds: setting.From(1, maxWait), Range: "1 to 1048576; with ORIEL_PLAYED=served", Default: "1024",
		Text: "number of steps that a context waits for its reward; it keeps its place for all these steps, with or without a reward",
	},
	{
		Name: "CAPACITY", Kind: setting.Count, Unit: "contexts",
		Bounds: setting.From(0, maxWait), Range: "0 to 1048576; with ORIEL_PLAYED=served", Default: "0",
		Text: "greatest number of contexts that wait for their reward; the sealed state holds them. 0: as many " +
			"as ORIEL_WAIT steps can bring",
	},
}

func armEntry(text string) (string, bool) {
	return text, len(text) <= maxArm && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' || r == '"' || r == '\\' || r == '\u2028' || r == '\u2029'
	})
}

// noReward marks the reward of an event without a reward.
const noReward = -math.MaxFloat64

var body = event.Body{
	Name: "linucb", Text: "A context, a reward, or a context with the arm that was played and its reward.",
	Members: []event.Member{
		{
			Name: "features", Kind: event.KindFeatures, Optional: true,
			Text: "The context, or the features of all candidates.",
		},
		{
			Name: "arm", Kind: event.KindCount, Optional: true, Default: -1, Least: 0, Most: maxArms - 1,
			Text: "The place of the played action, from 0; read where ORIEL_PLAYED is logged.",
		},
		{Name: "reward", Kind: event.KindNumber, Optional: true, Default: noReward, Text: "The reward of the play."},
	},
}

func events(v *setting.Values) operators.Events {
	d, n := v.Count("DIMENSION"), v.Count("CANDIDATES")
	size := min(d, moments.MaxFeatures) * max(1, min(n, maxArms))
	v.Want("CANDIDATES", size <= setting.MaxDimension, "%d of %d features: more than %d together", n, d,
		setting.MaxDimension)
	return operators.Events{
		Body: body, Dimension: int(min(size, setting.MaxDimension)), Keyed: v.Text("PLAYED") == served,
	}
}

func configure(v *setting.Values) (operators.Operator, error) {
	c := operator{
		arms: v.Entries("ARMS"), candidates: int(min(v.Count("CANDIDATES"), maxArms)), served: v.Text("PLAYED") == served,
		rows:       moments.Rows{Features: int(min(v.Count("DIMENSION"), moments.MaxFeatures))},
		features:   v.Number("FEATURES_MAX"),
		start:      v.Number("START_REGULARIZER"),
		shift:      v.Number("NOISE_SHIFT"),
		width:      v.Number("WIDTH"),
		confidence: v.Number("CONFIDENCE"),
		maxWeights: v.Number("WEIGHTS_MAX"),
		every:      v.Count("EMIT_EVERY"), batch: v.Batch, terms: v.Terms,
		waiting: pending.Config{
			Capacity: int(min(v.Count("CAPACITY"), maxWait)), Name: maxName, Timeout: min(v.Count("WAIT"), maxWait),
		},
	}
	_, decays := v.Terms.Scope.Memory()
	c.doubling = v.Text("SOLVE") == doubled
	v.Want("SOLVE", !c.doubling || !decays,
		"%s, but with ORIEL_MEMORY determinants stop growing, and weights would stay as they are", doubled)
	c.configureArms(v)
	if c.maxWeights == 0 {
		c.maxWeights = c.derivedMaxWeights()
	}
	c.rows.Label = moments.ReadLabel(v)
	rewards := v.Range("REWARD_RANGE")
	c.middle, c.half = rewards.Middle(), rewards.Half()
	v.Want("CONFIDENCE", c.confidence == 0 || v.Rounds > 0,
		"set; the width is proved for a stream that ends: set ORIEL_WINDOW=horizon and ORIEL_HORIZON")
	v.Want("CONFIDENCE", c.confidence == 0 || !decays,
		"set, but nothing is proved of the width with ORIEL_MEMORY: take ORIEL_WIDTH")
	if c.waiting.Capacity == 0 {
		c.waiting.Capacity = int(min(v.Batch, maxWait) * c.waiting.Timeout)
	}
	c.waiting.Width = 1 + c.rows.Features
	if c.served && c.waiting.Capacity >= 1 && c.waiting.Timeout >= 1 {
		err := c.waiting.Validate()
		v.Want("CAPACITY", err == nil, "%v", err)
	}
	v.Want("BATCH", !c.served || c.batch <= 1<<16, "%d: above %d; a step has an action a record", c.batch, 1<<16)
	moments.WantMechanism(v)
	return c, v.Err()
}

// configureArms sets the arms and the number of blocks.
func (c *operator) configureArms(v *setting.Values) {
	v.Want("ARMS", c.candidates == 0 || len(c.arms) == 0,
		"set, but events bring the actions that can be played: ORIEL_CANDIDATES is %d", c.candidates)
	if lines := v.Entries("ARM_FEATURES"); lines != nil {
		c.configureProducts(v, lines)
		return
	}
	if c.candidates > 0 {
		return
	}
	v.Want("ARMS", len(c.arms) >= 2 && len(c.arms) <= maxArms, "%d arms: not 2 to %d; or set ORIEL_CANDIDATES or ORIEL_ARM_FEATURES",
		len(c.arms), maxArms)
	v.Distinct("ARMS", c.arms)
	c.rows.Blocks = len(c.arms)
	if v.Err() == nil {
		r := c.rows
		r.Label = 1
		err := r.Validate()
		v.Want("ARMS", err == nil, "%v", err)
	}
}
