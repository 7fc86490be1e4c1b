package operators

import "fmt"

// CheckState refuses a state that is not of the machine's length, or of another version, which is its first byte.
func CheckState(operator string, m Machine, state []byte, version byte) error {
	if len(state) != m.StateLen() {
		return fmt.Errorf("%s: state: %d bytes, this configuration has %d", operator, len(state), m.StateLen())
	}
	if state[0] != version {
		return fmt.Errorf("%s: state: version %d, this software knows %d", operator, state[0], version)
	}
	return nil
}

// RestoreParts restores a machine whose state has several parts, by a function that stops at the first one that it
// refuses: then the machine goes back to where it was.
func RestoreParts(operator string, m Machine, state []byte, restore func(state []byte) error) error {
	before := m.AppendState(nil)
	err := restore(state)
	if err == nil {
		return nil
	}
	if undo := restore(before); undo != nil {
		panic("BUG: " + operator + ": own state refused: " + undo.Error())
	}
	return err
}

// DueEvery is Due of a machine that gives the decision of step t the index t, every so many steps.
func DueEvery(step, every uint64) (first uint64, count int) {
	if step == 0 || step%every != 0 {
		return 0, 0
	}
	return step, 1
}
