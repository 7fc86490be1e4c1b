package merge_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/order"
)

// TestReaderIsItsTwin: drawn inputs with every codec, aborted transactions and markers, and order records that repeat,
// go back, cut batches or are another's, read in one go and by readers that take over from each other.
func TestReaderIsItsTwin(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 100_000, 1 << 30} {
		t.Run(fmt.Sprintf("budget %d", size), func(t *testing.T) {
			const partitions = 5
			budget := memory.NewBudget(size)
			e := newEnv(t, partitions, budget)
			random := rand.New(rand.NewPCG(uint64(size), 1))
			for range tiertest.Runs(30, 300) {
				e.grow(random, partitions)
			}
			twin := e.twin()

			w := &walk{at: e.first()}
			source := e.open(w.at)
			w.until(e, source, twin.at.Next)
			source.Close()
			w.same(t, twin)

			w = &walk{at: e.first()}
			for w.at.Next < twin.at.Next {
				source := e.open(w.at)
				w.until(e, source, min(twin.at.Next, w.at.Next+1+random.Int64N(twin.at.Next/5)))
				source.Close()
			}
			w.same(t, twin)
			if held, oversize := budget.Held(); held != 0 || oversize {
				t.Fatalf("%d bytes are held in the end, oversize: %t", held, oversize)
			}
		})
	}
}

// grow appends to some partitions and to the order log.
func (e *env) grow(random *rand.Rand, partitions int32) {
	for range random.IntN(4) {
		p, values := random.Int32N(partitions), make([]string, 1+random.IntN(20))
		for i := range values {
			values[i] = fmt.Sprint(random.IntN(1000))
			if random.IntN(50) == 0 {
				values[i] = strings.Repeat("x", random.IntN(200_000))
			}
		}
		switch random.IntN(3) {
		case 0:
			e.transact(p, random.IntN(2) == 0, values...)
		default:
			codecs := []records.Codec{records.NoCompression, records.Gzip, records.LZ4, records.Zstd}
			e.send(p, codecs[random.IntN(len(codecs))], values...)
		}
	}
	log := e.log
	if random.IntN(8) == 0 {
		log.Key[0]++ // another's
	}
	var entries []order.Entry
	for p := range partitions {
		end := e.end(p)
		if random.IntN(3) == 0 {
			end -= random.Int64N(10)
		}
		if end > 0 && random.IntN(4) > 0 {
			entries = append(entries, order.Entry{Partition: p, End: end, Epoch: int32(random.IntN(2))})
		}
	}
	e.order(log, entries...)
}
