package pipeline

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/state"
	"oriel/state/users"
)

// userIndex records in which partition each remembered user was seen, for deployments with one stream for each
// partition. Users of this process's partitions are added at once, users of other partitions at each check of the
// changelog. If a user has events in two partitions, the privacy losses of two streams compose. The printed guarantee
// does not cover this, so the service stops.
type userIndex struct {
	mu         sync.Mutex
	partitions map[users.ID]int32
	members    map[int32]map[users.ID]bool // users of each partition: the inverse of partitions

	elsewhere map[int32]*remoteUsers // only the checking goroutine uses it
	unread    map[int32]bool         // partitions with unreadable users at the last check; same goroutine
}

// Add adds a user. It returns an error if another partition remembers the user.
func (s *userIndex) Add(partition int32, user users.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addIn(partition, user)
}

// Remove removes a user whom a partition no longer remembers.
func (s *userIndex) Remove(partition int32, user users.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeFrom(partition, user)
}

func (s *userIndex) addIn(partition int32, user users.ID) error {
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

func (s *userIndex) removeFrom(partition int32, user users.ID) {
	if s.members[partition][user] { // otherwise the user may now belong to another partition
		delete(s.partitions, user)
		delete(s.members[partition], user)
	}
}

// replace replaces the users of a partition.
func (s *userIndex) replace(partition int32, all iter.Seq[users.ID]) error {
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

// enter adds the users that a restored stream remembers.
func (s *userIndex) enter(partition int32, stream *streams.Stream) error {
	return s.replace(partition, stream.Remembered())
}

// leave removes the users of a partition that is handed over.
func (s *userIndex) leave(partition int32) {
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

// usersBeforeTakeOver reads the users of all other partitions before a generation starts to work. It stops when the
// generation ends.
func (s *Service) usersBeforeTakeOver(ctx context.Context, g *group.Generation) error {
	look, end := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-g.Done():
			end()
		case <-look.Done():
		}
	})
	err := s.usersElsewhere(look, nil)
	end()
	watch.Wait()
	return err
}

// comparesUsers reports whether users of different partitions must be compared. If the whole input is one stream, its
// limiter knows all users.
func (s *Service) comparesUsers() bool { return s.model.Users != nil && !s.config.WholeTopic() }

// usersElsewhere reads the remembered users of all partitions except those in skip, from their committed states. An
// unreadable partition is left out and reported; the other partitions are compared.
func (s *Service) usersElsewhere(ctx context.Context, skip map[int32]bool) error {
	if !s.comparesUsers() {
		return nil
	}
	seen := &s.users
	if seen.elsewhere == nil {
		seen.elsewhere, seen.unread = map[int32]*remoteUsers{}, map[int32]bool{}
	}
	for p := range int32(s.topics.Changelog.Partitions) {
		if skip[p] {
			continue
		}
		r, err := s.remember(ctx, p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !seen.unread[p] {
			s.listener.Note(p, "the users that this partition remembers cannot be read; until they can, the service does not compare them with the users of other partitions")
		}
		seen.unread[p] = err != nil
		if r == nil {
			continue
		}
		if err := seen.replace(p, r.limiter.Remembered()); err != nil {
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
func (s *Service) remember(ctx context.Context, p int32) (*remoteUsers, error) {
	bounds, err := topics.BoundsOf(ctx, s.client, s.topics.Changelog.Name, p)
	if err != nil {
		return nil, fmt.Errorf("pipeline: bounds of the changelog, partition %d: %w", p, err)
	}
	r := s.users.elsewhere[p]
	if r == nil {
		if r, err = s.firstLook(ctx, p, bounds); r == nil || err != nil {
			return nil, err
		}
		s.users.elsewhere[p] = r
		return r, r.open(p)
	}
	from := r.view.Next()
	r.view.GoTo(max(from, bounds.Stable-latest))
	jumped := r.view.Next() > from
	err = r.view.Read(ctx, s.client, s.topics.Changelog, p, bounds.Stable)
	if err == nil {
		err = r.open(p)
	}
	if err != nil && jumped { // the copy may mix two states, so the skipped records must be read too
		r.view.GoTo(from)
		if err = r.view.Read(ctx, s.client, s.topics.Changelog, p, bounds.Stable); err == nil {
			err = r.open(p)
		}
	}
	if err != nil {
		delete(s.users.elsewhere, p) // the next check starts from nothing
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

func (s *Service) firstLook(ctx context.Context, p int32, bounds topics.Bounds) (*remoteUsers, error) {
	view, err := changelog.Read(ctx, s.client, s.topics.Changelog, p, bounds, nil)
	if err != nil {
		return nil, err
	}
	keys, err := view.Keys(p, s.config, s.model, s.master)
	if err != nil {
		return nil, err
	}
	record := view.Value(keys.Incarnation)
	if record == nil {
		return nil, nil
	}
	inc, err := state.OpenIncarnation(record, s.master)
	if err != nil {
		return nil, changelog.CannotOpen(p, err)
	}
	r := &remoteUsers{view: view, stateKey: keys.State}
	if r.sealer, err = inc.Sealer(); err != nil {
		return nil, changelog.CannotOpen(p, err)
	}
	r.limiter, err = s.model.Users.Limiter(keys.Users)
	return r, err
}

// watchUsers compares the users of this process's partitions with those of the other partitions until ctx ends.
func (s *Service) watchUsers(ctx context.Context, own []int32, end func(error)) {
	if !s.comparesUsers() {
		return
	}
	skip := map[int32]bool{}
	for _, p := range own {
		skip[p] = true
	}
	for kafka.Pause(ctx, usersInterval) == nil {
		if err := s.usersElsewhere(ctx, skip); err != nil && notice.Kind(err) == notice.Stopped {
			end(err)
			return
		}
	}
}

// usersInterval bounds how long a user in partitions of two processes stays unnoticed, in addition to the time of a
// commit.
const usersInterval = topicsInterval
