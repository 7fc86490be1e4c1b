package settings

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"oriel/mechanisms"
	"oriel/schemas"
	"oriel/state"
)

// mostText is the largest list or mapping whose text a deployment stores, bytes. A larger one is stored as a digest
// alone.
const mostText = 16 << 10

// texts returns the lists and the mapping, which Canonical has as digests, so that a difference can be shown.
func (s Settings) texts() (texts string) {
	lists := s.values.Lists()
	if s.mapText != "" {
		lists["MAP"] = s.mapText
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if len(lists[name]) <= mostText {
			texts = state.AppendText(texts, name, lists[name])
		}
	}
	return texts
}

// Canonical returns the configuration text: sorted lines NAME=value of every setting that decides bytes. These are the
// settings that all operators share and the settings of the chosen operator. STREAM_KEYS is always empty. HORIZON is
// the length of a stream that ends, and ORIEL_ROUNDS of any other stream.
func (s Settings) Canonical() string {
	number := func(f float64) string { return string(schemas.AppendFloat(nil, f)) }
	count := func(n uint64) string { return strconv.FormatUint(n, 10) }
	weight, poles := "", "" // only blt has an age weight and poles
	if s.facts().Structure == mechanisms.Filter {
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
		"DELTA=" + number(s.Delta),
		"EPSILON=" + number(s.Epsilon),
		fmt.Sprintf("FEATURES_BIAS=%t", s.FeaturesBias),
		"FEATURES_NORM=" + s.FeaturesNorm,
		"FEATURES_RANGE=" + s.FeaturesRange,
		"FORMAT=" + s.Format,
		"HORIZON=" + count(s.rounds()),
		fmt.Sprintf("MAX_RECORD_BYTES=%d", s.MaxRecordBytes),
		"MECHANISM=" + s.Mechanism,
		"OPERATOR=" + s.Operator,
		"POLES=" + poles,
		"STREAM_KEYS=",
		"USER_ID=" + s.UserID,
		"USER_SEPARATION=" + separation,
		"WINDOW=" + s.canonicalWindow(),
	}
	if s.decays() {
		lines = append(lines, "MEMORY="+count(s.Memory))
	}
	if s.Stream == wholeTopic {
		lines = append(lines, "STREAM="+s.Stream)
	}
	if s.Encoding() != schemas.JSON {
		lines = append(lines, "DECISIONS_FORMAT="+s.DecisionsFormat)
	}
	if s.DecisionsSchemaID != 0 {
		lines = append(lines, "DECISIONS_SCHEMA_ID="+count(s.DecisionsSchemaID))
	}
	if users := s.userWindow(); users > 0 {
		lines = append(lines, "USER_WINDOW="+count(users))
	}
	if s.mapping != nil {
		lines = append(lines, fmt.Sprintf("MAP=sha256:%x", s.mapDigest))
	}
	if s.passesUnknown() != (s.mapping != nil) { // the treatment of unknown members differs from its default
		lines = append(lines, "UNKNOWN="+s.Unknown)
	}
	lines = append(append(lines, s.canonicalRecords()...), s.values.Canonical()...)
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}
