package doctor

import (
	"context"
	"errors"

	"oriel/pipeline/deployment"
	"oriel/pipeline/takeover"
)

// checkRetention says how long an outage may last, and warns where records are deleted soon.
func (e *examination) checkRetention(ctx context.Context) {
	const check = "retention"
	found, err := ask(ctx, e, func(ctx context.Context) (deployment.Retention, error) {
		return deployment.RetentionOf(ctx, e.deployed.Client, e.deployed.Config)
	})
	if e.refuse(check, err) {
		return
	}
	for _, advice := range found.Advice {
		e.warn(check, "%s", advice)
	}
	if found.Advice == nil {
		e.ok(check, "the input keeps events %s, and all decisions are kept or in a table", found.Input)
	}
}

// checkGroup looks who else is in the group of `oriel run`. It joins nothing.
func (e *examination) checkGroup(ctx context.Context) {
	const check = "group"
	if e.service == nil {
		e.skipped(check, "the deployment must be opened before its members are known")
		return
	}
	var foreign []string
	err := e.within(ctx, func(ctx context.Context) error {
		for pauses := e.deployed.Client.Pauses(); ; {
			var settled bool
			var err error
			foreign, settled, err = e.service.Group(ctx)
			if settled || err != nil {
				return err
			}
			if err := pauses.Wait(ctx); err != nil {
				return errors.New("the group assigns partitions all the time, so its members are unknown")
			}
		}
	})
	if e.refuse(check, err) {
		return
	}
	for _, text := range foreign {
		e.warn(check, "%s", text)
	}
	if len(foreign) == 0 {
		e.ok(check, "%s has no member that does not belong to this deployment", e.deployed.Config.Group)
	}
}

// checkStart makes the checks with which `oriel run` takes over each stream, and prints why a stream would not start.
func (e *examination) checkStart(ctx context.Context) {
	const check = "start"
	if e.service == nil || e.wrongTopics {
		e.skipped(check, "not checked whether `oriel run` would go on, because it would not get so far")
		return
	}
	found := e.wrong
	e.refuse(check, e.within(ctx, e.service.Users))
	told := map[string]bool{} // streams may stop for one reason
	for p := range e.service.Streams() {
		err := e.within(ctx, func(ctx context.Context) error {
			return e.service.Stream(ctx, p, takeover.Examination{Events: e.options.Record})
		})
		if err != nil && !told[err.Error()] {
			told[err.Error()] = true
			e.refuse(check, err)
		}
	}
	if e.wrong == found {
		e.ok(check, "`oriel run` can take over all streams, where they stand: %d", e.service.Streams())
	}
}
