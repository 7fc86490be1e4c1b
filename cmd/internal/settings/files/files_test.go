package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestALongFileIsNotRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, mostFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(name); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a file of %d bytes: %v", mostFile+1, err)
	}
}

// TestErrorsOfMissingFilesNameTheFolder checks that the error for a missing file has the path as given, and the folder
// to which the path is relative.
func TestErrorsOfMissingFilesNameTheFolder(t *testing.T) {
	for name, want := range map[string]bool{"no/such.edges": true, "/no/such.edges": false} {
		_, err := Read(name)
		if err == nil || !strings.Contains(err.Error(), name) ||
			strings.Contains(err.Error(), "from the folder that oriel runs in") != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
