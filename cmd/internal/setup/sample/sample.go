package sample

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"oriel/cmd/internal/recordschema"
	"oriel/cmd/internal/schemaregistry"
	"oriel/cmd/internal/settings/values"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
)

// personal matches names of headers that are usual for a person's id.
var personal = regexp.MustCompile("(?i)user|customer|client|account|member|person|patient|visitor|device")

// mostFile is the largest sample file, bytes.
const mostFile = 64 << 20

// Sample holds records and facts about their topic.
type Sample struct {
	Records    [][]byte
	Times      Times // rate of the topic
	Partitions int   // number of partitions of the topic; 0: the sample is a file
	Replicas   int   // smallest number of replicas of a partition of the topic
	Appended   bool  // the newest record has the broker's time (LogAppendTime)

	// IDs lists where nearly all records have what may be a person's id outside of the value, as ORIEL_USER_ID names it.
	IDs []string
}

// ReadFile reads at most n lines of a file, each a JSON record. A file that does not start with { is a single record of
// another format, for which e names a schema.
func (e Encoding) ReadFile(name string, n int) (Sample, error) {
	info, err := os.Stat(name)
	if err != nil {
		return Sample{}, err
	}
	if info.Size() > mostFile {
		return Sample{}, fmt.Errorf("%s: %d bytes, more than %d; take a part of it", name, info.Size(), mostFile)
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return Sample{}, err
	}
	isText := e.SchemaFile == "" && (e.Format == "" || e.Format == recordschema.JSON)
	if form := FormOfFile(content); isText && form != "" {
		return Sample{}, fmt.Errorf("%s: no lines of JSON: %s", name, form)
	}
	if !isJSON(content) {
		return Sample{Records: [][]byte{content}}, nil
	}
	var s Sample
	for line := range bytes.Lines(content) {
		if line = bytes.TrimSpace(line); len(line) > 0 && len(s.Records) < n {
			s.Records = append(s.Records, line)
		}
	}
	return s, nil
}

// ReadTopic reads the newest records of a topic, about n in all partitions together. It computes the rate from the
// times and the number of records, which are public.
func ReadTopic(ctx context.Context, client *kafka.Client, topic topics.Topic, n int) (Sample, error) {
	s := Sample{Partitions: topic.Partitions, Replicas: topic.Replication}
	share := int64(max(1, n/topic.Partitions))
	seen, places := 0, map[string]int{}
	for p := range int32(topic.Partitions) {
		bounds, err := topics.BoundsOf(ctx, client, topic.Name, p)
		if err != nil {
			return s, err
		}
		if err := s.Times.read(ctx, client, topic, p, bounds); err != nil {
			return s, err
		}
		from := max(bounds.Start, bounds.Stable-share)
		for r, err := range fetch.Records(ctx, client, topic, p, from, bounds.Stable, false) {
			if err != nil {
				return s, err
			}
			if r.Unreadable || len(r.Value) == 0 {
				continue
			}
			s.Records = append(s.Records, bytes.Clone(r.Value))
			s.Appended = r.Appended
			if seen++; len(r.Key) > 0 {
				places[values.ByKey]++
			}
			for name, id := range r.Headers.All() {
				if len(id) > 0 && personal.Match(name) {
					places[values.ByHeader+string(name)]++
				}
			}
		}
	}
	for place, count := range places {
		if 20*count >= 19*seen {
			s.IDs = append(s.IDs, place)
		}
	}
	slices.Sort(s.IDs) // headers come first, because their names say that they are ids
	return s, nil
}

func isJSON(record []byte) bool {
	record = bytes.TrimLeft(record, " \t\r\n")
	return len(record) > 0 && record[0] == '{'
}

// Fetch returns the encoding, completed with the registry's versions of a subject.
func (e Encoding) Fetch(ctx context.Context, c schemaregistry.Config, subject string) (Encoding, error) {
	client, err := schemaregistry.New(c)
	if err != nil {
		return e, err
	}
	versions, err := client.Versions(ctx, subject)
	if err != nil {
		return e, err
	}
	switch kind := versions[len(versions)-1].Type; kind {
	case "AVRO", "PROTOBUF":
		e.Format, e.Framing, e.Registry, e.Subject = strings.ToLower(kind), recordschema.Confluent, c.URL, subject
	default:
		e.Format = recordschema.JSON
		return e, nil
	}
	for _, v := range versions {
		if !strings.EqualFold(v.Type, e.Format) {
			return e, fmt.Errorf("schema registry: %s is %s, and the newest version %s", v, v.Type, e.Format)
		}
		if e.Schemas.Find(v.ID) == nil {
			e.Schemas = append(e.Schemas, v.Schema)
		}
	}
	return e, nil
}
