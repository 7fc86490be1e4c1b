package exit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"oriel/pipeline/notice"
)

// TestReport checks that each problem is on a line of its own, in whatever way the errors were joined, and without the
// name of the package that found it.
func TestReport(t *testing.T) {
	one := &notice.StopError{Partition: -1, Reason: "a is missing", Remedy: "Make it"}
	two := &notice.StopError{Partition: 3, Reason: "b is away", Remedy: "Wait"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{one, "oriel: a is missing. Make it\n"},
		{errors.Join(nil, two), "oriel: partition 3: b is away. Wait\n"},
		{errors.Join(errors.Join(one, two), nil), "oriel: 2 problems\n  a is missing. Make it\n  partition 3: b is away. Wait\n"},
		{fmt.Errorf("while at it: %w", two), "oriel: while at it: pipeline: partition 3: b is away. Wait\n"},
	} {
		var said strings.Builder
		if code := Report(&said, "oriel", c.err); code != Failure || said.String() != c.want {
			t.Errorf("code %d, said %q, want %q", code, said.String(), c.want)
		}
	}
}
