// Package given has private sums whose releases are given, whatever leaves they take: a machine over one shows what its
// decisions owe to its events beside the sums. There is no noise and no privacy in it: it is for audits and tests.
package given
