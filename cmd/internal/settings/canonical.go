package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oriel/schemas"
)

// Canonical is the configuration text, version 1: lines NAME=value, sorted, of everything that decides bytes. Settings of
// features that this version lacks stand there empty, so that their arrival changes no existing deployment.
func (s Settings) Canonical() string {
	number := func(f float64) string { return string(schemas.AppendFloat(nil, f)) }
	count := func(n uint64) string { return strconv.FormatUint(n, 10) }
	weight, poles := "", "" // of blt only
	if s.Mechanism == blt {
		weight, poles = number(s.AgeWeight), strconv.Itoa(s.Poles)
	}
	separation := ""
	if s.UserID != "" {
		separation = count(s.UserSeparation)
	}
	lines := []string{
		"ADJACENCY=" + s.Adjacency,
		"AGE_WEIGHT=" + weight,
		"BATCH=" + count(s.Batch),
		"CLIP=" + number(s.Clip),
		"CONFIDENCE=" + number(s.Confidence),
		"CONSTANTS=" + s.Constants,
		"DELTA=" + number(s.Delta),
		fmt.Sprintf("DIMENSION=%d", s.Dimension),
		"EMIT_EVERY=" + count(s.EmitEvery),
		"EPSILON=" + number(s.Epsilon),
		fmt.Sprintf("FEATURES_BIAS=%t", s.FeaturesBias),
		"FEATURES_NORM=" + s.FeaturesNorm,
		"FEATURES_RANGE=" + s.FeaturesRange,
		"FORMAT=" + s.Format,
		"HORIZON=" + count(s.Horizon),
		"LOSS=" + s.Loss,
		fmt.Sprintf("MAX_RECORD_BYTES=%d", s.MaxRecordBytes),
		"MECHANISM=" + s.Mechanism,
		"OPERATOR=" + s.Operator,
		fmt.Sprintf("OWN_CONVEXITY=%t", s.OwnConvexity),
		"POLES=" + poles,
		"RADIUS=" + number(s.Radius),
		"SET=" + s.Set,
		"START_REGULARIZER=" + number(s.StartRegularizer),
		"STREAM_KEYS=",
		"STRONG_CONVEXITY=" + number(s.StrongConvexity),
		"UPDATE=" + s.Update,
		"USER_ID=" + s.UserID,
		"USER_SEPARATION=" + separation,
		"WINDOW=" + s.canonicalWindow(),
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}
