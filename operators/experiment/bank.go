package experiment

import "math"

// bank whitens statistics under several ratios at once. For each ratio w it models increments y_l = d_l + noise_l,
// where the d_l are independent of variance w and the noise follows a Noise, both in units of one draw. It is a Kalman
// filter on the states c_k of the noise. Let e_l be the innovations of a statistic, F_l their variance, and g_l the
// innovations that constant increments of size `events` would have. Then
//
//	A = Σ_l g_l²/F_l,    B = Σ_l g_l·e_l/F_l:
//
// B/A is the generalised least squares estimate of the mean of y_l/events, and 1/A its variance. F, gains and A are
// public functions of w and of the number of steps.
//
// Gains follow from a recursion of rank one in place of the Riccati equation. Its rank is two if the experiment starts
// within a block (T. Kailath, Some new algorithms for recursive estimation in constant linear systems, IEEE Trans. Inf.
// Theory 19 (1973); M. Morf, G. S. Sidhu and T. Kailath, IEEE Trans. Autom. Control 19 (1974)). Let P be the covariance
// of the errors of the c_k, δP = Y·M·Y' its next change, x = Y'r and u = Mx. Then
//
//	F⁺ = F + x'u,    K⁺ = K + QYu,    Y⁺ = (Q − K·r'/F)Y,    M⁺ = M − u·u'/F⁺,
//
// Here F = w + 1 + r'Pr, K = QPr + 1 is the gain times F, r holds the residues, and Q is the diagonal matrix of the
// poles.
type bank struct {
	noise  *Noise
	ratios []float64 // w, in ascending order
	width  int       // number of statistics
	events float64   // number of events in a step
	memory []float64 // the numbers of all filters, stride for each filter
	stride int
}

// These are the first numbers of a filter. K, Y, the drift (drift.go) and the states of the filters follow, for the
// constant increments and for each statistic.
const (
	innovation  = iota // F, the variance of the next innovation
	information        // A, the information so far
	drifting           // 1 while the known part of the origin still changes B; otherwise 0
	columns            // number of columns of Y
	m11                // first entry of M; its other entries follow
	m12
	m22
	heads
)

func bankLen(ratios, poles, width int) int { return ratios * bankStride(poles, width) }

func bankStride(poles, width int) int { return statesOf(poles) + poles + width*(poles+1) }

// statesOf returns the index of the states of the constant increments.
func statesOf(poles int) int { return heads + 3*poles + driftLen(poles) }

// newBank returns the bank of an experiment with the given origin. memory has bankLen numbers.
func newBank(noise *Noise, ratios []float64, width int, events float64, from *origin, memory []float64) *bank {
	b := &bank{
		noise: noise, ratios: ratios, width: width, events: events, memory: memory,
		stride: bankStride(len(noise.Poles), width),
	}
	clear(memory)
	b.block(from)
	return b
}

// filter returns the numbers of the i-th filter.
func (b *bank) filter(i int) []float64 { return b.memory[i*b.stride:][:b.stride] }

// reset restarts the filters at a reset of the noise.
func (b *bank) reset() { b.block(&origin{}) }

// block restarts the filters at an origin.
func (b *bank) block(from *origin) {
	m := len(b.noise.Poles)
	for i, w := range b.ratios {
		f := b.filter(i)
		gain, first, second := f[heads:][:m], f[heads+m:][:m], f[heads+2*m:][:m]
		variance := w + 1
		for k := range m {
			sum := 0.0
			for l, r := range b.noise.Residues {
				sum += float64(from.fresh[k][l] * r)
			}
			gain[k] = float64(b.noise.Poles[k]*sum) + 1
			variance += float64(b.noise.Residues[k] * sum)
		}
		f[innovation], f[columns] = variance, 1
		for k, q := range b.noise.Poles {
			first[k] = power(q, from.age)
		}
		f[m11], f[m12], f[m22] = 1-1/variance, 0, 0
		if from.age > 0 {
			f[columns] = 2
			copy(second, gain)
			f[m11], f[m22] = 1, -1/variance
		}
		startDrift(f, m, from.seen)
		states := f[statesOf(m):]
		clear(states[:m])
		for s := range b.width {
			clear(states[m+s*(m+1)+1:][:m]) // clears the states of the noise and keeps B
		}
	}
}

