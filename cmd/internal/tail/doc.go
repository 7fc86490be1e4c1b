// Package tail shows the decisions of a topic as they are committed, as a table or as lines of JSON. The table has the
// first numbers of a decision, and a dash in place of each number that is little more than noise.
package tail
