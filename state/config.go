package state

import (
	"fmt"
	"slices"
	"strings"
)

// ConfigDiff returns the differences between a stored canonical configuration and that of this process, one sentence
// per setting, sorted by name: "EPSILON: stored 1, configured 2". It is nil only if the texts are equal.
func ConfigDiff(stored, configured string) []string {
	if stored == configured {
		return nil
	}
	a, b := settings(stored), settings(configured)
	var diff []string
	for name, old := range a {
		switch now, ok := b[name]; {
		case !ok:
			diff = append(diff, fmt.Sprintf("%s: stored %s, not configured", name, shown(old)))
		case now != old:
			diff = append(diff, fmt.Sprintf("%s: stored %s, configured %s", name, shown(old), shown(now)))
		}
	}
	for name, now := range b {
		if _, ok := a[name]; !ok {
			diff = append(diff, fmt.Sprintf("%s: not stored, configured %s", name, shown(now)))
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

func shown(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}
