//go:build kafka

package service_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
)

// TestTLSAndLogin connects in each supported way, with right settings and with wrong ones. With wrong settings the
// command must end and name the setting to correct.
func TestTLSAndLogin(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	read := servicetest.ACL{
		Resource: kmsg.ACLResourceTypeTopic, Name: f.Env["ORIEL_INPUT_TOPIC"], Operations: []string{"READ"},
	}
	f.Allow("User:oriel", read)
	f.Allow("User:CN=client", read)
	tls := func(where string, more ...string) []string {
		return append([]string{
			"ORIEL_BROKERS=" + servicetest.Listener(t, where), "ORIEL_TLS=true",
			"ORIEL_TLS_CA_FILE=" + servicetest.SecureFile(t, "authority.pem"),
		}, more...)
	}
	as := func(mechanism, password string) []string {
		return tls("LOGIN", "ORIEL_SASL_MECHANISM="+mechanism, "ORIEL_SASL_USER=oriel",
			"ORIEL_SASL_PASSWORD_FILE="+servicetest.SecureFile(t, password+".password"))
	}
	certificate := []string{
		"ORIEL_TLS_CERT_FILE=" + servicetest.SecureFile(t, "client.pem"),
		"ORIEL_TLS_KEY_FILE=" + servicetest.SecureFile(t, "client.key"),
	}
	for name, c := range map[string]struct {
		env  []string
		want string // setting that the error must name; "": the connection succeeds
	}{
		"TLS":                {env: tls("ENCRYPTED")},
		"client certificate": {env: tls("MUTUAL", certificate...)},
		"PLAIN":              {env: as("plain", "right")},
		"SCRAM":              {env: as("scram-sha-512", "right")},
		"no TLS": {
			env: []string{"ORIEL_BROKERS=" + servicetest.Listener(t, "ENCRYPTED")}, want: "ORIEL_TLS=true",
		},
		"TLS on a plain listener": {
			env: append(tls("ENCRYPTED"), "ORIEL_BROKERS="+servicetest.Broker(t)), want: "leave out ORIEL_TLS",
		},
		"another authority": {
			env: tls("ENCRYPTED", "ORIEL_TLS_CA_FILE="+servicetest.SecureFile(t, "stranger.pem")), want: "ORIEL_TLS_CA_FILE",
		},
		"no client certificate":       {env: tls("MUTUAL"), want: "ORIEL_TLS_CERT_FILE"},
		"no login":                    {env: tls("LOGIN"), want: "ORIEL_SASL_MECHANISM"},
		"wrong password, PLAIN":       {env: as("plain", "wrong"), want: "ORIEL_SASL_PASSWORD_FILE"},
		"wrong password, SCRAM":       {env: as("scram-sha-512", "wrong"), want: "ORIEL_SASL_PASSWORD_FILE"},
		"a mechanism that is not had": {env: as("scram-sha-256", "right"), want: "ORIEL_SASL_MECHANISM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{}
			for _, line := range c.env {
				name, value, _ := strings.Cut(line, "=")
				env[name] = value
			}
			own := *f.Fixture
			own.T = t
			p := own.Start(env, "tail", "--topic", f.Env["ORIEL_INPUT_TOPIC"], "--follow=false")
			if in := p.Finish(90 * time.Second); in != (c.want == "") || !strings.Contains(p.Output(), c.want) {
				t.Errorf("got in: %t; want it to name %q; it said: %s", in, c.want, p.Output())
			}
		})
	}
}

// TestAMissingRightIsNamed checks that the error names the operation that is not allowed, and its topic, group or
// transactional id.
func TestAMissingRightIsNamed(t *testing.T) {
	for name, c := range map[string]struct{ command, operation, on string }{
		"topics may not create":        {"topics", "CREATE", "decisions"},
		"topics may not take over":     {"topics", "WRITE", "/"},
		"run may not read the input":   {"run", "READ", "events"},
		"run may not write verdicts":   {"run", "WRITE", "verdicts"},
		"run may not see settings":     {"run", "DESCRIBE_CONFIGS", "changelog"},
		"run may not join":             {"run", "READ", ""},
		"letters may not write theirs": {"letters", "WRITE", "dead-letter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, 1, nil)
			if c.command != "topics" {
				f.Must("topics")
			}
			lacks := f.Name + map[bool]string{true: ".", false: ""}[c.on != "" && c.on != "/"] + c.on
			rights, found := f.RightsOf(c.command), false
			for i, r := range rights {
				if r.Name != lacks || (c.on == "") != (r.Resource == kmsg.ACLResourceTypeGroup) {
					continue
				}
				var left []string
				for _, operation := range r.Operations {
					if operation == c.operation {
						found = true
					} else {
						left = append(left, operation)
					}
				}
				rights[i].Operations = append(left, "DESCRIBE")
			}
			if !found {
				t.Fatalf("the table does not list %s on %s", c.operation, lacks)
			}
			f.Allow("User:oriel", rights...)
			f.Send(0, servicetest.Event(0), records.Record{Value: []byte("no event")})
			if c.command == "letters" {
				p := f.Start(nil, "run")
				f.AwaitTaken(time.Minute, 2)
				p.Terminate()
			}
			args := []string{c.command}
			if c.command == "letters" {
				args = append(args, "--once")
			}
			p := f.Start(servicetest.Login(t), args...)
			if p.Finish(time.Minute) || !strings.Contains(p.Output(), "no right "+c.operation+" on the ") ||
				!strings.Contains(p.Output(), lacks) ||
				!strings.Contains(p.Output(), "deploy/OPERATING.md lists") {
				t.Errorf("want it to lack %s on %s; it said: %s", c.operation, lacks, p.Output())
			}
		})
	}
}
