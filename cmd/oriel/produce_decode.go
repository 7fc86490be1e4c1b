package main

import (
	"fmt"
	"io"
	"os"

	"oriel/cmd/internal/registry"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/setup"
	"oriel/schemas/event"
	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// objects returns the records up to the first that is no JSON object, and fails there. If the start of the file shows
// why, the error says so.
func (o produceOptions) objects(each eachRecord) eachRecord {
	return func(in io.Reader, f func(outgoing) error) error {
		source, err := mapping.JSON(event.UnknownIsFree)(nil)
		if err != nil {
			return err
		}
		count := 0
		return each(in, func(e outgoing) error {
			count++
			code := text.Empty
			if len(e.value) > 0 {
				code = source.Fill(nil, e.value)
			}
			if code == text.OK {
				return f(e)
			}
			return withForm(o.file(), fmt.Errorf("line %d: no JSON object: %s: %s", count, code, code.RuleAt(e.value)))
		})
	}
}

// withForm adds to an error about the lines of a file why the file has no lines of JSON objects, if its start shows it.
func withForm(file string, cause error) error {
	in, err := os.Open(file)
	if err != nil {
		return cause
	}
	defer func() { _ = in.Close() }()
	start, err := io.ReadAll(io.LimitReader(in, 1<<20))
	if form := setup.FormOfFile(start); err == nil && form != "" {
		return fmt.Errorf("%w. The file has no lines of JSON: %s", cause, form)
	}
	return cause
}

// decodesAsFirst is a sentence in the help of commands that only decode events.
var decodesAsFirst = "Without ORIEL_OPERATOR events belong to " + registry.All[0].Name + "."

// configuredEvents returns the decoder configuration for lines with events of environ's operator.
func configuredEvents(environ []string) (event.Config, error) {
	s, err := settings.Load(environ, settings.Events)
	if err != nil {
		return event.Config{}, err
	}
	return s.Lines().EventConfig(), nil
}

func configuredBody(environ []string) (event.Body, error) {
	c, err := configuredEvents(environ)
	return c.Body, err
}

func configuredDecoder(environ []string) (event.Decoder, error) {
	c, err := configuredEvents(environ)
	if err != nil {
		return nil, err
	}
	return event.OpenDecoder(c)
}

// decoded returns the records up to the first that the service would treat as a null event, and fails there. The error
// names the place of the record, the member and the rule, but no value. record is the noun for a record in errors: a
// line of a file, or a kept row.
func decoded(each eachRecord, decoder event.Decoder, record string) eachRecord {
	return func(in io.Reader, f func(outgoing) error) error {
		var event event.Event
		count := 0
		return each(in, func(e outgoing) error {
			count++
			if code := decoder.Decode(&event, e.value); code != text.OK {
				return fmt.Errorf("%s %d: %s", record, count, decoder.Problem(e.value, code))
			}
			return f(e)
		})
	}
}
