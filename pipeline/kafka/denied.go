package kafka

import (
	"errors"
	"fmt"
	"strings"

	kafkago "github.com/segmentio/kafka-go"
)

// DeniedError names the right that the client's user lacks. An ACL on the brokers grants it.
type DeniedError struct {
	Right string // name of the right in ACLs, for example DESCRIBE_CONFIGS
	On    string // kind of the resource, for example topic; the operation and the cause name the resource
	Cause error
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("the client's user has no right %s on the %s: %v", e.Right, e.On, e.Cause)
}

// Unwrap returns the broker's answer.
func (e *DeniedError) Unwrap() error { return e.Cause }

// rights lists the ACL operations that brokers require on a topic and on a group, by the first words of the client
// operation's name. All other operations need DESCRIBE. Every operation of a producer with a transactional id needs
// WRITE on that id.
var rights = []struct{ operation, topic, group string }{
	{"settings of topic ", "DESCRIBE_CONFIGS", ""},
	{"create topic ", "CREATE", ""},
	{"add partitions to topic ", "ALTER", ""},
	{"alter topic ", "ALTER_CONFIGS", ""},
	{"delete ", "DELETE", ""},
	{"fetch ", "READ", ""},
	{"produce to ", "WRITE", ""},
	{"append to ", "WRITE", ""},
	{"begin ", "WRITE", ""},
	{"commit offset ", "READ", "READ"},
	{"set offset ", "READ", "READ"},
	{"add offsets ", "", "READ"},
	{"join group ", "", "READ"},
}

// lacking returns a DeniedError if an operation failed because a right or a login is missing; it returns any other
// error unchanged.
func lacking(operation string, err error) error {
	wants := struct{ topic, group string }{"DESCRIBE", "DESCRIBE"}
	for _, r := range rights {
		if strings.HasPrefix(operation, r.operation) {
			wants.topic, wants.group = r.topic, r.group
		}
	}
	denied := func(right, on string) error { return &DeniedError{Right: right, On: on, Cause: err} }
	switch {
	case errors.Is(err, kafkago.TopicAuthorizationFailed):
		return denied(wants.topic, "topic")
	case errors.Is(err, kafkago.GroupAuthorizationFailed):
		return denied(wants.group, "group")
	case errors.Is(err, kafkago.TransactionalIDAuthorizationFailed):
		return denied("WRITE", "transactional id")
	case errors.Is(err, kafkago.SASLAuthenticationFailed), errors.Is(err, kafkago.UnsupportedSASLMechanism):
		return &RefusedError{Why: LoginRefused, Cause: err}
	}
	return err
}
