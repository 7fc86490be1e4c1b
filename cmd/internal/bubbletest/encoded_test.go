package bubbletest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest/simtest"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// TestTablesOfEncodedRecords checks the tables of encodings: each record must have the size and the decoding result on
// which other tests rely.
func TestTablesOfEncodedRecords(t *testing.T) {
	for _, e := range encodings(t) {
		model := decisiontest.Model(t, e.settings)
		if model.Writers != nil {
			model.Events.Foreign = model.Writers(e.frozen)
		}
		decoder, err := event.OpenDecoder(model.Events)
		if err != nil {
			t.Fatal(err)
		}
		check := func(want text.Code, record []byte) {
			t.Helper()
			var event event.Event
			if got := decoder.Decode(&event, record); got != want || len(record) != encodedBytes {
				t.Errorf("%s: %v of %d bytes, want %v: %q", e.name, got, len(record), want, record)
			}
		}
		for i, r := range e.records {
			want := text.OK
			if i%5 == 4 {
				want = text.Filtered
			}
			check(want, r.Value)
		}
		for want, record := range e.broken {
			check(want, record)
		}
	}
}

// exchanged returns the deployment's records. The records for which at returns true have other contents or break a
// rule.
func (e encoded) exchanged(at func(i int) bool) []records.Record {
	list := slices.Clone(e.records)
	codes := slices.Sorted(maps.Keys(e.broken))
	for i := range list {
		switch {
		case !at(i):
		case i%3 == 0:
			list[i] = e.records[(i+2)%len(list)]
		default:
			list[i].Value = e.broken[codes[i%len(codes)]]
		}
	}
	return list
}

// TestNeighboursOfEncodedRecordsLookAlike checks that exchanged records change nothing visible but the released
// numbers. In each of three runs another request fails, and the process crashes. The third run has a whole topic as one
// stream. In the short form each deployment has one of the runs.
func TestNeighboursOfEncodedRecordsLookAlike(t *testing.T) {
	t.Parallel()
	model := silenced()
	faults := []simtest.Fault{
		{Kind: simtest.Kind{API: "EndTxn", Partition: simtest.AnyPartition}, Skip: 2, Effect: simtest.Lost},
		{Kind: simtest.Kind{API: "Produce", Topic: "late.decisions"}, Skip: 1, Effect: simtest.Cut},
		{Kind: simtest.Kind{API: "Fetch", Topic: "late.events"}, Skip: 3, Effect: simtest.Lost},
	}
	exchanges := []func(i int) bool{
		func(i int) bool { return i%2 == 0 }, func(int) bool { return true }, func(i int) bool { return i == 17 },
	}
	for row, e := range encodings(t) {
		for n, fault := range faults {
			if tiertest.Runs(n != row, false) {
				continue
			}
			in := neighbour{partitions: 1, burst: courseEvents / bursts, env: e.env, kill: notice.PointProduced, at: 3}
			if n == 2 {
				in.partitions, in.env = 2, maps.Clone(e.env)
				in.env["ORIEL_STREAM"] = "topic"
			}
			look := func(list []records.Record) sight {
				in.record = func(n, i int) records.Record { return list[n*in.burst+i] }
				seen, _ := observe(t, model, in, fault)
				return seen
			}
			want := look(e.records)
			if !slices.Contains(want, "exit code: killed") {
				t.Errorf("%s: not killed", e.name)
			}
			for k, at := range exchanges {
				if tiertest.Runs(k > 0, false) {
					continue
				}
				if text := simtest.Difference(want, look(e.exchanged(at))); text != "" {
					t.Errorf("%s, %+v: %s", e.name, fault, text)
				}
			}
		}
	}
}

