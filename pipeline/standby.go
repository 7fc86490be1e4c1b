package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/state"
	"oriel/state/frame"
)

// A process to which the group assigns no stream stands by if the deployment has one stream. Its local store then
// follows the changelog, so that a take-over reads only the changelog's last second. If each partition is a stream, the
// process follows none. It cannot know which partition it will get, and following all of them would take the disk and
// network of the whole deployment.

// standbyInterval is the interval at which a standby process reads the changelog. The owner commits states much more
// often, and only the newest one is needed.
const standbyInterval = time.Second

// standBy follows the changelog until ctx ends. An error does not stop the process, because a take-over would find the
// same error and report its remedy.
func (s *Service) standBy(ctx context.Context) {
	if s.streams.Load() != 1 || s.covered.Load() != 1 {
		return
	}
	var writing sync.WaitGroup
	defer writing.Wait()
	writing.Go(func() { s.writeOrder(ctx) })
	defer func() {
		if ctx.Err() != nil {
			s.listener.Unassigned() // BEFORE the end of the copy, because a member without a share and a copy is ready
		}
		s.listener.Standby(notice.NoStandby)
	}()
	retry, reported := s.client.NewBackoff(firstPause, lastPause), ""
	for {
		s.listener.Standby(notice.Copying)
		err := s.follow(ctx, 0, retry.Reset)
		if ctx.Err() != nil {
			return
		}
		if text := err.Error(); notice.Kind(err) == notice.Stopped && text != reported {
			reported = text
			s.listener.Note(0, "standing by, this process cannot follow the changelog, and tries again", ": "+text)
		}
		if errors.Is(err, state.ErrFailed) || retry.Wait(ctx) != nil {
			return
		}
	}
}

// writeOrder writes the order of a whole topic's stream until ctx ends, if the configuration lets other processes write
// it.
func (s *Service) writeOrder(ctx context.Context) {
	if !s.config.OtherSequencer {
		return
	}
	err := OrderWriter{
		Deployment: s.deployment(),
		Note:       func(text string) { s.listener.Note(0, text, "") },
		Retried:    func(error) {},
		Appended:   func(int, int64) {},
	}.Run(ctx)
	if ctx.Err() == nil {
		s.listener.Note(0, "standing by, this process cannot write the order any more", ": "+err.Error())
	}
}

// follow updates the local store from the changelog, reports that it is warm, and keeps it up to date.
func (s *Service) follow(ctx context.Context, p int32, warm func()) error {
	local, err := s.store.Load(p)
	if errors.Is(err, frame.ErrCorrupt) {
		s.listener.Note(p, "the local state is damaged; the process sets the files aside and restores the state from the changelog", "")
		local = nil
	} else if err != nil {
		return fmt.Errorf("pipeline: partition %d: local state: %w", p, err)
	}
	topic := s.topics.Changelog
	bounds, err := topics.BoundsOf(ctx, s.client, topic.Name, p)
	if err != nil {
		return err
	}
	view, err := changelog.Read(ctx, s.client, topic, p, bounds, local)
	if err == nil {
		err = s.store.Replace(p, view.Records())
	}
	if err != nil {
		return err
	}
	view.LetGo()
	warm()
	s.listener.Standby(notice.Warm)
	for {
		if err := kafka.Pause(ctx, standbyInterval); err != nil {
			return err
		}
		if bounds, err = topics.BoundsOf(ctx, s.client, topic.Name, p); err != nil {
			return err
		}
		changed, err := view.Changes(ctx, s.client, topic, p, bounds.Stable)
		if err == nil {
			err = s.store.Follow(p, changed)
		}
		if err != nil {
			return err
		}
	}
}
