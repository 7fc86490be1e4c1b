package protection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/dp"
)

// Versions of the stored form. A change of the form adds a version, and golden bytes of old versions stay.
const (
	guaranteeVersion = 1
	memoryVersion    = 2 // for a memory, without ages
	lifeVersion      = 3 // for a memory with ages, for an event or a user
)

// version returns the version that g is stored in. A guarantee with a memory and no curve was read from version 2.
func (g Guarantee) version() int {
	_, several := g.Unit.EventSeparation()
	switch _, decays := g.Scope.Memory(); {
	case !decays:
		return guaranteeVersion
	case g.Curve == nil && !several:
		return memoryVersion
	}
	return lifeVersion
}

// storedGuarantee is the stored form of a Guarantee: JSON with members in this order, the shortest numbers, and no
// white space. A loss that is not finite is null.
type storedGuarantee struct {
	Version    int         `json:"version"`
	Mechanism  string      `json:"mechanism"`
	Unit       string      `json:"unit"`
	Adjacency  string      `json:"adjacency"`
	Window     uint64      `json:"window"`
	Batch      uint64      `json:"batch"`
	Separation uint64      `json:"separation"`
	Horizon    uint64      `json:"horizon"`
	Memory     uint64      `json:"memory,omitempty"`      // absent if nothing decays
	UserWindow uint64      `json:"user_window,omitempty"` // with a memory, at user level
	Epsilon    finite      `json:"epsilon"`               // for one window, at delta
	Delta      float64     `json:"delta"`
	Mu         float64     `json:"mu,omitempty"` // for one window; absent if ε is pure
	Rho        finite      `json:"rho"`          // zCDP for one window: µ²/2, or the ρ of pure ε
	Ages       []storedAge `json:"ages"`         // ascending; empty without a curve
}

// storedAge is the loss over the first Steps steps; All is the loss if all events of a user among them are exchanged.
type storedAge struct {
	Steps      uint64  `json:"steps"`
	Mu         float64 `json:"mu,omitempty"`
	Epsilon    finite  `json:"epsilon"`
	MuAll      float64 `json:"mu_all,omitempty"`
	EpsilonAll finite  `json:"epsilon_all,omitzero"`
}

// finite is a number that is stored as null if it is infinite.
type finite float64

// MarshalJSON writes the number, or null.
func (x finite) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(x), 1) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(x))
}

// UnmarshalJSON reads a number, or null.
func (x *finite) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*x = finite(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(x))
}

// storedSpans lists the stored ages, in spans: 1, 2 and 5 times powers of ten, up to a million.
var storedSpans = []uint64{
	1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
}

// integers returns the stored multiples of a span that do not exceed the largest age.
func integers(span uint64) []uint64 {
	var ages []uint64
	for _, k := range storedSpans {
		if span > math.MaxUint64/k {
			break
		}
		ages = append(ages, k*span)
	}
	return ages
}

// multiples returns the stored multiples of a window, and if fine is set also one step before each.
func multiples(window uint64, fine bool) []uint64 {
	if fine && window > 1 {
		return append([]uint64{1}, integers(window)...)
	}
	return integers(window)
}

// maxAges is the capacity of a Table: one step, shares of a memory, and windows or memories.
const maxAges = 25

// Table is a stored Curve: µ at some ages. Between two of them Mu returns the µ of the later one, which is a bound
// because µ never falls with age. After the last one it is infinite, except that a lifetime guarantee then uses its
// total loss. It is comparable.
type Table struct {
	count int
	ages  [maxAges]point
}

type point struct {
	steps                       uint64
	mu, epsilon, all, allBudget float64
}

// Mu returns a bound on µ for all releases in age steps.
func (t Table) Mu(age uint64) float64 { return t.at(age, func(p point) float64 { return p.mu }) }

// MuAll returns a bound on µ for all releases in age steps, if a user's events are exchanged in all of these steps.
func (t Table) MuAll(age uint64) float64 { return t.at(age, func(p point) float64 { return p.all }) }

func (t Table) at(age uint64, mu func(point) float64) float64 {
	if age == 0 {
		return 0
	}
	for _, p := range t.ages[:t.count] {
		if age <= p.steps {
			return mu(p)
		}
	}
	return math.Inf(1)
}

