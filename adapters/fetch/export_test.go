package fetch

// Public exports public for its test.
var Public = public

// Guard exports guard for tests.
var Guard = guard
