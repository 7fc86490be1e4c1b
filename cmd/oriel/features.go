package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/program"
	"oriel/cmd/internal/settings"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

func featuresCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "features [FILE.ndjson]",
		Short: "Print the vector that each event line is learned as",
		Long: "Features decodes event lines (of a file, or of standard input) exactly as `oriel run` does and prints each one's vector,\n" +
			"sparse, with label and weight, one line for a line: so that consumers can score with the vectors that Oriel learns from.\n" +
			"It answers as soon as a line is in, and can stay beside a service that writes and reads line by line. An event to score\n" +
			"needs no label, and conditions of the mapping on the label's path are left out. Features needs the settings that decode\n" +
			"events: of coco ORIEL_LOSS, ORIEL_DIMENSION and, if they differ from the defaults, ORIEL_FEATURES_*. " + decodesAsFirst + "\n\n" +
			"A line that is no event prints null; its number, the member and the broken rule go to standard error, and the exit code is 1 in the end.\n" +
			"The output holds event contents: treat it like the input. schemas/testdata/hashing.py computes the same vectors in Python.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := settings.Load(program.Environ(cmd.Context()), settings.Events)
			if err != nil {
				return err
			}
			in := cmd.InOrStdin()
			if len(args) == 1 {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer func() { _ = f.Close() }()
				in = f
			}
			return printFeatures(cmd.OutOrStdout(), cmd.ErrOrStderr(), in, s)
		},
	}
}

// printFeatures prints the answer to each line before it waits for the next line.
func printFeatures(w, problems io.Writer, in io.Reader, s settings.Settings) error {
	config := s.Lines().EventConfig()
	config.Unlabelled = true
	decoder, err := event.OpenDecoder(config)
	if err != nil {
		return err
	}
	lines, out := text.NewLines(in, config.MaxBytes), bufio.NewWriter(w)
	var event event.Event
	var answer []byte
	for bad, total := 0, 0; ; total++ {
		if !lines.Ready() {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			if bad > 0 {
				return fmt.Errorf("%d of %d lines are no events", bad, total)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if code := decoder.Decode(&event, line.Value); code != text.OK {
			bad++
			fmt.Fprintf(problems, "line %d: %s\n", line.Number+1, decoder.Problem(line.Value, code))
			answer = append(answer[:0], "null\n"...)
		} else {
			answer = appendVector(answer[:0], event, decoder.Labelled())
		}
		if _, err := out.Write(answer); err != nil {
			return err
		}
	}
}

// appendVector appends the numbers that a model learns from an event: vector, label and weight, then the numbers of the
// event's body in their order. A choice is printed as its index.
func appendVector(dst []byte, e event.Event, labelled bool) []byte {
	dst = append(dst, '{')
	if e.Vector.Indices != nil {
		dst = append(dst, `"indices":[`...)
		for i, index := range e.Vector.Indices {
			dst = comma(dst, i)
			dst = fmt.Appendf(dst, "%d", index)
		}
		dst = append(dst, `],`...)
	}
	if e.Vector.Values != nil {
		dst = append(appendNumbers(append(dst, `"values":`...), e.Vector.Values), ',')
	}
	if labelled {
		dst = append(text.AppendFloat(append(dst, `"label":`...), e.Label), ',')
	}
	dst = text.AppendFloat(append(dst, `"weight":`...), e.Weight)
	if e.Numbers != nil {
		dst = appendNumbers(append(dst, `,"numbers":`...), e.Numbers)
	}
	return append(dst, "}\n"...)
}

func appendNumbers(dst []byte, numbers []float64) []byte {
	dst = append(dst, '[')
	for i, v := range numbers {
		dst = text.AppendFloat(comma(dst, i), v)
	}
	return append(dst, ']')
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}
