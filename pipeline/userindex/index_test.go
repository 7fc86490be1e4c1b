package userindex

import (
	"slices"
	"testing"

	"oriel/pipeline/notice"
	"oriel/state/users"
)

// TestAUserHasOnePartition checks that a user whom one partition remembers is refused in others, until that partition
// has removed the user.
func TestAUserHasOnePartition(t *testing.T) {
	index, user := new(Index), users.ID{1}
	if err := index.Add(7, user); err != nil {
		t.Fatal(err)
	}
	if err := index.Add(7, user); err != nil {
		t.Errorf("the user's next event: %v", err)
	}
	if err := index.Add(0, user); notice.Kind(err) != notice.Stopped {
		t.Errorf("a user of another partition: %v", err)
	}
	index.Remove(0, user) // has no effect, because the user now belongs to the other partition
	if index.Add(0, user) == nil {
		t.Error("a partition has let go of another's user")
	}
	index.Remove(7, user)
	if err := index.Add(0, user); err != nil {
		t.Errorf("a user who was let go: %v", err)
	}
}

// TestAnEmptySetReplacesThePartitionsUsers checks that replacing a partition's users by an empty set removes them all.
func TestAnEmptySetReplacesThePartitionsUsers(t *testing.T) {
	index, one, other := new(Index), users.ID{1}, users.ID{2}
	for _, all := range [][]users.ID{{one, other}, {other}, nil} {
		if err := index.replace(7, slices.Values(all)); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []users.ID{one, other} {
		if err := index.Add(0, user); err != nil {
			t.Errorf("a user who was let go: %v", err)
		}
	}
}
