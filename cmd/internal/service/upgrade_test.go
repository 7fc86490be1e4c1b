//go:build !kafka

package service_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/schemas"
)

// The tests of this file start from deployments that earlier versions wrote. testdata/deployments/VERSION.tar.gz has
// the embedded broker's data directory, the state directories and the master key after the first 40 events of each
// partition. VERSION.ndjson.gz has the decisions of that version after 80 events. The files must never be regenerated.

// earlierVersions maps each commit that wrote files to the deployments in its files.
var earlierVersions = map[string][]string{
	"3492c95": {"blt", "tree", "users"}, "9cc46ce": {"blt", "tree", "users"},
	"a1ffeb8": {"protobuf"}, // this version looked up fields of another schema by name
}

// earlierDeployments lists the settings with which each of these deployments was opened.
var earlierDeployments = []struct {
	name       string
	partitions int
	settings   map[string]string
}{
	{"blt", 2, map[string]string{
		"ORIEL_MECHANISM": "blt", "ORIEL_UPDATE": "projection", "ORIEL_LOSS": "logistic", "ORIEL_SET": "l2-ball",
		"ORIEL_RADIUS": "5", "ORIEL_DIMENSION": "8", "ORIEL_STRONG_CONVEXITY": "0.001",
		"ORIEL_FEATURES_RANGE": "hour:0:24:cyclic",
	}},
	{"tree", 2, map[string]string{
		"ORIEL_MECHANISM": "tree-gaussian", "ORIEL_UPDATE": "llo", "ORIEL_LOSS": "linear", "ORIEL_SET": "simplex",
		"ORIEL_RADIUS": "1", "ORIEL_DIMENSION": "4", "ORIEL_STRONG_CONVEXITY": "1", "ORIEL_HORIZON": "100000",
		"ORIEL_BATCH": "3", "ORIEL_EMIT_EVERY": "2",
	}},
	{"users", 1, map[string]string{
		"ORIEL_MECHANISM": "tree-gamma", "ORIEL_UPDATE": "projection", "ORIEL_LOSS": "logistic", "ORIEL_SET": "box",
		"ORIEL_RADIUS": "5", "ORIEL_DIMENSION": "8", "ORIEL_STRONG_CONVEXITY": "0.001", "ORIEL_USER_ID": "key",
		"ORIEL_USER_SEPARATION": "5",
	}},
	{"protobuf", 1, map[string]string{
		"ORIEL_MECHANISM": "blt", "ORIEL_UPDATE": "projection", "ORIEL_LOSS": "logistic", "ORIEL_SET": "l2-ball",
		"ORIEL_RADIUS": "5", "ORIEL_DIMENSION": "8", "ORIEL_STRONG_CONVEXITY": "0.001",
		"ORIEL_FORMAT": "protobuf", "ORIEL_FRAMING": "confluent", "ORIEL_SCHEMA_REGISTRY": "http://127.0.0.1:1",
		"ORIEL_SCHEMA_SUBJECT": "orders", "ORIEL_MAP": `{"label":"late","features":["cents"]}`,
	}},
}

// sentAt matches the member of a decision with the time at which the step's records were sent.
var sentAt = regexp.MustCompile(`,"time":[0-9]+`)

// earlierEvent returns the i-th event of the deployment with this name. The first events were sent by the earlier
// version; later ones continue the series.
func earlierEvent(name string, i int) records.Record {
	key := fmt.Appendf(nil, "user %d", i%9)
	switch {
	case i%11 == 5:
		return records.Record{Key: key, Value: []byte("no event")}
	// alternately of two schemas, Order{late = 1, sum = 2} and the reader's Order{late = 1, cents = 2}
	case name == "protobuf":
		return records.Record{Value: []byte{0, 0, 0, 0, byte(1 + i%2), 0, 0x08, byte(i % 3 & 1), 0x10, byte(i % 100)}}
	case name == "tree":
		return records.Record{Value: fmt.Appendf(nil, `{"cost":[%d.5,-%d,0.25,%d]}`, i%3, i%2, i%5)}
	default:
		r := servicetest.Event(i)
		r.Key = key
		return r
	}
}

