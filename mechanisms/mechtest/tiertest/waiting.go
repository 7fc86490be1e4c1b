package tiertest

import (
	"flag"
	"runtime"
	"strconv"
)

// Waiting sets how many parallel tests run at once for each processor. It is for packages whose tests wait for brokers
// and processes more than they compute. Their TestMain must call it BEFORE m.Run. -parallel on the command line
// overrides it.
func Waiting(each int) {
	if err := flag.Set("test.parallel", strconv.Itoa(each*runtime.NumCPU())); err != nil {
		panic(err)
	}
}
