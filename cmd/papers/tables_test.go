//go:build papers

package papers

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the tables in results and their plots anew")

// TestTables plays every experiment in full, which takes minutes each, prints its table, and checks the claims on it.
func TestTables(t *testing.T) {
	for _, e := range All {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			r := reportOf(t, e, e.Steps, e.Seeds)
			table := r.markdown()
			t.Log("\n" + table)
			claims[e.Name](t, figuresOf(t, e, table))
			if !*rewrite {
				return
			}
			if err := os.WriteFile(filepath.Join("results", e.Name+".md"), []byte(table), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := r.slide().save(filepath.Join("results", e.Name+".svg")); err != nil {
				t.Fatal(err)
			}
		})
	}
}
