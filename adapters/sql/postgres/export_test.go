package postgres

// Prepared returns c with every unit of work prepared beside the writer.
func Prepared(c Config) Config {
	c.prepare = true
	return c
}
