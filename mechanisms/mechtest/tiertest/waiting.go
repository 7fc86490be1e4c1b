package tiertest

import (
	"flag"
	"runtime"
	"strconv"
)

// Waiting lets so many parallel tests run at once for each processor. It is for packages whose tests wait for brokers
// and processes more than they compute. Their TestMain calls it BEFORE m.Run; -parallel of the command line still
// counts.
func Waiting(each int) {
	if err := flag.Set("test.parallel", strconv.Itoa(each*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
}
