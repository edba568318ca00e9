package fetch

// Public is public, for its table.
var Public = public

// Guard is for tests.
var Guard = guard
