package service

import (
	"context"
	"errors"
	"fmt"

	"oriel/cmd/internal/service/registry"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/settings/files"
	"oriel/pipeline"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/takeover"
	"oriel/state/local"
)

// PrepareTopics creates and checks the topics, registers the schema of decisions, writes the manifests, and freezes the
// registry's schemas except those with an id in leaveOut.
func PrepareTopics(ctx context.Context, h Host, inputPartitions int, leaveOut []uint) error {
	s, d, _, err := h.Load() // topics must not freeze settings for which no plan exists
	if err != nil {
		return err
	}
	if d.Master, err = files.MasterKey(ctx, s.MasterKeyFile, s.MasterKeyCommand); err != nil {
		return err
	}
	client, err := h.Dial(s, nil, clientPatience, retrying(h.logger("warn", s.LogFormat), notice.Operators, nil))
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	done := func(what string) { fmt.Fprintln(h.Stderr, what) }
	c := d.Config
	d.Client = client
	cluster, err := topics.Describe(ctx, client, c.Changelog)
	if err != nil {
		return err
	}
	d.Topics.Changelog = cluster.Topics[c.Changelog]
	opened := false
	if s, d.Model, opened, err = h.AsOpened(ctx, s, d); err != nil {
		return err
	}
	if err := d.CheckStreams(ctx, inputPartitions); err != nil {
		return err
	}
	if d.Topics, err = createTopics(ctx, client, c, inputPartitions, done); err != nil {
		return err
	}
	if !opened && s.RegistersDecisions() {
		id, err := registry.RegisterDecisions(ctx, s, c, done)
		if err != nil {
			return err
		}
		s = s.WithSchemaID(id)
		if d.Model, err = h.Model(s); err != nil {
			return err
		}
	}
	if err := d.WriteManifests(ctx); err != nil {
		return err
	}
	if err := registry.Freeze(ctx, s, d, leaveOut, done); err != nil {
		return err
	}
	if err := publishDescriptor(ctx, s, d, done); err != nil {
		return err
	}
	if err := examineStreams(ctx, d, done); err != nil {
		return err
	}
	advice, err := deployment.AdviseTimes(ctx, client, c)
	if err != nil {
		return err
	}
	if advice != "" {
		done(advice)
	}
	fmt.Fprintf(h.Stderr, "%s is ready (%s)\n", c.Name, streamsText(c, d.Topics.Input.Partitions))
	return nil
}

// createTopics creates the topics that are missing, and checks all of them.
func createTopics(
	ctx context.Context, client *kafka.Client, c deployment.Config, inputPartitions int, done func(string),
) (found deployment.Topics, err error) {
	if inputPartitions > 0 {
		if err := deployment.CreateInput(ctx, client, c, inputPartitions, done); err != nil {
			return found, err
		}
	}
	if err := deployment.CreateTopics(ctx, client, c, done); err != nil {
		return found, err
	}
	return deployment.CheckTopics(ctx, client, c, deployment.ByAll)
}

// publishDescriptor writes the descriptor to its topic, if the operator has one and the topic does not have it yet.
func publishDescriptor(ctx context.Context, s settings.Settings, d changelog.Deployment, done func(what string)) error {
	descriptor, err := s.Descriptor()
	if err != nil {
		return err
	}
	written, err := deployment.WriteDescriptor(ctx, d.Client, d.Config, d.Topics, descriptor)
	if written {
		done("published the descriptor in " + d.Config.Descriptor)
	}
	return err
}

// examineStreams makes the checks with which `oriel run` takes the streams over, without taking events again. Like
// `oriel run`, it fails only if all streams stop, and reports each stream that stops beside others. A user who may not
// read what they read has made the topics all the same.
func examineStreams(ctx context.Context, d changelog.Deployment, done func(what string)) error {
	examiner := pipeline.NewExaminer(d, local.Copy{})
	err := examiner.Users(ctx)
	var stopped []error
	for p := int32(0); p < examiner.Streams() && err == nil; p++ {
		if err = examiner.Stream(ctx, p, takeover.Examination{}); notice.Kind(err) == notice.Stopped && !notice.OfAll(err) {
			stopped, err = append(stopped, err), nil
		}
	}
	if denied, is := errors.AsType[*kafka.DeniedError](errors.Join(append(stopped, err)...)); is {
		done("not checked whether `oriel run` would start: " + denied.Error())
		return nil
	}
	if err != nil || len(stopped) == int(examiner.Streams()) {
		return errors.Join(append(stopped, err)...)
	}
	for _, err := range stopped {
		done("`oriel run` will not go on with one of the streams: " + err.Error())
	}
	return nil
}

// streamsText describes how many streams a deployment has.
func streamsText(c deployment.Config, partitions int) string {
	if c.WholeTopic() {
		return fmt.Sprintf("one stream, %s, of partitions: %d", c.StreamName(0), partitions)
	}
	return fmt.Sprintf("partitions: %d, each a stream", partitions)
}