// TestNeighboursOfAPullLookAlike checks the same while schemas of a registry are added to a running service. Records
// name the added schema, before and after it is added, or the known schema, or are malformed.
func TestNeighboursOfAPullLookAlike(t *testing.T) {
	t.Parallel()
	model, e := silenced(), encodings(t)[1]
	look := func(stream string, partitions int, at func(i int) []byte) sight {
		registry, url := newRegistry(t)
		in := neighbour{partitions: partitions, burst: courseEvents / bursts, env: maps.Clone(e.env)}
		maps.Copy(in.env, map[string]string{"ORIEL_SCHEMA_REGISTRY": url, "ORIEL_STREAM": stream})
		in.record = func(n, i int) records.Record { return records.Record{Value: at(n*in.burst + i)} }
		in.beside = func(d bubble) *servicetest.Command {
			registry.SeedSchema("flights", 2, 7, sr.Schema{Schema: avroNewer})
			return d.Start(beside, simtest.NewDisk(), func(ctx context.Context, h service.Host) error {
				return service.PullSchemas(ctx, h, nil)
			})
		}
		seen, _ := observe(t, model, in)
		return seen
	}
	inputs := []func(i int) []byte{
		func(i int) []byte { return flight{"UA", float64(i), "flown"}.inNewer() },
		func(int) []byte { return e.broken[text.UnknownFraming] },
		func(i int) []byte {
			if i%4 == 3 {
				return flight{"UA", float64(i), "void"}.inNewer()
			}
			return e.records[(i+1)%len(e.records)].Value
		},
	}
	for partitions, stream := range map[int]string{1: "partition", 2: "topic"} {
		want := look(stream, partitions, func(i int) []byte { return e.records[i].Value })
		for k, input := range inputs {
			if tiertest.Runs((k+partitions)%3 > 0, false) {
				continue
			}
			if text := simtest.Difference(want, look(stream, partitions, input)); text != "" {
				t.Errorf("%s, %d: %s", stream, k, text)
			}
		}
		if !slices.ContainsFunc(want, func(line string) bool { return strings.Contains(line, "added ids 7, known from") }) {
			t.Errorf("%s: no schema was added", stream)
		}
	}
}

// TestAnotherEncodedRecordRenewsTheNoise checks that a changed record changes the noise from its step on, and nothing
// before its step. All malformed records must have the same effect, whichever rule they break.
func TestAnotherEncodedRecordRenewsTheNoise(t *testing.T) {
	t.Parallel()
	const at = 21
	for _, e := range encodings(t) {
		want := e.replayed(t, e.records)
		list := slices.Clone(e.records)
		null := ""
		for code, record := range e.broken {
			list[at].Value = record
			got := e.replayed(t, list)
			e.renewed(t, at, want, got)
			if all := strings.Join(got, "\n"); null == "" {
				null = all
			} else if all != null {
				t.Errorf("%s: decisions tell what is wrong with a record: %v", e.name, code)
			}
		}
		list[at] = e.records[at+1]
		e.renewed(t, at, want, e.replayed(t, list))
	}
}

// renewed compares the decisions of two histories that differ in one record. Before the record they must be equal. From
// the record on, no two released numbers may have a constant difference, because the same noise would give such a
// difference.
func (e encoded) renewed(t *testing.T, at int, ours, theirs []string) {
	t.Helper()
	if len(ours) != len(theirs) || !slices.Equal(ours[:at], theirs[:at]) {
		t.Fatalf("%s: decisions before a record differ with it", e.name)
	}
	var last []float64
	for i := at; i < len(ours); i++ {
		our, err := decision.Parse([]byte(ours[i]))
		if err != nil {
			t.Fatal(err)
		}
		their, err := decision.Parse([]byte(theirs[i]))
		if err != nil {
			t.Fatal(err)
		}
		apart := make([]float64, len(our.Point))
		for k := range apart {
			if apart[k] = their.Point[k] - our.Point[k]; last != nil && apart[k] == last[k] || apart[k] == 0 {
				t.Errorf("%s: step %d, number %d: the noise is the same", e.name, our.Step, k)
			}
		}
		last = apart
	}
}
