package frame

import (
	"errors"
	"testing"
)

// TestOtherFormatsAreRefused checks that a record of each kind opens, and that another format, another kind or a cut
// record is refused.
func TestOtherFormatsAreRefused(t *testing.T) {
	for kind := KindManifest; kind <= KindNames; kind++ {
		record := AppendChecksum(AppendVariable(AppendHeader(nil, kind), "text"), 0)
		if r, err := Open(record, kind); err != nil || string(r.Variable()) != "text" || !r.Done() {
			t.Errorf("%v: %v", kind, err)
		}
		for _, format := range []byte{0, 2, 255} {
			record[0] = format
			if _, err := Open(AppendChecksum(record[:len(record)-ChecksumSize], 0), kind); !errors.Is(err, ErrFormat) {
				t.Errorf("%v of format %d: %v", kind, format, err)
			}
		}
		record[0] = 1
		if _, err := Open(record, kind+1); !errors.Is(err, ErrFormat) {
			t.Errorf("%v as another kind: %v", kind, err)
		}
		record = AppendChecksum(record[:len(record)-ChecksumSize], 0)
		if _, err := Open(record[:len(record)-1], kind); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%v without its last byte: %v", kind, err)
		}
		if kind.String() == (KindNames + 1).String() {
			t.Errorf("kind %d has no name", kind)
		}
	}
}
