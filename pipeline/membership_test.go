package pipeline

import (
	"slices"
	"strings"
	"testing"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
)

// TestMembersOfTheGroupAreClassified checks how members are classified. A process of the previous version must not be
// called foreign, because the remedy, to split the group, would stop one of the two halves.
func TestMembersOfTheGroupAreClassified(t *testing.T) {
	s := &Service{config: deployment.Config{Name: "d", Group: "g", Input: "trips"}}
	member := func(client, mark, topic string, partitions ...int32) group.ForeignMember {
		return group.ForeignMember{
			Client: client, Host: "/10.0.0.7", Mark: mark, Topics: []string{topic}, Partitions: partitions,
		}
	}
	older := member(kafka.DefaultClientID, "", "trips", 1)
	for _, c := range []struct {
		name     string
		members  group.Members
		versions []string // lines[i] of the message must contain versions[i]
		foreign  []string
		problems []string
	}{
		{"nobody", group.Members{Stable: true}, nil, nil, nil},
		{
			"an older version",
			group.Members{Stable: true, Foreign: []group.ForeignMember{older}, Free: []int32{1}},
			[]string{`another version of Oriel, client "oriel" at "/10.0.0.7": end the older one`},
			nil, nil,
		},
		{
			"a later one, and a partition that nobody has",
			group.Members{
				Stable: true, Free: []int32{0, 2},
				Foreign: []group.ForeignMember{member(kafka.DefaultClientID, "d/00/later", "trips", 0)},
			},
			[]string{"another version of Oriel"},
			nil,
			[]string{"no process of this deployment has the partitions [2] of the input"},
		},
		{
			"another deployment",
			group.Members{Stable: true, Foreign: []group.ForeignMember{member(kafka.DefaultClientID, "e/00", "trips")}},
			nil,
			[]string{`a member of the deployment "e", client "oriel" at "/10.0.0.7": give that one another group`},
			nil,
		},
		{
			"letters",
			group.Members{Stable: true, Foreign: []group.ForeignMember{member(kafka.DefaultClientID, "", "d.verdicts")}},
			nil,
			[]string{"that is not of this deployment"},
			nil,
		},
		{
			"a consumer",
			group.Members{Stable: true, Foreign: []group.ForeignMember{member("mistaken", "", "trips", 1)}, Free: []int32{1}},
			nil,
			[]string{`that is not of this deployment, client "mistaken"`},
			[]string{"partitions [1]"},
		},
	} {
		rest, versions := s.versions(c.members)
		foreign, problems := s.memberProblems(rest)
		for _, got := range []struct{ lines, want []string }{
			{versions, c.versions}, {foreign, c.foreign}, {problems, c.problems},
		} {
			if len(got.lines) != len(got.want) || !slices.EqualFunc(got.lines, got.want, strings.Contains) {
				t.Errorf("%s: %q, want %q", c.name, got.lines, got.want)
			}
		}
	}
}
