package convex

// descending yields the positions of keys from the largest key to the smallest, and in ascending order among equal
// keys. It is a heap: taking the first few positions costs O(n), and taking all of them O(n log n). The order is total,
// so it does not depend on the structure of the heap.
type descending struct {
	keys []float64
	heap []int32
}

func newDescending(n int) descending { return descending{heap: make([]int32, 0, n)} }

// start removes earlier positions. add and next read keys, which must not change between them.
func (d *descending) start(keys []float64) {
	d.keys = keys
	d.heap = d.heap[:0]
}

// add adds position i. build must follow the last add.
func (d *descending) add(i int) { d.heap = append(d.heap, int32(i)) }

func (d *descending) build() {
	for i := len(d.heap)/2 - 1; i >= 0; i-- {
		d.sink(i)
	}
}

// all starts with all positions of keys.
func (d *descending) all(keys []float64) {
	d.start(keys)
	for i := range keys {
		d.add(i)
	}
	d.build()
}

// cheapest starts with all positions of costs, so that next yields the smallest cost first. keys is scratch space of
// the same length.
func (d *descending) cheapest(keys, costs []float64) {
	for i, cost := range costs {
		keys[i] = -cost
	}
	d.all(keys)
}

// next removes and returns the first position, or −1 if none is left.
func (d *descending) next() int {
	if len(d.heap) == 0 {
		return -1
	}
	first := d.heap[0]
	last := len(d.heap) - 1
	d.heap[0] = d.heap[last]
	d.heap = d.heap[:last]
	d.sink(0)
	return int(first)
}

func (d *descending) before(a, b int32) bool {
	return d.keys[a] > d.keys[b] || d.keys[a] == d.keys[b] && a < b
}

func (d *descending) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(d.heap) {
			return
		}
		if child+1 < len(d.heap) && d.before(d.heap[child+1], d.heap[child]) {
			child++
		}
		if !d.before(d.heap[child], d.heap[i]) {
			return
		}
		d.heap[i], d.heap[child] = d.heap[child], d.heap[i]
		i = child
	}
}
