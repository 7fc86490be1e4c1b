package pipeline

import (
	"context"
	"sync"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/notice"
)

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

// usersElsewhere compares the users of all partitions except those in skip.
func (s *Service) usersElsewhere(ctx context.Context, skip map[int32]bool) error {
	if !s.comparesUsers() {
		return nil
	}
	return s.users.Look(ctx, s.deployment(), skip, func(p int32, text string) { s.listener.Note(p, text, "") })
}

// watchUsers compares the users of this process's partitions with users of the other partitions until ctx ends.
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
