package main

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestUntrustedBrokerEndsTheCommand: what no repetition mends is not repeated, and the words name the setting.
func TestUntrustedBrokerEndsTheCommand(t *testing.T) {
	t.Parallel()
	listener := httptest.NewTLSServer(nil) // its certificate is of no authority that a machine trusts
	defer listener.Close()
	f := &fixture{t: t, env: map[string]string{"ORIEL_BROKERS": strings.TrimPrefix(listener.URL, "https://"), "ORIEL_TLS": "true"}}
	p := f.start(nil, "tail", "--topic", "events")
	p.finish(time.Minute)
	if code := p.cmd.ProcessState.ExitCode(); code != exitFailure || !strings.Contains(p.output(), "ORIEL_TLS_CA_FILE") {
		t.Errorf("exit code %d: %s", code, p.output())
	}
}

// TestPasswordFileOfAllIsRefused, as the master key's.
func TestPasswordFileOfAllIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, env: map[string]string{
		"ORIEL_BROKERS": "127.0.0.1:1", "ORIEL_SASL_MECHANISM": "PLAIN", "ORIEL_SASL_USER": "user",
		"ORIEL_SASL_PASSWORD_FILE": file,
	}}
	f.fails("ORIEL_SASL_PASSWORD_FILE: file "+file+": mode 0644", "tail", "--topic", "events")
}

// TestLogLinesAreJSONIfAsked: one object a line.
func TestLogLinesAreJSONIfAsked(t *testing.T) {
	var out strings.Builder
	h := host{stderr: &out}
	h.logger("warn", "json").Warn("text", "key", 1)
	var line struct{ Msg, Level string }
	if err := json.Unmarshal([]byte(out.String()), &line); err != nil || line.Msg != "text" || line.Level != "WARN" {
		t.Errorf("%q: %v", out.String(), err)
	}
}
