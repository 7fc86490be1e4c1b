package sample

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
)

// Times is what the timestamps of a topic's records show. Producers write them, so some may be missing or odd: 0, of
// next year, or seconds in place of milliseconds. Two ends of a partition therefore give no rate.
type Times struct {
	Rate      float64 // events per second of all partitions; 0: unknown
	Low, High float64 // quartiles of the rate between neighbouring places, for all partitions together

	gaps     int // stretches between places that do not count
	firstGap string
}

const (
	// window is the number of records at a place: four odd timestamps are not their median.
	window = 9

	// mostPlacesOf and fewestPlacesOf bound the places of a partition. Each costs a fetch.
	mostPlacesOf, fewestPlacesOf = 33, 9

	// shortest is the shortest time, in seconds, from which a rate is computed. A topic that was just loaded in bulk has
	// no meaningful rate.
	shortest = 60

	// longestStretch is how many times as long as the median one a stretch between neighbouring places may be. A longer
	// one is a gap, or has an odd end: nights and weekends are a few stretches long.
	longestStretch = 50

	// earliest and latest bound the times that milliseconds can mean: May 1970 to the year 5138. Until 2286 a time in
	// seconds is below them. One in microseconds is above them since 1973.
	earliest, latest = 1e10, 1e14
)

// place is a record, or the one of the median time of a place.
type place struct{ offset, ms int64 }

// read looks at places of a partition, in equal distances.
func (t *Times) read(ctx context.Context, client *kafka.Client, topic topics.Topic, p int32, b topics.Bounds) error {
	count := b.Stable - b.Start
	if count < 2 {
		return nil
	}
	most := max(fewestPlacesOf, mostPlacesOf/int64(topic.Partitions))
	n := min(max(count/window, 2), most)
	width := min(window, count/n)
	options := fetch.Options{ID: topic.ID, MaxBytes: 64 << 10}
	var places []place
	for i := range n {
		from := b.Start + i*(count-width)/(n-1)
		records, err := t.at(ctx, fetch.NewReader(client, topic.Name, p, from, options), from, b.Stable, int(width))
		if err != nil {
			return err
		}
		if all := timed(records); len(all) > 0 {
			places = append(places, all[len(all)/2])
		}
	}
	t.add(p, places)
	return nil
}

// at returns the timestamps of the records at a place.
func (t *Times) at(ctx context.Context, reader *fetch.Reader, from, end int64, width int) (records []place, err error) {
	defer reader.Close()
	for next := from; next < end && len(records) < width; {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range batch.Records {
			if r.Offset < end && len(records) < width {
				records = append(records, place{r.Offset, r.Timestamp})
			}
		}
		next = batch.Next
		batch.Release()
	}
	return records, nil
}

// counts reports whether a timestamp can be one in milliseconds.
func (p place) counts() bool { return p.ms >= earliest && p.ms < latest }

// timed returns the records whose timestamps can be ones in milliseconds, by their timestamps.
func timed(records []place) (all []place) {
	for _, r := range records {
		if r.counts() {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(a.ms, b.ms) })
	return all
}

// stretch is the part of a partition between neighbouring places.
type stretch struct{ from, records, ms int64 }

// add adds the rate of a partition.
func (t *Times) add(p int32, places []place) {
	var stretches []stretch
	for i := 1; i < len(places); i++ {
		from, to := places[i-1], places[i]
		if to.offset > from.offset {
			stretches = append(stretches, stretch{from.offset, to.offset - from.offset, to.ms - from.ms})
		}
	}
	if len(stretches) == 0 {
		return
	}
	slices.SortFunc(stretches, func(a, b stretch) int { return cmp.Compare(a.ms, b.ms) })
	typical := stretches[len(stretches)/2].ms
	var records, ms int64
	var rates []float64
	var gaps []stretch
	for _, s := range stretches {
		if s.ms < 0 || s.ms > longestStretch*typical {
			gaps = append(gaps, s)
			continue
		}
		records, ms = records+s.records, ms+s.ms
		rates = append(rates, float64(s.records)*1e3/float64(max(s.ms, 1)))
	}
	if ms < shortest*1000 { // a load in bulk, whose stretches are of no or some milliseconds
		return
	}
	if t.gaps += len(gaps); t.firstGap == "" && len(gaps) > 0 {
		first := slices.MinFunc(gaps, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
		t.firstGap = fmt.Sprintf("offset %d to %d of partition %d", first.from, first.from+first.records, p)
	}
	slices.Sort(rates)
	t.Rate += float64(records) * 1e3 / float64(ms)
	t.Low, t.High = t.Low+rates[len(rates)/4], t.High+rates[3*len(rates)/4]
}

// Notes says what people must know of the times before they rely on the rate.
func (t Times) Notes() (notes []string) {
	if t.gaps > 0 {
		notes = append(notes, fmt.Sprintf("in %d stretches times go back, or there is a gap; the first is from %s. They do not count "+
			"for the rate", t.gaps, t.firstGap))
	}
	if t.Rate > 0 {
		notes = append(notes, fmt.Sprintf("about %.3g events a second by their timestamps; in half of the topic between %.3g and "+
			"%.3g. If you know better, say --rate", t.Rate, t.Low, t.High))
	}
	return notes
}
