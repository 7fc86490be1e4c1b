//go:build kafka

package doctor_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/cmd/internal/doctor"
	"oriel/cmd/internal/servicetest"
)

// secured plants the settings that a listener requires; later pairs replace earlier ones.
func secured(listener string, pairs ...string) func(patient) {
	return func(f patient) {
		f.Env["ORIEL_BROKERS"] = servicetest.Listener(f.T, listener)
		f.Env["ORIEL_TLS"], f.Env["ORIEL_TLS_CA_FILE"] = "true", servicetest.SecureFile(f.T, "authority.pem")
		set(pairs...)(f)
	}
}

// login plants the user oriel with all rights of `oriel run` except one on the resource of this kind and name.
func login(kind kmsg.ACLResourceType, name, lacks string) func(patient) {
	return func(f patient) {
		rights := f.RightsOf("run")
		for i, r := range rights {
			if r.Resource == kind && (r.Name == f.Name+name || name == "" && r.Name == f.Name) {
				left := slices.DeleteFunc(slices.Clone(r.Operations), func(o string) bool { return o == lacks })
				rights[i].Operations = append(left, "DESCRIBE")
			}
		}
		f.Allow("User:oriel", rights...)
		maps.Copy(f.Env, servicetest.Login(f.T))
	}
}

// loginWith plants a login with some wrong settings.
func loginWith(password string, pairs ...string) func(patient) {
	return func(f patient) {
		maps.Copy(f.Env, servicetest.Login(f.T))
		f.Env["ORIEL_SASL_PASSWORD_FILE"] = servicetest.SecureFile(f.T, password+".password")
		set(pairs...)(f)
	}
}

// ahead is a clock that is an hour fast.
func ahead() time.Time { return time.Now().Add(time.Hour) }

// realPlants need a broker that enforces rights, speaks TLS and shows its time.
var realPlants = []plant{
	{
		name: "no TLS on a TLS listener", plant: secured("ENCRYPTED", "ORIEL_TLS", "", "ORIEL_TLS_CA_FILE", ""),
		want: []string{"set ORIEL_TLS=true"},
	},
	{
		name: "another authority", plant: func(f patient) {
			secured("ENCRYPTED", "ORIEL_TLS_CA_FILE", servicetest.SecureFile(f.T, "stranger.pem"))(f)
		},
		want: []string{"ORIEL_TLS_CA_FILE"},
	},
	{name: "an authority that is no certificate", plant: func(f patient) {
		secured("ENCRYPTED")(f)
		file("ORIEL_TLS_CA_FILE", "none", 0o600)(f)
	}, want: []string{"no PEM certificate"}},
	{name: "no client certificate", plant: secured("MUTUAL"), want: []string{"ORIEL_TLS_CERT_FILE"}},
	{name: "no login", plant: secured("LOGIN"), want: []string{"ORIEL_SASL_MECHANISM"}},
	{name: "a wrong password", plant: loginWith("wrong"), want: []string{"ORIEL_SASL_PASSWORD_FILE"}},
	{
		name: "a mechanism that is not had", plant: loginWith("right", "ORIEL_SASL_MECHANISM", "scram-sha-256"),
		want: []string{"ORIEL_SASL_MECHANISM"},
	},
	{
		name: "brokers of two clusters", plant: func(f patient) {
			f.Env["ORIEL_BROKERS"] += "," + servicetest.EmbeddedBroker(f.T)
		},
		want: []string{"Name brokers of one cluster"},
	},
	{
		name: "events may not be read", plant: login(kmsg.ACLResourceTypeTopic, ".events", "READ"),
		want: []string{"no right READ on the topic: "},
	},
	{
		name: "decisions may not be written", plant: login(kmsg.ACLResourceTypeTopic, ".decisions", "WRITE"),
		want: []string{"no right WRITE on the topic: "},
	},
	{
		name: "settings may not be seen", plant: login(kmsg.ACLResourceTypeTopic, ".changelog", "DESCRIBE_CONFIGS"),
		want: []string{"no right DESCRIBE_CONFIGS on the topic: ", "no right DESCRIBE_CONFIGS on the topic: "},
	},
	{
		name: "the group may not be joined", plant: login(kmsg.ACLResourceTypeGroup, "", "READ"),
		want: []string{"no right READ on the group: "},
	},
	{
		name: "transactions may not be begun", plant: login(kmsg.ACLResourceTypeTransactionalId, "/", "WRITE"),
		want: []string{"no right WRITE on the transactional id: "},
	},
	{
		name: "a clock that is ahead", options: doctor.Options{Now: ahead},
		want: []string{"this machine is 1h0m0s ahead"},
	},
}

// TestTheRightsOfRunAreEnough checks that doctor finds no problem if the user has the rights of `oriel run` and no
// others.
func TestTheRightsOfRunAreEnough(t *testing.T) {
	for _, stream := range []string{"topic", "partition"} {
		f := patient{servicetest.New(t, 2, map[string]string{"ORIEL_STREAM": stream})}
		f.Must("topics")
		f.Send(0, servicetest.Event(0))
		f.Allow("User:oriel", f.RightsOf("run")...)
		maps.Copy(f.Env, servicetest.Login(t))
		said, err := f.examine(doctor.Options{Record: true})
		if lines := bad(said); err != nil || lines != nil || !strings.Contains(said, "the cluster does not show its time") {
			t.Errorf("%s: %v, %s", stream, err, said)
		}
	}
}
