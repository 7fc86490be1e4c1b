package replay_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	flightAvro = `{"type":"record","name":"Event","fields":[{"name":"features","type":{"type":"record","name":"Features",
		"fields":[{"name":"carrier","type":"string"},{"name":"origin","type":"string"},{"name":"dest","type":"string"},
		{"name":"hour","type":"int"},{"name":"month","type":"int"},{"name":"distance","type":"double"}]}},
		{"name":"label","type":"int"}]}`
	flightProto = `syntax = "proto3";
message Event { Features features = 1; sint32 label = 2; }
message Features { string carrier = 1; string origin = 2; string dest = 3; int32 hour = 4; int32 month = 5;
	double distance = 6; }`
	flightMap = `{"label":"label","features":["/features/carrier","/features/origin","/features/dest","/features/hour",
		"/features/month","/features/distance"]}`
	topicFlight = `{"id":"6f1c0f0a-0d3f-4f0e","flight":{"carrier":{"code":"UA","name":"United Air Lines"},"from":"EWR",
		"to":"IAH","tail":null,"miles":1400},"times":{"planned":"2013-01-01T05:15:00-05:00"},"late":17}`
	topicMap = `{"label":"late>15","features":["carrier=/flight/carrier/code","origin=/flight/from","dest=/flight/to",
		{"name":"hour","from":"/times/planned","as":"hour","zone":"-05:00"},
		{"name":"month","from":"/times/planned","as":"month","zone":"-05:00"},"distance=/flight/miles"]}`
)

// BenchmarkContribution measures the cost of an event before its step closes: decode six named features, gradient, clip
// and hash chain. The case mapped reads the members of the case json by a mapping; the case topic reads the members of
// a nested record with two times.
func BenchmarkContribution(b *testing.B) {
	for name, mapped := range map[string]struct{ record, document string }{
		"mapped": {named, flightMap}, "topic": {topicFlight, topicMap},
	} {
		b.Run("format="+name, func(b *testing.B) {
			take(b, mapped.record, append(flightSettings(), "ORIEL_MAP="+mapped.document)...)
		})
	}
	for format, schema := range map[string]string{"json": "", "avro": flightAvro, "protobuf": flightProto} {
		b.Run("format="+format, func(b *testing.B) {
			more := append(flightSettings(), "ORIEL_FORMAT="+format)
			if schema != "" {
				file := filepath.Join(b.TempDir(), map[string]string{"avro": "f.avsc", "protobuf": "f.proto"}[format])
				if err := os.WriteFile(file, []byte(schema), 0o600); err != nil {
					b.Fatal(err)
				}
				more = append(more, "ORIEL_SCHEMA_FILE="+file)
			}
			if format == "protobuf" {
				more = append(more, "ORIEL_SCHEMA_MESSAGE=Event")
			}
			take(b, flightRecords()[format], more...)
		})
	}
}

func flightSettings() []string {
	return []string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=32", "ORIEL_STRONG_CONVEXITY=0.001", "ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=1024",
		"ORIEL_FEATURES_RANGE=distance:0:5000,hour:0:24:cyclic,month:1:13:cyclic", "ORIEL_CLIP=1",
		"ORIEL_BATCH=2147483648",
	}
}

// flightRecords returns one event as a record of each format.
func flightRecords() map[string]string {
	texts := []string{"UA", "EWR", "IAH"}
	var avro, features []byte
	for i, text := range texts {
		avro = append(binary.AppendVarint(avro, int64(len(text))), text...)
		features = protowire.AppendString(protowire.AppendTag(features, protowire.Number(i+1), protowire.BytesType), text)
	}
	avro = binary.LittleEndian.AppendUint64(append(avro, 10, 2), math.Float64bits(1400))
	features = append(features, 4<<3, 5, 5<<3, 1)
	features = protowire.AppendFixed64(protowire.AppendTag(features, 6, protowire.Fixed64Type), math.Float64bits(1400))
	proto := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), features)
	return map[string]string{
		"json":     named,
		"avro":     string(append(avro, 2)),
		"protobuf": string(append(proto, 2<<3, 2)),
	}
}
