package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/servicetest"
)

// TestExitCodes checks the exit codes: 2 for a wrong call or wrong settings, 1 for a failure during work, 0 for
// success. A process runs one command of each code, and those that read a file of settings.
func TestExitCodes(t *testing.T) {
	f := offline(t, nil)
	file := servicetest.WriteFile(t, "events.ndjson", append(servicetest.Event(1).Value, '\n'))
	check := func(args string, code, want int, said, says string) {
		t.Helper()
		if code != want || !strings.Contains(said, says) {
			t.Errorf("oriel %s: exit code %d, want %d and %q: %s", args, code, want, says, said)
		}
	}
	for _, c := range []struct {
		args    string
		code    int
		says    string
		process bool
	}{
		{"plan", 0, "", false},
		{"--help", 0, "Exit codes", false},
		{"version", 0, "oriel version ", true},
		{"plan --help", 0, "--costs LOW:HIGH ", false},
		{"eval --help", 0, "compare this LIST of ε in place of ORIEL_EPSILON\n", false},
		{"score --help", 0, "--decisions FILE ", false},
		{"init --help", 0, "experiment, which tests", false},
		{"plann", exit.Misuse, "oriel --help", true},
		{"plan --epsilom 1", exit.Misuse, "`oriel plan --help`", false},
		{"plan stray", exit.Misuse, "`oriel plan --help`", false},
		{"plan --rate -1", exit.Misuse, "--rate", false},
		{"tail", exit.Misuse, "topic", false},
		{"replay", exit.Misuse, "--events", false},
		{"replay --events " + file + " --seed 0a", exit.Misuse, "--seed", false},
		{"topics", exit.Misuse, "ORIEL_BROKERS", false},
		{"config", exit.Misuse, "ORIEL_BROKERS", false},
		{"replay --events " + file + ".missing", exit.Failure, "no such file", true},
		{"plan --env-file " + file + ".missing", exit.Misuse, "--env-file", false},
		{"plan --env-file " + file, exit.Misuse, "line 1", false},
	} {
		args := strings.Fields(c.args)
		if c.process || !servicetest.Within(args) {
			p := f.Start(nil, args...)
			p.Finish(time.Minute)
			check(c.args, p.Cmd.ProcessState.ExitCode(), c.code, p.Output(), c.says)
			continue
		}
		var said bytes.Buffer
		check(c.args, f.Run(&said, &said, args...), c.code, said.String(), c.says)
	}
}

// TestTwoSignalsAtOnceAreOne checks that two signals in quick succession count as one. timeout(1) and some supervisors
// signal a process and then its group; their users once lost the orderly stop.
func TestTwoSignalsAtOnceAreOne(t *testing.T) {
	f := newFixture(t, 1, nil)
	f.Must("topics")
	p := f.Start(nil, "run")
	end := time.Now().Add(time.Minute)
	for ; !strings.Contains(p.Output(), "state=running"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the service did not start within a minute")
		}
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		_ = p.Cmd.Process.Signal(s)
		time.Sleep(time.Millisecond) // the pause lets the first signal arrive first
	}
	if !p.Finish(30*time.Second) || !strings.Contains(p.Output(), "the process has left the group") {
		t.Errorf("ended badly: %v", p.Err)
	}
}

// TestMasterKeyIsNeverOverwritten checks that a second `oriel key` fails and keeps the first key, and that no other
// user can read the file.
func TestMasterKeyIsNeverOverwritten(t *testing.T) {
	f := unserved(t, nil)
	file := filepath.Join(t.TempDir(), "master.key")
	if said := f.Must("key", "--out", file); !strings.Contains(said, "wrote") {
		t.Errorf("said %q", said)
	}
	before, err := os.ReadFile(file)
	if err != nil || len(before) != 65 {
		t.Fatalf("%d bytes, %v", len(before), err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	f.Fails("never overwritten", "key", "--out", file)
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Error("the key has changed")
	}
	other := file + "2"
	f.Must("key", "--out", other)
	if second, err := os.ReadFile(other); err != nil || string(second) == string(before) {
		t.Error("two keys are equal")
	}
}

// TestSettingsFromAFile checks that the environment has precedence over the file of settings, and that `oriel config`
// shows the settings of both.
func TestSettingsFromAFile(t *testing.T) {
	f := offline(t, nil)
	var lines []string
	for name, value := range f.Env {
		lines = append(lines, name+"="+value)
	}
	file := servicetest.WriteFile(t, "env", []byte("# comment\n\n"+strings.Join(lines, "\n")+"\nORIEL_BROKERS=127.0.0.1:1\nORIEL_NAME=n\nORIEL_INPUT_TOPIC=i\nORIEL_START=earliest\n"+
		"ORIEL_STATE_DIR=/s\nORIEL_MASTER_KEY_FILE=/k\nORIEL_FEATURES_RANGE='a:0:1,b:0:2'\n"))
	f.Env = map[string]string{"ORIEL_EPSILON": "2"}
	said := f.prints("config", "--env-file", file)
	for _, want := range []string{
		"ORIEL_EPSILON=2\n", "ORIEL_FEATURES_RANGE=a:0:1,b:0:2\n", "# ORIEL_BATCH=1\n", "epsilon 2,", "window 8",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in: %s", want, said)
		}
	}
	f.Env = nil
	again := servicetest.WriteFile(t, "again", []byte(said))
	if f.prints("config", "--env-file", again) != said {
		t.Error("what config prints is not what it reads")
	}
	f.Fails("line 2: ORIEL_NAME is given twice", "config",
		"--env-file", servicetest.WriteFile(t, "twice", []byte("ORIEL_NAME=a\nORIEL_NAME=b\n")))
	f.Fails("ORIEL_NAMES: no such setting",
		"config", "--env-file", servicetest.WriteFile(t, "unknown", []byte("ORIEL_NAMES=a\n")))
}

// TestUntrustedBrokerEndsTheCommand checks that an error that a retry cannot fix is not retried, and that the message
// names the setting.
func TestUntrustedBrokerEndsTheCommand(t *testing.T) {
	listener := httptest.NewTLSServer(nil) // the certificate of this broker comes from an unknown authority
	defer listener.Close()
	f := unserved(t, map[string]string{"ORIEL_BROKERS": strings.TrimPrefix(listener.URL, "https://"), "ORIEL_TLS": "true"})
	p := f.Start(nil, "tail", "--topic", "events")
	p.Finish(time.Minute)
	if code := p.Cmd.ProcessState.ExitCode(); code != exit.Failure || !strings.Contains(p.Output(), "ORIEL_TLS_CA_FILE") {
		t.Errorf("exit code %d: %s", code, p.Output())
	}
}

// TestSharedPasswordFileIsRefused checks that a password file that other users may read is refused, as a master key
// file is.
func TestSharedPasswordFileIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := unserved(t, map[string]string{
		"ORIEL_BROKERS": "127.0.0.1:1", "ORIEL_SASL_MECHANISM": "PLAIN", "ORIEL_SASL_USER": "user",
		"ORIEL_SASL_PASSWORD_FILE": file,
	})
	f.Fails("ORIEL_SASL_PASSWORD_FILE: file "+file+": mode 0644", "tail", "--topic", "events")
}
