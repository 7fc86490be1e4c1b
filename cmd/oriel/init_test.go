package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"
	"google.golang.org/protobuf/encoding/protowire"

	"oriel/cmd/internal/envfile"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/setup/dialogue"
)

// lines returns the lines of a text as records.
func lines(content []byte) (records []string) {
	return strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
}

// avroVersions are two versions of one schema: the second has one more field, and total as a double.
var avroVersions = []string{
	`{"type":"record","name":"Order","fields":[{"name":"order_id","type":"string"},
	{"name":"total","type":"long"},{"name":"refunded","type":"boolean"}]}`,
	`{"type":"record","name":"Order","fields":[{"name":"order_id","type":"string"},
	{"name":"total","type":"double"},{"name":"refunded","type":"boolean"},
	{"name":"customer","type":["null",{"type":"record","name":"Customer","fields":[
	{"name":"country","type":"string"}]}],"default":null}]}`,
}

// avroOrders returns records of both versions in Confluent's framing, with ids 7 and 9.
func avroOrders(n int) (records []string) {
	text := func(s string) string { return string(binary.AppendVarint(nil, int64(len(s)))) + s }
	for i := range n {
		refunded := string([]byte{byte(i % 5 / 4)})
		if i%2 == 0 {
			total := string(binary.AppendVarint(nil, int64(i)))
			records = append(records, "\x00\x00\x00\x00\x07"+text(fmt.Sprint("o", i))+total+refunded)
			continue
		}
		total := string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(float64(i))))
		records = append(records,
			"\x00\x00\x00\x00\x09"+text(fmt.Sprint("o", i))+total+refunded+"\x02"+text([]string{"DE", "FR", "US"}[i%3]))
	}
	return records
}

const protoOrders = `syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Customer { string id = 1; string country = 2; }
message Card { string brand = 1; }
message Order {
  string order_id = 1;
  google.protobuf.Timestamp placed_at = 2;
  Customer customer = 3;
  double total = 4;
  oneof payment { Card card = 5; string voucher = 6; }
  bool refunded = 7;
}
`

// protobufOrders returns records in Confluent's framing, of the third message type of id 3.
func protobufOrders(n int) (records []string) {
	for i := range n {
		text := func(b []byte, field protowire.Number, s string) []byte {
			return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
		}
		var at []byte
		at = protowire.AppendVarint(protowire.AppendTag(at, 1, protowire.VarintType), uint64(1_780_000_000+i*3600))
		customer := text(text(nil, 1, fmt.Sprint("c", i)), 2, []string{"DE", "FR", "US"}[i%3])
		b := text(text(text(nil, 1, fmt.Sprint("o", i)), 2, string(at)), 3, string(customer))
		b = protowire.AppendFixed64(protowire.AppendTag(b, 4, protowire.Fixed64Type), math.Float64bits(float64(i)))
		if i%2 == 0 {
			b = text(b, 5, string(text(nil, 1, []string{"visa", "amex"}[i%3/2])))
		} else {
			b = text(b, 6, "x")
		}
		b = protowire.AppendVarint(protowire.AppendTag(b, 7, protowire.VarintType), uint64(i%5/4))
		records = append(records, "\x00\x00\x00\x00\x03\x02\x04"+string(b))
	}
	return records
}

