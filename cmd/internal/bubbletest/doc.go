// Package bubbletest runs whole services in bubbles of testing/synctest: brokers, network, disks and time are the
// test's. Its tests hold what an observer may see (neighbours look alike), that decisions depend on the input alone,
// and that an opening survives kills.
package bubbletest
