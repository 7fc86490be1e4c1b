package score

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"oriel/pipeline/kafka"
	"oriel/schemas/decision"
	"oriel/schemas/text"
)

// Model is the newest decision of a stream. A Model is never modified.
type Model struct {
	Stream string
	Step   uint64
	Time   int64 // ms since 1970; below 0: unknown
	// Events is true if Time is the latest timestamp of the step's events. Otherwise Time is the timestamp of the
	// decision's record.
	Events bool

	Weights []float64 // weights of all arms
	// Deviations holds the deviation of the noise in each weight, if the decision states it. If it is nil, Noise applies
	// to each weight.
	Deviations []float64
	Noise      float64 // deviation of the noise in each weight, independent between weights; 0: unknown

	Band *Band // nil: the decision has no band

	partition int32 // partition of the decision topic; −1: unknown
}

// Models holds the newest decisions of all streams. It is safe for concurrent use.
type Models struct {
	Descriptor

	mu         sync.RWMutex
	streams    map[string]*Model
	partitions int // number of partitions of the decision topic; 0: decisions are in a file
}

// NewModels returns an empty set of models for a deployment with this descriptor.
func NewModels(d Descriptor, partitions int) *Models {
	return &Models{Descriptor: d, streams: map[string]*Model{}, partitions: partitions}
}

// Take parses a published decision of a partition; partition is −1 if it is not known. recorded is the timestamp of the
// decision's record, ms, or decision.NoTime.
func (m *Models) Take(partition int32, recorded int64, value []byte) error {
	d, err := decision.Parse(value)
	if err != nil {
		return err
	}
	weights := m.Vector.Dimension * max(1, len(m.Arms))
	if len(d.Point) != weights {
		return fmt.Errorf("decision %d of stream %s has %d numbers, and the descriptor says %d", d.Index, d.Stream,
			len(d.Point), weights)
	}
	model := &Model{Stream: d.Stream, Step: d.Step, Time: recorded, Weights: d.Point, partition: partition}
	if ms := d.Time(); ms != decision.NoTime {
		model.Time, model.Events = ms, true
	}
	if m.Descriptor.Noise != nil {
		model.Noise = m.Descriptor.Noise.At(d.Step)
	}
	if model.Band, err = BandOf(d.Extras); err != nil {
		return fmt.Errorf("decision %d of stream %s: %w", d.Index, d.Stream, err)
	}
	for _, x := range d.Extras {
		if x.Name != "deviation" {
			continue
		}
		if json.Unmarshal([]byte(x.JSON), &model.Deviations) != nil || len(model.Deviations) != weights {
			return fmt.Errorf("decision %d of stream %s: deviation: not %d numbers", d.Index, d.Stream, weights)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.streams[d.Stream] = model
	return nil
}

// Reasons why there is no model.
var (
	ErrNone    = errors.New("no decision is published yet")
	ErrStream  = errors.New("no such stream has published a decision")
	ErrSeveral = errors.New("the deployment has several streams: name one, or the record key of the event")
)

// Of returns the model of a stream. If stream is "" and there are several streams, it returns the model of the stream
// to which events with the key belong.
func (m *Models) Of(stream string, key []byte) (*Model, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	switch {
	case stream != "" && m.streams[stream] == nil:
		return nil, ErrStream
	case stream != "":
		return m.streams[stream], nil
	case key != nil && m.partitions > 1:
		return m.in(kafka.PartitionOf(key, m.partitions))
	case m.partitions > 1:
		return nil, ErrSeveral
	case len(m.streams) == 0:
		return nil, ErrNone
	case len(m.streams) > 1:
		return nil, ErrSeveral
	}
	for _, model := range m.streams {
		return model, nil
	}
	return nil, ErrNone
}

func (m *Models) in(partition int32) (found *Model, err error) {
	for _, model := range m.streams {
		switch {
		case model.partition != partition:
		case found != nil:
			return nil, ErrSeveral
		default:
			found = model
		}
	}
	if found == nil {
		return nil, ErrNone
	}
	return found, nil
}

// All returns the models, sorted by stream.
func (m *Models) All() []*Model {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.SortedFunc(maps.Values(m.streams), func(a, b *Model) int { return strings.Compare(a.Stream, b.Stream) })
}

// ReadModels reads a file of decisions, one line of JSON each. The first line may be the descriptor. If the reader
// descriptor is not nil, the descriptor is read from there first.
func ReadModels(decisions, descriptor io.Reader) (*Models, error) {
	var m *Models
	if descriptor != nil {
		text, err := io.ReadAll(descriptor)
		if err != nil {
			return nil, err
		}
		lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
		d, err := ParseDescriptor(lines[len(lines)-1])
		if err != nil {
			return nil, err
		}
		m = NewModels(d, 0)
	}
	for line, err := range text.NewLines(decisions, maxDecision).All() {
		switch {
		case err != nil:
			return nil, err
		case m == nil:
			d, err := ParseDescriptor(line.Value)
			if err != nil {
				return nil, fmt.Errorf("line 1 of the decisions: %w, and none was given beside them", err)
			}
			m = NewModels(d, 0)
			continue
		case len(line.Value) == 0:
			continue
		}
		if err := m.Take(-1, decision.NoTime, line.Value); err != nil {
			return nil, fmt.Errorf("line %d of the decisions: %w", line.Number+1, err)
		}
	}
	if m == nil {
		return nil, ErrNone
	}
	return m, nil
}

// maxDecision bounds the length of a line with a decision.
const maxDecision = 1 << 30
