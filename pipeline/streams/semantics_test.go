package streams

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/semantics.txt for a raised streams.Semantics, or with lines that were added")

// semanticsOf are the golden files of the computation from a record's bytes to a decision; tests in the same packages
// compare the code with them.
var semanticsOf = []string{
	"pipeline/kafka/records/testdata/decompression.txt",
	"schemas/testdata/documents.jsonl",
	"schemas/testdata/hashing.json",
	"schemas/testdata/members.jsonl",
	"schemas/testdata/names.txt",
	"operators/loss/testdata/golden.txt",
	"mechanisms/lattice/testdata/golden.sha256",
	"mechanisms/noise/testdata/chain.txt",
	"mechanisms/noise/testdata/keystream.txt",
	"mechanisms/noise/testdata/vectors.txt",
	"mechanisms/windowtree/testdata/golden.txt",
	"mechanisms/blt/testdata/golden.txt",
	"mechanisms/perstep/testdata/golden.txt",
	"operators/coco/testdata/golden.txt", // a decision determines the next contributions
	"operators/names/testdata/golden.txt",
	"cmd/internal/decisiontest/testdata/decisions.txt",
}

// fingerprint returns the digest of a file's first lines, and their number; 0 means all lines.
func fingerprint(t *testing.T, file string, lines int) (digest string, n int) {
	t.Helper()
	b, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	all := bytes.SplitAfter(b, []byte("\n"))
	if lines == 0 || lines > len(all) {
		lines = len(all)
	}
	return fmt.Sprintf("%x", sha256.Sum256(bytes.Join(all[:lines], nil))), lines
}

// TestSemanticsBelongToTheirGoldenFiles compares the golden files with testdata/semantics.txt, which lists the files of
// each version. A changed file means that records are computed differently, and that noise would be drawn a second time
// for steps that an older version has published. Lines may be added at the end of a file, because they do not change
// earlier lines.
func TestSemanticsBelongToTheirGoldenFiles(t *testing.T) {
	const path = "testdata/semantics.txt"
	stored, err := os.ReadFile(path)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	var number uint32
	digests, counts := map[string]string{}, map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(string(stored)), "\n") {
		var file, digest string
		var n int
		switch {
		case i == 0:
			_, _ = fmt.Sscanf(line, "semantics %d", &number)
		default:
			if _, err := fmt.Sscanf(line, "%s %d %s", &digest, &n, &file); err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			digests[file], counts[file] = digest, n
		}
	}
	for _, file := range semanticsOf {
		if digests[file] == "" && !*rewrite {
			t.Errorf("%s has no line for %s", path, file)
			continue
		}
		if digest, _ := fingerprint(t, file, counts[file]); number == Semantics && digests[file] != "" &&
			digest != digests[file] {
			t.Errorf("%s has changed under semantics %d: records are read otherwise than by the versions of that number. Take the change back, or raise "+
				"streams.Semantics by one and run this test with -rewrite; the change log then tells users to stop the old version well before they start the new one", file, number)
		}
	}
	if *rewrite && !t.Failed() {
		text := fmt.Sprintf("semantics %d\n", Semantics)
		for _, file := range semanticsOf {
			digest, n := fingerprint(t, file, 0)
			text += fmt.Sprintf("%s %d %s\n", digest, n-1, file)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if number != Semantics || len(digests) != len(semanticsOf) {
		t.Errorf("%s is of semantics %d and %d files, the code of %d and %d: run this test with -rewrite", path, number, len(digests), Semantics, len(semanticsOf))
	}
}
