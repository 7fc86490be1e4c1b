package notice

import (
	"reflect"
	"testing"
)

// TestDefaultsFillEachFunctionButDecided checks that Decided stays nil, because walks then keep no
// newest decision.
func TestDefaultsFillEachFunctionButDecided(t *testing.T) {
	var l Listener
	l.EnsureDefaults()
	functions := reflect.ValueOf(l)
	for i := range functions.NumField() {
		name := functions.Type().Field(i).Name
		if got, want := functions.Field(i).IsNil(), name == "Decided"; got != want {
			t.Errorf("%s is nil: %t, want %t", name, got, want)
		}
	}
}
