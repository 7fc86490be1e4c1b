package main

import (
	"fmt"
	"io"

	"oriel/cmd/internal/registry"
	"oriel/cmd/internal/settings"
	"oriel/schemas"
)

// decodesAsFirst is a sentence in the help of commands that only decode events.
var decodesAsFirst = "Without ORIEL_OPERATOR events are those of " + registry.All[0].Name + "."

// configuredEvents returns the decoder configuration for lines with events of environ's operator.
func configuredEvents(environ []string) (schemas.EventConfig, error) {
	s, err := settings.Load(environ, settings.Events)
	if err != nil {
		return schemas.EventConfig{}, err
	}
	return s.Lines().EventConfig()
}

func configuredBody(environ []string) (schemas.Body, error) {
	c, err := configuredEvents(environ)
	return c.Body, err
}

func configuredDecoder(environ []string) (schemas.EventDecoder, error) {
	c, err := configuredEvents(environ)
	if err != nil {
		return nil, err
	}
	return schemas.OpenDecoder(c)
}

// decoded returns the records up to the first that the service would treat as a null event, and fails there. The error
// names the place of the record, the member and the rule, but no value. record is the noun for a record in errors: a
// line of a file, or a kept row.
func decoded(each eachRecord, decoder schemas.EventDecoder, record string) eachRecord {
	return func(in io.Reader, f func(outgoing) error) error {
		var event schemas.Event
		count := 0
		return each(in, func(e outgoing) error {
			count++
			if code := decoder.Decode(&event, e.value); code != schemas.OK {
				return fmt.Errorf("%s %d: %s", record, count, decoder.Problem(e.value, code))
			}
			return f(e)
		})
	}
}
