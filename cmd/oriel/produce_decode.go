package main

import (
	"fmt"
	"io"
	"os"

	"oriel/cmd/internal/registry"
	"oriel/cmd/internal/settings"
	"oriel/schemas"
)

// decodesAsFirst is a sentence in the help of commands that only decode events.
var decodesAsFirst = "Without ORIEL_OPERATOR events are those of " + registry.All[0].Name + "."

// configuredEvents returns the decoder configuration for lines with events of the environment's operator.
func configuredEvents() (schemas.EventConfig, error) {
	s, err := settings.Load(os.Environ(), settings.Events)
	if err != nil {
		return schemas.EventConfig{}, err
	}
	return s.Lines().EventConfig()
}

func configuredBody() (schemas.Body, error) {
	c, err := configuredEvents()
	return c.Body, err
}

func configuredDecoder() (schemas.EventDecoder, error) {
	c, err := configuredEvents()
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
