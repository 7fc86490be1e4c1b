package doctor_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"oriel/cmd/internal/doctor"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/logtest"
)

// plant is a planted misconfiguration: the functions that make it, and the lines that must report it.
type plant struct {
	name    string
	more    map[string]string // settings with which the deployment is opened
	before  func(patient)     // runs before `oriel topics`
	unready bool              // the test does not run `oriel topics`
	plant   func(patient)     // runs after `oriel topics`
	options doctor.Options
	want    []string // texts in the lines that are not ok, in their order
	code    int      // exit.Misuse or warned; 0: exit.Failure
}

// warned is the code of a misconfiguration with which the service still runs.
const warned = -1

// set plants values of settings.
func set(pairs ...string) func(patient) {
	return func(f patient) {
		for i := 0; i < len(pairs); i += 2 {
			if f.Env[pairs[i]] = pairs[i+1]; pairs[i+1] == "" {
				delete(f.Env, pairs[i])
			}
		}
	}
}

// alter changes a topic's setting, and waits until the broker reports the change.
func alter(kind, setting, value string) func(patient) {
	return func(f patient) {
		if err := logtest.Alter(f.Ctx(), f.Client, f.Topic(kind), map[string]string{setting: value}); err != nil {
			f.T.Fatal(err)
		}
		f.Await(20*time.Second, "the setting is known", func() bool {
			settings, err := topics.Settings(f.Ctx(), f.Client, f.Topic(kind))
			return err == nil && settings[setting] == value
		})
	}
}

// file plants a file and a setting that names it.
func file(setting, content string, mode os.FileMode) func(patient) {
	return func(f patient) {
		path := servicetest.WriteFile(f.T, "file", []byte(content))
		if err := os.Chmod(path, mode); err != nil {
			f.T.Fatal(err)
		}
		f.Env[setting] = path
	}
}

// nowhere is an address at which nothing listens.
const nowhere = "127.0.0.1:1"

