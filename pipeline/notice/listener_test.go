package notice

import (
	"reflect"
	"testing"
)

// TestDefaultsFillEachFunctionButTwo checks that Decided and Published stay nil, because transactions then keep no
// newest decision.
func TestDefaultsFillEachFunctionButTwo(t *testing.T) {
	var l Listener
	l.EnsureDefaults()
	functions := reflect.ValueOf(l)
	for i := range functions.NumField() {
		name := functions.Type().Field(i).Name
		if got, want := functions.Field(i).IsNil(), name == "Decided" || name == "Published"; got != want {
			t.Errorf("%s is nil: %t, want %t", name, got, want)
		}
	}
}
