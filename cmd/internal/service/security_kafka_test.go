//go:build kafka

package service_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
)

// secureFile is a file that .ci/kafka/start has left beside its broker: certificates and passwords, and the addresses
// of its listeners.
func secureFile(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("ORIEL_TEST_SECURE")
	if dir == "" {
		t.Fatal("ORIEL_TEST_SECURE is not set; build tag kafka needs the directory of .ci/kafka/start")
	}
	return filepath.Join(dir, name)
}

// listener is the address of a listener.
func listener(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(secureFile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// login are the settings of the user oriel.
func login(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"ORIEL_BROKERS": listener(t, "LOGIN"), "ORIEL_TLS": "true", "ORIEL_TLS_CA_FILE": secureFile(t, "authority.pem"),
		"ORIEL_SASL_MECHANISM": "scram-sha-512", "ORIEL_SASL_USER": "oriel",
		"ORIEL_SASL_PASSWORD_FILE": secureFile(t, "right.password"),
	}
}

// acl is one line of the table in deploy/OPERATING.md.
type acl struct {
	resource   kmsg.ACLResourceType
	name       string
	prefixed   bool
	operations []string
}

// allow gives a principal rights. It comes back when the broker enforces them.
func (f *fixture) allow(principal string, acls ...acl) {
	f.T.Helper()
	admin, err := kgo.NewClient(kgo.SeedBrokers(servicetest.Broker(f.T)))
	if err != nil {
		f.T.Fatal(err)
	}
	defer admin.Close()
	request := kmsg.NewPtrCreateACLsRequest()
	for _, a := range acls {
		for _, name := range a.operations {
			operation, err := kmsg.ParseACLOperation(name)
			if err != nil {
				f.T.Fatal(err)
			}
			c := kmsg.NewCreateACLsRequestCreation()
			c.ResourceType, c.ResourceName, c.ResourcePatternType = a.resource, a.name, kmsg.ACLResourcePatternTypeLiteral
			if a.prefixed {
				c.ResourcePatternType = kmsg.ACLResourcePatternTypePrefixed
			}
			c.Principal, c.Host, c.Operation, c.PermissionType = principal, "*", operation, kmsg.ACLPermissionTypeAllow
			request.Creations = append(request.Creations, c)
		}
	}
	created, err := request.RequestWith(f.Ctx(), admin)
	if err != nil {
		f.T.Fatal(err)
	}
	for _, result := range created.Results {
		if result.ErrorCode != 0 {
			f.T.Fatalf("ACL refused with code %d", result.ErrorCode)
		}
	}
	last := request.Creations[len(request.Creations)-1]
	f.Await(20*time.Second, "the ACLs are known", func() bool {
		look := kmsg.NewPtrDescribeACLsRequest()
		look.ResourceType, look.ResourceName = last.ResourceType, &last.ResourceName
		look.ResourcePatternType = last.ResourcePatternType
		look.Principal, look.Operation, look.PermissionType = &last.Principal, last.Operation, last.PermissionType
		found, err := look.RequestWith(f.Ctx(), admin)
		return err == nil && len(found.Resources) == 1
	})
}

// TestTLSAndLogin: each way in with the right settings, and with wrong ones, where the command ends and names the
// setting that is to mend.
func TestTLSAndLogin(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	read := acl{resource: kmsg.ACLResourceTypeTopic, name: f.Env["ORIEL_INPUT_TOPIC"], operations: []string{"READ"}}
	f.allow("User:oriel", read)
	f.allow("User:CN=client", read)
	tls := func(where string, more ...string) []string {
		return append([]string{
			"ORIEL_BROKERS=" + listener(t, where), "ORIEL_TLS=true", "ORIEL_TLS_CA_FILE=" + secureFile(t, "authority.pem"),
		}, more...)
	}
	as := func(mechanism, password string) []string {
		return tls("LOGIN", "ORIEL_SASL_MECHANISM="+mechanism, "ORIEL_SASL_USER=oriel",
			"ORIEL_SASL_PASSWORD_FILE="+secureFile(t, password+".password"))
	}
	certificate := []string{
		"ORIEL_TLS_CERT_FILE=" + secureFile(t, "client.pem"), "ORIEL_TLS_KEY_FILE=" + secureFile(t, "client.key"),
	}
	for name, c := range map[string]struct {
		env  []string
		want string // the setting that is named; "" gets in
	}{
		"TLS":                {env: tls("ENCRYPTED")},
		"client certificate": {env: tls("MUTUAL", certificate...)},
		"PLAIN":              {env: as("plain", "right")},
		"SCRAM":              {env: as("scram-sha-512", "right")},
		"no TLS":             {env: []string{"ORIEL_BROKERS=" + listener(t, "ENCRYPTED")}, want: "ORIEL_TLS=true"},
		"TLS on a plain listener": {
			env: append(tls("ENCRYPTED"), "ORIEL_BROKERS="+servicetest.Broker(t)), want: "leave out ORIEL_TLS",
		},
		"another authority": {
			env: tls("ENCRYPTED", "ORIEL_TLS_CA_FILE="+secureFile(t, "stranger.pem")), want: "ORIEL_TLS_CA_FILE",
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

// rightsOf reads the table of deploy/OPERATING.md for a command, with the topics of a deployment.
func (f *fixture) rightsOf(command string) []acl {
	f.T.Helper()
	text, err := os.ReadFile(repotest.Path("deploy/OPERATING.md"))
	if err != nil {
		f.T.Fatal(err)
	}
	var acls []acl
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || !strings.HasPrefix(cells[0], "| `oriel "+command) {
			continue
		}
		kind, names, _ := strings.Cut(cells[1], " ")
		if kind == "transactional" {
			kind, names, _ = strings.Cut(names, " ")
		}
		for name := range strings.SplitSeq(names, ", ") {
			name = strings.ReplaceAll(strings.Trim(name, "`"), "<name>", f.Name)
			a := acl{operations: strings.Split(strings.TrimSuffix(cells[2], " |"), ", ")}
			switch kind {
			case "topic", "topics":
				a.resource, a.name = kmsg.ACLResourceTypeTopic, f.Topic(name)
				if name == "input" {
					a.name = f.Env["ORIEL_INPUT_TOPIC"]
				}
			case "group":
				a.resource, a.name = kmsg.ACLResourceTypeGroup, name
			case "ids":
				a.resource = kmsg.ACLResourceTypeTransactionalId
				a.name, a.prefixed = strings.CutSuffix(name, "*")
			default:
				f.T.Fatalf("a right on %q: %s", kind, line)
			}
			acls = append(acls, a)
		}
	}
	if len(acls) == 0 {
		f.T.Fatalf("deploy/OPERATING.md lists no rights of oriel %s", command)
	}
	return acls
}

// TestTheListedRightsAreEnough: a user who has exactly what deploy/OPERATING.md lists for a command can work with it.
func TestTheListedRightsAreEnough(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, login(t))
	f.growAsAdmin()
	f.allow("User:oriel", f.rightsOf("topics")...)
	f.Must("topics")
	f.allow("User:oriel", f.rightsOf("run")...)
	f.Send(0, append(servicetest.Events(0, 20), servicetest.Event(20))...)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 21)
	p.Terminate()
	f.allow("User:oriel", f.rightsOf("letters")...)
	f.Must("letters", "--once")
	f.allow("User:oriel", f.rightsOf("tail")...)
	if out := f.Must("tail", "--topic", f.Topic("decisions"), "--follow=false"); !strings.Contains(out, "21") {
		t.Errorf("tail shows no decision: %s", out)
	}
	f.allow("User:oriel", f.rightsOf("replay")...)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	f.Must("replay", "--save", checkpoint)
	f.Send(0, servicetest.Events(21, 5)...)
	p = f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 26)
	p.Terminate()
	f.Compares(checkpoint, 5)
}