var plants = []plant{
	{
		name: "a setting that does not exist", plant: set("ORIEL_EPSILN", "1"),
		want: []string{"ORIEL_EPSILN: no such setting"}, code: exit.Misuse,
	},
	{
		name: "a setting that is missing", plant: set("ORIEL_EPSILON", ""),
		want: []string{"ORIEL_EPSILON: not set"}, code: exit.Misuse,
	},
	{
		name: "two settings that are wrong", plant: set("ORIEL_EPSILN", "1", "ORIEL_CLIPP", "1"),
		want: []string{"ORIEL_CLIPP: no such setting", "ORIEL_EPSILN: no such setting"}, code: exit.Misuse,
	},
	{
		name: "a window that its tree does not have", plant: set("ORIEL_WINDOW", "63"), want: []string{"63"},
		code: exit.Misuse,
	},
	{
		name: "no key", plant: set("ORIEL_MASTER_KEY_FILE", "/nowhere/key"),
		want: []string{"key: ORIEL_MASTER_KEY_FILE"},
	},
	{
		name: "a key for all to read", plant: file("ORIEL_MASTER_KEY_FILE", strings.Repeat("07", 32), 0o644),
		want: []string{"use chmod 0400"},
	},
	{
		name: "half a key", plant: file("ORIEL_MASTER_KEY_FILE", strings.Repeat("07", 16), 0o600),
		want: []string{"key: ORIEL_MASTER_KEY_FILE"},
	},
	{
		name: "the key of another deployment", plant: file("ORIEL_MASTER_KEY_FILE", strings.Repeat("08", 32), 0o600),
		want: []string{"deployment: partition 0: "},
	},
	{
		name: "a command that prints no key", plant: set("ORIEL_MASTER_KEY_FILE", "", "ORIEL_MASTER_KEY_COMMAND", "false"),
		want: []string{"key: ORIEL_MASTER_KEY_COMMAND"},
	},
	{
		name: "a broker that is not there", plant: set("ORIEL_BROKERS", nowhere),
		want: []string{"brokers: dial tcp " + nowhere}, options: doctor.Options{Patience: time.Second},
	},
	{
		name: "one broker of two is not there", plant: func(f patient) { f.Env["ORIEL_BROKERS"] += "," + nowhere },
		want: []string{"ORIEL_BROKERS names it"},
	},
	{
		name: "TLS on a plain listener", plant: set("ORIEL_TLS", "true"), want: []string{"ORIEL_TLS"},
		options: doctor.Options{Patience: time.Second},
	},
	{
		name: "no input", unready: true, plant: set("ORIEL_INPUT_TOPIC", "events.missing"),
		want: []string{`input topic "events.missing" does not exist`},
	},
	{
		name: "topics were not made", unready: true,
		want: []string{"decision topic", "verdict topic", "changelog topic"},
	},
	{
		name: "a lost topic", plant: func(f patient) {
			if err := logtest.Delete(f.Ctx(), f.Client, f.Topic("verdicts")); err != nil {
				f.T.Fatal(err)
			}
			f.Await(20*time.Second, "the topic is gone", func() bool {
				cluster, err := topics.Describe(f.Ctx(), f.Client, f.Topic("verdicts"))
				return err == nil && len(cluster.Topics) == 0
			})
		},
		want: []string{"verdict topic"},
	},
	{
		name: "a compacted input", plant: alter("events", "cleanup.policy", "compact"),
		want: []string{"input topic", "cleanup.policy=compact"}[:1],
	},
	{
		name: "verdicts that go before their records", plant: alter("verdicts", "retention.ms", "1000"),
		want: []string{"retention.ms=1000"},
	},
	{
		name: "a changelog that is deleted", plant: alter("changelog", "cleanup.policy", "delete"),
		want: []string{"the state would be deleted"},
	},
	{
		name: "decisions without room", plant: alter("decisions", "max.message.bytes", "1000"),
		want: []string{"max.message.bytes=1000"},
	},
	{
		name: "an order that is deleted", more: map[string]string{"ORIEL_STREAM": "topic"},
		plant: alter("order", "retention.ms", "1000"), want: []string{"another order would be a second history"},
	},
	{
		name: "an order that does not count", more: map[string]string{"ORIEL_STREAM": "topic"}, plant: func(f patient) {
			f.serve(3)
			f.order(time.Now().Unix() + 100) // a slot that has not ended
		}, options: doctor.Options{Now: later(20 * time.Second)}, want: []string{"order: for 20s no record of"},
	},
	{
		name: "clocks that are apart", more: map[string]string{"ORIEL_STREAM": "topic"},
		before: alter("events", "message.timestamp.type", "LogAppendTime"), plant: func(f patient) { f.keepSending() },
		options: doctor.Options{Record: true, Now: later(5 * time.Second)},
		want:    []string{"clocks: this machine is ahead of the leader of"}, code: warned,
	},
	{
		name: "one replica", plant: set("ORIEL_ALLOW_SINGLE_REPLICA", ""),
		want: []string{
			"input topic", "input topic", "decision topic", "decision topic",
			"verdict topic", "verdict topic", "changelog topic", "changelog topic",
		},
	},
	{
		name: "settings that were frozen otherwise", plant: set("ORIEL_EPSILON", "2"),
		want: []string{"the configuration differs from the one that this deployment was opened with: ORIEL_EPSILON"},
	},
	{
		name: "another stream than was frozen", plant: set("ORIEL_STREAM", "topic"),
		want: []string{
			"decision topic", "verdict topic", "changelog topic", "order topic",
			"ORIEL_STREAM: stored partition, configured topic",
		},
	},
	{
		name: "an input that was made again", plant: func(f patient) {
			f.Env["ORIEL_INPUT_TOPIC"] = f.Topic("events2")
			f.CreateTopic(f.Topic("events2"), f.Partitions, nil)
		},
		want: []string{"this deployment belongs to the input topic"},
	},
	{
		name: "a record that is no event", plant: func(f patient) {
			f.Send(0, servicetest.Event(1), servicetest.Value(`{"features":{"`+servicetest.Canary+`":[1]},"label":"`+servicetest.Canary+`"}`))
		},
		options: doctor.Options{Record: true}, want: []string{"record: the newest record of partition 0, at offset 1, is a null event: "},
	},
	{
		name: "a record of two that is no event", plant: func(f patient) {
			f.Send(0, servicetest.Event(1))
			f.Send(1, servicetest.Value(servicetest.Canary))
		},
		options: doctor.Options{Record: true}, want: []string{"partition 1, at offset 0"}, code: warned,
	},
	{
		name: "a mapping of other records", more: map[string]string{"ORIEL_MAP": `{"label":"late","features":["total"]}`},
		plant:   func(f patient) { f.Send(1, servicetest.Value(`{"total":1,"amount":"`+servicetest.Canary+`"}`)) },
		options: doctor.Options{Record: true}, want: []string{"partition 1, at offset 0"},
	},
	{
		name: "a store in a file", plant: file("ORIEL_STATE_DIR", "", 0o600), want: []string{"disk: ORIEL_STATE_DIR"},
	},
	{
		name: "a store below a file", plant: func(f patient) {
			f.Env["ORIEL_STATE_DIR"] = filepath.Join(servicetest.WriteFile(f.T, "file", nil), "state")
		},
		want: []string{"disk: ORIEL_STATE_DIR"},
	},
	{
		name: "the store of another deployment", plant: func(f patient) { f.store("another").close() },
		want: []string{"holds the state of"},
	},
	{
		name: "a store that is in use", plant: func(f patient) { f.T.Cleanup(f.store(f.Name).close) },
		want: []string{"a process has"}, code: warned,
	},
	{
		name: "pages at a port that is taken", plant: func(f patient) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				f.T.Fatal(err)
			}
			f.T.Cleanup(func() { _ = l.Close() })
			f.Env["ORIEL_HTTP_ADDR"] = l.Addr().String()
		},
		want: []string{"pages: ORIEL_HTTP_ADDR"}, code: warned,
	},
	{
		name: "an input that keeps events for a minute", before: alter("events", "retention.ms", "60000"),
		want: []string{"for 1m0s (retention.ms=60000). Events that are deleted before they are taken end their stream for good"},
		code: warned,
	},
	{
		name: "an input that keeps some bytes", before: alter("events", "retention.bytes", "1073741824"),
		want: []string{"at most 1073741824 bytes a partition"}, code: warned,
	},
	{
		name: "decisions that are kept for an hour", plant: alter("decisions", "retention.ms", "3600000"),
		want: []string{"decisions for 1h0m0s (retention.ms=3600000). Readers that come later"}, code: warned,
	},
	{
		name: "decisions that are kept for some bytes", plant: alter("decisions", "retention.bytes", "1000000"),
		want: []string{"up to 1000000 bytes a partition"}, code: warned,
	},
	{
		name: "a stranger in the group", plant: func(f patient) { f.join("mistaken") },
		want: []string{"client \"mistaken\""}, code: warned,
	},
	{
		name: "events that were deleted before they were taken", plant: func(f patient) {
			f.serve(5)
			f.Send(1, servicetest.Events(5, 5)...)
			if err := topics.DeleteRecords(f.Ctx(), f.Client, f.Topic("events"), 1, 8); err != nil {
				f.T.Fatal(err)
			}
		},
		want: []string{"start: partition 1: events were deleted before they were taken: the input starts at 8, the state needs 5"},
	},
	{
		name: "offsets that were reset", plant: func(f patient) {
			f.serve(5)
			if err := logtest.AlterOffset(f.Ctx(), f.Client, f.Name, f.Topic("events"), 0, 2); err != nil {
				f.T.Fatal(err)
			}
		},
		want: []string{"start: partition 0: offsets were reset: the group stands at 2, the state at 5"},
	},
	{
		name: "partitions that were added", plant: func(f patient) {
			f.serve(5)
			if err := topics.AddPartitions(f.Ctx(), f.Client, f.Topic("events"), 3); err != nil {
				f.T.Fatal(err)
			}
		},
		want: []string{"start: partition 2: partitions were added to the input"},
	},
	{
		name: "a store that knows a lost state", plant: func(f patient) {
			f.serve(5)
			for _, kind := range []string{"changelog", "decision", "verdicts"} {
				f.Env["ORIEL_"+strings.ToUpper(kind)+"_TOPIC"] = f.Topic(kind + "2")
			}
			f.Env["ORIEL_GROUP"] = f.Name + ".2"
			f.Must("topics")
		},
		want: []string{"the local store holds a state of this partition", "the local store holds a state of this partition"},
	},
	{
		name: "a registry that is not there", before: fromRegistry, plant: set("ORIEL_SCHEMA_REGISTRY", "http://"+nowhere),
		want: []string{"registry: "},
	},
	{
		name: "a schema that is not frozen", before: fromRegistry, plant: func(f patient) {
			f.register(`{"name":"late","type":"boolean"},{"name":"total","type":"double"}`)
		},
		want: []string{"ids that are not frozen: 2. Their"}, code: warned,
	},
	{
		name: "a schema that is not frozen, beside one that was left out", before: fromRegistry, plant: func(f patient) {
			f.register(`{"name":"total","type":"double"}`) // no record of it has a label
			f.pull(2)
			f.register(`{"name":"late","type":"boolean"},{"name":"total","type":"double"}`)
		},
		want: []string{"ids that are not frozen: 3. Their"}, code: warned,
	},
}
