package memory

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestBudgetServesInOrderAndLetsTheLargeTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		var mu sync.Mutex // guards order and held, because several requests are served at once
		var order []string
		held := map[string]Share{}
		want := func(name string, take func(context.Context, int) (Share, error), bytes int) {
			go func() {
				s, err := take(t.Context(), bytes)
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					order, held[name] = append(order, name), s
				}
			}()
			synctest.Wait()
		}
		release := func(name string) {
			mu.Lock()
			s := held[name]
			mu.Unlock()
			s.Release()
			s.Release() // the second call must do nothing
			synctest.Wait()
		}
		check := func(expected ...string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			slices.Sort(order) // several requests are served at once, in any order
			if slices.Sort(expected); !slices.Equal(order, expected) {
				t.Fatalf("served %v, want %v", order, expected)
			}
		}
		want("a", b.Take, 80)
		want("b", b.Take, 40)
		want("c", b.Take, 10) // would fit, but b came first
		check("a")
		want("bomb 1", b.TakeOrOversize, 1000)
		want("bomb 2", b.TakeOrOversize, 1000)
		want("small", b.TakeOrOversize, 30)
		check("a", "bomb 1")
		if _, ok := b.Try(1); ok {
			t.Fatal("one who tries overtakes those who wait")
		}
		release("bomb 1")
		check("a", "bomb 1", "bomb 2")
		release("a")
		check("a", "bomb 1", "bomb 2", "b", "c", "small")
		want("all", b.Take, 1000) // more than the budget: is served when nothing else is held
		release("b")
		release("c")
		release("bomb 2")
		check("a", "bomb 1", "bomb 2", "b", "c", "small")
		release("small")
		check("a", "bomb 1", "bomb 2", "b", "c", "small", "all")
		release("all")
		if b.used != 0 || b.oversize || len(b.waiting) != 0 {
			t.Fatalf("%d bytes are held, place beside taken: %t, %d wait", b.used, b.oversize, len(b.waiting))
		}
	})
}

func TestACancelledWaiterLetsTheNextOneGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		first, _ := b.Take(t.Context(), 60)
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() {
			_, err := b.Take(ctx, 90)
			gone <- err
		}()
		synctest.Wait()
		served := false
		go func() {
			s, _ := b.Take(t.Context(), 40)
			served = true
			s.Release()
		}()
		synctest.Wait()
		if served {
			t.Fatal("one who came later was served first")
		}
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		synctest.Wait()
		first.Release()
		if !served || b.used != 0 {
			t.Fatalf("the next one was served: %t; %d bytes held", served, b.used)
		}
	})
}

// TestAllReadersMakeProgress runs two hundred Readers on a budget that is far too small for one, and checks that all
// make progress. A deadlock would end the synctest bubble with a failure.
func TestAllReadersMakeProgress(t *testing.T) {
	for _, size := range []int{0, 1, 1000, 100_000} {
		synctest.Test(t, func(t *testing.T) {
			b := NewBudget(size)
			most := 0
			done := make(chan bool)
			for id := range uint64(200) {
				go func() {
					random, pace := rand.New(rand.NewPCG(id, uint64(size))), rand.New(rand.NewPCG(uint64(size), id))
					out := make(chan Share, 3) // Batches on their way to the consumer
					go func() {
						for s := range out {
							time.Sleep(time.Duration(pace.IntN(100)) * time.Microsecond)
							s.Release()
						}
						done <- true
					}()
					for range 20 {
						wire, err := b.Take(t.Context(), random.IntN(3000))
						if err != nil {
							t.Error(err)
						}
						for first, batches := true, random.IntN(4); batches > 0; batches-- {
							plain, ok := b.Try(random.IntN(50_000))
							if !ok && !first {
								continue
							}
							if !ok {
								if plain, err = b.TakeOrOversize(t.Context(), 1+random.IntN(50_000)); err != nil {
									t.Error(err)
								}
							}
							b.mu.Lock()
							most = max(most, b.used)
							b.mu.Unlock()
							out <- plain
							first = random.IntN(2) == 0
						}
						wire.Release()
					}
					close(out)
				}()
			}
			for range 200 {
				<-done
			}
			if most > max(size, 1) || b.used != 0 || b.oversize {
				t.Errorf("size %d: %d bytes held at once; at the end %d, place beside taken: %t", size, most, b.used, b.oversize)
			}
		})
	}
}
