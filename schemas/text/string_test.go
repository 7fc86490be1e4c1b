package text

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzAppendString compares AppendString with encoding/json, byte for byte.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{
		"", "a<b>&\"\\", "\x00\x07\b\t\n\v\f\r\x1f\x7f", "\u2028\u2029\u2027", "\xff\xef\xbf\uFFFD", "é𝄞",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := string(AppendString(nil, s)) + "\n"; got != want.String() {
			t.Errorf("%s, want %s", got, want.String())
		}
	})
}

// FuzzSkipValue checks that SkipValue accepts the texts that encoding/json accepts.
func FuzzSkipValue(f *testing.F) {
	for _, s := range []string{`1`, `-`, `"a"`, `[1,[2]]`, `{"a":{}}`, `{"a":1,}`, `[`, ` 1`, `nul`, `"\ud800"`, `1e999`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		next, _, code := SkipValue(doc, 0, MaxDepth, nil)
		ok := code == OK
		if ok && !json.Valid(doc[:next]) {
			t.Errorf("%q is taken", doc[:next])
		}
		if !ok && json.Valid(doc) && !bytes.ContainsAny(doc[:1], " \t\r\n") && bytes.Count(doc, []byte("[")) <= 2 &&
			!bytes.Contains(doc, []byte("{")) && !bytes.Contains(doc, []byte(`\u`)) {
			t.Errorf("%q is refused", doc)
		}
	})
}
