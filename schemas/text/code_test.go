package text

import (
	"reflect"
	"testing"
)

// storedCodes holds the numbers and names that are stored in statuses and dead letters. A new code must go to the end.
var storedCodes = []string{
	"ok", "empty", "too_large", "invalid_utf8", "byte_order_mark", "json_syntax", "trailing_data", "lone_surrogate",
	"too_deep", "not_object", "wrong_type", "null_value", "duplicate_name", "unknown_name", "missing_member",
	"conflicting_members", "number_overflow", "wrong_dimension", "index_range", "duplicate_index", "too_many_names",
	"label_range", "weight_range", "relative_range", "feature_overflow", "no_user", "too_soon", "number_range",
	"count_range", "unknown_choice", "filtered", "unreadable_value", "unknown_framing", "unknown_schema", "malformed",
	"unresolved", "too_many", "name_length", "unclean_name",
}

func TestStatusesAreStoredNumbers(t *testing.T) {
	if len(codes) != len(storedCodes) || len(codes) >= 1<<8-statusOfOK {
		t.Fatalf("%d codes, %d are pinned, %d fit a status", len(codes), len(storedCodes), 1<<8-statusOfOK-1)
	}
	for i, name := range storedCodes {
		code := Code(i)
		if code.String() != name {
			t.Errorf("code %d is %s, was stored as %s", i, code, name)
		}
		if v := code.Status(); v != byte(i+1) {
			t.Errorf("%s has the status %d, want %d", name, v, i+1)
		}
		if got, known := CodeOfStatus(byte(i + 1)); got != code || !known {
			t.Errorf("status %d is %s, want %s", i+1, got, name)
		}
	}
	if got, known := CodeOfStatus(0); got != OK || !known {
		t.Errorf("no record is %s", got)
	}
	for v := len(storedCodes) + 1; v < 1<<8; v++ {
		if _, known := CodeOfStatus(byte(v)); known {
			t.Errorf("status %d is known", v)
		}
	}
}

func TestCodesHaveDistinctNamesAndRules(t *testing.T) {
	seen := map[string]bool{}
	for c := OK; c <= UncleanName; c++ {
		if c.String() == "" || c.Rule() == "" || seen[c.String()] || seen[c.Rule()] {
			t.Errorf("code %d: %q, %q", c, c.String(), c.Rule())
		}
		seen[c.String()], seen[c.Rule()] = true, true
	}
	if reflect.TypeOf(codes).Len() != int(UncleanName)+1 {
		t.Error("the last code has changed: the loop above misses some")
	}
}