// TestTheListedRightsAreEnoughForAWholeTopic: who writes its order starts without the right to read an event.
func TestTheListedRightsAreEnoughForAWholeTopic(t *testing.T) {
	t.Parallel()
	settings := login(t)
	settings["ORIEL_STREAM"], settings["ORIEL_SEQUENCER"] = "topic", "other"
	f := newFixture(t, 3, settings)
	f.allow("User:oriel", f.rightsOf("topics")...)
	f.Must("topics")
	f.allow("User:oriel", f.rightsOf("order")...)
	order := f.Start(nil, "order")
	f.Await(time.Minute, "the stream is waited for", func() bool {
		return strings.Contains(order.Output(), "waiting for oriel run")
	})
	f.allow("User:oriel", f.rightsOf("run")...)
	run := f.Start(nil, "run")
	f.SendAll(0, 10)
	f.AwaitTaken(time.Minute, 10, 10, 10)
	order.End()
	run.Terminate()
}

// growAsAdmin gives the input a second partition, so that `oriel topics` adds one to a topic that was there.
func (f *fixture) growAsAdmin() {
	f.T.Helper()
	f.CreateTopic(f.Topic("verdicts"), 1,
		map[string]string{"cleanup.policy": "delete", "max.message.bytes": "8388608", "retention.ms": "-1"})
	f.growInput(2)
}

// TestAMissingRightIsNamed: the operation, and what it is lacking on.
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
			rights, found := f.rightsOf(c.command), false
			for i, r := range rights {
				if r.name != lacks || (c.on == "") != (r.resource == kmsg.ACLResourceTypeGroup) {
					continue
				}
				var left []string
				for _, operation := range r.operations {
					if operation == c.operation {
						found = true
					} else {
						left = append(left, operation)
					}
				}
				rights[i].operations = append(left, "DESCRIBE")
			}
			if !found {
				t.Fatalf("the table does not list %s on %s", c.operation, lacks)
			}
			f.allow("User:oriel", rights...)
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
			p := f.Start(login(t), args...)
			if p.Finish(time.Minute) || !strings.Contains(p.Output(), "no right "+c.operation+" on the ") ||
				!strings.Contains(p.Output(), lacks) ||
				!strings.Contains(p.Output(), "deploy/OPERATING.md lists") {
				t.Errorf("want it to lack %s on %s; it said: %s", c.operation, lacks, p.Output())
			}
		})
	}
}
