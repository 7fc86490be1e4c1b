package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"oriel/cmd/internal/service/registry"
	"oriel/pipeline"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/probe"
	"oriel/pipeline/notice"
	"oriel/state"
)

// checkRights compares the user's rights with those that `oriel run` needs.
func (e *examination) checkRights(ctx context.Context) {
	const check = "rights"
	c := e.deployed.Config
	needed := c.ServiceRights()
	names := make([]string, len(needed))
	for i, n := range needed {
		names[i] = n.Topic
	}
	cluster, err := ask(ctx, e, func(ctx context.Context) (probe.Cluster, error) {
		return probe.Look(ctx, e.deployed.Client, names...)
	})
	if e.refuse(check, err) {
		return
	}
	found := e.wrong
	for _, n := range needed {
		topic := cluster.Topics[n.Topic]
		if !topic.Exists && !topic.Hidden {
			continue // checkTopics reports this error
		}
		var lacks []string
		for _, right := range n.Rights {
			if topic.Lacks(right) {
				lacks = append(lacks, right)
			}
		}
		if lacks != nil {
			e.refuse(check, &kafka.DeniedError{Right: strings.Join(lacks, ", "), On: "topic", Cause: errors.New(n.Topic)})
		}
	}
	e.refuse(check, e.within(ctx, func(ctx context.Context) error {
		return named(probe.MayJoin(ctx, e.deployed.Client, c.Group), c.Group)
	}))
	id := c.TransactionalID([16]byte{}, 0)
	e.refuse(check, e.within(ctx, func(ctx context.Context) error {
		return named(probe.MayWriteAs(ctx, e.deployed.Client, id), c.Name+"/*")
	}))
	if e.wrong == found {
		e.ok(check, "the user has the rights that `oriel run` needs: topics, group %s, transactional ids %s/*", c.Group, c.Name)
	}
}

// named adds to an error the resource on which a right is missing.
func named(err error, what string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// checkTopics describes the topics, as `oriel run` does. It reports whether all topics exist.
func (e *examination) checkTopics(ctx context.Context) bool {
	const check = "topics"
	d := &e.deployed
	advice := ""
	err := e.within(ctx, func(ctx context.Context) (err error) {
		if d.Topics, err = deployment.CheckTopics(ctx, d.Client, d.Config, deployment.ByService); err == nil {
			advice, err = deployment.AdviseTimes(ctx, d.Client, d.Config)
		}
		return err
	})
	e.wrongTopics = e.refuse(check, err)
	if !e.wrongTopics {
		if advice != "" {
			advice = "; " + advice
		}
		e.ok(check, "all topics exist, with settings under which the guarantee holds; partitions of the input: %d%s",
			d.Topics.Input.Partitions, advice)
	}
	return d.Topics.Input.Name != "" && d.Topics.Changelog.Name != ""
}

// checkOpened compares settings, key and input with those with which the deployment was opened.
func (e *examination) checkOpened(ctx context.Context) {
	const check = "deployment"
	d := &e.deployed
	if d.Master == nil {
		e.skipped(check, "without the master key the deployment cannot be opened")
		return
	}
	err := e.within(ctx, func(ctx context.Context) (err error) {
		e.settings, d.Model, _, err = e.host.AsOpened(ctx, e.settings, *d)
		if err != nil {
			return err
		}
		_, err = pipeline.NewService(ctx, *d, &e.store, notice.Listener{})
		return err
	})
	if e.refuse(check, err) {
		return
	}
	service := pipeline.NewExaminer(*d, &e.store) // the store is filled in by checkDisk
	e.service = &service
	e.ok(check, "settings, key and input are those that the deployment was opened with")
}

// checkRegistry compares the registry with the schemas that the deployment has frozen, as the service does once an
// hour. It also checks whether the mapping reads new versions.
func (e *examination) checkRegistry(ctx context.Context) {
	const check = "registry"
	d := &e.deployed
	switch {
	case d.Model.Writers == nil && e.settings.SchemaRegistry == "":
		e.skipped(check, "none is set")
		return
	case d.Model.Writers == nil:
		e.skipped(check, "records name no schema of the registry")
		return
	case e.service == nil:
		e.skipped(check, "the deployment must be opened before its schemas can be compared")
		return
	}
	frozen, err := ask(ctx, e, func(ctx context.Context) (state.Schemas, error) { return d.Frozen(ctx, 0) })
	if err == nil && frozen == nil {
		err = errors.New("the deployment has no schemas of its events. Run `oriel topics` with these settings once")
	}
	if e.refuse(check, err) {
		return
	}
	d.Model.Frozen = frozen
	found, err := ask(ctx, e, func(ctx context.Context) (state.Schemas, error) {
		var leftOut []uint
		for _, s := range frozen {
			if s.LeftOut {
				leftOut = append(leftOut, uint(s.ID))
			}
		}
		return registry.Versions(ctx, e.settings, *d, frozen, leftOut)
	})
	if e.refuse(check, err) {
		return
	}
	var later []string
	for _, s := range found {
		if frozen.Find(s.ID) == nil {
			later = append(later, fmt.Sprint(s.ID))
		}
	}
	if later != nil {
		e.warn(check, "%s has ids that are not frozen: %s. Their records are null events; `oriel schema pull` adds them",
			e.settings.Subject(), strings.Join(later, ", "))
		return
	}
	e.ok(check, "the registry answers, and all of its %d ids of %s are frozen or left out", len(found), e.settings.Subject())
}