// step takes one increment of each statistic.
func (b *bank) step(increments []float64) {
	poles, residues := b.noise.Poles, b.noise.Residues
	m := len(poles)
	residues = residues[:m]
	for i := range b.ratios {
		f := b.filter(i)
		inverse := 1 / f[innovation]
		gain := f[heads:][:m]
		states := f[statesOf(m):]
		constant := innovate(b.events, states[:m], poles, residues, gain, inverse)
		weight := float64(constant * inverse)
		f[information] += float64(constant * weight)
		states = states[m:]
		for _, y := range increments {
			states[0] += float64(weight * innovate(y, states[1:][:m], poles, residues, gain, inverse))
			states = states[m+1:]
		}
		if f[drifting] > 0 {
			drift(f, poles, residues, weight, inverse)
		}
		if f[columns] > 0 {
			advance(f, poles, residues)
		}
	}
}

// innovate returns the innovation of y, and advances the states of y's filter.
func innovate(y float64, c, poles, residues, gain []float64, inverse float64) float64 {
	poles, residues, gain = poles[:len(c)], residues[:len(c)], gain[:len(c)] // one check of bounds in place of many
	e := y
	for k, x := range c {
		e -= float64(residues[k] * x)
	}
	scaled := float64(e * inverse)
	for k, x := range c {
		c[k] = float64(poles[k]*x) + float64(gain[k]*scaled)
	}
	return e
}

// negligible is the change of P, relative to F, below which the filter treats gains as constant.
const negligible = 0x1p-72

// advance updates F, gains, Y and M of a filter by one step.
func advance(f, poles, residues []float64) {
	m := len(poles)
	gain, first, second := f[heads:][:m], f[heads+m:][:m], f[heads+2*m:][:m]
	x, size := 0.0, 0.0
	for k, r := range residues {
		x += float64(r * first[k])
		size += float64(first[k] * first[k])
	}
	if f[columns] == 1 {
		u, before := float64(f[m11]*x), f[innovation]
		after := before + float64(u*x)
		back := x / before
		for k, q := range poles {
			y := float64(q * first[k])
			old := gain[k]
			gain[k] = old + float64(y*u)
			first[k] = y - float64(old*back)
		}
		f[innovation] = after
		f[m11] = f[m11] * before / after
		if float64(size*f[m11]) < float64(negligible*after) {
			f[columns] = 0
		}
		return
	}
	x2 := 0.0
	for k, r := range residues {
		x2 += float64(r * second[k])
		size += float64(second[k] * second[k])
	}
	u, u2 := float64(f[m11]*x)+float64(f[m12]*x2), float64(f[m12]*x)+float64(f[m22]*x2)
	before := f[innovation]
	after := before + float64(u*x) + float64(u2*x2)
	back, back2 := x/before, x2/before
	for k, q := range poles {
		y, y2, old := float64(q*first[k]), float64(q*second[k]), gain[k]
		gain[k] = old + float64(y*u) + float64(y2*u2)
		first[k], second[k] = y-float64(old*back), y2-float64(old*back2)
	}
	f[innovation] = after
	f[m11] -= float64(u*u) / after
	f[m12] -= float64(u*u2) / after
	f[m22] -= float64(u2*u2) / after
	if float64(size*max(math.Abs(f[m11]), math.Abs(f[m12]), math.Abs(f[m22]))) < float64(negligible*after) {
		f[columns] = 0
	}
}

// forget resets a statistic, as if its earlier increments were zero.
func (b *bank) forget(statistic int) {
	m := len(b.noise.Poles)
	for i := range b.ratios {
		clear(b.filter(i)[statesOf(m)+m+statistic*(m+1):][:m+1])
	}
}

// informationOf returns A, the information, in the filter of the i-th ratio.
func (b *bank) informationOf(i int) float64 { return b.memory[i*b.stride+information] }

// sum returns B, the information times the estimate, of a statistic in the filter of the i-th ratio.
func (b *bank) sum(i, statistic int) float64 {
	m := len(b.noise.Poles)
	return b.memory[i*b.stride+statesOf(m)+m+statistic*(m+1)]
}
