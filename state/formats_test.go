package state

import (
	"errors"
	"fmt"
	"testing"
)

// TestEveryFormatIsRead checks that each row of the list has golden bytes of its kind and format, which this version
// reads. The kinds are numbered from 1 without a gap, and the next number must be refused as a later version's.
func TestEveryFormatIsRead(t *testing.T) {
	files := map[Kind]string{
		KindManifest: "manifest", KindIncarnation: "incarnation", KindState: "state", KindPart: "part",
		kindIdentity: "identity", KindStatuses: "verdicts", KindSchemas: "schemas",
		KindAmendment: "amendment",
	}
	last := map[Kind]byte{}
	for _, f := range formats {
		if last[f.kind] != 0 && f.format != last[f.kind]+1 || f.brings == "" {
			t.Errorf("%v: format %d (%q) follows format %d", f.kind, f.format, f.brings, last[f.kind])
		}
		last[f.kind] = f.format
		b := unhex(t, fmt.Sprintf("%s-%d.hex", files[f.kind], f.format))
		if r, err := unframe(b, f.kind); err != nil || r.format != f.format {
			t.Errorf("%v of format %d: %v, format %d", f.kind, f.format, err, r.format)
		}
		for _, other := range []byte{0, newest(f.kind) + 1} {
			b[0] = other
			if _, err := unframe(b, f.kind); !errors.Is(err, ErrFormat) {
				t.Errorf("%v of format %d: %v", f.kind, other, err)
			}
		}
	}
	for k := range kindNames[1:] {
		if last[Kind(k+1)] == 0 {
			t.Errorf("%v has no format", Kind(k+1))
		}
	}
}
