package table

// Fact is what there is to know about a field without a record.
type Fact struct {
	Name     string
	Target   string   // the kind of record that a relation names
	Takes    any      // a pointer to an empty value of its type
	Enum     []string // the only texts there are
	Required bool
	Fixed    bool
	Repeated bool // each change has to send it, too
}

// Facts returns the kind of record that a body is for, and its fields.
func (b *Body[T]) Facts() (kind string, fields []Fact) {
	var zero T
	t := zero.Table()
	for _, f := range t.Fields {
		fields = append(fields, Fact{f.Name, f.Target, f.At(&zero), f.Enum, f.Required, f.Fixed, f.Repeated})
	}
	return t.Kind, fields
}
