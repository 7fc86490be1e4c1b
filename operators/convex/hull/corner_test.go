package hull

import (
	"slices"
	"testing"
)

// FuzzParseCorner checks that parsing a canonical form changes nothing and keeps the numbers.
func FuzzParseCorner(f *testing.F) {
	for _, text := range []string{"1 2", "-0 1e-3", " 0x1p-2\t7 ", "Inf", "1_000", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		canonical, ok := ParseCorner(text)
		if !ok {
			return
		}
		again, ok := ParseCorner(canonical)
		a, _ := corner(text)
		b, _ := corner(canonical)
		if !ok || again != canonical || !slices.Equal(a, b) {
			t.Fatalf("%q is %q, then %q", text, canonical, again)
		}
	})
}
