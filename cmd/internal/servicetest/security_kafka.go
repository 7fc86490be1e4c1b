//go:build kafka

package servicetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/cmd/internal/repotest"
)

// SecureFile reads a file that .ci/kafka/start wrote for its broker: a certificate, a password, or the addresses of the
// listeners.
func SecureFile(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("TEST_SECURE")
	if dir == "" {
		t.Fatal("TEST_SECURE is not set; build tag kafka needs the directory of .ci/kafka/start")
	}
	return filepath.Join(dir, name)
}

// Listener returns the address of the listener with this name.
func Listener(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(SecureFile(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

// Login returns the login settings of the user oriel.
func Login(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"ORIEL_BROKERS": Listener(t, "LOGIN"), "ORIEL_TLS": "true", "ORIEL_TLS_CA_FILE": SecureFile(t, "authority.pem"),
		"ORIEL_SASL_MECHANISM": "scram-sha-512", "ORIEL_SASL_USER": "oriel",
		"ORIEL_SASL_PASSWORD_FILE": SecureFile(t, "right.password"),
	}
}

// ACL is a line of the table of rights in deploy/OPERATING.md.
type ACL struct {
	Resource   kmsg.ACLResourceType
	Name       string
	Prefixed   bool
	Operations []string
}

// Allow grants rights to a principal. It returns when the broker enforces them.
func (f *Fixture) Allow(principal string, acls ...ACL) {
	f.T.Helper()
	admin := f.admin()
	request := kmsg.NewPtrCreateACLsRequest()
	each(f.T, acls, func(a ACL, operation kmsg.ACLOperation) {
		c := kmsg.NewCreateACLsRequestCreation()
		c.ResourceType, c.ResourceName, c.ResourcePatternType = a.Resource, a.Name, a.pattern()
		c.Principal, c.Host, c.Operation, c.PermissionType = principal, "*", operation, kmsg.ACLPermissionTypeAllow
		request.Creations = append(request.Creations, c)
	})
	created, err := request.RequestWith(f.Ctx(), admin)
	if err != nil {
		f.T.Fatal(err)
	}
	for _, result := range created.Results {
		if result.ErrorCode != 0 {
			f.T.Fatalf("ACL refused with code %d", result.ErrorCode)
		}
	}
	f.awaitLast(admin, principal, acls, 1)
}

// Deny removes rights that Allow granted. It returns when the broker no longer grants them.
func (f *Fixture) Deny(principal string, acls ...ACL) {
	f.T.Helper()
	if len(acls) == 0 {
		return
	}
	admin := f.admin()
	request := kmsg.NewPtrDeleteACLsRequest()
	each(f.T, acls, func(a ACL, operation kmsg.ACLOperation) {
		d := kmsg.NewDeleteACLsRequestFilter()
		d.ResourceType, d.ResourceName, d.ResourcePatternType = a.Resource, &a.Name, a.pattern()
		d.Principal, d.Operation, d.PermissionType = &principal, operation, kmsg.ACLPermissionTypeAllow
		request.Filters = append(request.Filters, d)
	})
	deleted, err := request.RequestWith(f.Ctx(), admin)
	if err != nil {
		f.T.Fatal(err)
	}
	for _, result := range deleted.Results {
		if result.ErrorCode != 0 {
			f.T.Fatalf("deletion of an ACL refused with code %d", result.ErrorCode)
		}
	}
	f.awaitLast(admin, principal, acls, 0)
}

// admin returns a client whose user may do everything. It is closed when the test ends.
func (f *Fixture) admin() *kgo.Client {
	f.T.Helper()
	admin, err := kgo.NewClient(kgo.SeedBrokers(Broker(f.T)))
	if err != nil {
		f.T.Fatal(err)
	}
	f.T.Cleanup(admin.Close)
	return admin
}

// awaitLast waits until the broker lists the last of the rights or, if want is 0, until the broker no longer lists it.
func (f *Fixture) awaitLast(admin *kgo.Client, principal string, acls []ACL, want int) {
	f.T.Helper()
	last := acls[len(acls)-1]
	var operation kmsg.ACLOperation
	each(f.T, acls, func(_ ACL, o kmsg.ACLOperation) { operation = o })
	f.Await(20*time.Second, "the ACLs are known", func() bool {
		look := kmsg.NewPtrDescribeACLsRequest()
		look.ResourceType, look.ResourceName, look.ResourcePatternType = last.Resource, &last.Name, last.pattern()
		look.Principal, look.Operation, look.PermissionType = &principal, operation, kmsg.ACLPermissionTypeAllow
		found, err := look.RequestWith(f.Ctx(), admin)
		return err == nil && len(found.Resources) == want
	})
}

func (a ACL) pattern() kmsg.ACLResourcePatternType {
	if a.Prefixed {
		return kmsg.ACLResourcePatternTypePrefixed
	}
	return kmsg.ACLResourcePatternTypeLiteral
}

// each calls do with each operation of each right, in order.
func each(t *testing.T, acls []ACL, do func(ACL, kmsg.ACLOperation)) {
	t.Helper()
	for _, a := range acls {
		for _, name := range a.Operations {
			operation, err := kmsg.ParseACLOperation(name)
			if err != nil {
				t.Fatal(err)
			}
			do(a, operation)
		}
	}
}

// RightsOf returns the rights that deploy/OPERATING.md lists for a command, with the topics of this deployment.
func (f *Fixture) RightsOf(command string) []ACL {
	f.T.Helper()
	text, err := os.ReadFile(repotest.Path("deploy/OPERATING.md"))
	if err != nil {
		f.T.Fatal(err)
	}
	var acls []ACL
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
			a := ACL{Operations: strings.Split(strings.TrimSuffix(cells[2], " |"), ", ")}
			switch kind {
			case "topic", "topics":
				a.Resource, a.Name = kmsg.ACLResourceTypeTopic, f.Topic(name)
				if name == "input" {
					a.Name = f.Env["ORIEL_INPUT_TOPIC"]
				}
			case "group":
				a.Resource, a.Name = kmsg.ACLResourceTypeGroup, name
			case "ids":
				a.Resource = kmsg.ACLResourceTypeTransactionalId
				a.Name, a.Prefixed = strings.CutSuffix(name, "*")
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
