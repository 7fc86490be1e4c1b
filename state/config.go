package state

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// digestPrefix starts a value of a canonical configuration that is the SHA-256 digest of a longer text.
const digestPrefix = "sha256:"

// AppendText appends the text of a setting whose value in the canonical configuration is the text's digest.
func AppendText(texts, name, text string) string {
	return texts + name + "=" + strconv.Quote(text) + "\n"
}

// ConfigDiff returns the differences between a stored configuration and that of this process, one sentence per setting,
// sorted by name: "EPSILON: stored 1, configured 2". It shows the text of a digest if the texts, which AppendText made,
// have it. It is nil only if the configurations are equal.
func ConfigDiff(stored, configured Manifest) []string {
	if stored.Config == configured.Config {
		return nil
	}
	a, b := settings(stored.Config), settings(configured.Config)
	var diff []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		switch now, ok := b[name]; {
		case !ok:
			diff = append(diff, fmt.Sprintf("%s: stored %s, not configured", name, shown(clear(stored, name, a[name]), "")))
		case now != a[name]:
			old, now := clear(stored, name, a[name]), clear(configured, name, now)
			diff = append(diff, fmt.Sprintf("%s: stored %s, configured %s", name, shown(old, now), shown(now, old)))
		}
	}
	for name, now := range b {
		if _, ok := a[name]; !ok {
			diff = append(diff, fmt.Sprintf("%s: not stored, configured %s", name, shown(clear(configured, name, now), "")))
		}
	}
	if diff == nil {
		return []string{"order or repetition of lines: differs, values are equal"}
	}
	slices.Sort(diff)
	return diff
}

// ConfigValue returns the value of a setting in a canonical configuration, or "" if the text does not name it.
func ConfigValue(config, name string) string { return settings(config)[name] }

func settings(config string) map[string]string {
	m := make(map[string]string)
	for line := range strings.Lines(config) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		m[name] = value
	}
	return m
}

// clear returns a value or, if it is a digest, its text with commas between the entries of a list. If the text is not
// known, clear returns the beginning of the digest.
func clear(m Manifest, name, value string) string {
	digest, isDigest := strings.CutPrefix(value, digestPrefix)
	text, err := strconv.Unquote(settings(m.Texts)[name])
	sum := sha256.Sum256([]byte(text))
	switch {
	case !isDigest:
		return value
	case err != nil || hex.EncodeToString(sum[:]) != digest:
		return fmt.Sprintf("a text whose SHA-256 begins with %.12s", digest)
	}
	return strings.ReplaceAll(text, "\n", ",")
}

// mostShown is the largest number of bytes of a value that ConfigDiff shows.
const mostShown = 80

// shown returns a value as a difference shows it. Of a long value it returns the part from where it differs from the
// other value, after some bytes before.
func shown(value, other string) string {
	if value == "" {
		return "nothing"
	}
	if len(value) <= mostShown {
		return value
	}
	from, before := 0, ""
	for from < min(len(value), len(other)) && value[from] == other[from] {
		from++
	}
	if from = max(0, from-mostShown/4); from > 0 {
		before = "…"
	}
	for from > 0 && !utf8.RuneStart(value[from]) {
		from--
	}
	value = value[from:]
	if len(value) <= mostShown {
		return before + value
	}
	to := mostShown
	for !utf8.RuneStart(value[to]) {
		to--
	}
	return before + value[:to] + "…"
}
