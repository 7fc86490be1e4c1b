package kafka

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
)

// TestErrorsNameTheMissingRight checks that the error names the missing right, because brokers only answer that an
// operation is not authorised.
func TestErrorsNameTheMissingRight(t *testing.T) {
	for _, c := range []struct {
		operation string
		code      Code
		want      string
	}{
		{"settings of topic t", kafkago.TopicAuthorizationFailed, "DESCRIBE_CONFIGS on the topic"},
		{"describe topics", kafkago.TopicAuthorizationFailed, "DESCRIBE on the topic"},
		{"bounds of t/0", kafkago.TopicAuthorizationFailed, "DESCRIBE on the topic"},
		{"create topic t", kafkago.TopicAuthorizationFailed, "CREATE on the topic"},
		{"add partitions to topic t", kafkago.TopicAuthorizationFailed, "ALTER on the topic"},
		{"fetch t/0", kafkago.TopicAuthorizationFailed, "READ on the topic"},
		{"begin producer n/0", kafkago.TopicAuthorizationFailed, "WRITE on the topic"},
		{"commit offset producer n/0", kafkago.TopicAuthorizationFailed, "READ on the topic"},
		{"commit offset producer n/0", kafkago.GroupAuthorizationFailed, "READ on the group"},
		{"add offsets producer n/0", kafkago.GroupAuthorizationFailed, "READ on the group"},
		{"join group g", kafkago.GroupAuthorizationFailed, "READ on the group"},
		{"offset of group g for t/0", kafkago.GroupAuthorizationFailed, "DESCRIBE on the group"},
		{"take over producer n/0", kafkago.TransactionalIDAuthorizationFailed, "WRITE on the transactional id"},
	} {
		err := lacking(c.operation, fmt.Errorf("x: %w", c.code))
		if !strings.Contains(err.Error(), "no right "+c.want+":") || !errors.Is(err, c.code) || Classify(err) != Fatal {
			t.Errorf("%s, code %d: %v", c.operation, c.code, err)
		}
	}
	refused, is := errors.AsType[*RefusedError](lacking("fetch t/0", kafkago.SASLAuthenticationFailed))
	if !is || refused.Why != LoginRefused {
		t.Errorf("a wrong password: %v", refused)
	}
	if other := kafkago.InvalidTopic; !errors.Is(lacking("fetch t/0", other), other) {
		t.Error("another error is changed")
	}
}
