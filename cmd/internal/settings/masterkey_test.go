package settings

import (
	"strings"
	"testing"
)

// TestTheMasterKeyHasOnePlace checks that a deployment must name exactly one of a key file and a key command.
func TestTheMasterKeyHasOnePlace(t *testing.T) {
	named := func(lines ...string) string {
		all := append([]string{"ORIEL_BROKERS=b:1", "ORIEL_NAME=a", "ORIEL_INPUT_TOPIC=t"}, lines...)
		_, err := Load(all, Kafka, Deployment)
		if err == nil {
			return ""
		}
		return err.Error()
	}
	for _, lines := range [][]string{{"ORIEL_MASTER_KEY_FILE=f"}, {"ORIEL_MASTER_KEY_COMMAND=age -d f"}} {
		if text := named(lines...); text != "" {
			t.Errorf("%s: %s", lines, text)
		}
	}
	text := named("ORIEL_MASTER_KEY_FILE=f", "ORIEL_MASTER_KEY_COMMAND=c")
	if !strings.Contains(text, "ORIEL_MASTER_KEY_COMMAND: set, and so is") {
		t.Error(text)
	}
	for _, none := range [][]string{nil, {"ORIEL_MASTER_KEY_COMMAND=  "}} {
		if text := named(none...); !strings.Contains(text, "ORIEL_MASTER_KEY_FILE: not set") {
			t.Errorf("%s: %s", none, text)
		}
	}
}
