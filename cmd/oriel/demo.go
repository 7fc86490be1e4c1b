package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/demo"
	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/program"
)

//go:embed demodata/flights.csv.gz
var demoFlights []byte

func demoCommand() *cobra.Command {
	var o demo.Options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it work: real flights through a broker in this process, with and without privacy",
		Long: "Demo starts an embedded broker, sends it flights that left New York in 2013, and runs the service over them once for each\n" +
			"mechanism: the pipeline of `oriel run`, no short cut. It then reads the decision topics back, scores every decision on the\n" +
			"next flight, draws how fast each has learned, and shows private numbers of another deployment beside the truth. It needs\n" +
			"nothing installed and leaves one picture behind.\n\n" +
			"Each of the three airports is a partition and a stream (ORIEL_STREAM=partition): independent models on purpose, because\n" +
			"airports differ. A topic that has partitions for its producers' sake is one stream: ORIEL_STREAM=topic.\n\n" +
			"Noise follows from --seed, so that the same call gives the same figures: these flights are public. A service draws its own.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := readDemoFlights()
			if err != nil {
				return err
			}
			o.Bar = func(total int64, what string) demo.Bar { return program.NewBar(cmd.ErrOrStderr(), total, what, false) }
			return demo.Run(cmd.Context(), cmd.OutOrStdout(), all, o)
		},
	}
	cmd.Flags().BoolVar(&o.Keep, "keep", false, "leave the broker and a service with its page running until interrupted, for a browser, tail and kcat")
	program.Var(cmd.Flags(), &o.Seed, "seed", 1, "another number gives other noise")
	cmd.Flags().StringVar(&o.Out, "out", "oriel-demo", "folder for the picture, learning.png; made if missing")
	return cmd
}

func readDemoFlights() ([]flights.Flight, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(demoFlights))
	if err != nil {
		return nil, err
	}
	return flights.Read(unzipped)
}