// TestInitOnFourShapes starts from a topic in each of four record formats, and gets to the first decision with a few
// answers. All records must be valid events.
func TestInitOnFourShapes(t *testing.T) {
	registry := srfake.New()
	t.Cleanup(registry.Close)
	broker := servicetest.Broker(t)
	for name, c := range map[string]struct {
		records  []string
		answers  string
		document string
	}{
		"json": {lines(orders(60, "", "")), "model\n\n\ny\n2000\n\n", `"/customer/country",
    "/order/total:number"`},
		"cloudevents": {
			lines(orders(60, `{"specversion":"1.0","id":"1","source":"/shop","type":"order","data":`, `}`)),
			"model\n\n\ny\n\n1\n", `{"name": "hour", "from": "/at", "as": "hour"}`,
		},
		"experiment": {
			lines(orders(60, "", "")), "model\nexperiment\ntotal:0:100\ncountry=DE:0.5|FR:0.25|US:0.25\n20 near 30\n\n",
			`{"name": "country", "from": "/customer/country"}`,
		},
		"number":   {lines(orders(60, "", "")), "model\nnumber\n/order/total\ny\n\n\n", `"label": "/order/total"`},
		"avro":     {avroOrders(60), registry.URL() + "\nmodel\n\n\ny\n\n\n", `"/customer/country"`},
		"protobuf": {protobufOrders(60), registry.URL() + "\nmodel\nclasses\n/refunded\ny\n\n\n", `"/card/brand"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fixture{servicetest.NewAt(t, broker, 2, nil)}
			topic := f.Topic(name)
			switch name {
			case "avro":
				registry.SeedSchema(topic+"-value", 1, 7, sr.Schema{Schema: avroVersions[0]})
				registry.SeedSchema(topic+"-value", 2, 9, sr.Schema{Schema: avroVersions[1]})
			case "protobuf":
				registry.SeedSchema(topic+"-value", 1, 3, sr.Schema{Schema: protoOrders, Type: sr.TypeProtobuf})
			}
			f.CreateTopic(topic, 2, nil)
			f.Env["ORIEL_INPUT_TOPIC"] = topic
			for i, record := range c.records {
				f.Send(int32(i%2), servicetest.Value(record))
			}
			folder := filepath.Join(t.TempDir(), "new")
			cmd := root()
			var out, notes strings.Builder
			cmd.SetArgs([]string{"init", "--ask", "--brokers", broker, "--topic", topic, "--out", folder})
			cmd.SetIn(strings.NewReader(c.answers))
			cmd.SetOut(&out)
			cmd.SetErr(&notes)
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				t.Fatalf("%v\n%s", err, notes.String())
			}
			all := fmt.Sprintf("%[1]d of %[1]d records are ", len(c.records))
			for _, text := range []string{all, "the first 3 events as Oriel reads them"} {
				if !strings.Contains(notes.String(), text) || strings.Contains(notes.String(), "no event: ") {
					t.Errorf("%s\nlacks %s, or shows no events", notes.String(), text)
				}
			}
			document, err := os.ReadFile(filepath.Join(folder, dialogue.MapName))
			if err != nil || !strings.Contains(string(document), c.document) {
				t.Fatalf("%v\n%s\nlacks %s", err, document, c.document)
			}
			if answers := strings.Count(c.answers, "\n") + 2; answers > dialogue.MostQuestions {
				t.Errorf("%d answers", answers)
			}
			said := []string{
				"Each event is protected for ever", dialogue.EnvName + " plan\n", dialogue.EnvName + " topics\n", " run\n",
				"tail --from-beginning --topic " + topic,
			}
			for _, text := range said {
				if !strings.Contains(out.String(), text) {
					t.Errorf("%s\nlacks %s", out.String(), text)
				}
			}
			f.Env, f.Name = settingsOf(t, filepath.Join(folder, dialogue.EnvName)), topic+"-oriel"
			f.Env["ORIEL_HTTP_ADDR"], f.Env["ORIEL_COMMIT_INTERVAL"] = "127.0.0.1:0", "20ms"
			if said := f.Must("plan"); strings.Contains(said, "ORIEL_EMIT_EVERY=") { // because init has chosen it
				t.Errorf("plan advises another ORIEL_EMIT_EVERY: %s", said)
			}
			f.Must("topics")
			again := root()
			again.SetArgs([]string{"init", "--yes", "--brokers", broker, "--topic", topic, "--out", folder + "2"})
			again.SetErr(io.Discard)
			if err := again.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "has topics already") {
				t.Errorf("init makes a second key for the topics of the first: %v", err)
			}
			service := f.Start(nil, "run")
			every := 1
			if f.Env["ORIEL_OPERATOR"] == "ridge" {
				every = 16 // default of ORIEL_EMIT_EVERY
			}
			for _, setting := range []string{"ORIEL_EMIT_EVERY", "ORIEL_BATCH"} {
				if n, err := strconv.Atoi(f.Env[setting]); err == nil && setting == "ORIEL_EMIT_EVERY" {
					every = n
				} else if err == nil {
					every *= n
				}
			}
			f.Await(time.Minute, "decisions of all records", func() bool {
				return len(f.Read(f.Topic("decisions"), 0, false)) == len(c.records)/every
			})
			service.Terminate()
			if letters := f.Letters(0); len(letters) > 0 {
				t.Errorf("%d records are no events: %s", len(letters), servicetest.Reasons(letters))
			}
		})
	}
}

// settingsOf parses a file of settings.
func settingsOf(t *testing.T, name string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]string{}
	for _, line := range lines(content) {
		if name, value, ok := strings.Cut(line, "="); ok && line[0] != '#' {
			if given[name], err = envfile.Unquote(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	return given
}

// TestInitInAScript checks that scripts can answer by flags, and that impossible answers are refused. The written files
// may contain only names of members and confirmed ranges of the data.
func TestInitInAScript(t *testing.T) {
	t.Parallel()
	sample := servicetest.WriteFile(t, "orders", orders(60, "", ""))
	parent := t.TempDir()
	folder := filepath.Join(parent, "new")
	run := func(args ...string) (said string, err error) {
		always := []string{"init", "--brokers", "localhost:1", "--topic", "orders", "--sample", sample, "--out", folder}
		out, notes, err := says(t, append(always, args...)...)
		return out + notes, err
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if _, err := run(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
		if files, _ := os.ReadDir(parent); len(files) > 0 {
			t.Fatalf("%v has left %v", args, files)
		}
	}
	refused("--want, --every, --person, --cells, --value, --epsilon: missing, and standard input is no terminal")
	refused("--want, --want, --ranges, --memory, --epsilon: missing", "--label", "/refunded")
	refused("--ranges: missing, and standard input is no terminal, so nothing is asked; --yes cannot answer which values are public",
		"--yes", "--want", "classes")
	refused(`--ranges: "price": not a number of the mapping; its numbers are total`, "--yes", "--want", "classes", "--ranges", "price:0:1")
	refused(`--want: "magic": not one of numbers, names, model, classes`, "--want", "magic")
	refused("--label: no record has a place /refund; the places are /order_id, /at,", "--yes", "--label", "/refund")
	refused("--where, --label: no record has a place /state", "--yes", "--where", "/state=paid")
	refused("/note is no number in the sample", "--yes", "--want", "number", "--label", "/note", "--ranges", "proposed")
	refused(`--memory: "1d": a time needs --rate`, "--yes", "--want", "classes", "--ranges", "proposed", "--memory", "1d")
	refused("--epsilon: an error can be wanted of numbers alone",
		"--yes", "--want", "classes", "--ranges", "proposed", "--epsilon", "±2")
	refused("--epsilon: ε = 99 promises nothing", "--yes", "--cells", "country=DE|FR", "--epsilon", "99")
	refused("nothing to count", "--yes", "--want", "numbers", "--value", "none", "--cells", "none")
	refused(`--cells: "town": the records have`, "--yes", "--want", "numbers", "--value", "none", "--cells", "town=A|B")
	refused("ORIEL_CELLS", "--yes", "--want", "numbers", "--value", "none", "--cells", "hour=0:24:x")
	test := []string{"--yes", "--want", "experiment", "--value", "total:0:100"}
	refused("--arms, --effect: missing", test...)
	refused("--every: 7m0s: neither whole seconds that divide 24h, nor whole days", "--yes", "--every", "7m")
	refused(`--person: "customer": not key or header:NAME`, "--yes", "--person", "customer")
	refused(`--person: "header": not key or header:NAME`, "--yes", "--person", "header:4")
	refused("persons: nobody is one", "--yes", "--cells", "country=DE|FR", "--value", "persons")
	refused("ORIEL_PERSON_CELLS: 4: more than the 2 cells",
		"--yes", "--cells", "country=DE|FR", "--value", "persons", "--person", "key:4")
	refused(`--start: "earliest" is neither latest nor a time`, "--yes", "--cells", "country=DE|FR", "--start", "earliest")
	refused(`"none" is not name:low:high`, "--yes", "--want", "choice", "--value", "none")
	refused(`--value: "none" is not name:low:high`, "--yes", "--want", "experiment", "--value", "none")
	refused("sum to 0.75, want 1", append(test, "--arms", "country=DE:0.5|FR:0.25")...)
	refused(`is not column=arm:probability`, append(test, "--arms", "country=DE|FR")...)
	test = append(test, "--arms", "country=DE:0.5|FR:0.5")
	refused("the mean 100 is not inside", append(test, "--effect", "2 near 100")...)
	refused("--effect: 1e-05 takes more than", append(test, "--effect", "1e-5 near 30")...)
	refused(`--start: "now" is neither`, "--yes", "--want", "choice", "--start", "now")
	refused("--rate: -1 is below 0", "--rate=-1")

	said, err := run("--yes", "--want", "classes")
	if err == nil || !strings.Contains(said, "--ranges: Numbers need ranges that are public") ||
		!strings.Contains(said, "total:0:100") {
		t.Errorf("%s\ndoes not say which ranges --ranges may confirm", said)
	}
	said, err = run("--want", "numbers", "--value", "total:0:200", "--cells", "country=DE|FR|US", "--every", "1d",
		"--person", "header:user:4", "--epsilon", "±30", "--first", "0")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"at most ± 30 in 95", "All that a person (header:user) sends in 1d is protected together"} {
		if !strings.Contains(said, text) {
			t.Errorf("%s\nlacks %s", said, text)
		}
	}
	env := settingsOf(t, filepath.Join(folder, dialogue.EnvName))
	for name, want := range map[string]string{
		"ORIEL_OPERATOR": "aggregate", "ORIEL_CELLS": "country=DE|FR|US", "ORIEL_VALUE": "total=0:200", "ORIEL_STEP": "1d",
		"ORIEL_USER_ID": "header:user", "ORIEL_USER_EVENTS": "4", "ORIEL_USER_PERIOD": "1d",
		"ORIEL_MECHANISM": "once-laplace", "ORIEL_STREAM": "topic", "ORIEL_START": "latest",
	} {
		if env[name] != want {
			t.Errorf("%s=%s, want %s", name, env[name], want)
		}
	}
	for name, mode := range map[string]os.FileMode{dialogue.EnvName: 0o600, dialogue.KeyName: 0o400} {
		info, err := os.Stat(filepath.Join(folder, name))
		if err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		content, _ := os.ReadFile(filepath.Join(folder, name))
		if strings.Contains(string(content), "secret") || strings.Contains(said, "secret") {
			t.Errorf("%s holds contents", name)
		}
	}
	f := unserved(t, env)
	f.Must("config")
	_, err = run("--yes", "--ranges", "proposed")
	if err == nil || !strings.Contains(err.Error(), "nothing is overwritten") {
		t.Error(err)
	}
	for want, flags := range map[string][]string{
		"ORIEL_LABEL_RANGE=0:100":           {"--want", "number", "--label", "/order/total", "--ranges", "proposed"},
		"ORIEL_LOSS_RANGE=0:50":             {"--want", "choice", "--arms", "a,b,c", "--value", "/order/total:0:50"},
		"ORIEL_STATISTICS=count\n":          {"--want", "numbers", "--cells", "country=DE|FR"},
		"ORIEL_STATISTICS=count,sum,mean\n": {"--want", "numbers", "--value", "total:0:9"},
		"ORIEL_PERSON_CELLS=2\n":            {"--cells", "country=DE|FR", "--value", "persons", "--person", "key:2"},
		"ORIEL_PERSON_NAMES=3\n":            {"--want", "names", "--word", "country", "--person", "key:3"},
		"ORIEL_STATISTICS=sum,p50\n":        {"--want", "numbers", "--value", "total:0:9", "--statistics", "sum,p50"},
		"ORIEL_LOSS=logistic":               {"--want", "classes", "--label", "/order/total>50", "--ranges", "none"},
	} {
		folder = filepath.Join(t.TempDir(), "other")
		if _, err := run(append(flags, "--yes")...); err != nil {
			t.Errorf("%v: %v", flags, err)
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, dialogue.EnvName))
		if err != nil || !strings.Contains(string(content), want) {
			t.Errorf("%v: %v\n%s\nlacks %s", flags, err, content, want)
		}
	}
}
