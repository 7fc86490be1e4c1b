package state

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"oriel/state/frame"
	"oriel/state/keys"
)

// TestInitialKeyDependsOnEveryField changes every field. If fields were concatenated ambiguously or left out, two
// streams could have the same noise.
func TestInitialKeyDependsOnEveryField(t *testing.T) {
	secret := [32]byte(fill(32, 5))
	seen := map[[32]byte]string{testIncarnation().InitialKey(secret): "base"}
	for name, change := range map[string]func(*Incarnation){
		"id":        func(i *Incarnation) { i.ID[0]++ },
		"stream":    func(i *Incarnation) { i.Stream += "x" },
		"cluster":   func(i *Incarnation) { i.Cluster += "x" },
		"topic":     func(i *Incarnation) { i.Topic[15]++ },
		"partition": func(i *Incarnation) { i.Partition++ },
		"config":    func(i *Incarnation) { i.Config += "x" },
		"plan":      func(i *Incarnation) { i.Params = append(bytes.Clone(i.Params), 0) },
		"config into plan": func(i *Incarnation) {
			i.Params, i.Config = append([]byte("\n"), i.Params...), i.Config[:len(i.Config)-1]
		},
	} {
		i := testIncarnation()
		change(&i)
		k := i.InitialKey(secret)
		if before, ok := seen[k]; ok {
			t.Errorf("%s: same key as %s", name, before)
		}
		seen[k] = name
	}
	i := testIncarnation()
	i.SealKey, i.KeyVersion, i.Start = keys.Secret{}, 0, 0
	if i.InitialKey(secret) != testIncarnation().InitialKey(secret) {
		t.Error("the initial key depends on the seal key, its version or the start")
	}
	if testIncarnation().InitialKey([32]byte{}) == i.InitialKey(secret) {
		t.Error("the initial key does not depend on the secret")
	}
}

func TestNameKeySeparatesKindsAndStreams(t *testing.T) {
	k, other := testManifest().NameKey, keys.NameKey(fill(32, 51))
	keys := [][]byte{
		k.Key(frame.KindState, "0"), k.Key(frame.KindIncarnation, "0"), k.Key(frame.KindState, "00"),
		k.Key(frame.KindState, ""),
		other.Key(frame.KindState, "0"),
	}
	for i, a := range keys {
		if len(a) != 32 {
			t.Errorf("key %d has %d bytes", i, len(a))
		}
		if slices.ContainsFunc(keys[:i], func(b []byte) bool { return bytes.Equal(a, b) }) {
			t.Errorf("key %d is not its own", i)
		}
	}
}

func TestIncarnationWithoutSealKeyHasNoSealer(t *testing.T) {
	i := testIncarnation()
	i.SealKey = keys.Secret{}
	if _, err := i.Sealer(); !errors.Is(err, keys.ErrWrongKey) {
		t.Errorf("error %v", err)
	}
}

func TestConfigDiff(t *testing.T) {
	for _, c := range []struct {
		name, stored, configured string
		want                     []string
	}{
		{"equal", "A=1\n", "A=1\n", nil},
		{
			"values", "B=2\nEPSILON=1\nSET=\n", "B=2\nEPSILON=2\nSET=box\n",
			[]string{"EPSILON: stored 1, configured 2", "SET: stored nothing, configured box"},
		},
		{"lines", "A=1\nC=3\n", "B=2\nC=3\n", []string{"A: stored 1, not configured", "B: not stored, configured 2"}},
		{"equals sign in a value", "A=x=1\n", "A=x=2\n", []string{"A: stored x=1, configured x=2"}},
		{"order", "A=1\nB=2\n", "B=2\nA=1\n", []string{"order or repetition of lines: differs, values are equal"}},
		{"empty", "", "A=1\n", []string{"A: not stored, configured 1"}},
	} {
		if got := ConfigDiff(Manifest{Config: c.stored}, Manifest{Config: c.configured}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestConfigDiffShowsTexts checks that a difference shows the texts of lists in place of their digests, the part that
// differs of long ones, and the digest if a text is not stored or not the digest's. Users saw two digests.
func TestConfigDiffShowsTexts(t *testing.T) {
	of := func(text string, texts ...string) Manifest {
		m := Manifest{Config: fmt.Sprintf("ARMS=sha256:%x\n", sha256.Sum256([]byte(text)))}
		for _, shown := range texts {
			m.Texts = AppendText(m.Texts, "ARMS", shown)
		}
		return m
	}
	const digest = "a text whose SHA-256 begins with ba7816bf8f01" // of abc
	a, b := strings.Repeat("ä", 100), strings.Repeat("ö", 100)
	for _, c := range []struct {
		stored, configured Manifest
		want               string
	}{
		{of("up\ndown", "up\ndown"), of("up\ndöwn\n\"", "up\ndöwn\n\""), `ARMS: stored up,down, configured up,döwn,"`},
		{of("abc"), of("abd", "abd"), "ARMS: stored " + digest + ", configured abd"},
		{of("abc", "another text"), of("abd", "abd"), "ARMS: stored " + digest + ", configured abd"},
		{of(a+"x"+a, a+"x"+a), of(a+"y", a+"y"), "ARMS: stored …" + a[:20] + "x" + a[:58] + "…, configured …" + a[:20] + "y"},
		{of(b+a, b+a), of("x", "x"), "ARMS: stored " + b[:80] + "…, configured x"},
	} {
		if got := ConfigDiff(c.stored, c.configured); len(got) != 1 || got[0] != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
