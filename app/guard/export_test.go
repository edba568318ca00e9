package guard

// Add counts a wrong credential from an address, for tests.
func (f *Failures) Add(remote string) int {
	from, _ := network(remote)
	return f.add(from)
}

// Len returns how many addresses are remembered.
func (f *Failures) Len() int { return len(f.counts) }
