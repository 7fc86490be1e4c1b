package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/settings"
	"oriel/schemas"
)

func featuresCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "features [FILE.ndjson]",
		Short: "Print the vector that each event line is learned as",
		Long:  "Features decodes event lines (of a file, or of standard input) exactly as `oriel run` does and prints each one's vector,\nsparse, with label and weight: so that consumers can score with the vectors that Oriel learns from. It needs\nORIEL_LOSS, ORIEL_DIMENSION and, if they differ from the defaults, ORIEL_FEATURES_*. A line that is no event prints\nits reason. The output holds event contents: treat it like the input.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := settings.Load(os.Environ(), settings.Events)
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
			out := bufio.NewWriter(cmd.OutOrStdout())
			return errors.Join(printFeatures(out, in, s), out.Flush())
		},
	}
}

func printFeatures(out io.Writer, in io.Reader, s settings.Settings) error {
	config, err := s.EventConfig()
	if err != nil {
		return err
	}
	decoder, err := schemas.NewDecoder(config)
	if err != nil {
		return err
	}
	lines := schemas.NewLines(in, config.MaxBytes)
	var event schemas.Event
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if code := decoder.Decode(&event, line.Value); code != schemas.OK {
			if _, err := fmt.Fprintf(out, `{"line":%d,"reason":%q,"rule":%q}`+"\n", line.Number, code.String(), code.Rule()); err != nil {
				return err
			}
			continue
		}
		if _, err := out.Write(appendVector(nil, event)); err != nil {
			return err
		}
	}
}

func appendVector(dst []byte, e schemas.Event) []byte {
	if e.Indices != nil {
		dst = append(dst, `{"indices":[`...)
		for i, index := range e.Indices {
			dst = comma(dst, i)
			dst = fmt.Appendf(dst, "%d", index)
		}
		dst = append(dst, `],"values":[`...)
	} else {
		dst = append(dst, `{"values":[`...)
	}
	for i, v := range e.Values {
		dst = schemas.AppendFloat(comma(dst, i), v)
	}
	dst = schemas.AppendFloat(append(dst, `],"label":`...), e.Label)
	dst = schemas.AppendFloat(append(dst, `,"weight":`...), e.Weight)
	return append(dst, "}\n"...)
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}
