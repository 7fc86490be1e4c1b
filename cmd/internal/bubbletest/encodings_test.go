package bubbletest

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"
	"github.com/twmb/franz-go/pkg/sr/srfake"
	"google.golang.org/protobuf/encoding/protowire"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/text"
	"oriel/state"
)

// encoded is a subject whose records are not in its operator's own JSON form.
type encoded struct {
	subject
	broken map[text.Code][]byte // by rule: a record of encodedBytes that breaks it
}

// encodedBytes is the size of every record, bytes.
const encodedBytes = 160

// flight is the content of a record.
type flight struct {
	carrier string
	delay   float64
	status  string
}

var usual = flight{"UA", 3, "flown"}

const (
	avroFlight = `{"type":"record","name":"Flight","fields":[` + avroFields
	avroNewer  = `{"type":"record","name":"Flight","fields":[{"name":"gate","type":"boolean"},` + avroFields
	avroFields = `{"name":"carrier","type":"string"},{"name":"delay","type":["null","double"]},
		{"name":"status","type":{"type":"enum","name":"Status","symbols":["flown","void"]}},{"name":"note","type":"bytes"}]}`

	protobufFlight = `syntax = "proto3";
		message Flight { string carrier = 1; optional double delay = 2; string status = 3; bytes note = 4; }`
)

// inJSON returns the flight as JSON with nested members; the mapping does not use one of them.
func (f flight) inJSON() []byte {
	return padded(fmt.Sprintf(`{"flight":{"carrier":%q,"delay":%g},"status":%q,"note":"%x"}`,
		f.carrier, f.delay, f.status, f.carrier), encodedBytes)
}

// inAvro returns the flight in Avro, in Confluent's framing with schema id 1.
func (f flight) inAvro() []byte { return f.behind(0, 0, 0, 0, 1) }

// inNewer returns the flight as a record of avroNewer, schema id 7.
func (f flight) inNewer() []byte { return f.behind(0, 0, 0, 0, 7, 1) }

// behind returns the bytes b followed by the flight's fields in Avro.
func (f flight) behind(b ...byte) []byte {
	b = append(append(append(b, byte(2*len(f.carrier))), f.carrier...), 2)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(f.delay))
	b = append(b, map[string]byte{"flown": 0, "void": 2}[f.status])
	note := encodedBytes - len(b) - 2
	return append(binary.AppendVarint(b, int64(note)), make([]byte, note)...)
}

func (f flight) inProtobuf() []byte {
	b := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), f.carrier)
	b = protowire.AppendFixed64(protowire.AppendTag(b, 2, protowire.Fixed64Type), math.Float64bits(f.delay))
	return protowire.AppendString(protowire.AppendTag(b, 3, protowire.BytesType), f.status)
}

// inCloudEvent returns the event as a CloudEvent in structured mode.
func inCloudEvent(event []byte) []byte {
	return padded(`{"specversion":"1.0","id":"7","source":"/s","type":"flight","data_base64":"`+
		base64.StdEncoding.EncodeToString(event)+`"}`, encodedBytes)
}

// changed returns the record with the byte at `at` replaced.
func changed(record []byte, at int, to byte) []byte {
	record = slices.Clone(record)
	record[at] = to
	return record
}

