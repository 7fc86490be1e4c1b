package mapping

// Tree arranges paths by their names, from outside: a compiler of a schema goes down both at once.
type Tree struct {
	Place int      // of the path that ends here, in the list of paths; −1: none does
	Below []Branch // in the order in which paths name them
}

// Branch is what lies below a name.
type Branch struct {
	Name string
	Tree *Tree
}

// NewTree arranges paths. None must come twice.
func NewTree(paths []Path) *Tree {
	root := &Tree{Place: -1}
	for place, path := range paths {
		at := root
		for _, name := range path {
			at = at.branch(name)
		}
		at.Place = place
	}
	return root
}

func (t *Tree) branch(name string) *Tree {
	for _, b := range t.Below {
		if b.Name == name {
			return b.Tree
		}
	}
	t.Below = append(t.Below, Branch{name, &Tree{Place: -1}})
	return t.Below[len(t.Below)-1].Tree
}

// Places are those of all paths that end here or below.
func (t *Tree) Places() []int32 {
	var places []int32
	if t.Place >= 0 {
		places = append(places, int32(t.Place))
	}
	for _, b := range t.Below {
		places = append(places, b.Tree.Places()...)
	}
	return places
}

// Index is the name as the place of an element in a list; −1 if it is none.
func (b Branch) Index() int { return place(b.Name) }
