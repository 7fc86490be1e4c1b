package local

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// TestTheStoreCompressesNothing checks that a table of compressible values is longer than the values. With compression
// the files would depend on the build, because Pebble uses another library if a C compiler is present.
func TestTheStoreCompressesNothing(t *testing.T) {
	const values, length = 16, 1 << 16
	disk := vfs.NewMem()
	db, err := pebble.Open("store", pebbleOptions(disk))
	if err != nil {
		t.Fatal(err)
	}
	for i := range values {
		if err := db.Set([]byte{byte(i)}, bytes.Repeat([]byte{1}, length), nil); err != nil {
			t.Fatal(err)
		}
	}
	tables := func() (bytes int64) {
		names, err := disk.List("store")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if info, err := disk.Stat(disk.PathJoin("store", name)); err == nil && strings.HasSuffix(name, ".sst") {
				bytes += info.Size()
			}
		}
		return bytes
	}
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := tables(); got < values*length {
		t.Errorf("after a flush, tables of %d bytes hold values of %d", got, values*length)
	}
	if err := db.Compact(t.Context(), nil, []byte{0xff}, false); err != nil {
		t.Fatal(err)
	}
	if got := tables(); got < values*length {
		t.Errorf("after a compaction, tables of %d bytes hold values of %d", got, values*length)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