// encodings returns subjects that together have each format and framing of records, and each encoding of decisions.
func encodings(t *testing.T) []encoded {
	t.Helper()
	const mapped = `MAP={"where":"status!=void","members":[`
	nested := func(delay, end string) []byte {
		return padded(`{"flight":{"carrier":"UA","delay":`+delay+`},"status":"flown"`+end, encodedBytes)
	}
	plain := encoded{
		encodedSubject(t, "mapped JSON", flight.inJSON, mapped+`"carrier=/flight/carrier","delay=/flight/delay"]}`),
		map[text.Code][]byte{
			text.Filtered:        flight{"UA", 3, "void"}.inJSON(),
			text.JSONSyntax:      nested("3", ",]"),
			text.MissingMember:   nested("null", "}"),
			text.UnreadableValue: nested(`"late"`, "}"),
			text.WrongType:       nested("[3]", "}"),
			text.NumberOverflow:  nested("1e999", "}"),
			text.DuplicateName:   nested("3", `,"status":"void"}`),
			text.TrailingData:    nested("3", "}{}"),
		},
	}
	_, url := newRegistry(t)
	registry := encoded{
		encodedSubject(t, "Avro of a registry", flight.inAvro, "FORMAT=avro", "FRAMING=confluent", "DECISIONS_FORMAT=avro",
			"SCHEMA_REGISTRY="+url, "SCHEMA_SUBJECT=flights", mapped+`"carrier=carrier","delay=delay"]}`),
		map[text.Code][]byte{
			text.Filtered:       flight{"UA", 3, "void"}.inAvro(),
			text.NumberOverflow: flight{"UA", math.Inf(1), "flown"}.inAvro(),
			text.UnknownFraming: changed(usual.inAvro(), 0, 1),
			text.UnknownSchema:  changed(usual.inAvro(), 4, 2),
			text.InvalidUTF8:    changed(usual.inAvro(), 6, 0xff),
			text.Malformed:      changed(usual.inAvro(), 8, 4), // a branch that the union does not have
			text.Unresolved:     changed(changed(usual.inAvro(), 4, 3), 17, 4),
		},
	}
	lost := strings.Replace(avroFlight, `"void"]`, `"void","lost"]`, 1) // a symbol that the reader's schema lacks
	registry.frozen = state.Schemas{{ID: 1, Text: avroFlight}, {ID: 3, Text: lost, Since: []state.SchemaSince{}}}
	event := usual.inProtobuf()
	cloud := encoded{
		encodedSubject(t, "Protobuf in CloudEvents", func(f flight) []byte { return inCloudEvent(f.inProtobuf()) },
			"FORMAT=protobuf", "FRAMING=cloudevents", "DECISIONS_FORMAT=protobuf", mapped+`"carrier=carrier","delay=delay"]}`,
			"SCHEMA_FILE="+servicetest.WriteFile(t, "flight.proto", []byte(protobufFlight))),
		map[text.Code][]byte{
			text.Filtered:       inCloudEvent(flight{"UA", 3, "void"}.inProtobuf()),
			text.NumberOverflow: inCloudEvent(flight{"UA", math.NaN(), "flown"}.inProtobuf()),
			text.MissingMember:  inCloudEvent(event[:4]),
			text.Malformed:      inCloudEvent(event[:9]),
			text.InvalidUTF8:    inCloudEvent(changed(event, 2, 0xff)),
			text.UnknownFraming: changed(inCloudEvent(event), len(`{"specversion":"`), '2'),
		},
	}
	return []encoded{plain, registry, cloud}
}

// encodedSubject returns a deployment that counts flights by carrier and sums their delays.
func encodedSubject(t *testing.T, name string, encode func(flight) []byte, env ...string) subject {
	t.Helper()
	lines := decisiontest.Env("blt", append(env, "OPERATOR=aggregate", "CELLS=carrier=UA|AA|DL",
		"VALUE=delay=-60:180", "STATISTICS=count,sum", "WINDOW=64"))
	s := subjectWith(t, name, lines)
	for i := range courseEvents {
		f := flight{[]string{"UA", "AA", "DL", "B6"}[i%4], float64(i*7%60 - 20), []string{"flown", "void"}[i%5/4]}
		s.records = append(s.records, records.Record{Value: encode(f)})
	}
	return s
}

// newRegistry returns a registry with avroFlight, and its URL. The registry closes each connection, because the clock
// of a bubble stops while one of its goroutines waits for a network outside the bubble.
func newRegistry(t *testing.T) (registry *srfake.Registry, url string) {
	t.Helper()
	fake := srfake.NewRegistry()
	server := httptest.NewUnstartedServer(fake.Handler())
	server.Config.SetKeepAlivesEnabled(false)
	server.Start()
	t.Cleanup(server.Close)
	fake.SeedSchema("flights", 1, 1, sr.Schema{Schema: avroFlight})
	return fake, server.URL
}
