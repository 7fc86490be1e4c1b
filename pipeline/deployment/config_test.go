package deployment

import (
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka/records"
)

// sound returns a valid configuration.
func sound() Config {
	return Config{
		Name: "late", Group: "late", Input: "trips", Decisions: "late.decisions", Verdicts: "late.verdicts",
		Changelog: "late.changelog", DeadLetter: "late.dead-letter", Start: StartEarliest, CommitInterval: time.Second,
		TransactionBytes: 1 << 20, SessionTimeout: 6 * time.Second,
	}
}

// TestConfigReportsEveryProblem checks that all problems are reported at once, each with its field and value.
func TestConfigReportsEveryProblem(t *testing.T) {
	if err := sound().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(c *Config){
		"name: empty":             func(c *Config) { c.Name = "" },
		"group: empty":            func(c *Config) { c.Group = "" },
		"(ORIEL_INPUT_TOPIC): em": func(c *Config) { c.Input = "" },
		`same topic "trips" as in`: func(c *Config) {
			c.Decisions = "trips"
		},
		"commit interval 999µs":       func(c *Config) { c.CommitInterval = 999 * time.Microsecond },
		"commit interval 1m0.001s":    func(c *Config) { c.CommitInterval = time.Minute + time.Millisecond },
		"transaction bytes 1048575":   func(c *Config) { c.TransactionBytes = 1<<20 - 1 },
		"transaction bytes 268435457": func(c *Config) { c.TransactionBytes = 256<<20 + 1 },
		"memory -1":                   func(c *Config) { c.Memory = -1 },
		"memory 1099511627777":        func(c *Config) { c.Memory = MostMemory + 1 },
	} {
		c := sound()
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want %q alone, found %v", want, err)
		}
	}
	c := sound()
	c.Name, c.Memory, c.CommitInterval = "", -1, 0
	err := c.Validate()
	for _, want := range []string{"name: empty", "memory -1", "commit interval 0s"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not among %v", want, err)
		}
	}
}

// TestSharesOfMemoryAddUp checks that the memory for fetching and for the transactions of all partitions stays within
// the bound. Each partition has the same share: at least leastTransaction, and at most as much as it can use.
func TestSharesOfMemoryAddUp(t *testing.T) {
	const most = 4 << 20 // largest transaction, bytes
	for _, m := range []Memory{LeastMemory, 100 << 20, 1 << 30, 64 << 30} {
		for _, partitions := range []int{0, 1, 3, 200, 100_000} {
			share := m.Transactions(partitions, most)
			if share < 2*leastTransaction || share > 2*most {
				t.Errorf("%d bytes and %d partitions: a share of %d", m, partitions, share)
			}
			if all := max(1, partitions) * share; share > 2*leastTransaction && all > int(m-records.MaxBatchBytes)*2/3 {
				t.Errorf("%d bytes and %d partitions: %d for transactions", m, partitions, all)
			}
			if limit := m.Limit(partitions, 1000, 77); limit < int64(m)+int64(partitions)*partitionMemory+8077 {
				t.Errorf("%d bytes and %d partitions: the process is limited to %d", m, partitions, limit)
			}
		}
		outer, inner := m.Joining()
		if m.Fetching() == nil || outer == nil || inner == nil || outer == inner {
			t.Errorf("%d bytes: no budget for fetched batches, or one for both", m)
		}
	}
	var none Memory
	if outer, inner := none.Joining(); none.Fetching() != nil || outer != nil || inner != nil {
		t.Error("no bound, and a budget")
	}
	if share := none.Transactions(7, most); share != 2*most {
		t.Errorf("no bound, and a share of %d", share)
	}
}
