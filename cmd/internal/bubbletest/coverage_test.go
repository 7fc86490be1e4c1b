package bubbletest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/schemas/decision"
)

// fortnight is the number of steps of a run: two weeks of steps, as if a second were an hour.
const ofDay, ofWeek, fortnight = 24, 168, 336

// topic is an input whose numbers are checked.
type topic struct {
	name, cell, value string
	low, high         float64
	places            []string
	env               map[string]string
}

// topics have cells that are common, rare, of a single event, and empty.
var topics = []*topic{
	{
		"payments by country", "country", "amount", 0, 200,
		[]string{"de", "fr", "us", "jp", "mt", "va", "nowhere"},
		map[string]string{"ORIEL_STATISTICS": "count,sum,mean", "ORIEL_MECHANISM": "once-laplace", "ORIEL_EPSILON": "3"},
	},
	{
		"clicks by page", "page", "", 0, 0,
		[]string{"home", "search", "cart", "help", "terms", "imprint", "none"},
		map[string]string{"ORIEL_STATISTICS": "count", "ORIEL_MECHANISM": "once-laplace", "ORIEL_EPSILON": "1"},
	},
	{
		"telemetry by version", "version", "load", -1, 3,
		[]string{"9", "8", "7", "6", "5", "beta", "alpha"},
		map[string]string{
			"ORIEL_STATISTICS": "count,sum*2,mean", "ORIEL_MECHANISM": "once-gaussian", "ORIEL_EPSILON": "2",
			"ORIEL_DELTA": "1e-6",
		},
	},
}

// truth is the count and the sum of clamped values of a cell in a step.
type truth struct{ count, sum float64 }

// TestNumbersOfAServiceCover runs the service with steps by the clock over three topics, and compares the intervals of
// `oriel numbers` for a step, 24 steps and 168 steps with the truth, which the test counts itself. Records are late by
// their own clock, no events, twice the same, of no cell, and beyond the range of values. The share of intervals that
// contain the truth must be that of the law, within 5 standard errors. Counts of once-laplace have the probability of
// the shown window, all others have 95 %, and means up to 1.2 % more.
func TestNumbersOfAServiceCover(t *testing.T) {
	type figures struct{ n, hits, exact float64 }
	found := map[string]*figures{}
	for seed := range uint64(tiertest.Runs(1, 12)) {
		for _, topic := range topics {
			env := map[string]string{
				"ORIEL_STREAM": "topic", "ORIEL_START": "latest", "ORIEL_OPERATOR": "aggregate", "ORIEL_STEP": "1s",
				"ORIEL_CELLS": topic.cell + "=" + strings.Join(topic.places, "|"), "ORIEL_ALLOW_SINGLE_REPLICA": "true",
			}
			if topic.value != "" {
				env["ORIEL_VALUE"] = fmt.Sprintf("%s=%g:%g", topic.value, topic.low, topic.high)
			}
			maps.Copy(env, topic.env)
			synctest.Test(t, func(t *testing.T) {
				m := bubble{servicetest.NewBubble(t, simtest.New(t), env, nil)}
				m.Create(3, map[string]string{"message.timestamp.type": "LogAppendTime"})
				started := m.Start("a", simtest.NewDisk(), service.Run)
				time.Sleep(10*time.Second - time.Duration(time.Now().UnixNano())%time.Second + time.Second/2)
				random, first, true := rand.New(rand.NewPCG(seed, 7)), time.Now().Unix(), map[string][]truth{}
				for _, place := range topic.places {
					true[place] = make([]truth, fortnight)
				}
				for k := range fortnight {
					for p := range int32(3) {
						m.Send(p, topic.step(random, k, true)...)
					}
					time.Sleep(time.Second)
				}
				time.Sleep(10 * time.Second)
				if started.Ended() {
					t.Fatal(started.Out.String())
				}
				lines, names := m.published(), m.names()
				for _, span := range []int{1, ofDay, ofWeek} {
					c, err := numbers.NewCollector(names, clock.Clock{
						Every: time.Duration(span) * time.Second, Offset: time.Duration(-first%int64(span)) * time.Second,
					})
					if err == nil {
						err = numbers.AddLines(c, strings.NewReader(lines))
					}
					if err != nil {
						t.Fatal(err)
					}
					rows, err := c.Rows(numbers.Query{
						From: time.Unix(first, 0), To: time.Unix(first+fortnight, 0),
						Statistics: strings.Split(strings.ReplaceAll(topic.env["ORIEL_STATISTICS"], "*2", ""), ","),
					})
					if err != nil {
						t.Fatal(err)
					}
					for _, r := range rows {
						var sum truth
						from := int(r.Start.Unix() - first)
						for _, step := range true[r.Places[0]][from : from+span] {
							sum.count, sum.sum = sum.count+step.count, sum.sum+step.sum
						}
						want, exact := sum.count, 0.95
						switch {
						case r.Statistic == "sum":
							want = sum.sum
						case r.Statistic == "mean":
							if math.IsNaN(r.Value) || sum.count == 0 {
								continue
							}
							want = sum.sum / sum.count
						case topic.env["ORIEL_MECHANISM"] == "once-laplace":
							exact = chance(r.Deviation/math.Sqrt(float64(span)), span, int(r.Value-r.Low), int(r.High-r.Value))
						}
						key := fmt.Sprintf("%s, %s of %d steps", topic.name, r.Statistic, span)
						f := found[key]
						if f == nil {
							f = &figures{}
							found[key] = f
						}
						f.n++
						f.exact += exact
						if r.Low-1e-6 <= want && want <= r.High+1e-6 {
							f.hits++
						}
					}
				}
			})
		}
	}
	if len(found) != 3*7 {
		t.Errorf("%d figures", len(found))
	}
	for key, f := range found {
		share, exact := f.hits/f.n, f.exact/f.n
		away, more := 5*math.Sqrt(exact*(1-exact)/f.n), 0.0
		if strings.Contains(key, "mean") {
			more = 0.012
		}
		t.Logf("%s: %.4f of %g, exactly %.4f", key, share, f.n, exact)
		if share < exact-away || share > exact+more+away || f.n < 5 {
			t.Errorf("%s: %.4f of %g intervals contain the truth, want %.4f ± %.4f", key, share, f.n, exact, away)
		}
	}
}

