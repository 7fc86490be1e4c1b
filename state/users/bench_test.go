package users_test

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"testing"
)

// BenchmarkAdmitInPeriod admits records of a day with many users: each user comes once (new), or has come before.
func BenchmarkAdmitInPeriod(b *testing.B) {
	for _, people := range []uint64{1e5, 1e7} {
		for _, kind := range []string{"new", "known"} {
			b.Run(fmt.Sprintf("users=%d/%s", people, kind), func(b *testing.B) {
				p := openPeriods(b, 1)
				period, user := uint64(1), uint64(0)
				var name [16]byte
				admit := func() {
					binary.BigEndian.PutUint64(name[:], user*0x9e3779b97f4a7c15)
					p.Admit(period, p.ID(name[:]))
					if user++; user == people {
						user = 0
						if kind == "new" {
							period++
						}
					}
				}
				if kind == "known" {
					for range people {
						admit()
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					admit()
				}
			})
		}
	}
}

// BenchmarkRestoreOfPeriods restores a day of many users, and reports the memory of a user and the processor time.
func BenchmarkRestoreOfPeriods(b *testing.B) {
	const people = 10_000_000
	p, log := openPeriods(b, 1), parts{}
	var name [8]byte
	for user := range uint64(people) {
		binary.BigEndian.PutUint64(name[:], user)
		p.Admit(1, p.ID(name[:]))
		if user%1_000_000 == 0 {
			log.save(p)
		}
	}
	log.save(p)
	kept := p.AppendState(nil)
	again := openPeriods(b, 1)
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	for b.Loop() {
		if err := log.restore(again, kept); err != nil {
			b.Fatal(err)
		}
	}
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
	b.ReportMetric(float64(used)/1e9/float64(b.N), "cpu-s/restore")
	b.ReportMetric(float64(again.Bytes())/people, "B/user")
}
