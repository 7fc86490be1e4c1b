package userindex

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/state"
	"oriel/state/users"
)

// Index records in which partition each remembered user was seen. The zero value is empty.
type Index struct {
	mu         sync.Mutex
	partitions map[users.ID]int32
	members    map[int32]map[users.ID]bool // users of each partition: the inverse of partitions

	elsewhere map[int32]*remoteUsers // only the checking goroutine uses it
	unread    map[int32]bool         // partitions with unreadable users at the last check; same goroutine
}

// Add adds a user. It returns an error if another partition remembers the user.
func (s *Index) Add(partition int32, user users.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addIn(partition, user)
}

// Remove removes a user whom a partition no longer remembers.
func (s *Index) Remove(partition int32, user users.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeFrom(partition, user)
}

func (s *Index) addIn(partition int32, user users.ID) error {
	if other, seen := s.partitions[user]; seen && other != partition {
		return &notice.StopError{
			Partition: -1,
			Reason:    fmt.Sprintf("one user has events in partitions %d and %d, but the printed guarantee counts one partition for each user", min(other, partition), max(other, partition)),
			Remedy:    "Key the input by user, with one partitioner and a fixed number of partitions, and open a new deployment under another ORIEL_NAME on it",
		}
	}
	if s.partitions == nil {
		s.partitions, s.members = map[users.ID]int32{}, map[int32]map[users.ID]bool{}
	}
	if s.members[partition] == nil {
		s.members[partition] = map[users.ID]bool{}
	}
	s.partitions[user], s.members[partition][user] = partition, true
	return nil
}

func (s *Index) removeFrom(partition int32, user users.ID) {
	if s.members[partition][user] { // otherwise the user may now belong to another partition
		delete(s.partitions, user)
		delete(s.members[partition], user)
	}
}

// replace replaces the users of a partition.
func (s *Index) replace(partition int32, all iter.Seq[users.ID]) error {
	current := map[users.ID]bool{}
	for user := range all {
		current[user] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for user := range s.members[partition] {
		if !current[user] {
			s.removeFrom(partition, user)
		}
	}
	for user := range current {
		if err := s.addIn(partition, user); err != nil {
			return err
		}
	}
	return nil
}

// Enter adds the users that a restored stream remembers.
func (s *Index) Enter(partition int32, stream *streams.Stream) error {
	return s.replace(partition, stream.Remembered())
}

// Leave removes the users of a partition that is handed over.
func (s *Index) Leave(partition int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for user := range s.members[partition] {
		s.removeFrom(partition, user)
	}
}

// remoteUsers reads the remembered users of a partition from its changelog.
type remoteUsers struct {
	view     *changelog.View
	stateKey []byte
	sealer   *state.Sealer
	limiter  *users.Limiter
}

// Look reads the remembered users of all partitions except those in skip, from their committed states. An unreadable
// partition is left out and reported to note; the other partitions are compared.
func (s *Index) Look(
	ctx context.Context, d changelog.Deployment, skip map[int32]bool, note func(partition int32, text string),
) error {
	if s.elsewhere == nil {
		s.elsewhere, s.unread = map[int32]*remoteUsers{}, map[int32]bool{}
	}
	for p := range int32(d.Topics.Changelog.Partitions) {
		if skip[p] {
			continue
		}
		r, err := s.remember(ctx, d, p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !s.unread[p] {
			note(p, "the users that this partition remembers cannot be read; until they can, the service does not compare them with the users of other partitions")
		}
		s.unread[p] = err != nil
		if r == nil {
			continue
		}
		if err := s.replace(p, r.limiter.Remembered()); err != nil {
			return err
		}
	}
	return nil
}

// latest is the number of offsets at the end of a changelog partition that are read first. They nearly always contain
// the last state.
const latest = 1000

// remember reads the last committed state of a partition. It returns nil if the partition was never opened or cannot be
// read.
func (s *Index) remember(ctx context.Context, d changelog.Deployment, p int32) (*remoteUsers, error) {
	bounds, err := topics.BoundsOf(ctx, d.Client, d.Topics.Changelog.Name, p)
	if err != nil {
		return nil, fmt.Errorf("pipeline: bounds of the changelog, partition %d: %w", p, err)
	}
	r := s.elsewhere[p]
	if r == nil {
		if r, err = firstLook(ctx, d, p, bounds); r == nil || err != nil {
			return nil, err
		}
		s.elsewhere[p] = r
		return r, r.open(p)
	}
	from := r.view.Next()
	r.view.GoTo(max(from, bounds.Stable-latest))
	jumped := r.view.Next() > from
	err = r.view.Read(ctx, d.Client, d.Topics.Changelog, p, bounds.Stable)
	if err == nil {
		err = r.open(p)
	}
	if err != nil && jumped { // the copy may mix two states, so the skipped records must be read too
		r.view.GoTo(from)
		if err = r.view.Read(ctx, d.Client, d.Topics.Changelog, p, bounds.Stable); err == nil {
			err = r.open(p)
		}
	}
	if err != nil {
		delete(s.elsewhere, p) // the next check starts from nothing
		return nil, err
	}
	return r, nil
}

// open restores the limiter from the state.
func (r *remoteUsers) open(p int32) error {
	sealed, err := r.view.Sealed(r.stateKey)
	if err != nil {
		return changelog.CannotOpen(p, err)
	}
	_, private, err := r.sealer.Open(sealed)
	if err != nil {
		return changelog.CannotOpen(p, err)
	}
	if err := r.limiter.Restore(private[max(0, len(private)-r.limiter.StateLen()):]); err != nil {
		return changelog.CannotOpen(p, err)
	}
	return nil
}

func firstLook(
	ctx context.Context, d changelog.Deployment, p int32, bounds topics.Bounds,
) (*remoteUsers, error) {
	view, err := changelog.Read(ctx, d.Client, d.Topics.Changelog, p, bounds, nil)
	if err != nil {
		return nil, err
	}
	keys, err := view.Keys(p, d.Config, d.Model, d.Master)
	if err != nil {
		return nil, err
	}
	record := view.Value(keys.Incarnation)
	if record == nil {
		return nil, nil
	}
	inc, err := state.OpenIncarnation(record, d.Master)
	if err != nil {
		return nil, changelog.CannotOpen(p, err)
	}
	r := &remoteUsers{view: view, stateKey: keys.State}
	if r.sealer, err = inc.Sealer(); err != nil {
		return nil, changelog.CannotOpen(p, err)
	}
	r.limiter, err = d.Model.Users.Limiter(keys.Users)
	return r, err
}