// TestEarlierDeploymentsGoOn checks that a service of this version takes over a deployment of an earlier one; `oriel
// topics` is the only manual step. It must make the decisions that the earlier version would have made, both from the
// state directory and from the changelog alone. In the short form each of the two versions with equal deployments does
// so from one of both.
func TestEarlierDeploymentsGoOn(t *testing.T) {
	t.Parallel()
	short := map[string]string{"3492c95": "nothing", "9cc46ce": "state"}
	for version, names := range earlierVersions {
		for _, without := range []string{"nothing", "state"} {
			if only, some := short[version]; tiertest.Runs(some && only != without, false) {
				continue
			}
			t.Run(version+"/lost="+without, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				unpack(t, "testdata/deployments/"+version+".tar.gz", dir)
				if err := os.RemoveAll(filepath.Join(dir, without)); err != nil {
					t.Fatal(err)
				}
				var got bytes.Buffer
				broker, err := embedded.Start(embedded.Options{Dir: filepath.Join(dir, "broker")})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(broker.Close)
				for _, d := range earlierDeployments {
					if !slices.Contains(names, d.name) {
						continue
					}
					earlierGoesOn(t, dir, broker.Addr(), d.name, d.partitions, d.settings, &got)
				}
				want := gunzip(t, "testdata/deployments/"+version+".ndjson.gz")
				if !bytes.Equal(sentAt.ReplaceAll(got.Bytes(), nil), sentAt.ReplaceAll(want, nil)) {
					t.Fatalf("%d bytes of decisions differ from the %d that version %s published", got.Len(), len(want), version)
				}
			})
		}
	}
}

func earlierGoesOn(t *testing.T, dir, addr, name string, partitions int, settings map[string]string, got io.Writer) {
	t.Helper()
	client, err := kafka.New(kafka.Config{Brokers: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	f := &fixture{&servicetest.Fixture{T: t, Client: client, Name: name, Partitions: partitions, Env: map[string]string{
		"ORIEL_BROKERS": addr, "ORIEL_NAME": name, "ORIEL_INPUT_TOPIC": name + ".events", "ORIEL_START": "earliest",
		"ORIEL_ALLOW_SINGLE_REPLICA": "true", "ORIEL_OPERATOR": "coco", "ORIEL_WINDOW": "16", "ORIEL_EPSILON": "1",
		"ORIEL_DELTA": "1e-6", "ORIEL_CLIP": "1", "ORIEL_STATE_DIR": filepath.Join(dir, "state", name),
		"ORIEL_MASTER_KEY_FILE": filepath.Join(dir, "master.key"), "ORIEL_HTTP_ADDR": "127.0.0.1:0",
		"ORIEL_COMMIT_INTERVAL": "20ms",
	}}}
	for k, v := range settings {
		f.Env[k] = v
	}
	f.Must("topics")
	run := f.Start(nil, "run")
	taken := make([]int64, partitions)
	for p := range partitions {
		next := make([]records.Record, 40)
		for i := range next {
			next[i] = earlierEvent(name, 100*p+40+i)
		}
		f.Send(int32(p), next...)
		taken[p] = 80
	}
	f.AwaitTaken(time.Minute, taken...)
	run.Terminate()
	f.Must("letters", "--once")
	for p := range partitions {
		earlierLetters(f, int32(p))
		for _, r := range f.Read(f.Topic("decisions"), int32(p), false) {
			fmt.Fprintf(got, "%s\n", r.Value)
		}
	}
}

// earlierLetters checks that `oriel letters` continues at the record at which the earlier service, which wrote dead
// letters itself, stopped. Each bad event must have one dead letter, in order.
func earlierLetters(f *fixture, p int32) {
	f.T.Helper()
	last, bad, reason := -1, 0, schemas.JSONSyntax.String()
	if f.Name == "protobuf" {
		reason = schemas.UnknownFraming.String()
	}
	for _, letter := range f.Read(f.Topic("dead-letter"), p, false) {
		offset, err := strconv.Atoi(servicetest.LetterHeaders(letter)["oriel-offset"])
		if err != nil || offset <= last || offset >= 80 {
			f.T.Errorf("%s partition %d: a letter of offset %d behind one of %d: %v", f.Name, p, offset, last, err)
		}
		last = offset
		if servicetest.LetterHeaders(letter)["oriel-reason"] == reason {
			bad++
		}
	}
	want := 0
	for i := range 80 {
		if _, taken := strings.CutPrefix(string(earlierEvent(f.Name, 100*int(p)+i).Value), "no event"); taken {
			want++
		}
	}
	if bad < want && f.Name != "users" || bad == 0 { // the deployment with users also refuses events that come too soon
		f.T.Errorf("%s partition %d: %d letters of malformed events, want %d", f.Name, p, bad, want)
	}
}

func gunzip(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// unpack extracts an archive of directories and files.
func unpack(t *testing.T, path, dir string) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(gunzip(t, path)))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(dir, h.Name)
		if strings.HasSuffix(h.Name, "/") {
			err = os.MkdirAll(at, 0o700)
		} else {
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(at, content, h.FileInfo().Mode())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
