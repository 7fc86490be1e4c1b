// Package bench measures the service end to end on a real broker: flights as named-feature JSON go in, and one
// window-private decision for each event comes out, exactly once.
//
//	go test -tags bench -v -timeout 0 ./deploy/bench --brokers 127.0.0.1:9092 [--events 2000000] [--partitions 4] \
//	    [--bombs 0] [--runs 3] [--against BINARY] [--set ORIEL_NAME=VALUE …] [--against-set ORIEL_NAME=VALUE …]
//
// It fills an input topic once, then runs `oriel run` as one process for each run, each time as a new deployment. It
// prints the events a second between the first fetch and the last commit, the most memory that the process ever had in
// RAM (VmHWM), and the medians. With --bombs, this many records of 60 MiB, compressed to some kilobytes, are among the
// events of every partition. With --against, another binary takes turns with this one over the same input, and each
// goes first as often; its path is absolute. With --against-set, the second contender has other settings. In the
// examples, bench stands for the command without its flags. The first compares sums for life with sums of a window:
//
//	bench --set ORIEL_MECHANISM=blt --set ORIEL_WINDOW=lifetime --set ORIEL_MEMORY=65536 \
//	    --against-set ORIEL_MECHANISM=blt
//
// If the settings name an operator, the operator has no other settings than these. For aggregate, events are rows of
// carrier and hour:
//
//	bench --set ORIEL_OPERATOR=aggregate --set ORIEL_MECHANISM=once-gaussian --set ORIEL_BATCH=10000 \
//	    --set 'ORIEL_CELLS=carrier=AA|DL|UA,hour=0:24:24' --against-set ORIEL_MECHANISM=blt
//
// Operators whose labels are numbers take --label arr_delay:
//
//	bench --partitions 2 --label arr_delay --set ORIEL_OPERATOR=ridge --set ORIEL_UPDATE=moments \
//	    --set ORIEL_DIMENSION=16 --set ORIEL_LABEL_RANGE=-60:180 --set ORIEL_MECHANISM=blt
//
// Topics of earlier runs stay on the broker: 2 M events are some GB a run. Client and broker share the machine.
// RESULTS.md has the measurements, with machine and date.
package bench
