package choice

import "testing"

// FuzzParseBlock checks that parsing a canonical form changes nothing and keeps the numbers.
func FuzzParseBlock(f *testing.F) {
	for _, text := range []string{"2:1", " 07 : +3", "3:3", "-2:-3", "2:1:1", "", ":"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		canonical, ok := ParseBlock(text)
		if !ok {
			return
		}
		again, ok := ParseBlock(canonical)
		size, pick, _ := block(text)
		sameSize, samePick, _ := block(canonical)
		if !ok || again != canonical || size != sameSize || pick != samePick {
			t.Fatalf("%q is %q, then %q", text, canonical, again)
		}
	})
}
