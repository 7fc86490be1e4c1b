package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/settings/files"
	"oriel/pipeline"
	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka"
	"oriel/state"
	"oriel/state/local"
)

// Options are the options of an examination.
type Options struct {
	Record   bool             // decode the newest records of the input, which are private
	Patience time.Duration    // time limit of each check. Required.
	Now      func() time.Time // nil: this computer's clock
}

// Patience is the default of Options.Patience: long enough for two connection attempts that get no answer.
const Patience = 10 * time.Second

// examination is a deployment under examination. Later checks use the results of earlier ones.
type examination struct {
	report
	host     service.Host
	options  Options
	settings settings.Settings
	// Client is nil without brokers, Topics is zero without topics, Master is nil without a key
	deployed changelog.Deployment
	service  *pipeline.Examiner // nil: the deployment does not agree with the settings
	store    local.Copy

	wrongTopics bool // topics are missing, or have settings that `oriel run` refuses
}

// Examine prints a line for each check to w. The returned error counts the problems. Its exit code is exit.Misuse if
// settings cannot be read, otherwise exit.Failure.
func Examine(ctx context.Context, h service.Host, o Options, w io.Writer) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	e := &examination{report: report{w: w}, host: h, options: o}
	if err := e.readSettings(); err != nil {
		if invalid, is := errors.AsType[settings.Invalid](err); is {
			err = invalid.Unwrap() // one line for each problem
		}
		e.refuse("settings", err)
		return e.summary(true)
	}
	e.checkKey(ctx)
	e.checkAddress()
	if e.checkBrokers(ctx) {
		defer func() { _ = e.deployed.Client.Close() }()
		e.checkClock(ctx)
		e.checkRights(ctx)
		if e.checkTopics(ctx) {
			e.checkOpened(ctx)
			if e.deployed.Config.WholeTopic() {
				e.checkOrder(ctx)
				e.checkClocks(ctx)
			}
			e.checkRegistry(ctx)
			e.checkRecords(ctx)
			e.checkRetention(ctx)
			e.checkGroup(ctx)
		}
	}
	e.checkDisk()
	e.checkStart(ctx)
	return e.summary(false)
}

// within runs a check that makes requests, with the patience as its time limit.
func (e *examination) within(ctx context.Context, check func(context.Context) error) error {
	_, err := ask(ctx, e, func(ctx context.Context) (struct{}, error) { return struct{}{}, check(ctx) })
	return err
}

// ask returns the result of a request, with the patience as its time limit.
func ask[T any](ctx context.Context, e *examination, request func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, e.options.Patience)
	defer cancel()
	return request(ctx)
}

// readSettings reads the settings that `oriel run` reads.
func (e *examination) readSettings() error {
	s, d, _, err := e.host.Load(settings.Service)
	if err != nil {
		return err
	}
	e.settings, e.deployed = s, d
	e.ok("settings", "`oriel run` accepts these settings: deployment %s, operator %s, input %s", s.Name, s.Operator, s.InputTopic)
	return nil
}

// checkKey reads the master key.
func (e *examination) checkKey(ctx context.Context) {
	master, err := files.MasterKey(ctx, e.settings.MasterKeyFile, e.settings.MasterKeyCommand)
	if e.refuse("key", err) {
		return
	}
	e.deployed.Master = master
	e.ok("key", "the file can be read, and has the right form")
}

// checkAddress listens briefly on the address of the pages.
func (e *examination) checkAddress() {
	listener, err := e.host.Listen("tcp", e.settings.HTTPAddr)
	if err == nil {
		err = listener.Close()
	}
	if err != nil {
		e.warn("pages", "ORIEL_HTTP_ADDR: %v. Name another port, unless `oriel run` of this deployment has it now", err)
		return
	}
	e.ok("pages", "%s is free", e.settings.HTTPAddr)
}

// checkDisk examines the directory of the local store.
func (e *examination) checkDisk() {
	const check = "disk"
	dir := e.settings.StateDir
	if e.deployed.Topics.Cluster == "" {
		e.skipped(check, "not checked whose store ORIEL_STATE_DIR holds, because the topics say that")
		return
	}
	e.store = local.Copy{Options: e.host.Store, Dir: dir}
	found, err := e.host.Store.Look(dir, state.Identity{
		Cluster: e.deployed.Topics.Cluster, Name: e.settings.Name, Topic: e.deployed.Topics.Input.ID,
	})
	switch {
	case err != nil:
		e.refuse(check, fmt.Errorf("ORIEL_STATE_DIR: %w", err))
		e.service = nil
	case found.Held:
		e.warn(check, "ORIEL_STATE_DIR: a process has %s open. Give each process a directory of its own, unless it is this "+
			"deployment's `oriel run`", dir)
	case found.Damaged:
		e.store.Damaged = true
		e.warn(check, "ORIEL_STATE_DIR: the store in %s is damaged. `oriel run` sets it aside and restores it; check the disk", dir)
	case found.Begun:
		e.ok(check, "%s has the store of this deployment, and %d MiB are free", dir, found.Free>>20)
	default:
		e.ok(check, "%s can be written, and %d MiB are free", dir, found.Free>>20)
	}
}

// retried ignores a retry. A check that reaches its time limit reports the error of its last attempt.
func retried(string, error) {}

// client connects to the given brokers with the login of the settings.
func (e *examination) client(brokers ...string) (*kafka.Client, error) {
	s := e.settings
	s.Brokers = brokers
	return e.host.Dial(s, nil, 0, retried)
}
