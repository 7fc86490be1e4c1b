package pipeline

import (
	"slices"
	"strings"
	"testing"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
)

// TestMembersOfTheGroupAreClassified checks how members are classified.
func TestMembersOfTheGroupAreClassified(t *testing.T) {
	s := &Service{config: deployment.Config{Name: "d", Group: "g", Input: "trips"}}
	member := func(client, mark, topic string, partitions ...int32) group.ForeignMember {
		return group.ForeignMember{
			Client: client, Host: "/10.0.0.7", Mark: mark, Topics: []string{topic}, Partitions: partitions,
		}
	}
	for _, c := range []struct {
		name     string
		members  group.Members
		foreign  []string // lines[i] of the message must contain foreign[i]
		problems []string
	}{
		{"nobody", group.Members{Stable: true}, nil, nil},
		{
			"another deployment",
			group.Members{Stable: true, Foreign: []group.ForeignMember{member(kafka.DefaultClientID, "e/00", "trips")}},
			[]string{`a member of the deployment "e", client "oriel" at "/10.0.0.7": give that one another group`},
			nil,
		},
		{
			"letters",
			group.Members{Stable: true, Foreign: []group.ForeignMember{member(kafka.DefaultClientID, "", "d.verdicts")}},
			[]string{"that is not of this deployment"},
			nil,
		},
		{
			"a consumer",
			group.Members{Stable: true, Foreign: []group.ForeignMember{member("mistaken", "", "trips", 1)}, Free: []int32{1}},
			[]string{`that is not of this deployment, client "mistaken"`},
			[]string{"partitions [1]"},
		},
	} {
		foreign, problems := s.memberProblems(c.members)
		for _, got := range []struct{ lines, want []string }{
			{foreign, c.foreign}, {problems, c.problems},
		} {
			if len(got.lines) != len(got.want) || !slices.EqualFunc(got.lines, got.want, strings.Contains) {
				t.Errorf("%s: %q, want %q", c.name, got.lines, got.want)
			}
		}
	}
}