// lawOf has the results of chance.
var lawOf = map[string]float64{}

// chance returns the probability that a sum of n discrete Laplace draws of this deviation is in [−above, below], by
// convolutions: for a number y, the probability that [y − below, y + above] contains the truth.
func chance(deviation float64, n, below, above int) float64 {
	key := fmt.Sprintf("%.6g %d %d %d", deviation, n, below, above)
	if p, ok := lawOf[key]; ok {
		return p
	}
	r := 2 * math.Asinh(1/(math.Sqrt2*deviation))
	reach := int(10*deviation*math.Sqrt(float64(n))) + 40
	one := make([]float64, 2*reach+1)
	for i := range one {
		one[i] = math.Tanh(r/2) * math.Exp(-r*math.Abs(float64(i-reach)))
	}
	sum := make([]float64, 2*reach+1)
	sum[reach] = 1
	for range n {
		next := make([]float64, len(sum))
		for i, p := range sum {
			for j := max(0, i-40-int(12*deviation)); p > 1e-18 && j <= min(2*reach, i+40+int(12*deviation)); j++ {
				next[j] += p * one[j-i+reach]
			}
		}
		sum = next
	}
	// y = truth + noise, so the truth is in [y − low, y + high] if the noise is in [−high, low].
	p := 0.0
	for i := -above; i <= below; i++ {
		p += sum[reach+i]
	}
	lawOf[key] = p
	return p
}

// step returns the records of a step of a partition, and adds them to the truth.
func (x *topic) step(random *rand.Rand, k int, true map[string][]truth) (list []records.Record) {
	add := func(place string, value float64, times int) {
		text := fmt.Sprintf(`{"%s":"%s"}`, x.cell, place)
		if x.value != "" {
			text = fmt.Sprintf(`{"%s":"%s","%s":%g}`, x.cell, place, x.value, value)
		}
		r := records.Record{Value: []byte(text)}
		if random.IntN(3) == 0 {
			r.Timestamp = time.Now().Add(-time.Duration(random.IntN(1e6)) * time.Second).UnixMilli() // late by its own clock
		}
		for range times {
			list = append(list, r)
			if steps := true[place]; steps != nil {
				steps[k].count++
				steps[k].sum += max(x.low, min(x.high, value))
			}
		}
	}
	width := x.high - x.low
	for i := range 4 + random.IntN(60) {
		place := x.places[min(3, int(random.ExpFloat64()))]
		value := x.low + width*(1.4*random.Float64()-0.2)
		add(place, math.Round(100*value)/100, 1+random.IntN(10)/9)
		switch i % 20 {
		case 7:
			list = append(list, records.Record{Value: []byte(`{"` + x.cell + `":`)})
		case 11:
			add("a place without a cell", 0, 1)
		case 13:
			list = append(list, records.Record{})
		}
	}
	if random.IntN(40) == 0 {
		add(x.places[4], x.high, 1) // rare
	}
	if k == 100 && true[x.places[5]][k].count == 0 {
		add(x.places[5], x.high+1e6, 1) // of one event, far beyond the range
	}
	return list
}

// published returns the decisions as lines of JSON.
func (d bubble) published() string {
	d.T.Helper()
	found, err := logtest.Read(d.T.Context(), d.Client, "late.decisions", 0, -1, fetch.Options{})
	if err != nil {
		d.T.Fatal(err)
	}
	var lines []byte
	for _, r := range found {
		if lines, err = decision.AppendLine(lines, r.Value); err != nil {
			d.T.Fatal(err)
		}
		lines = append(lines, '\n')
	}
	return string(lines)
}

// names returns the descriptor of the decisions.
func (d bubble) names() *numbers.Names {
	d.T.Helper()
	text, err := numbers.Descriptor(context.Background(), d.Client, "late.descriptor")
	if err != nil {
		d.T.Fatal(err)
	}
	names, err := numbers.ParseNames(text)
	if err != nil {
		d.T.Fatal(err)
	}
	return names
}
