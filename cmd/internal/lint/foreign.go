package lint

import (
	"slices"
	"strings"
)

// foreign lists the folders that may use each third-party package. If several paths match a package, the longest
// counts. A package without a row is a finding, so that no dependency is added unnoticed. Tests may use any package in
// go.mod.
var foreign = []struct {
	path    string
	folders []string
	reason  string
}{
	{"github.com/segmentio/kafka-go", []string{"pipeline/kafka"}, "Kafka's wire is spoken in one place"},
	{"github.com/segmentio/kafka-go/sasl", []string{"pipeline/kafka", "cmd"}, "credentials come from settings, Kafka's wire is spoken in one place"},
	{"github.com/klauspost/compress", []string{"pipeline/kafka"}, "record batches are decompressed in one place"},
	{"github.com/pierrec/lz4/v4", []string{"pipeline/kafka"}, "record batches are decompressed in one place"},
	{
		"github.com/twmb/franz-go/pkg/kfake",
		[]string{"pipeline/embedded"},
		"the embedded broker is a test double, kept in one place",
	},
	{
		"github.com/twmb/franz-go/pkg/kmsg",
		[]string{"pipeline/kafka", "pipeline/embedded"},
		"Kafka's wire is spoken in one place",
	},
	{
		"github.com/twmb/franz-go/pkg/sr",
		[]string{"cmd/internal/schemaregistry"},
		"a registry of schemas is asked in one place",
	},
	{"github.com/twmb/franz-go/pkg/kgo", nil, "a second client of Kafka is for tests, which set up brokers with it"},
	{"github.com/twmb/franz-go/pkg/kerr", []string{"pipeline/pipetest"}, "names of error codes are for traces of tests"},
	{"github.com/cockroachdb/pebble/v2", []string{"state/local"}, "the local store is one package"},
	{"github.com/prometheus", []string{"pipeline/metrics", "pipeline/console", "cmd"}, "what is exported is decided in pipeline/metrics, served by the console, wired by cmd"},
	{"gonum.org/v1/gonum", []string{"mechanisms", "operators", "cmd/papers/internal"}, "numerics belong to the mathematical packages, and there not where bytes are decided"},
	{"gonum.org/v1/plot", []string{"cmd"}, "only commands draw"},
	{"github.com/caarlos0/env/v11", []string{"cmd"}, "only cmd reads the environment"},
	{"github.com/spf13/cobra", []string{"cmd"}, "only cmd has commands"},
	{"github.com/spf13/pflag", []string{"cmd"}, "only cmd has flags"},
	{"github.com/schollz/progressbar/v3", []string{"cmd", "deploy/bench"}, "only commands have someone who waits"},
	{"golang.org/x/term", []string{"cmd", "deploy/bench"}, "only commands have a terminal"},
	{"golang.org/x/net/netutil", []string{"cmd"}, "only cmd opens a listener"},
	{"golang.org/x/crypto", []string{"state"}, "sealing is one package"},
	{"golang.org/x/sys", []string{"cmd", "state", "mechanisms/noise"}, "the machine below is seen by few"},
	{"github.com/bytedance/sonic", []string{"schemas"}, "JSON is parsed in one place"},
	{"github.com/goccy/go-json", []string{"schemas"}, "JSON is parsed in one place"},
	{"github.com/cespare/xxhash/v2", []string{"schemas"}, "feature hashing is one function"},
	{"github.com/bufbuild/protocompile", []string{"schemas/protobuf"}, "schemas of Protobuf are read in one place, and records by no library"},
	{"google.golang.org/protobuf", []string{"schemas/protobuf"}, "schemas of Protobuf are read in one place, and records by no library"},
	{"github.com/twmb/avro", nil, "it refuses schemas for parts that no path reads; it is the slow reference model of tests"},
	{"github.com/parquet-go/parquet-go", []string{"cmd/internal/numbers"}, "only commands write tables for others"},
	{"github.com/santhosh-tekuri/jsonschema/v6", nil, "JSON Schema files are checked by tests"},
	{"github.com/compose-spec/compose-go/v2", nil, "compose files are checked by tests"},
	{"go.yaml.in/yaml/v4", nil, "YAML files are checked by tests"},
	{
		"github.com/cockroachdb/datadriven",
		[]string{"mechanisms/mechtest", "operators/optest", "pipeline/pipetest"},
		"transcripts are tests",
	},
}

// impure lists the standard packages through which a machine could depend on a clock, a scheduler, a disk, the network
// or global randomness.
var impure = []string{"time", "os", "context", "log", "sync", "math/rand", "crypto/rand", "net", "syscall", "testing"}

func refusedForeign(from, imported string) string {
	if !strings.Contains(strings.SplitN(imported, "/", 2)[0], ".") {
		machine := withinAny(from, []string{"mechanisms", "operators"}) && !isTestHelper(from) && !isGenerator(from)
		if machine && withinAny(imported, impure) {
			return "equal state and equal records must give equal bytes: what a machine needs is an argument"
		}
		return ""
	}
	longest := -1
	for i, rule := range foreign {
		if within(imported, rule.path) && (longest < 0 || len(rule.path) > len(foreign[longest].path)) {
			longest = i
		}
	}
	if longest < 0 {
		return "the dependency has no row in the table of third-party packages"
	}
	rule := foreign[longest]
	if !withinAny(from, rule.folders) && !isTestHelper(from) {
		return rule.reason
	}
	if rule.path == "gonum.org/v1/gonum" && slices.Contains(decidesBytes, from) {
		return "gonum sums in another order on some CPUs, and here bytes are decided"
	}
	return ""
}