// AppendGuarantee appends the stored form of g: JSON that other programs can read. For a Gaussian mechanism with a
// window it holds µ, and ε at δ, at one step and at 1 to 10⁶ windows; for a user also µ and ε of all events. With a
// memory it holds both at one step, at shares of the memory and at 1 to 10⁶ memories, for an event until they grow no
// more. It takes some milliseconds an age. A guarantee with Draws has no stored form yet, so it is refused.
func AppendGuarantee(dst []byte, g Guarantee) ([]byte, error) {
	if g.Draws != (dp.Draws{}) {
		return dst, fmt.Errorf("%w: draws of pure ε %g and ρ %g: no version of the stored form holds draws", ErrGuarantee,
			g.Draws.Pure, g.Draws.Rho)
	}
	if err := g.Validate(); err != nil {
		return dst, fmt.Errorf("%w: %w", ErrGuarantee, err)
	}
	scope, unit := g.Scope.Figures(), g.Unit.Figures()
	s := storedGuarantee{
		Version: g.version(), Mechanism: g.Mechanism, Unit: g.Unit.Name(), Adjacency: g.Unit.Adjacency().String(),
		Window: scope.Window, Batch: g.Batch, Separation: unit.Separation, Horizon: scope.Horizon, Memory: scope.Memory,
		UserWindow: unit.Among,
		Epsilon:    finite(g.Epsilon), Delta: g.Delta, Mu: g.Mu, Rho: finite(dp.PureRho(g.Epsilon)), Ages: g.ages(),
	}
	if g.Mu > 0 {
		s.Rho = finite(dp.GaussianRho(g.Mu))
	}
	if err := s.validate(); err != nil {
		return dst, err
	}
	b, err := json.Marshal(s)
	return append(dst, b...), err
}

// ages returns the losses to store; a Table has its own.
func (g Guarantee) ages() []storedAge {
	out := []storedAge{}
	if table, stored := g.Curve.(Table); stored {
		for _, p := range table.ages[:table.count] {
			out = append(out, storedAge{p.steps, p.mu, finite(p.epsilon), p.all, finite(p.allBudget)})
		}
		return out
	}
	if g.version() == memoryVersion {
		return out
	}
	_, several := g.Unit.EventSeparation()
	for _, age := range g.Scope.stored(g.Mu > 0) {
		if age == 0 || len(out) > 0 && out[len(out)-1].Steps >= age {
			continue
		}
		out = append(out, g.aged(age))
		if g.Scope.capped() && !several && out[len(out)-1].Mu == g.Mu { // an event's loss grows no more
			break
		}
	}
	return out
}

func (g Guarantee) aged(age uint64) storedAge {
	a := storedAge{Steps: age, Epsilon: finite(g.At(age).Epsilon)}
	if g.Mu > 0 {
		a.Mu = g.Curve.Mu(age)
	}
	if g.Scope.capped() {
		a.Mu = min(a.Mu, g.Mu) // the curves of components are rounded up separately
	}
	if _, several := g.Unit.EventSeparation(); several {
		if a.EpsilonAll = finite(g.AtAll(age).Epsilon); g.Mu > 0 {
			a.MuAll = g.Curve.(dp.UserCurve).MuAll(age)
		}
	}
	return a
}

// ErrGuarantee marks bytes that are not a stored guarantee.
var ErrGuarantee = errors.New("protection: stored guarantee")

// ParseGuarantee is the inverse of AppendGuarantee and refuses any other bytes. The Curve of a Gaussian mechanism with
// a window becomes a Table with the stored ages alone. A stored ε that its µ does not prove is refused.
func ParseGuarantee(b []byte) (Guarantee, error) {
	var s storedGuarantee
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return Guarantee{}, fmt.Errorf("%w: %w", ErrGuarantee, err)
	}
	if err := s.validate(); err != nil {
		return Guarantee{}, err
	}
	adjacency, err := dp.ParseAdjacency(s.Adjacency)
	if err != nil {
		return Guarantee{}, fmt.Errorf("%w: %w", ErrGuarantee, err)
	}
	g := Guarantee{
		Terms:     Terms{Scope: scopeOf(Figures{s.Window, s.Horizon, s.Memory}), Unit: Event{adjacency}},
		Mechanism: s.Mechanism, Batch: s.Batch, Epsilon: float64(s.Epsilon), Delta: s.Delta, Mu: s.Mu,
	}
	if s.Separation > 0 {
		g.Unit = User{Exchange: adjacency, Separation: s.Separation, Steps: s.UserWindow}
	}
	if s.Mu > 0 && (s.Window > 0 || s.Version == lifeVersion) {
		g.Curve = s.table()
	}
	again, err := AppendGuarantee(nil, g)
	if err != nil {
		return Guarantee{}, err
	}
	if !bytes.Equal(again, b) {
		return Guarantee{}, fmt.Errorf("%w: not as it is written", ErrGuarantee)
	}
	return g, nil
}

