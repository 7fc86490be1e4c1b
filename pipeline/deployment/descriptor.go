package deployment

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

// WriteDescriptor publishes the operator's descriptor, if it has one, under the deployment's name. It writes nothing if
// the newest record of this name is equal, and reports whether it wrote. It must be called AFTER WriteManifests, which
// refuses changed settings. So different bytes can only describe the same settings in another form, for example with
// members that a later version adds, and may replace the record.
func WriteDescriptor(
	ctx context.Context, client *kafka.Client, c Config, topics Topics, descriptor []byte,
) (written bool, err error) {
	if descriptor == nil {
		return false, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(descriptor, &object); err != nil {
		return false, fmt.Errorf("pipeline: descriptor: not a JSON object: %w", err)
	}
	newest, err := Descriptor(ctx, client, c, topics)
	if err != nil || bytes.Equal(newest, descriptor) {
		return false, err
	}
	producer, err := produce.New(ctx, client, "", time.Minute)
	if err == nil {
		var b records.Builder
		b.Append([]byte(c.Name), descriptor, nil, time.Now().UnixMilli())
		_, err = producer.Produce(ctx, c.Descriptor, 0, &b)
	}
	if err != nil {
		return false, fmt.Errorf("pipeline: descriptor: %w", err)
	}
	return true, nil
}

// Descriptor reads the newest descriptor that a deployment has published, or nil.
func Descriptor(ctx context.Context, client *kafka.Client, c Config, described Topics) ([]byte, error) {
	if described.Descriptor.Name == "" {
		return nil, errors.New("pipeline: descriptor: the brokers did not describe the topic of descriptors")
	}
	bounds, err := topics.BoundsOf(ctx, client, c.Descriptor, 0)
	if err != nil {
		return nil, fmt.Errorf("pipeline: bounds of %s: %w", c.Descriptor, err)
	}
	var newest []byte
	for r, err := range fetch.Records(ctx, client, described.Descriptor, 0, bounds.Start, bounds.Stable, false) {
		if err != nil {
			return nil, err
		}
		if string(r.Key) == c.Name {
			newest = bytes.Clone(r.Value)
		}
	}
	return newest, nil
}
