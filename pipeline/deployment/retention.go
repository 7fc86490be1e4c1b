package deployment

import (
	"context"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
)

// shortOutage is the retention of an input below which RetentionOf warns. Events that are deleted before they are taken
// end their stream for good, so the input must outlast the longest outage. A day bridges a night without anybody at
// work. A limit in bytes is no time at all, so RetentionOf warns of every such limit.
const shortOutage = 24 * time.Hour

// Retention says for how long the topics of a deployment keep their records.
type Retention struct {
	Input  string   // for how long the input keeps events, and with it the longest outage
	Advice []string // what is lost where records are deleted soon
}

// RetentionOf describes the retention of the input and of the topics of decisions. CheckTopics refuses a retention
// under which a guarantee fails; RetentionOf is for retention under which only a stream or its readers fail.
func RetentionOf(ctx context.Context, client *kafka.Client, c Config) (Retention, error) {
	var r Retention
	for _, role := range c.usedBy(ByService) {
		if role.settings != nil && role.name != "decision" && role.name != "second decision" {
			continue
		}
		name := role.topic(&c)
		settings, err := topics.Settings(ctx, client, name)
		if err != nil {
			return r, fmt.Errorf("pipeline: settings of %s: %w", name, err)
		}
		own := describedTopic{role: role, topic: topics.Topic{Name: name}, settings: settings}
		kept, ends := own.retention()
		if role.settings == nil {
			r.Input = kept
		}
		ms, sized := own.number("retention.ms", -1), own.number("retention.bytes", -1) >= 0
		switch {
		case role.settings == nil && (sized || ms >= 0 && ms < shortOutage.Milliseconds()):
			r.Advice = append(r.Advice, fmt.Sprintf("input topic %q keeps events %s. Events that are deleted before they are taken end their "+
				"stream for good: `oriel run` refuses, and only a new deployment goes on. Keep events longer than the longest outage, "+
				"a week for example: kafka-configs.sh --alter --entity-type topics --entity-name %s --add-config "+
				"retention.ms=604800000,retention.bytes=-1",
				name, kept, name))
		case role.settings != nil && ends && !own.compacted():
			r.Advice = append(r.Advice, fmt.Sprintf("%s topic %q keeps decisions %s. Readers that come later or were away for longer miss "+
				"decisions, and a stream without events for longer has none: programs that score find no model. Keep all: "+
				"kafka-configs.sh --alter --entity-type topics --entity-name %s --add-config retention.ms=-1,retention.bytes=-1",
				role.name, name, kept, name))
		}
	}
	return r, nil
}

// retention says for how long a topic keeps records, and whether it deletes any.
func (f describedTopic) retention() (kept string, ends bool) {
	ms, size := f.number("retention.ms", -1), f.number("retention.bytes", -1)
	switch {
	case ms >= 0 && size >= 0:
		return fmt.Sprintf("for %s, and at most %d bytes a partition (retention.ms=%d, retention.bytes=%d)", span(ms), size, ms, size), true
	case ms >= 0:
		return fmt.Sprintf("for %s (retention.ms=%d)", span(ms), ms), true
	case size >= 0:
		return fmt.Sprintf("up to %d bytes a partition (retention.bytes=%d)", size, size), true
	}
	return "for ever", false
}

// span returns a number of milliseconds in words: days if there are some, otherwise hours, minutes and seconds.
func span(ms int64) string {
	d := time.Duration(min(ms, int64(1<<63-1)/int64(time.Millisecond))) * time.Millisecond
	if day := 24 * time.Hour; d >= 2*day {
		return fmt.Sprintf("%d days", d/day)
	}
	return d.String()
}