func (s storedGuarantee) table() Table {
	t := Table{count: len(s.Ages)}
	for i, a := range s.Ages {
		t.ages[i] = point{a.Steps, a.Mu, float64(a.Epsilon), a.MuAll, float64(a.EpsilonAll)}
	}
	return t
}

// validate checks the conditions that every guarantee must satisfy.
func (s storedGuarantee) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrGuarantee}, args...)...)
	}
	unit := "event"
	if s.Separation > 0 {
		unit = "user"
	}
	switch {
	case s.Version < guaranteeVersion || s.Version > lifeVersion || (s.Version >= memoryVersion) != (s.Memory > 0):
		return bad("version %d: not of memory %d", s.Version, s.Memory)
	case s.Memory > 0 && (s.Window > 0 || s.Horizon > 0 || s.Mu == 0):
		return bad("memory %d with a window, with a horizon or without mu", s.Memory)
	case (s.UserWindow > 0) != (s.Memory > 0 && s.Separation > 0):
		return bad("user window %d at memory %d, separation %d", s.UserWindow, s.Memory, s.Separation)
	case (s.Version == lifeVersion) != (s.Memory > 0 && len(s.Ages) > 0):
		return bad("version %d with %d ages", s.Version, len(s.Ages))
	case s.Unit != unit:
		return bad("unit %q at separation %d", s.Unit, s.Separation)
	case !(s.Epsilon > 0) || !(s.Delta >= 0 && s.Delta < 1) || !(s.Mu >= 0) || math.IsInf(s.Mu, 1),
		math.Signbit(s.Delta), math.Signbit(s.Mu):
		return bad("epsilon %g, delta %g, mu %g: out of range", float64(s.Epsilon), s.Delta, s.Mu)
	case s.Window > 0 && s.Horizon > s.Window:
		return bad("horizon %d: above window %d", s.Horizon, s.Window)
	case len(s.Ages) > maxAges || s.Window == 0 && s.Memory == 0 && len(s.Ages) > 0:
		return bad("%d ages", len(s.Ages))
	case s.Mu > 0 && !proves(s.Mu, s.Epsilon, s.Delta):
		return bad("epsilon %g is not proved by mu %g", float64(s.Epsilon), s.Mu)
	case s.Mu == 0 && s.Delta > 0:
		return bad("delta %g without mu", s.Delta)
	}
	if _, err := dp.ParseAdjacency(s.Adjacency); err != nil {
		return fmt.Errorf("%w: %w", ErrGuarantee, err)
	}
	before := storedAge{}
	for _, a := range s.Ages {
		if a.Steps <= before.Steps || !(a.Mu >= before.Mu) || !(a.MuAll >= before.MuAll) || (a.Mu > 0) != (s.Mu > 0) ||
			(a.MuAll > 0) != (s.Mu > 0 && s.Separation > 0) || a.EpsilonAll > 0 && s.Separation == 0 {
			return bad("age %d: out of order", a.Steps)
		}
		if a.MuAll > 0 && a.MuAll < a.Mu || s.Window > 0 && a.Steps >= s.Window && a.Mu < s.Mu {
			return bad("age %d: mu is below that of a window", a.Steps)
		}
		if s.Memory > 0 && (a.Mu > s.Mu || a.Epsilon > s.Epsilon) {
			return bad("age %d: above what is lost for ever", a.Steps)
		}
		if s.Mu > 0 && (!proves(a.Mu, a.Epsilon, s.Delta) || !proves(a.MuAll, a.EpsilonAll, s.Delta)) {
			return bad("age %d: epsilon is not proved by mu", a.Steps)
		}
		before = a
	}
	return nil
}

// proves reports whether µ-GDP is (ε, δ)-DP.
func proves(mu float64, epsilon finite, delta float64) bool {
	return mu >= 0 && epsilon >= 0 && (math.IsInf(float64(epsilon), 1) || dp.GaussianDelta(float64(epsilon), mu) <= delta)
}
